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
from isochrone.latency_map.topology import Slow, Topology
from isochrone.runfile.run import Run

SAMPLE = 8
"""Pairs of one part that are measured again: their median is no accident."""

MAX_SUSPECTED = 64
"""Pairs that are measured again at once; of more, those of the worst parts."""

MAX_FURTHER = 1000
"""Pairs that ``--sample auto`` adds at once, where levels or costs of nodes are not known."""

MAX_CONTROLS = 8
"""Healthy pairs measured with them, at most as many as there are suspects."""

_TRIES = 64
"""Healthy pairs looked at for each that is wanted."""

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


def to_measure_again(run: Run, found: Topology) -> Retests:
    """Choose the pairs to measure again before the slow parts of a map are named.

    Parameters
    ----------
    run
        The latency map.
    found
        Its reading; parts that were measured again already are left alone.

    Returns
    -------
    Retests
        Nothing if nothing would be named, or there is no pair left to measure again.
    """
    open_parts = [part for part in found.slow if not part.retested]
    further = 0
    if run.options.get("sample") == "auto":
        precision = run.options.get("precision")
        least = precision if isinstance(precision, float) and precision > 0 else found.least
        further = found.lacking(least)
    if not (open_parts or found.doubtful or further):
        return Retests()
    known = _Known(run, found)
    # whether nodes are slow or share a slow way shows the time between them
    alike = {*found.doubtful, *(part.ranks[0] for part in found.slow if part.of.unit)}
    chosen: dict[Pair, None] = dict.fromkeys(
        (i, j)
        for i, j in combinations(sorted(alike), 2)
        if {i, j} & {*found.doubtful} and not known.seen(i, j)
    )
    for part in open_parts:
        chosen |= dict.fromkeys(list(_sample(part, known, chosen))[:SAMPLE])
    suspected = list(chosen)[:MAX_SUSPECTED]
    controls = tuple(_controls(found, known, suspected))
    more = dict.fromkeys([*suspected, *known.unmet(min(further, MAX_FURTHER))])
    return Retests(tuple(more), controls)


class _Known:
    """What a run knows of its pairs: which were measured, which again, and on which level."""

    def __init__(self, run: Run, found: Topology) -> None:
        table = run.pairs()
        of_size = table["bytes"] == found.nbytes
        code = table["i"].astype(np.int64) * run.size + table["j"]
        again = table.flag("retest")
        self.size, self.hosts = run.size, run.hosts
        self.measured = distinct(code[of_size & ~again])
        self.again = distinct(code[again])
        self.levels, self.level_of = len(found.levels), found.level_of

    def seen(self, i: int, j: int) -> bool:
        """Whether a pair i < j was measured, or measured again."""
        return bool(np.isin(i * self.size + j, np.concatenate([self.measured, self.again])))

    def unmet(self, count: int) -> list[Pair]:
        """Draw about so many pairs that were not measured, with each node about as often."""
        node = nodes_of(self.hosts)
        dice = np.random.default_rng(len(self.measured) + len(self.again))
        drawn: dict[Pair, None] = {}
        for _ in range(count if node.any() else 0):
            some = dice.permutation(self.size)
            some = dice.permutation(some[np.unique(node[some], return_index=True)[1]])
            for i, j in zip(some[::2].tolist(), some[1::2].tolist(), strict=False):
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


def _sample(part: Slow, known: _Known, taken: dict[Pair, None]) -> Iterator[Pair]:
    """Yield pairs of a part with different partners, about as many as are wanted."""
    ranks = np.array(part.ranks, np.int64)
    if part.of.link:
        # of ranks, or of nodes: then each pair has an end on either
        first = known.hosts[part.ranks[0]] if len(ranks) > 2 else ""
        left = [r for r in part.ranks if known.hosts[r] == first] if first else part.ranks[:1]
        ends, others = np.array(left, np.int64), np.setdiff1d(ranks, left)
    else:
        ends, others = ranks, np.setdiff1d(np.arange(known.size), ranks)
    wanted = max(1, -(-SAMPLE // len(ends)))
    found = False
    for inside in (False, True):
        for k, rank in enumerate(_spread(ends, SAMPLE).tolist()):
            partners = known.partners(rank, ends if inside else others)
            near = known.on_level(rank, partners, part.level)
            partners = near if len(near) or inside or not part.of.link else partners
            for partner in _spread(np.roll(partners, -k * wanted), wanted).tolist():
                pair = (min(rank, partner), max(rank, partner))
                found = True
                if pair not in taken:
                    yield pair
        if found or part.of.link:
            return  # only a part without pairs to others on its level is slow inside


def _spread(values: Ints, most: int) -> Ints:
    """Return at most this many of the values, evenly, from the first on."""
    if len(values) <= most:
        return values
    return values[(np.arange(most) * len(values)) // most]


def _controls(found: Topology, known: _Known, suspected: Sequence[Pair]) -> list[Pair]:
    """Draw healthy pairs of the levels of the suspects."""
    slow = {rank for part in found.slow for rank in part.ranks}
    healthy = np.array([rank for rank in range(known.size) if rank not in slow], np.int64)
    levels = {part.level for part in found.slow}
    wanted = min(len(suspected), MAX_CONTROLS)
    if len(healthy) < 2 or not wanted:
        return []
    dice = np.random.default_rng(len(suspected))
    drawn: dict[Pair, None] = {}
    for _ in range(_TRIES * wanted):
        i, j = sorted(dice.choice(healthy, 2, replace=False).tolist())
        other = known.partners(i, np.array([j]))
        if len(other) and any(len(known.on_level(i, other, level)) for level in levels):
            drawn[i, j] = None
        if len(drawn) == wanted:
            break
    return list(drawn)
