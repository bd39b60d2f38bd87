"""What ``show --json`` says of every run, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from isochrone.documents.shapes import (
    BOOLEAN,
    COUNT,
    INTEGER,
    NUMBER,
    ORIGIN,
    RANKS,
    SECONDS,
    TEXT,
    TEXTS,
    WARNINGS,
    Schema,
    by_name,
    described,
    record,
)

__all__ = ["SURROUNDINGS", "shown"]

_OFFSETS: Final = record({
    "comparisons": COUNT, "median": SECONDS, "max": SECONDS, "bound": SECONDS,
    "worst_pair": RANKS, "worst_age": SECONDS,
})  # fmt: skip
CLOCKS: Final = described(
    record(
        {
            "synchronised": described(INTEGER, "how often"), "residual_median": SECONDS,
            "residual_max": SECONDS, "drift_max": NUMBER, "offset": _OFFSETS,
        },
        optional=["offset"],
    ),
    "how well the clocks of the ranks were synchronised",
)  # fmt: skip
_MACHINE: Final = {"kernel": TEXT, "processor": TEXT, "governor": TEXT, "numa": COUNT}
SURROUNDINGS: Final = {
    "settings": described(by_name(TEXT), "variables that steer the MPI library"),
    "settings_left_out": described(TEXTS, "names of those whose values look like secrets"),
    "memory": described(TEXT, "where buffers lie"),
    "machine": record(_MACHINE, optional=_MACHINE),
}  # fmt: skip
"""What a run says of where it was measured: in its file and wherever it is shown."""

_ABOUT: Final = {
    "ranks": described(COUNT, "number of ranks"),
    "warnings": WARNINGS,
    "experiment": TEXT,
    "origin": ORIGIN,
    "complete": described(BOOLEAN, "whether the run came to its end"),
    "clocks": CLOCKS,
    **SURROUNDINGS,
}  # fmt: skip
_OFTEN: Final = ("clocks", *SURROUNDINGS)


def shown(keys: Mapping[str, Schema], optional: Iterable[str] = ()) -> Schema:
    """Return the document of a run: what all have, and what is of its kind."""
    return record(_ABOUT, keys, optional=[*_OFTEN, *optional])
