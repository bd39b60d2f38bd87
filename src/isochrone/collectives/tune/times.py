"""Times of collective operations: of the library, of its algorithms and of grids.

They come from runs of ``measure collective``, with or without ``--grid`` and ``--algorithm``. A
launch with forced algorithms counts only for the forced operations: not for the library's default,
and not for grids, whose phases would use these algorithms, too.
"""

from collections.abc import Mapping, Sequence
from math import exp, inf, log
from typing import Annotated, Literal, NamedTuple

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.documents import Hidden, MaybeNan, shown
from isochrone.base.errors import InputError
from isochrone.base.inference import FALSE_CHANGE_RATE, contrast, means, median_interval
from isochrone.base.record import Record
from isochrone.base.stats import medians_by
from isochrone.collectives.grid_collectives import LIBRARY
from isochrone.collectives.results.grid_collectives import algorithm
from isochrone.collectives.tuning_table import mpi_name
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run
from isochrone.runfile.samples import passes_of
from isochrone.runfile.samples import points as by_point
from isochrone.sweep.curves import samples

_SELECTOR = "selector"
"""SimGrid's selector that corresponds to a library's default."""


class Choice(NamedTuple):
    """One algorithm: the library's default, one of its named algorithms, or a grid."""

    kind: Literal["default", "algorithm", "grid"]
    name: str

    def __str__(self) -> str:
        return LIBRARY if self.kind == "default" else self.name


DEFAULT = Choice("default", "")


class Place(NamedTuple):
    """Scope of a choice: operation, ranks and nodes."""

    op: str
    ranks: int
    nodes: int


Times = dict[int, dict[int, float]]
"""Median seconds by launch and pass."""


class TuningTimes(Record):
    """What was measured.

    Attributes
    ----------
    mpi
        Name and version of the library.
    origin
        ``measured``, ``simulated`` …
    times
        By place, block in bytes, and choice.
    warnings
        What was left out, one sentence each.
    """

    mpi: str
    origin: str
    times: dict[Place, dict[int, dict[Choice, Times]]]
    warnings: list[str]

    @property
    def sizes(self) -> dict[Place, list[int]]:
        """Blocks that were measured, by place."""
        return {op_place: sorted(sizes) for op_place, sizes in self.times.items()}

    @property
    def exact(self) -> bool:
        """Whether the times are deterministic."""
        return self.origin == "simulated"


def read_times(runs: Sequence[Run]) -> TuningTimes:
    """Take the times of all runs together; each run is a launch.

    Raises
    ------
    InputError
        If a run is no sweep of collectives, if they are of different MPI libraries, selectors,
        placements of ranks, or partly simulated.
    """
    _check_alike(runs)
    times: dict[Place, dict[int, dict[Choice, Times]]] = {}
    for launch, run in enumerate(runs):
        for op_place, size, choice, passes in _of_run(run):
            choices = times.setdefault(op_place, {}).setdefault(size, {})
            choices.setdefault(choice, {})[launch] = passes
    if not times:
        raise InputError("the runs contain no operation with a message size", where=runs[0].where)
    origin = together(run.origin for run in runs)
    partial = [f"{run.where} is incomplete" for run in runs if not run.complete]
    return TuningTimes(_library(runs[0]), origin, times, partial)


def _library(run: Run) -> str:
    return mpi_name(run.library.library)


def _check_alike(runs: Sequence[Run]) -> None:
    first = runs[0]
    placed: dict[int, tuple[int, ...]] = {}
    for run in runs:
        if run.kind != "sweep" or not {"op", "p"} <= set(run.by):
            raise InputError("the run is not of 'measure collective'", where=run.where)
        if _library(run) != _library(first):
            raise InputError(
                f"the run is of {_library(run)}, {first.where or 'another one'} of "
                f"{_library(first)}",
                where=run.where,
                hint="tune each MPI library separately",
            )
        if algorithm(run).get(_SELECTOR) != algorithm(first).get(_SELECTOR):
            raise InputError(
                "the run has another algorithm selector than the first run", where=run.where
            )
        if (run.origin == "simulated") != (first.origin == "simulated"):
            raise InputError("simulated and measured runs cannot be combined", where=run.where)
        layout = tuple(rank.node for rank in run.ranks)
        if placed.setdefault(run.size, layout) != layout:
            raise InputError(
                f"the {run.size} ranks are placed differently than in another run",
                where=run.where,
            )


def _of_run(run: Run) -> list[tuple[Place, int, Choice, dict[int, float]]]:
    """Return the medians of the passes of each whole operation."""
    table = samples(run)
    forced = {op: name for op, name in algorithm(run).items() if op != _SELECTOR}
    nodes = [rank.node for rank in sorted(run.ranks, key=lambda rank: rank.rank)]
    names = [name for name in ("op", "p", "grid", "phase", "bytes") if name in table]
    measured = []
    for key, rows in by_point(table, names, run.where).items():
        of = dict(key)
        choice = _choice(of["op"], of.get("grid") or LIBRARY, forced)
        if of["op"] == "barrier" or of.get("phase") not in (None, "total") or choice is None:
            continue
        op_place = Place(of["op"], int(of["p"]), len(set(nodes[: int(of["p"])])) or 1)
        passes = passes_of(table, rows)
        turns, middles = medians_by(
            rows if passes is None else passes.astype(np.int64), table["seconds"][rows]
        )
        medians = dict(zip(turns.tolist(), middles.tolist(), strict=True))
        measured.append((op_place, int(of["bytes"]), choice, medians))
    return measured


