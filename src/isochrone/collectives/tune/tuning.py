"""Choose the fastest algorithm for each operation, number of ranks and size.

At each size that was measured a candidate is taken if the interval of its gain is above the minimum
gain (`isochrone.collectives.tune.times`). A grid must be faster than the best measured library
algorithm, default or named. Sizes that follow each other and have the same choice become one range.
It ends at the geometric mean with the next size, or, beyond what was measured, at the size itself.
"""

import math
from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Literal, NamedTuple

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.table import grouped
from isochrone.collectives.grid_collectives import LIBRARY, OPERATIONS, Grid, all_grids
from isochrone.collectives.predicted_grids import GridTime, Machine, predict
from isochrone.collectives.tune.times import (
    DEFAULT,
    FEWEST_LAUNCHES,
    Choice,
    Gain,
    Place,
    Times,
    TuningTimes,
    gain,
    median_of,
)
from isochrone.collectives.tuning_file import LibraryRule
from isochrone.collectives.tuning_table import Rule
from isochrone.models import Model

FARTHEST = 16
"""No rule spans two measured sizes with a larger ratio than this."""

Kind = Literal["grid", "algorithm"]


class Names(NamedTuple):
    """Chosen algorithm and its reference."""

    choice: str
    against: str


class Saving(NamedTuple):
    """The choice at a measured size.

    Attributes
    ----------
    place, bytes
        Operation, ranks and nodes; block.
    choice
        The chosen algorithm.
    against
        The best library algorithm, the reference.
    gain
        Fraction of its time that is saved.
    algorithms
        How many algorithms of the library, beside its default, a grid was compared with.
    """

    place: Inline[Place]
    bytes: int
    choice: Hidden[Choice]
    against: Hidden[Choice]
    gain: Inline[Gain]
    algorithms: int = 0

    @property
    @shown
    def names(self) -> Inline[Names]:
        """Both choices, for a document."""
        return Names(self.choice.name, str(self.against))


def savings(times: TuningTimes, kind: Kind, min_gain: float) -> list[Saving]:
    """Choose at each measured size; sizes without a gain are omitted.

    Parameters
    ----------
    times
        What was measured.
    kind
        What there is to choose from beside the library: grids, or its own algorithms.
    min_gain
        Smallest gain that is wanted, a part of the time.
    """
    chosen = []
    for op_place, sizes in sorted(times.times.items()):
        previous = DEFAULT
        for size, choices in sorted(sizes.items()):
            gained = _gained(choices, kind, min_gain, exact=times.exact)
            if kind == "grid" and op_place.op not in OPERATIONS:
                gained = {}
            if not gained:
                previous = DEFAULT
                continue
            best = min(gained, key=lambda choice: gained[choice][1].chosen)
            # a neighbour's choice that is as good saves a boundary that would be chance
            if previous in gained:
                others = gained[previous][1].chosen <= gained[best][1].chosen * (1 + min_gain)
                best = previous if others else best
            previous = best
            algorithm_count = (
                sum(choice.kind == "algorithm" for choice in choices) if kind == "grid" else 0
            )
            chosen.append(Saving(op_place, size, best, *gained[best], algorithm_count))
    return chosen


def grid_rules(selected: Sequence[Saving], sizes: Mapping[Place, Sequence[int]]) -> list[Rule]:
    """Join what was chosen into rules of a tuning table.

    ``selected`` are grids, and ``sizes`` are all that are known of a place, chosen or not.
    """
    return [
        Rule(
            op_place.op,
            op_place.ranks,
            (low, high),
            joined[0].choice.name,
            [(saving.bytes, saving.gain.library, saving.gain.chosen) for saving in joined],
            op_place.nodes,
        )
        for op_place, low, high, joined in _joined(selected, sizes)
    ]


def algorithm_rules(
    selected: Sequence[Saving], sizes: Mapping[Place, Sequence[int]]
) -> list[LibraryRule]:
    """Join what was chosen into rules of the library's own file; likewise of algorithms."""
    return [
        LibraryRule(
            op_place.op, op_place.ranks, (low, high), joined[0].choice.name, joined[-1].bytes
        )
        for op_place, low, high, joined in _joined(selected, sizes)
    ]


def ranges(sizes: Sequence[int], chosen: Sequence[object]) -> list[tuple[int, int, list[int]]]:
    """Join sizes with the same choice into ranges of bytes.

    Parameters
    ----------
    sizes
        That were measured, ascending.
    chosen
        The choice at each; None: the library.

    Returns
    -------
    list of (low, high, indices)
        Both ends within.
    """
    joined: list[tuple[int, int, list[int]]] = []
    for k, size in enumerate(sizes):
        if chosen[k] is None:
            continue
        low, high = _reach(sizes, k - 1, size)[0], _reach(sizes, k + 1, size)[1]
        joins = joined and joined[-1][2][-1] == k - 1 and chosen[k - 1] == chosen[k]
        if joins and low == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], high, [*joined[-1][2], k])
        else:
            joined.append((low, high, [k]))
    return joined


