"""Where the time of a collective access to a file goes: its parts, and what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.runfile.columns import seconds

__all__ = ["MEASURED", "NAMES", "Parts", "part_columns", "parts_of"]

MEASURED: Final = ("offsets", "counts", "exchange", "file")
"""Parts that a run file holds, by its keys."""

NAMES: Final = (*MEASURED, "rest")


@dataclass(frozen=True)
class Parts:
    """Seconds that a call needed of each part, all ranks together; None where that was not seen.

    Attributes
    ----------
    offsets
        Until the first round: who accesses what.
    counts
        In all rounds, agreeing on sizes.
    exchange
        In all rounds, moving data between ranks.
    file
        In all rounds, accessing the file.
    rest
        What is left of the call: packing, copying, waiting for ranks that came late.
    """

    offsets: float | None = None
    counts: float | None = None
    exchange: float | None = None
    file: float | None = None
    rest: float | None = None


def parts_of(whole: float, measured: dict[str, float]) -> Parts:
    """Return the parts of a call that took ``whole`` seconds; NaN stands for what was not seen."""
    known = {name: float(value) for name, value in measured.items() if value == value}
    if not known:
        return Parts()
    return Parts(**known, rest=max(0.0, float(whole) - sum(known.values())))


def part_columns(table: Table, where: str, record: str) -> dict[str, NDArray[np.float64]]:
    """Return the parts of all records, by name, with NaN where they were not seen.

    Raises
    ------
    InputError
        If one is no time.
    """
    none = np.full(len(table), np.nan)
    found = {
        name: seconds(table, name, where, record) if name in table else none for name in MEASURED
    }
    if "seconds" in table:
        whole = seconds(table, "seconds", where, record)
        summed = np.nansum([found[name] for name in MEASURED], axis=0)
        if np.any(summed > whole * (1 + 1e-6) + 1e-9):
            raise InputError(f"a '{record}' record whose parts take longer than it", where=where)
    return found