def _choice(op: str, grid: str, forced: Mapping[str, str]) -> Choice | None:
    """Return the algorithm of a sample; None if it is not usable for a choice."""
    if not forced:
        return DEFAULT if grid == LIBRARY else Choice("grid", grid)
    if grid == LIBRARY and op in forced:
        return Choice("algorithm", forced[op])
    return None


# --- gains ---------------------------------------------------------------------------------------

# Relative gain of one algorithm over another, with its confidence interval.
#
# The gain is 1 − chosen / library. Its interval is of the logarithm x of library / chosen:
#
# * three or more launches that measured both: of each launch one x, from its medians, and Student's
#   interval of their mean (1908, *The probable error of a mean*, Biometrika 6): differences between
#   launches that affect both cancel;
# * fewer: of each pass, in which both were measured in turn, one x, and the order statistics that
#   enclose their median, whatever the distribution (`isochrone.base.inference.median_interval`). It
#   holds for these launches; others may differ by more;
# * launches that measured one each: the interval of `isochrone.base.inference.contrast`, from three
#   of each on; of fewer launches that of their passes, but only to exclude a candidate, never to
#   choose one.
#
# Choosing the fastest of k candidates by the same data is biased. Each interval then has the
# confidence 1 − 0.05 / k (Bonferroni), so that at most one in twenty choices between equals is
# wrong, at each size.

FEWEST_LAUNCHES = 3


class Gain(Record):
    """Part of the library's time that is saved.

    Attributes
    ----------
    library, chosen
        Medians, seconds.
    low, high
        Interval of the gain; -inf and 1 where too little was measured to have one.
    launches
        Of those it rests on; 0: it rests on passes.
    """

    library: float
    chosen: float
    low: MaybeNan
    high: MaybeNan
    launches: Hidden[int]

    @property
    @shown
    def part(self) -> Annotated[float, "as gain"]:
        """The gain."""
        return 1 - self.chosen / self.library


def median_of(times: Times) -> float:
    """Return the median over the launches of their medians over the passes."""
    return float(np.median([_of_launch(passes) for passes in times.values()]))


def gain(
    library: Times,
    chosen: Times,
    *,
    candidates: int = 1,
    exact: bool = False,
    by_passes: bool = False,
) -> Gain:
    """Compare two algorithms of an operation.

    Parameters
    ----------
    library, chosen
        Their times.
    candidates
        How many there were to choose from.
    exact
        Whether the times are deterministic, as in a simulation.
    by_passes
        Whether launches of one each may be compared by their passes, where they are few.
    """
    shared = sorted(library.keys() & chosen.keys())
    library_times, chosen_times = (
        times if not shared else {k: times[k] for k in shared} for times in (library, chosen)
    )
    library_median, chosen_median = median_of(library_times), median_of(chosen_times)
    rate = FALSE_CHANGE_RATE / candidates
    launches = 0
    low, high = -inf, inf
    if exact:
        low = high = log(library_median / chosen_median)
    elif len(shared) >= FEWEST_LAUNCHES:
        launches = len(shared)
        low, high = map(
            float, means(_launches(library_times) - _launches(chosen_times)).interval(rate)
        )
    elif shared:
        ratios = _passes(library_times, chosen_times)
        if 2.0 ** (1 - len(ratios)) <= rate:  # all may be on one side of the median
            low, high = median_interval(ratios, 1 - rate)
    else:
        launches = min(len(library), len(chosen))
        sides = _launches(chosen), _launches(library)
        if launches < FEWEST_LAUNCHES and by_passes:
            launches, sides = 0, (_all_passes(chosen), _all_passes(library))
        if min(map(len, sides)) >= FEWEST_LAUNCHES:  # or passes
            difference = contrast(sides[0][:, None], sides[1][:, None], rate)
            low, high = float(difference.low[0]), float(difference.high[0])
    return Gain(library_median, chosen_median, 1 - exp(-low), 1 - exp(-high), launches)


def _of_launch(passes: Mapping[int, float]) -> float:
    return float(np.median(list(passes.values())))


def _launches(times: Times) -> Floats:
    return np.log([_of_launch(times[launch]) for launch in sorted(times)])


def _all_passes(times: Times) -> Floats:
    return np.log([seconds for passes in times.values() for seconds in passes.values()])


def _passes(library: Times, chosen: Times) -> Floats:
    """Return the logarithm of the ratio of each pass that measured both."""
    log_ratios = [
        log(library[launch][turn] / chosen[launch][turn])
        for launch in library
        for turn in library[launch].keys() & chosen[launch].keys()
    ]
    return np.array(log_ratios)
