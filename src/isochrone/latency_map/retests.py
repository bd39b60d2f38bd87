"""Which pairs to measure again, alone, before anything of a map is called slow.

Of each part that would be named, a sample of its pairs with different partners; and healthy pairs
of the same levels, which show what measuring alone does to a pair that is not slow.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, islice

import numpy as np

from isochrone.base.arrays import Bools
from isochrone.base.record import Record
from isochrone.latency_map.pairs import RankPairs, nodes_of
from isochrone.latency_map.partitions import Partition
from isochrone.latency_map.topology import Topology
from isochrone.runfile.run import Run

SAMPLE = 8
"""Pairs of one part that are measured again: their median is no accident."""

MAX_SUSPECTED = 64
"""Pairs that are measured again at once; of more, those of the worst parts."""

MAX_FURTHER = 1000
"""Pairs that ``--sample auto`` adds at once, where levels or costs of nodes are not known."""

MAX_CONTROLS = 8
"""Healthy pairs measured with them, at most as many as there are suspects."""

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
        further = min(analysis.lacking(threshold), MAX_FURTHER)
    if not (open_parts or analysis.doubtful or further):
        return Retests()
    pairs = analysis.pairs
    level = analysis.level_of(pairs.i, pairs.j)
    dice = np.random.default_rng(len(level) + np.count_nonzero(pairs.retested))

    def drawn(mask: Bools, count: int) -> list[Pair]:
        """Draw pairs of a mask that were not measured again."""
        chosen = dice.permutation(np.flatnonzero(mask & ~pairs.retested))[:count]
        return list(zip(pairs.i[chosen].tolist(), pairs.j[chosen].tolist(), strict=True))

    # whether nodes are slow or share a slow way shows the time between them
    alike = {
        *analysis.doubtful,
        *(component.ranks[0] for component in analysis.slow if component.of.unit),
    }
    between = (pair for pair in combinations(sorted(alike), 2) if {*pair} & {*analysis.doubtful})
    wanted = dict.fromkeys(_unmet(pairs, between))
    for component in open_parts:
        ends = np.isin(pairs.i, component.ranks).astype(int) + np.isin(pairs.j, component.ranks)
        concerned = {"either": ends > 0, "both": ends == 2, "one": ends == 1}
        on_level = concerned[component.of.concerns] & (level == component.level)
        wanted |= dict.fromkeys(drawn(on_level, SAMPLE))
    suspected = list(wanted)[:MAX_SUSPECTED]
    slow = [rank for component in analysis.slow for rank in component.ranks]
    healthy = ~np.isin(pairs.i, slow) & ~np.isin(pairs.j, slow)
    healthy &= np.isin(level, [component.level for component in analysis.slow])
    controls = drawn(healthy, min(len(suspected), MAX_CONTROLS))
    suspected += islice(_unmet(pairs, _of_nodes(nodes_of(run.hosts), dice, further)), further)
    return Retests(tuple(dict.fromkeys(suspected)), tuple(controls))


def _unmet(pairs: RankPairs, candidates: Iterable[Pair]) -> Iterator[Pair]:
    """Yield those of some pairs i < j that were not measured."""
    measured = pairs.i.astype(np.int64) * pairs.ranks + pairs.j  # ascending
    for i, j in candidates:
        code = i * pairs.ranks + j
        at = np.searchsorted(measured, code)
        if at == len(measured) or measured[at] != code:
            yield i, j


def _of_nodes(node: Partition, dice: np.random.Generator, rounds: int) -> Iterator[Pair]:
    """Yield random pairs of ranks on two nodes; in each round each node has one, or all but one."""
    for _ in range(rounds if node.any() else 0):
        ranks = dice.permutation(len(node))
        ranks = dice.permutation(ranks[np.unique(node[ranks], return_index=True)[1]])
        for i, j in zip(ranks[::2].tolist(), ranks[1::2].tolist(), strict=False):
            yield min(i, j), max(i, j)
