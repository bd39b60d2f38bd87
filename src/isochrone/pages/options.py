"""The options of an experiment that took effect, as a reader sees them."""

from collections.abc import Callable

import numpy as np

from isochrone.base.arrays import Array
from isochrone.runfile.columns import numbers
from isochrone.runfile.header import Option
from isochrone.runfile.run import Run
from isochrone.runfile.samples import MARKS, identity, points, repetitions

_SAMPLING = {
    "bytes", "tolerance", "smallest-gap", "max-points", "retest", "time-limit", "repeats",
    "precision", "min-repeats", "max-repeats", "max-time", "warmup", "clock-tolerance", "sync-age",
    "sync-exchanges",
}  # fmt: skip
"""Options for how much is measured, not what."""

_CURVES = {"pairs", "op"}
"""Options that select curves, which have them in their names."""

Rule = Callable[[Option], bool]


def _is(*values: str) -> Rule:
    return lambda value: value in values


def _automatic(value: Option) -> bool:
    return isinstance(value, str) and value.startswith("auto")


def _given(value: Option) -> bool:
    return bool(value)


_NEEDS = {
    "stride": ("layout", _is("vector")),
    "cache-bytes": ("cache", _is("cold")),
    "seed": ("pairing", _is("random")),
    "tolerance": ("bytes", _automatic),
    "smallest-gap": ("bytes", _automatic),
    "max-points": ("bytes", _automatic),
    "clock-tolerance": ("sync", _is("window")),
    "sync-age": ("sync", _is("window")),
    "sync-exchanges": ("sync", _is("window")),
    "min-repeats": ("precision", _given),
    "max-repeats": ("precision", _given),
    "max-time": ("precision", _given),
    "inner-parallel": ("schedule", _is("isolated")),
    "hints": ("phase", _is("file", "all")),
    "file": ("phase", _is("file", "all")),
    "cb-buffer": ("phase", _is("exchange", "all")),
    "aggregators": ("phase", _is("exchange", "all")),
}
"""Options that only take effect with some values of another option."""

_OFF_AT_0 = {"repeats", "precision", "time-limit", "max-time", "length"}
"""Options that are off at 0."""

_ADAPTIVE = {"precision", "min-repeats", "max-repeats", "max-time"}
"""Options without effect if the number of repetitions is fixed."""

_ELSEWHERE = {"program"}
"""Options with temporary input files, whose contents are shown elsewhere."""

_ONLY_ALL_PAIRS = {"schedule", "inner-parallel"}
"""Options of a map that mean nothing if only some pairs are measured, each alone."""

_RETEST = "retest"
"""Option for confirmation measurements."""


def in_use(run: Run) -> dict[str, Option]:
    """Return the options that took effect, by their names with dashes.

    Options that are off, or without effect in combination with others, are left out.
    """
    options = {name.replace("_", "-"): value for name, value in run.options.items()}
    return {name: value for name, value in options.items() if _in_use(run, options, name)}


def _in_use(run: Run, options: dict[str, Option], name: str) -> bool:
    value = options[name]
    if value is None or value is False:
        return False
    if name in _OFF_AT_0 and not value:
        return False
    if name in _ELSEWHERE:
        return False
    other, rule = _NEEDS.get(name, ("", _given))
    if other in options and not rule(options[other]):
        return False
    if name in _ADAPTIVE and options.get("repeats"):
        return False
    if name in _ONLY_ALL_PAIRS and options.get("pairs"):
        return False
    return measured_again(run, name) != 0


def measured_again(run: Run, name: str) -> int | None:
    """Return how many points were measured again where an option allows it; None for others."""
    if name != _RETEST:
        return None
    table = run.tables.get("pair", run.tables.get("sample"))
    if table is None:
        return 0
    second = table.where(table.flag("again", "retest"))
    return len(points(second, identity(second, run.by), run.where)) if len(second) else 0


def repeated(run: Run) -> str:
    """Return how often each point was measured: ``100``, ``2 to 37 (100 requested)``.

    Empty if the run has no such option, or nothing was measured.
    """
    wanted = run.options.get("repeats")
    counts = _counts(run) if "repeats" in run.options else np.empty(0)
    if not len(counts):
        return ""
    low, high = int(counts.min()), int(counts.max())
    text = f"{low}" if low == high else f"{low} to {high}"
    fixed = isinstance(wanted, int) and wanted > 0
    return f"{text} ({wanted} requested)" if fixed and (low, high) != (wanted, wanted) else text


def _counts(run: Run) -> Array:
    """Return the repetitions of each point, as first measured."""
    pairs, samples = run.tables.get("pair"), run.tables.get("sample")
    if pairs is not None:
        first = pairs.where(~pairs.flag("retest"))
        return numbers(first, "n", run.where, "pair") if "n" in pairs else np.empty(0)
    if samples is None:
        return np.empty(0)
    first = samples.where(~samples.flag(*MARKS))
    found = points(first, identity(first, run.by), run.where)
    return np.array([repetitions(first, rows) for rows in found.values()], np.float64)


def varied(run: Run) -> tuple[tuple[str, str], ...]:
    """List the options that are of the experiment and not of how long it measures."""
    left_out = _SAMPLING | _CURVES | set(run.by)
    return tuple(
        (name, _value(value)) for name, value in in_use(run).items() if name not in left_out
    )


def _value(value: Option) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "yes" if value is True else str(value)
