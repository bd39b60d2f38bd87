"""Core-to-core maps of healthy processors made up at random, with what times of real ones show.

Cores have siblings (SMT), share caches in clusters that each have their own time, sit on sockets,
along a ring or on a mesh, or are of two kinds. Within a level, times scatter by 3 to 15 %: by the
position of each core, and from pair to pair. That is no defect. No time is that of a real map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, blank, map_of

__all__ = [
    "DEFECTS",
    "FAMILIES",
    "Defect",
    "Grouping",
    "Processor",
    "ProcessorTruth",
    "deviations",
    "map_with_defect",
    "random_processor",
    "visible",
    "with_defect",
]

Defect = Literal["nothing", "rank", "pair"]
DEFECTS: tuple[Defect, ...] = ("nothing", "rank", "pair")
FACTORS = (1.0, 1.5, 2.0)
"""How many times as long a defect makes round trips: of no rank, of one, of the pair of two."""

APART = 1.1
"""Levels are visible whose medians differ at least by this factor."""

EXCEPTIONS = 0.2
"""At most this part of the pairs of either level is on the wrong side of the best threshold."""

HEAVIEST = 4.0
"""Pairs of a healthy processor are not more standard deviations off, even with heavy tails."""

PEERS = 3
"""With fewer others like it, it is not known how much a component is off."""

SMALL, MOST = 8, 128
"""Cores."""

Groups = NDArray[np.int64]
Grouping = frozenset[frozenset[int]]
Random = np.random.Generator


@dataclass(frozen=True)
class Processor:
    """A healthy processor.

    Attributes
    ----------
    times
        Round trip of each pair of cores in ns, without scatter.
    chain
        Group of each core on each level of the hardware, the closest first; nested.
    may
        Other groupings of its hardware.
    scatter
        Standard deviation of the logarithm of times within a level, beyond siblings.
    position
        Part of the variance of this scatter that is an effect of each core.
    freedom
        Degrees of freedom of Student's distribution of pairs; infinite for a normal one.
    """

    times: Matrix
    chain: tuple[Groups, ...]
    may: tuple[Groups, ...] = ()
    scatter: float = 0.05
    position: float = 0.5
    freedom: float = np.inf


@dataclass(frozen=True)
class ProcessorTruth:
    """What a perfect reading says.

    Attributes
    ----------
    visible
        The groups of each level that the times show.
    may
        Groupings of the hardware that the times hardly show; to find them is no error.
    defect
        The ranks of what is slow: none, one, or the two of a pair.
    deviations
        How many standard deviations of its healthy peers the defect adds; 0 with few peers.
    """

    visible: frozenset[Grouping]
    may: frozenset[Grouping]
    defect: frozenset[int] = frozenset()
    deviations: float = np.inf


# ---- families ----------------------------------------------------------------------------------


def _nested(random: Random) -> Processor:
    """Draw siblings, clusters of 2 to 16 cores that share a cache, dies, sockets: some of these."""
    choices = (
        [1, 2, 2],
        [1, 2, 3, 4, 6, 8, 12, 16],
        [1, 2, 3, 4, 6, 8],
        [1, 1, 2, 4],
        [1, 1, 2, 4],
    )
    while True:
        sizes = np.cumprod([random.choice(of) for of in choices])
        if 4 <= sizes[-1] <= MOST and sizes[1] > 1:
            break
    core = np.arange(sizes[-1])
    siblings, *units = [core // size for size in sizes[:-1]]
    within = [random.uniform(18, 60), random.uniform(75, 140)]
    within.append(within[-1] * random.uniform(1.0, 1.6))  # another die, perhaps not noticeably
    times = np.full((len(core), len(core)), random.uniform(250, 600))
    for groups, time in zip(reversed(units), reversed(within), strict=True):
        own = time * _factors(random, int(groups.max()) + 1)
        times = np.where(groups[:, None] == groups, own[groups][:, None], times)
    times = _with_siblings(random, times, siblings, random.uniform(5, 12))
    return _scattered(random, times, _distinct([siblings, *units]))


def _hybrid(random: Random) -> Processor:
    """Draw two kinds of cores: fast ones with siblings, and clusters of four slow ones.

    The pairs inside a cluster may take longer than those across.
    """
    fast, slow = int(random.choice([2, 4, 6, 8])), 4 * int(random.integers(1, 5))
    core = np.concatenate([np.repeat(np.arange(fast), 2), fast + np.arange(slow)])
    is_slow = core >= fast
    cluster = np.where(is_slow, fast + (core - fast) // 4, core)
    across = random.uniform(28, 45)
    ends = is_slow[:, None].astype(int) + is_slow
    times = across * np.array([1.0, random.uniform(1.0, 1.3), random.uniform(1.05, 1.5)])[ends]
    inside = across * random.uniform(0.8, 1.8) * _factors(random, len(cluster))[cluster]
    times = np.where((cluster[:, None] == cluster) & (ends == 2), inside[:, None], times)
    times = _with_siblings(random, times, core, random.uniform(4, 8))
    kinds = np.where(is_slow, 1, 0)
    caches = np.where(is_slow, cluster, 0)
    return _scattered(random, times, (core,), (cluster, kinds, caches))


def _mesh(random: Random) -> Processor:
    """Draw cores on a grid of tiles: each step takes time; some have two cores on each tile."""
    each = 2 if random.random() < 0.3 else 1
    while True:
        rows, columns = (int(k) for k in random.integers(2, 9, 2))
        if rows * columns >= 6:
            break
    tile = np.repeat(np.arange(rows * columns), each)
    steps = np.abs(tile[:, None] // columns - tile // columns)
    steps += np.abs(tile[:, None] % columns - tile % columns)
    nearest = random.uniform(40, 120)
    times = nearest + nearest * random.uniform(0.02, 0.12) * steps
    threads = 2 if each == 1 and len(tile) <= MOST // 2 and random.random() < 0.3 else 1
    if each == 2:
        times = np.where(tile[:, None] == tile, nearest * random.uniform(0.5, 1.0), times)
    core = np.repeat(np.arange(len(tile)), threads)
    times = _with_siblings(random, times[np.ix_(core, core)], core, random.uniform(5, 12))
    return _scattered(random, times, _distinct([core, tile[core]]), most=0.08)


def _ring(random: Random) -> Processor:
    """Draw cores on a ring, with siblings or not, on one socket or two."""
    stops, threads = int(random.integers(4, 17)), int(random.integers(1, 3))
    sockets = int(random.integers(1, 3))
    core = np.repeat(np.arange(stops * sockets), threads)
    socket, place = core // stops, core % stops
    way = np.abs(place[:, None] - place)
    nearest = random.uniform(20, 50)
    times = nearest * (1 + random.uniform(0.01, 0.06) * np.minimum(way, stops - way))
    far = random.uniform(2.0, 4.0) * nearest
    times = np.where(socket[:, None] == socket, times, far)
    times = _with_siblings(random, times, core, random.uniform(5, 12))
    return _scattered(random, times, _distinct([core, socket]), most=0.08)


FAMILIES: dict[str, Callable[[Random], Processor]] = {
    "nested": _nested,
    "hybrid": _hybrid,
    "mesh": _mesh,
    "ring": _ring,
}
"""What processors can be."""


def random_processor(random: Random, family: str) -> Processor:
    """Draw a healthy processor of 4 to 128 cores; in a quarter of the cases of at most 8."""
    most = int(random.choice([SMALL, 32, MOST, MOST]))
    while True:
        processor = FAMILIES[family](random)
        if len(processor.times) <= most:
            return processor


def _factors(random: Random, count: int) -> NDArray[np.float64]:
    """Give each of so many groups its own time: within 10 % of that of its level."""
    return random.uniform(0.9, 1.1, count)


def _with_siblings(random: Random, times: Matrix, core: Groups, within: float) -> Matrix:
    """Give the times of siblings, in ns, to the hardware threads of one core."""
    own = within * (1 + 0.03 * random.standard_normal(len(core)))
    return np.where(core[:, None] == core, own[core][:, None], times)


def _distinct(units: Sequence[Groups]) -> tuple[Groups, ...]:
    """Leave out levels of single cores, of all cores, and those that repeat another one."""
    counts = [len(np.unique(groups)) for groups in units]
    size = len(units[0])
    return tuple(
        groups
        for k, groups in enumerate(units)
        if 1 < counts[k] < size and counts[k] not in counts[:k]
    )


def _scattered(
    random: Random,
    times: Matrix,
    chain: tuple[Groups, ...],
    may: tuple[Groups, ...] = (),
    most: float = 0.15,
) -> Processor:
    """Say how the times scatter; in a third of the processors with heavy tails."""
    heavy = random.random() < 1 / 3
    return Processor(
        blank(times),
        chain,
        may,
        scatter=float(random.uniform(0.03, most)),
        position=float(random.uniform(0.2, 0.7)),
        freedom=float(random.uniform(3, 4)) if heavy else np.inf,
    )


# ---- maps --------------------------------------------------------------------------------------


def map_with_defect(
    processor: Processor, random: Random, defect: Defect = "nothing", shuffled: bool = False
) -> tuple[Run, ProcessorTruth]:
    """Return a map of a processor: healthy, with a rank at 1.5 times, or a pair at 2 times.

    All ranks are on one host; ``shuffled`` deals them out to the cores anyhow.
    """
    size = len(processor.times)
    order = random.permutation(size) if shuffled else np.arange(size)
    times = _with_scatter(processor, random)[np.ix_(order, order)]
    chain = [groups[order] for groups in processor.chain]
    seen = visible(times, chain)
    hardware = {_grouping(g[order]) for g in (*processor.chain, *processor.may)}
    ranks = random.choice(size, DEFECTS.index(defect), replace=False)
    beyond = deviations(times, chain, ranks.tolist()) if len(ranks) else np.inf
    times = with_defect(times, ranks.tolist())
    truth = ProcessorTruth(seen, frozenset(hardware) - seen, frozenset(ranks.tolist()), beyond)
    return map_of(1e-3 * times, ["n01"] * size), truth


def visible(times: Matrix, chain: Sequence[Groups]) -> frozenset[Grouping]:
    """Return the groups of each level that times show.

    The medians of its pairs and of those of the next level are at least 10 % apart, and at most
    20 % of the pairs of either are on the wrong side of the best threshold.
    """
    level = _levels(chain, len(times))
    upper = np.triu(np.ones_like(level, dtype=bool), 1)
    own = [times[upper & (level == k)] for k in range(len(chain) + 1)]
    return frozenset(
        _grouping(groups)
        for groups, (near, far) in zip(chain, pairwise(own), strict=True)
        if _apart(near, far)
    )


def with_defect(times: Matrix, ranks: Sequence[int]) -> Matrix:
    """Make all pairs of one rank take longer, or the pair of two; nothing without ranks."""
    ends = np.zeros(len(times), dtype=int)
    ends[list(ranks)] = 1
    concerned = ends[:, None] + ends >= max(len(ranks), 1)
    return np.where(concerned, times * FACTORS[len(ranks)], times)


def deviations(times: Matrix, chain: Sequence[Groups], ranks: Sequence[int]) -> float:
    """Return how many standard deviations of its peers a defect adds to the logarithm of times.

    Peers of a pair are the pairs of its level, those of a rank all ranks, by the median of their
    pairs, each over the median of its level. With less than three others it is 0: not known.
    """
    level = _levels(chain, len(times))
    logs = np.log(times)
    for k in range(level.max() + 1):
        here = (level == k) & np.isfinite(times)
        if here.any():
            logs[here] -= np.median(logs[here])
    if len(ranks) == 2:
        upper = np.triu((level == level[tuple(ranks)]) & np.isfinite(logs), 1)
        peers = logs[upper]
    else:
        peers = np.nanmedian(logs, axis=0)
    if len(peers) < PEERS + 1:
        return 0.0
    spread = float(np.std(peers))
    return float(np.log(FACTORS[len(ranks)])) / spread if spread else np.inf


def _apart(near: NDArray[np.float64], far: NDArray[np.float64]) -> bool:
    if not near.size or not far.size or np.median(far) < APART * np.median(near):
        return False
    near, far = np.sort(near), np.sort(far)
    at = np.concatenate([near, far])
    beyond = 1 - np.searchsorted(near, at, side="right") / near.size
    below = np.searchsorted(far, at, side="right") / far.size
    return float(np.maximum(beyond, below).min()) <= EXCEPTIONS


def _levels(chain: Sequence[Groups], size: int) -> NDArray[np.int64]:
    """Return the level of each pair of cores: that of the closest group both are in."""
    level = np.zeros((size, size), dtype=np.int64)
    for groups in chain:
        level += groups[:, None] != groups
    return level


def _grouping(groups: Groups) -> Grouping:
    return frozenset(frozenset(np.flatnonzero(groups == k).tolist()) for k in np.unique(groups))


def _with_scatter(processor: Processor, random: Random) -> Matrix:
    """Return times in ns with an effect of each core on each level, and one of each pair.

    Siblings are one core; their own pair scatters less.
    """
    size = len(processor.times)
    core = processor.chain[0] if processor.chain else np.arange(size)
    siblings = np.bincount(core).max() <= 2
    core = core if siblings else np.arange(size)
    level = _levels(processor.chain, size)
    pairs = processor.scatter * np.sqrt(1 - processor.position) * _symmetric(processor, random)
    ends = processor.scatter * np.sqrt(processor.position / 2)
    for k in range(level.max() + 1):
        effect = np.clip(random.standard_normal(int(core.max()) + 1), -2, 2)[core]
        pairs += np.where(level == k, ends * (effect[:, None] + effect), 0)
    tight = (core[:, None] == core) & siblings
    return blank(processor.times * np.exp(np.where(tight, 0.1 * pairs, pairs)))


def _symmetric(processor: Processor, random: Random) -> Matrix:
    """Draw effects of pairs, of unit standard deviation but for what is cut off."""
    shape = processor.times.shape
    if np.isinf(processor.freedom):
        drawn = random.standard_normal(shape)
    else:
        scale = np.sqrt(processor.freedom / (processor.freedom - 2))
        drawn = random.standard_t(processor.freedom, shape) / scale
    upper = np.triu(np.clip(drawn, -HEAVIEST, HEAVIEST), 1)
    both: Matrix = upper + upper.T
    return both
