"""What a history keeps of each run, so that a later call reads only new runs.

Nights on the same hosts are split into effects together, at most `JOINT_NIGHTS` of them. The values
of a night are never computed again.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from isochrone.base.table import grouped
from isochrone.changes.comparability import Setting, setting_of
from isochrone.changes.effects import quantities
from isochrone.changes.thresholds import JOINT_NIGHTS
from isochrone.runfile.rules import why_incomparable
from isochrone.runfile.run import Run

DRAWN = ("level", "node", "inside", "curve", "point")
"""Kinds of quantities that a history shows."""

Read = Callable[[str], Run]
"""Reads the run of a night, by its file."""


class Value(NamedTuple):
    """A quantity of one night.

    Attributes
    ----------
    kind, who, nbytes
        As of `effects.Quantity`.
    host
        Of a node; else empty.
    seconds
        Median.
    shift
        Of a node the logarithm of its round trips over those of the other nodes; else that of
        ``seconds``.
    """

    kind: str
    who: str
    nbytes: int | None
    host: str
    seconds: float
    shift: float


class Night(msgspec.Struct):
    """What is kept of a run.

    Attributes
    ----------
    file, started, experiment, ranks, origin, setting
        As of the run.
    left_out
        Why it is in no history; empty if it is in one.
    stamp
        Size and time of the last change of its file.
    values
        Filled in by `fill`.
    notes
        What of it was left out.
    """

    file: str
    started: str
    experiment: str
    ranks: int
    origin: str
    setting: Setting
    left_out: str
    stamp: tuple[int, int] = (0, 0)
    values: list[Value] | None = None
    notes: list[str] = []


def night_of(run: Run, file: str, stamp: tuple[int, int] = (0, 0)) -> Night:
    """Return what is kept of a run, without its values."""
    about = run.about
    why = why_incomparable(run)
    return Night(
        file, about.started, about.experiment, run.size, run.origin, setting_of(run), why, stamp
    )


def nights_of(runs: Sequence[Run]) -> tuple[list[Night], Read]:
    """Return what is kept of runs in memory."""
    files = {run.where or f"run {k}": run for k, run in enumerate(runs, start=1)}
    return [night_of(run, file) for file, run in files.items()], files.__getitem__


def fill(nights: Iterable[Night], read: Read) -> None:
    """Fill in the values of comparable nights, the oldest first, that have none.

    Raises
    ------
    InputError
        If a run cannot be read, holds no times, or they have too little in common.
    """
    alike = grouped(
        ((night.setting["hosts"], night.setting.get("option bytes")), night) for night in nights
    )
    for same in alike.values():
        while missing := [k for k, night in enumerate(same) if night.values is None]:
            last = max(missing[-1] + 1, JOINT_NIGHTS)
            _fill(same[max(0, last - JOINT_NIGHTS) : last], read)


def _fill(nights: Sequence[Night], read: Read) -> None:
    runs = [read(night.file) for night in nights]
    measured = quantities(runs, len(runs))
    items = [(k, quantity) for k, quantity in enumerate(measured.items) if quantity.kind in DRAWN]
    for night, shifts, seconds in zip(nights, measured.shifts, measured.seconds, strict=True):
        if night.values is None:
            night.notes = measured.notes
            night.values = [
                Value(
                    quantity.kind,
                    quantity.who,
                    quantity.nbytes,
                    quantity.hosts[0] if quantity.kind == "node" else "",
                    float(seconds[k]),
                    float(shifts[k] if quantity.kind in ("node", "inside") else np.log(seconds[k])),
                )
                for k, quantity in items
                if not np.isnan(seconds[k])
            ]
