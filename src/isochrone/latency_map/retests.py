"""Which pairs to measure again, alone, before anything of a map is called slow.

Of each part that would be named, a sample of its pairs with different partners; and healthy pairs
of the same levels, which show what measuring alone does to a pair that is not slow.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from isochrone.base.arrays import Ints
from isochrone.base.record import Record
from isochrone.base.stats import distinct
from isochrone.latency_map.pairs import nodes_of
from isochrone.latency_map.thresholds import HEALTHY_CANDIDATES, MAX_FURTHER, MAX_SUSPECTED, SAMPLE
from isochrone.latency_map.topology import Slow, Topology
from isochrone.runfile.run import Run

Pair = tuple[int, int]


class Retests(Record):
    """Pairs of ranks i < j, none of them twice, none that was measured again before."""

    suspected: tuple[Pair, ...] = ()
    controls: tuple[Pair, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """All of them, the controls spread among the suspects: the machine may change meanwhile."""
        step = max(1, len(self.suspected) // max(1, len(self.controls)))
        mixed = list(self.suspected)
        for k, pair in enumerate(self.controls):
            mixed.insert(k * (step + 1), pair)
        return mixed


def to_measure_again(run: Run, analysis: Topology) -> Retests:
    """Choose the pairs to measure again before the slow parts of a map are named.

    Parameters
    ----------
    run
        The latency map.
    analysis
        Its reading; parts that were measured again already are left alone.

    Returns
    -------
    Retests
        Nothing if nothing would be named, or there is no pair left to measure again.
    """
    open_parts = [component for component in analysis.slow if not component.retested]
    further = 0
    if run.options.get("sample") == "auto":
        precision = run.options.get("precision")
        threshold = precision if isinstance(precision, float) and precision > 0 else analysis.least
        further = analysis.lacking(threshold)
    if not (open_parts or analysis.doubtful or further):
        return Retests()
    measured = _Known(run, analysis)
    # whether nodes are slow or share a slow way shows the time between them
    alike = {
        *analysis.doubtful,
        *(component.ranks[0] for component in analysis.slow if component.of.unit),
    }
    chosen: dict[Pair, None] = dict.fromkeys(
        (i, j)
        for i, j in combinations(sorted(alike), 2)
        if {i, j} & {*analysis.doubtful} and not measured.seen(i, j)
    )
    for component in open_parts:
        chosen |= dict.fromkeys(list(_sample(component, measured, chosen))[:SAMPLE])
    suspected = list(chosen)[:MAX_SUSPECTED]
    controls = tuple(_controls(analysis, measured, suspected))
    pairs = dict.fromkeys([*suspected, *measured.unmet(min(further, MAX_FURTHER))])
    return Retests(tuple(pairs), controls)


class _Known:
    """What a run knows of its pairs: which were measured, which again, and on which level."""

    def __init__(self, run: Run, analysis: Topology) -> None:
        table = run.pairs()
        of_size = table["bytes"] == analysis.nbytes
        code = table["i"].astype(np.int64) * run.size + table["j"]
        again = table.flag("retest")
        self.size, self.hosts = run.size, run.hosts
        self.measured = distinct(code[of_size & ~again])
        self.again = distinct(code[again])
        self.levels, self.level_of = len(analysis.levels), analysis.level_of

    def seen(self, i: int, j: int) -> bool:
        """Whether a pair i < j was measured, or measured again."""
        return bool(np.isin(i * self.size + j, np.concatenate([self.measured, self.again])))

    def unmet(self, count: int) -> list[Pair]:
        """Draw about so many pairs that were not measured, with each node about as often."""
        node = nodes_of(self.hosts)
        dice = np.random.default_rng(len(self.measured) + len(self.again))
        drawn: dict[Pair, None] = {}
        for _ in range(count if node.any() else 0):
            ranks = dice.permutation(self.size)
            ranks = dice.permutation(ranks[np.unique(node[ranks], return_index=True)[1]])
            for i, j in zip(ranks[::2].tolist(), ranks[1::2].tolist(), strict=False):
                if not self.seen(min(i, j), max(i, j)):
                    drawn[min(i, j), max(i, j)] = None
            if len(drawn) >= count:
                break
        return list(drawn)[:count]

    def partners(self, rank: int, others: Ints) -> Ints:
        """Return those of ``others`` whose pair with ``rank`` may be measured again."""
        others = others[others != rank]
        low, high = np.minimum(others, rank), np.maximum(others, rank)
        code = low * self.size + high
        usable = np.isin(code, self.measured) & ~np.isin(code, self.again)
        return np.asarray(others[usable])

    def on_level(self, rank: int, others: Ints, level: int) -> Ints:
        """Return those of ``others`` that are as far from ``rank`` as a level says."""
        if not 0 <= level < self.levels:
            return others
        return np.asarray(others[self.level_of(np.full(len(others), rank), others) == level])


def _sample(component: Slow, measured: _Known, chosen: dict[Pair, None]) -> Iterator[Pair]:
    """Yield pairs of a part with different partners, about as many as are wanted."""
    ranks = np.array(component.ranks, np.int64)
    if component.of.link:
        # of ranks, or of nodes: then each pair has an end on either
        first = measured.hosts[component.ranks[0]] if len(ranks) > 2 else ""
        left = (
            [r for r in component.ranks if measured.hosts[r] == first]
            if first
            else component.ranks[:1]
        )
        ends, others = np.array(left, np.int64), np.setdiff1d(ranks, left)
    else:
        ends, others = ranks, np.setdiff1d(np.arange(measured.size), ranks)
    wanted = max(1, -(-SAMPLE // len(ends)))
    met = False
    for inside in (False, True):
        for k, rank in enumerate(_spread(ends, SAMPLE).tolist()):
            partners = measured.partners(rank, ends if inside else others)
            same_level = measured.on_level(rank, partners, component.level)
            partners = (
                same_level if len(same_level) or inside or not component.of.link else partners
            )
            for partner in _spread(np.roll(partners, -k * wanted), wanted).tolist():
                pair = (min(rank, partner), max(rank, partner))
                met = True
                if pair not in chosen:
                    yield pair
        if met or component.of.link:
            return  # only a part without pairs to others on its level is slow inside


def _spread(values: Ints, count: int) -> Ints:
    """Return at most this many of the values, evenly, from the first on."""
    if len(values) <= count:
        return values
    return values[(np.arange(count) * len(values)) // count]


def _controls(analysis: Topology, measured: _Known, suspected: Sequence[Pair]) -> list[Pair]:
    """Draw healthy pairs of the levels of the suspects."""
    slow = {rank for component in analysis.slow for rank in component.ranks}
    healthy = np.array([rank for rank in range(measured.size) if rank not in slow], np.int64)
    levels = {component.level for component in analysis.slow}
    wanted = min(len(suspected), SAMPLE)
    if len(healthy) < 2 or not wanted:
        return []
    dice = np.random.default_rng(len(suspected))
    drawn: dict[Pair, None] = {}
    for _ in range(HEALTHY_CANDIDATES * wanted):
        i, j = sorted(dice.choice(healthy, 2, replace=False).tolist())
        partner = measured.partners(i, np.array([j]))
        if len(partner) and any(len(measured.on_level(i, partner, level)) for level in levels):
            drawn[i, j] = None
        if len(drawn) == wanted:
            break
    return list(drawn)
