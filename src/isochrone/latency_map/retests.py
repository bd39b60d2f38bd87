"""Which pairs to measure again, alone, before anything is called slow; and which to measure next.

Of each part that would be named, a sample of its pairs with different partners; and healthy pairs
of the same levels, which show what measuring alone does to a pair that is not slow.

Where a few pairs do not show which nodes are slow: a slow pair has a slow end, or a slow link; a
node with a pair that is not slow is healthy. This decides about nodes whose slow pairs lead to
healthy nodes. Of the others, pairs with a healthy node would decide, as in group testing (Dorfman
1943, *The detection of defective members of large populations*). Slow pairs of healthy nodes are
another level, or a slow link: then nothing is said.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from isochrone.base.arrays import Bools, Ints
from isochrone.base.record import Record
from isochrone.base.stats import distinct
from isochrone.base.text import listed, printable
from isochrone.latency_map.pairs import Times, nodes_of
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

_HEALTHY_CANDIDATES = 64
"""Healthy pairs looked at for each that is wanted."""

MIN_KIND_RATIO = 1.5
"""Ratio between the slowest usual and the fastest slow pair from which these are two kinds."""

MIN_SUSPECT_PAIRS = 2
"""Slow pairs with healthy nodes that make a node a suspect; a single one may be a slow link."""

MOST = 1 / 3
"""Part of the nodes that may be slow; if more are, there are two kinds of nodes, or two levels."""

MAX_ADVISED_PAIRS = 6

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
    wanted = min(len(suspected), MAX_CONTROLS)
    if len(healthy) < 2 or not wanted:
        return []
    dice = np.random.default_rng(len(suspected))
    drawn: dict[Pair, None] = {}
    for _ in range(_HEALTHY_CANDIDATES * wanted):
        i, j = sorted(dice.choice(healthy, 2, replace=False).tolist())
        partner = measured.partners(i, np.array([j]))
        if len(partner) and any(len(measured.on_level(i, partner, level)) for level in levels):
            drawn[i, j] = None
        if len(drawn) == wanted:
            break
    return list(drawn)


class NextPairs(Record):
    """What a few pairs say, and which would say more.

    Attributes
    ----------
    suspects
        Nodes that are slow if links are not.
    pairs
        Pairs of nodes that decide about the others, if they are measured.
    """

    suspects: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]

    def in_words(self, names: Sequence[str]) -> str:
        """Say it with the names of the nodes."""
        clean = [printable(name, 40) for name in names]
        said = [
            f"{clean[k]} is suspect: its pairs with healthy nodes are slow"
            for k in self.suspects[:MAX_ADVISED_PAIRS]
        ]
        if self.pairs:
            wanted = [f"{clean[a]}–{clean[b]}" for a, b in self.pairs]
            said.append(f"to decide about the other slow pairs, measure {listed(wanted, 8)}")
        return "; ".join(said)


def next_pairs(times: Times) -> NextPairs | None:
    """Return what slow pairs of nodes say, if the pairs are of two kinds; else None."""
    slow = _slow(times)
    if slow is None:
        return None
    fast = np.bincount(np.concatenate([times.i[~slow], times.j[~slow]]), minlength=times.units)
    bad = np.bincount(np.concatenate([times.i[slow], times.j[slow]]), minlength=times.units)
    healthy = fast > 0
    if np.any(slow & healthy[times.i] & healthy[times.j]):
        return None
    witnesses = np.zeros(times.units, dtype=np.int64)  # slow pairs with a healthy node
    for one, other in ((times.i, times.j), (times.j, times.i)):
        witnesses += np.bincount(one[slow & healthy[other]], minlength=times.units)
    suspects = np.flatnonzero(~healthy & (witnesses >= MIN_SUSPECT_PAIRS))
    partner = int(np.lexsort((-fast, bad))[0])
    if not healthy[partner]:
        partner = int(np.argmax(fast))
    met = {*zip(times.i.tolist(), times.j.tolist(), strict=True)}
    wanted = []
    open_pairs = slow & ~np.isin(times.i, suspects) & ~np.isin(times.j, suspects)
    if len(suspects) + np.sum(open_pairs) > MOST * np.sum(fast + bad > 0):
        return None
    for i, j in zip(times.i[open_pairs].tolist(), times.j[open_pairs].tolist(), strict=True):
        wanted += [tuple(sorted((end, partner))) for end in (i, j) if not healthy[end]]
    pairs = tuple((a, b) for a, b in dict.fromkeys(wanted) if (a, b) not in met and a != b)
    return NextPairs(tuple(suspects.tolist()), pairs) if pairs or len(suspects) else None


def _slow(times: Times) -> Bools | None:
    """Mark slow pairs, if a gap wider than `MIN_KIND_RATIO`, and than each kind, divides all."""
    ordered = np.sort(times.seconds)
    gaps = ordered[1:] / ordered[:-1]
    if not len(gaps) or gaps.max() < MIN_KIND_RATIO:
        return None
    at = int(np.argmax(gaps))
    widest = max(ordered[at] / ordered[0], ordered[-1] / ordered[at + 1])
    return None if widest > gaps[at] else np.asarray(times.seconds > ordered[at])
