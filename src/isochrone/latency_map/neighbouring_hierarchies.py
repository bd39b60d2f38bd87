"""Hierarchies next to one that explains a map: units go where their times fit best."""

from collections.abc import Iterator, Sequence

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.latency_map.explanation import Explanation
from isochrone.latency_map.fitting import likelihood
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, canonical, is_grouping, level_matrix

SINGLE = 4
"""Moves of one grouping that are proposed one by one."""

GAIN = 1e-9
"""Nats that a move gains at least; less is rounding."""


def moved(fit: Explanation, times: Times) -> Iterator[list[Partition]]:
    """Propose hierarchies in which units are in the groups that make their times most likely.

    What the parts add stays as it is. What moves is a unit, or a group of the level below, into
    another group or one of its own: all at once that would gain, and the best of them one by one.

    Parameters
    ----------
    fit
        The explanation.
    times
        The map.
    """
    nats = _nats_by_level(fit, times)
    for k in range(len(fit.chain) - 1):
        moves = sorted(_moves(fit.chain, k, nats), key=lambda move: -move[0])
        if len(moves) > 1:
            yield _after(fit.chain, k, moves)
        for move in moves[:SINGLE]:
            yield _after(fit.chain, k, [move])


def _nats_by_level(fit: Explanation, times: Times) -> Floats:
    """Return the nats of each pair on each level, shape (levels, units, units); 0 if not known."""
    extra = fit.expected - fit.base_of(times)
    sigma = np.hypot(fit.spread, times.error)
    nats = np.zeros((len(fit.base), times.units, times.units))
    for level, base in enumerate(fit.base):
        if np.isfinite(base):
            rest = np.log(times.seconds / np.maximum(base + extra, 0.1 * base))
            nats[level, times.i, times.j] = -np.log(likelihood(rest, sigma)[0])
            nats[level] += nats[level].T
    return nats


def _moves(chain: Sequence[Partition], k: int, nats: Floats) -> Iterator[tuple[float, Ints, int]]:
    """Yield what moves on level k: the nats gained, the units, and the unit they go to; or -1."""
    units = np.arange(len(chain[k]))
    blocks = chain[k - 1] if k else units
    root = chain[-1]
    level = np.minimum(level_matrix(chain), len(nats) - 1).astype(np.int64)
    now = np.take_along_axis(nats, level[None], axis=0)[0]
    apart = np.take_along_axis(nats, np.maximum(level, k + 1)[None], axis=0)[0]
    hosts = np.unique(chain[k], return_index=True)[1]
    # level of each unit as seen from a unit that has come to each group
    seen = np.maximum(level[hosts], k)
    there = sum(nats[x] @ (seen == x).T for x in range(len(nats)))
    order = np.argsort(blocks, kind="stable")
    first, size = np.unique(blocks[order], return_index=True, return_counts=True)[1:]

    def of_blocks(values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values[order], first, axis=0), dtype=np.float64)

    def inside(values: Floats) -> Floats:
        return np.asarray(np.bincount(blocks, of_blocks(values)[blocks, units]), dtype=np.float64)

    heads = order[first]
    here, own = chain[k][heads], np.array([inside(values) for values in nats])
    stay = of_blocks(now).sum(axis=1) - inside(now)
    costs = np.column_stack([
        of_blocks(there) - np.take_along_axis(own, seen[:, heads], axis=0).T,
        of_blocks(apart).sum(axis=1) - inside(apart),
    ])  # fmt: skip
    costs[np.arange(len(heads)), here] = np.inf
    costs[:, :-1][root[heads][:, None] != root[hosts]] = np.inf
    costs[np.bincount(chain[k])[here] == size, -1] = np.inf
    best = np.argmin(costs, axis=1)
    gain = stay - costs[np.arange(len(heads)), best]
    for block in np.flatnonzero(gain > GAIN).tolist():
        to = int(hosts[best[block]]) if best[block] < len(hosts) else -1
        yield float(gain[block]), np.flatnonzero(blocks == block), to


def _after(
    chain: Sequence[Partition], k: int, moves: Sequence[tuple[float, Ints, int]]
) -> list[Partition]:
    """Return the hierarchy, without its root, after some moves on level k."""
    after = [partition.copy() for partition in chain[:-1]]
    for _, members, to in moves:
        if to < 0:
            after[k][members] = after[k].max() + 1
        else:
            for upper in range(k, len(after)):
                after[upper][members] = chain[upper][to]
    found = {p.tobytes(): p for p in map(canonical, after)}
    return [p for p in found.values() if is_grouping(p)]
