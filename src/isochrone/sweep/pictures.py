"""The figures of sweeps that a report shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from isochrone.pages.page import Picture
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve

__all__ = ["experiments", "pictures_of"]

MAX_LINES: Final = 24
"""Lines in one picture; of more, nobody can follow one."""

VIEWS: Final = {
    "time": (
        "Time by message size",
        "Flat parts show the latency, slopes the cost per byte. Error bars, if any, are the 95 % "
        "intervals of the medians, within this run; where it is shaded, the protocol changes.",
    ),
    "bandwidth": (
        "Bandwidth by message size",
        "Bytes per second, approaching the peak of the machine.",
    ),
    "distribution": (
        "How the repetitions are spread",
        "The part of the repetitions that took at most so long, of the shortest and the longest "
        "message. A long tail to the right is what disturbs now and then.",
    ),
    "ranks": (
        "Time by number of ranks",
        "How the time grows with the number of ranks, at a few message sizes.",
    ),
}
"""The figures of sweeps, each with its title and how it is read."""


def pictures_of(runs: Sequence[Run], drawn: Sequence[Curve]) -> list[Picture]:
    """Name the figures that have something to show."""
    if len(drawn) > MAX_LINES * (1 if len(runs) > 1 else 2):
        return []
    wanted = []
    if any(len(curve.points) > 1 for curve in drawn) or len(runs) > 1:
        wanted.append("time")
        if any(point.bandwidth for curve in drawn for point in curve.points):
            wanted.append("bandwidth")
    if len({curve.p for curve in drawn if curve.of_ranks}) > 1:
        wanted.append("ranks")
    if any(point.p95 is not None for curve in drawn for point in curve.points):
        wanted.append("distribution")
    of = f"{len(runs)} runs" if len(runs) > 1 else f"{runs[0].size} ranks"
    return [
        Picture(view, *VIEWS[view], tuple(runs),
                alt=f"{VIEWS[view][0]}: {experiments(runs)}, {of}, view {view}.")
        for view in wanted
    ]  # fmt: skip


def experiments(runs: Sequence[Run]) -> str:
    """Name the experiments of some runs, each once."""
    return " and ".join(dict.fromkeys(run.experiment.replace("-", " ") for run in runs))
