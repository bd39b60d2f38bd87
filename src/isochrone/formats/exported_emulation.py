"""Emulated applications as rows of a table: each iteration, and each rank of a launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from isochrone.applications.emulation.recorded import KIND, applications, launched, rank_times
from isochrone.applications.emulation.timing import others
from isochrone.base.errors import InputError
from isochrone.runfile.run import Run

__all__ = ["COLUMNS", "KIND", "rows"]

COLUMNS: Final = (
    "launch", "repeat", "app", "beside", "iteration", "rank", "seconds", "communication", "asked",
    "delivered", "origin",
)  # fmt: skip
"""A row has an ``iteration``, and is of the slowest rank, or a ``rank``, and is of all iterations.
``beside`` names the other applications of the launch, separated by blanks."""


def rows(run: Run) -> Iterator[tuple[object, ...]]:
    """Yield the rows; None where a row has no such value.

    Raises
    ------
    InputError
        If no application came to its end, or a record is damaged.
    """
    names = [app.name for app in applications(run)]
    found = launched(run)
    if not found:
        raise InputError("no application came to its end", where=run.where)
    about: dict[tuple[int, int], tuple[object, ...]] = {}
    for one in found:
        beside = " ".join(names[other] for other in others(one.app, one.together))
        about[one.launch, one.app] = (one.launch, one.repeat, names[one.app], beside)
        for iteration, seconds in enumerate(one.times.tolist()):
            key = about[one.launch, one.app]
            yield (*key, iteration, None, seconds, None, None, None, run.origin)
    for rank in rank_times(run):
        if (rank.launch, rank.app) in about:
            key = about[rank.launch, rank.app]
            times = (rank.seconds, rank.communication, rank.asked, rank.delivered)
            yield (*key, None, rank.rank, *times, run.origin)
