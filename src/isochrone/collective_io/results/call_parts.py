"""Where the time of a collective access to a file goes: its parts, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from isochrone.base.errors import InputError

__all__ = ["MEASURED", "NAMES", "Parts", "parts_of"]

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


def parts_of(record: Mapping[str, Any], where: str) -> Parts:
    """Return the parts of a call, as far as its record has them.

    Raises
    ------
    InputError
        If they take longer than the call.
    """
    known = {name: float(record[name]) for name in MEASURED if name in record}
    rest = record["seconds"] - sum(known.values())
    if rest < -1e-6 * record["seconds"] - 1e-9:
        raise InputError("a 'call' record whose parts take longer than it", where=where)
    return Parts(**known, rest=max(0.0, rest)) if known else Parts()
