"""The options of an experiment that say what was varied, as a reader sees them."""

from __future__ import annotations

from typing import Final

from isochrone.runfile.header import Option
from isochrone.runfile.run import Run

__all__ = ["varied"]

_SAMPLING: Final = {
    "bytes", "tolerance", "smallest-gap", "max-points", "again", "time-limit", "repeats",
    "precision", "min-repeats", "max-repeats", "max-time", "warmup", "clock-tolerance", "sync-age",
    "sync-exchanges",
}  # fmt: skip
"""Options that say how thoroughly it is measured, not what."""

_CURVES: Final = {"pairs", "op"}
"""Options that say which curves are measured: their names do."""

_NEEDS: Final = {
    "stride": ("layout", "vector"), "cache-bytes": ("cache", "cold"), "seed": ("pairing", "random"),
}  # fmt: skip
"""Options that mean something with one value of another option only."""


def varied(run: Run) -> tuple[tuple[str, str], ...]:
    """List the options that are of the experiment and not of how long it measures."""
    options = {name.replace("_", "-"): value for name, value in run.options.items()}
    found = []
    for name, value in options.items():
        other, needed = _NEEDS.get(name, ("", None))
        if name in _SAMPLING or name in _CURVES or name in run.by:
            continue
        if value is None or value is False or (other and options.get(other) != needed):
            continue
        found.append((name, _value(value)))
    return tuple(found)


def _value(value: Option) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "yes" if value is True else str(value)
