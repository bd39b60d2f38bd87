"""Latency maps of machines whose structure is known, with the noise and the damage one asks for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.base.table import Table
from isochrone.runfile.run import Rank, Run

Matrix = NDArray[np.float64]
MICROSECOND = 1e-6


def flat(size: int) -> Matrix:
    """Every pair takes 3 µs."""
    return tree([size], [3])


def tree(sizes: Sequence[int], times: Sequence[float]) -> Matrix:
    """Nest groups: ``tree([4, 8], [1, 3])`` is 8 nodes of 4 ranks, 1 µs within and 3 µs between."""
    rank = np.arange(np.prod(sizes))
    level = sum(
        (rank[:, None] // width != rank // width).astype(int) for width in np.cumprod(sizes[:-1])
    )
    return blank(np.array(times, dtype=float)[level + np.zeros((rank.size,) * 2, dtype=int)])


def torus(dimensions: Sequence[int], base: float = 2.0, step: float = 1.0) -> Matrix:
    """Make a torus of single-rank nodes: a message pays for every hop."""
    place = np.array(list(itertools.product(*map(range, dimensions))))
    way = np.abs(place[:, None] - place)
    return blank(base + step * np.minimum(way, np.array(dimensions) - way).sum(axis=2))


def dragonfly(groups: int, routers: int, nodes: int) -> Matrix:
    """Make a dragonfly of single-rank nodes with minimal routes; global links cost 5 µs."""
    rank = np.arange(groups * routers * nodes)
    router, group = rank // nodes, rank // (nodes * routers)
    times = np.where(router[:, None] == router, 2.5, 3.5)
    for a, b in itertools.permutations(rank, 2):
        here, there = group[a], group[b]
        if here != there:
            out = here * routers + (there - (there > here)) % routers
            into = there * routers + (here - (here > there)) % routers
            times[a, b] = 7.5 + (out != router[a]) + (into != router[b])
    return blank(times)


def blank(times: Matrix) -> Matrix:
    """Leave out the diagonal."""
    times = times.astype(float)
    np.fill_diagonal(times, np.nan)
    return times


def noisy(times: Matrix, noise: float, seed: int) -> Matrix:
    """Multiply each pair by a lognormal factor."""
    factor = np.exp(noise * np.random.default_rng(seed).standard_normal(times.shape))
    upper = np.triu(factor, 1)
    return times * (upper + upper.T + np.eye(len(times)))


def leaving(members: NDArray[np.bool_], beyond: Sequence[object] | None = None) -> Matrix:
    """Give 1 to the pairs with an end among the members, if they differ in ``beyond``."""
    mask = members[:, None] | members
    if beyond is not None:
        owner = np.unique(np.array(beyond), return_inverse=True)[1]
        mask &= owner[:, None] != owner
    return mask.astype(float)


def shuffled(times: Matrix, seed: int) -> tuple[Matrix, NDArray[np.int64]]:
    """Renumber the ranks; the second value says who each new rank was."""
    order = np.random.default_rng(seed).permutation(len(times))
    return times[np.ix_(order, order)], order


def hosts(count: int, each: int = 1) -> list[str]:
    """Fill one host after the other."""
    return [f"n{h}" for h in range(count) for _ in range(each)]


def make_run(times: Matrix, names: Sequence[str] | None = None, **columns: Matrix) -> Run:
    """Make a run of round trips in µs; NaN are pairs that were not measured."""
    names = list(names or ["localhost"] * len(times))
    i, j = np.nonzero(np.triu(np.isfinite(times), 1))
    table = {"i": i, "j": j, "bytes": np.full(len(i), 64), "median": times[i, j] * MICROSECOND}
    table |= {key: matrix[i, j] * MICROSECOND for key, matrix in columns.items()}
    node = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return Run(
        header={"experiment": "latency-map", "ranks": len(times)},
        ranks=[Rank(rank=k, host=name, node=node[name]) for k, name in enumerate(names)],
        tables={"pair": Table(table)},
        end={"seconds": 1.0, "complete": True},
    )