def cautions(
    times: TuningTimes, selected: Sequence[Saving], kind: Kind, min_gain: float
) -> list[str]:
    """Say how far the choices can be trusted, one sentence each; arguments as of `savings`."""
    sentences = list(times.warnings)
    better = savings(times, "algorithm", min_gain) if kind == "grid" else []
    if better:
        ops = sorted({saving.place.op for saving in better})
        sentences.append(
            f"algorithms of the library save more than its default for {', '.join(ops)}: grids are "
            "compared with them; a file of the library chooses them (--to)"
        )
    uncompared = sorted(
        {saving.place.op for saving in selected if kind == "grid" and not saving.algorithms}
    )
    if uncompared:
        sentences.append(
            f"compared with the default only: {', '.join(uncompared)}. An algorithm that the "
            "library "
            "has may be faster than both: measure those, too (measure collective --algorithm)"
        )
    launches = {
        (choice.kind, min(len(launched), len(choices.get(DEFAULT, {}))))
        for sizes in times.times.values()
        for choices in sizes.values()
        for choice, launched in choices.items()
    }
    if times.exact:
        return sentences
    if any(not saving.gain.launches for saving in selected):
        sentences.append(
            "the intervals are of these launches; another launch may differ by more: measure "
            f"--launches {FEWEST_LAUNCHES} or more"
        )
    if any(
        launch_count < FEWEST_LAUNCHES for kind, launch_count in launches if kind == "algorithm"
    ):
        sentences.append(
            f"algorithms of the library that were launched fewer than {FEWEST_LAUNCHES} times, or "
            "whose default was, are not chosen"
        )
    return sentences


def _gained(
    choices: dict[Choice, Times], kind: Kind, min_gain: float, *, exact: bool
) -> dict[Choice, tuple[Choice, Gain]]:
    """Return the candidates that are faster than all that is known of the library."""
    candidates = [choice for choice in choices if choice.kind == kind]
    references = (
        [choice for choice in choices if choice.kind != "grid"] if kind == "grid" else [DEFAULT]
    )
    if DEFAULT not in choices:
        return {}
    gained = {}
    for choice in candidates:
        gains = {
            reference: gain(
                choices[reference],
                choices[choice],
                candidates=len(candidates),
                exact=exact,
                by_passes=reference.kind == "algorithm",
            )
            for reference in references
        }
        if min(candidate_gain.low for candidate_gain in gains.values()) > min_gain:
            best = min(references, key=lambda reference: median_of(choices[reference]))
            gained[choice] = (best, gains[best])
    return gained


def _joined(
    selected: Sequence[Saving], measured_sizes: Mapping[Place, Sequence[int]]
) -> list[tuple[Place, int, int, list[Saving]]]:
    """Return the ranges of all places."""
    joined = []
    for op_place, op_savings in grouped((saving.place, saving) for saving in selected).items():
        by_size = {saving.bytes: saving for saving in op_savings}
        sizes = sorted(measured_sizes[op_place])
        chosen = [by_size[size].choice if size in by_size else None for size in sizes]
        for low, high, indices in ranges(sizes, chosen):
            joined.append((op_place, low, high, [by_size[sizes[k]] for k in indices]))
    return joined


def _reach(sizes: Sequence[int], neighbour: int, size: int) -> tuple[int, int]:
    """Return where a range that ``size`` is in begins after, or ends before, another size."""
    if not 0 <= neighbour < len(sizes):
        return size, size
    low, high = sorted((sizes[neighbour], size))
    if high > FARTHEST * max(low, 1):
        return size, size
    middle = isqrt(low * high)
    return middle + 1, middle


# --- by a model ----------------------------------------------------------------------------------

# Choose grids by a model for unmeasured cases, where its intervals are conclusive.


def modelled_savings(
    model: Model, op: str, ranks: int, sizes: Sequence[int], machine: Machine, min_gain: float
) -> list[Saving]:
    """Choose at each size the grid that saves most, if even its slow end saves enough.

    The gain then lies between what the upper end of the grid leaves of the lower end of the
    library, and the other way round. Without intervals of the model, nothing is chosen.

    Parameters
    ----------
    model
        Of collectives.
    op, ranks, sizes, machine
        The request; ``machine`` has the nodes.
    min_gain
        Minimum gain, as a fraction of the time.

    Raises
    ------
    InputError
        If the model lacks the operation.
    """
    grids = [None, *all_grids(ranks)]
    if 1 < machine.ppn < ranks:
        grids.append(Grid.parse("nodes"))
    times = predict(model, op, ranks, grids, sizes, machine)
    op_place = Place(op, ranks, machine.nodes)
    modelled = []
    for size in sizes:
        candidates = [grid_time for grid_time in times if grid_time.bytes == size]
        library = next(grid_time for grid_time in candidates if grid_time.grid == LIBRARY)
        gains = {
            grid_time.grid: _gain(library, grid_time)
            for grid_time in candidates
            if grid_time.grid != LIBRARY
        }
        sure = {grid: gain for grid, gain in gains.items() if gain.low > min_gain}  # false for NaN
        if sure:
            best = min(sure, key=lambda grid: sure[grid].chosen)
            modelled.append(Saving(op_place, size, Choice("grid", best), DEFAULT, sure[best]))
    return modelled


def _gain(library: GridTime, grid: GridTime) -> Gain:
    ends = (
        (grid.high / library.low, grid.low / library.high) if library.low > 0 else (math.nan,) * 2
    )
    return Gain(library.seconds, grid.seconds, 1 - ends[0], 1 - ends[1], 0)
