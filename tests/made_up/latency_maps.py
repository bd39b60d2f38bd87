"""Latency maps made up: of machines whose structure is known, or of hosts and a formula.

The first half makes matrices, in microseconds, with the noise and the damage one asks for; the
second half makes runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isochrone.base.table import Table, TableBuilder
from isochrone.latency_map.retests import to_measure_again
from isochrone.latency_map.thresholds import MAX_STARTS
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run

Matrix = NDArray[np.float64]
MICROSECOND = 1e-6

MMPI_EXAMPLE = {
    (0, 1): (10.44, 0.12),
    (0, 2): (20.07, 0.09),
    (0, 3): (24.34, 0.14),
    (1, 2): (23.20, 0.09),
    (1, 3): (22.72, 0.23),
    (2, 3): (11.44, 0.14),
}
"""Mean and standard deviation in µs of the example log in the mmpi paper."""


# ---- matrices ----------------------------------------------------------------------------------


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


# ---- runs --------------------------------------------------------------------------------------


def block(hosts: int, per_host: int = 1, name: str = "n{}") -> list[str]:
    """Fill one host after the other."""
    return [name.format(h) for h in range(hosts) for _ in range(per_host)]


def cyclic(hosts: int, per_host: int, name: str = "n{}") -> list[str]:
    """Deal the ranks out, one to each host in turn."""
    return [name.format(h) for _ in range(per_host) for h in range(hosts)]


def map_of(times: Matrix, hosts: Sequence[str] | None = None, **columns: Matrix) -> Run:
    """Make a run of round trips in µs; NaN are pairs that were not measured."""
    names = list(hosts or ["localhost"] * len(times))
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


def one_slow_host(slow: float = 3.0, seed: int = 1, name: str = "n{}") -> Run:
    """Make a run of 8 hosts; what has an end at the third takes so many µs more, 0 for none.

    What is slow was measured again, alone.
    """
    matrix = noisy(flat(8) + slow * leaving(np.arange(8) == 2), 0.02, seed)
    run = map_of(matrix, block(8, name=name))
    return with_retests(run, [(0, 2), (1, 2), (2, 3)], 1.0) if slow else run


def latency_map(
    hosts: Sequence[str],
    *,
    near: float = 1.2e-6,
    far: float = 9.8e-6,
    socket: float | None = None,
    noise: float = 0.03,
    slow_hosts: dict[str, float] | None = None,
    slow_ranks: dict[int, float] | None = None,
    missing: Callable[[int, int], bool] | None = None,
    nbytes: Sequence[int] = (64,),
    **header: Any,
) -> Run:
    """Make a run: ``near`` on a host, ``socket`` between its halves, ``far`` between hosts."""
    n, generator = len(hosts), np.random.default_rng(7)
    names = list(dict.fromkeys(hosts))
    node = np.array([names.index(h) for h in hosts])
    place = np.array([hosts[:rank].count(h) for rank, h in enumerate(hosts)])
    half = np.array([place[r] * 2 // max(1, list(hosts).count(h)) for r, h in enumerate(hosts)])
    i, j = np.triu_indices(n, 1)
    same = node[i] == node[j]
    base = np.where(same, near, far)
    if socket is not None:
        base[same & (half[i] != half[j])] = socket
    cost = np.array([(slow_hosts or {}).get(h, 1.0) for h in hosts])
    base = base * np.where(same, 1.0, np.maximum(cost[i], cost[j]))
    alone = np.array([(slow_ranks or {}).get(rank, 1.0) for rank in range(n)])
    base = base * np.maximum(alone[i], alone[j])
    keep = np.array([not (missing and missing(a, b)) for a, b in zip(i, j, strict=True)], bool)
    i, j, base = i[keep], j[keep], base[keep]
    tables = [_pairs(i, j, size, base * (1 + size / 16384), noise, generator) for size in nbytes]
    columns = {key: np.concatenate([t[key] for t in tables]) for key in tables[0]}
    ranks = [
        Rank(
            rank=r,
            host=h,
            node=int(node[r]),
            cpu=int(place[r]),
            core=int(place[r]),
            package=int(half[r]),
            numa=int(half[r]),
        )
        for r, h in enumerate(hosts)
    ]
    partial = missing is not None
    return Run(
        header={**_header(n, nbytes), **header},
        ranks=ranks,
        tables={"pair": Table(columns)},
        end=None if partial else {"seconds": 12.5, "complete": True},
    )


def mmpi_example() -> Run:
    """Make the 4-process example of the mmpi paper, as its log is imported: mean and stddev."""
    i, j = (np.array(side, dtype=np.int64) for side in zip(*MMPI_EXAMPLE, strict=True))
    mean, stddev = (np.array(c) * 1e-6 for c in zip(*MMPI_EXAMPLE.values(), strict=True))
    columns = {
        "i": i,
        "j": j,
        "bytes": np.full(6, 64),
        "n": np.full(6, 100),
        "mean": mean,
        "stddev": stddev,
        "median": mean.copy(),
    }
    hosts = block(2, 2, "nid0067{}")
    return Run(
        header={"experiment": "latency-map", "ranks": 4, "options": {"bytes": [64]}},
        ranks=[Rank(rank=r, host=h, node=r // 2) for r, h in enumerate(hosts)],
        tables={"pair": Table(columns)},
        end={"seconds": 1.0, "complete": True},
    )


def three_ranks(hosts: tuple[str, ...] = ("a", "a", "b"), **header: Any) -> Run:
    """Make a run in which the pair 0-2 was measured a second time, and the pair 1-2 not at all."""
    records = [
        {"i": 0, "j": 1, "bytes": 8, "n": 100, "mean": 1.25e-6, "stddev": 5e-8, "median": 1.2e-6},
        {"i": 0, "j": 2, "bytes": 8, "n": 80, "mean": 9.5e-5, "stddev": 1e-5, "median": 9.1e-5},
        {"i": 0, "j": 2, "bytes": 8, "n": 90, "mean": 9e-5, "median": 8.8e-5, "retest": True},
    ]
    table = TableBuilder()
    for record in records:
        table.add(record)
    return Run(
        header={"experiment": "latency-map", "ranks": len(hosts), **header},
        ranks=[Rank(rank, host, node=0) for rank, host in enumerate(hosts) if host],
        tables={"pair": table.build()},
    )


def with_retests(run: Run, pairs: Sequence[tuple[int, int]], factor: float = 0.98) -> Run:
    """Add a second, lone measurement of some pairs."""
    table = run.tables["pair"]
    chosen = np.isin(table["i"] * run.size + table["j"], [a * run.size + b for a, b in pairs])
    columns: dict[str, Any] = {}
    for key, column in table.columns.items():
        again = column[chosen]
        scaled = again * factor if column.dtype == np.float64 else again
        columns[key] = np.concatenate([column, scaled])
    columns["retest"] = np.concatenate([table.flag("retest"), np.ones(chosen.sum(), bool)])
    run.tables["pair"] = Table(columns)
    return run


def confirmed(run: Run, again: Callable[[], Matrix]) -> Run:
    """Measure again what a map would call slow, as `measure` does; ``again`` gives times in µs."""
    for _ in range(MAX_STARTS):
        pairs = to_measure_again(run, analyse(run)).pairs
        if not pairs:
            break
        i, j = np.array(pairs).T
        more = {"i": i, "j": j, "bytes": np.full(len(i), 64), "median": again()[i, j] * MICROSECOND}
        more["retest"] = np.ones(len(i), bool)
        old = {"retest": run.tables["pair"].flag("retest"), **run.tables["pair"].columns}
        run.tables["pair"] = Table({k: np.concatenate([old[k], own]) for k, own in more.items()})
    return run


def _pairs(
    i: np.ndarray,
    j: np.ndarray,
    size: int,
    base: np.ndarray,
    noise: float,
    generator: np.random.Generator,
) -> dict[str, np.ndarray]:
    median = base * (1 + noise * generator.standard_normal(len(base)))
    spread = np.abs(median * noise * generator.lognormal(0, 0.6, len(base)))
    return {
        "i": i,
        "j": j,
        "bytes": np.full(len(i), size),
        "n": np.full(len(i), 100),
        "mean": median + spread / 2,
        "stddev": spread,
        "min": median - spread / 2,
        "median": median,
        "p95": median + 2 * spread,
        "max": median + 4 * spread,
        "low": median - spread / 5,
        "high": median + spread / 5,
    }


def _header(n: int, nbytes: Sequence[int]) -> dict[str, Any]:
    return {
        "experiment": "latency-map",
        "started": "2026-11-21T08:30:00Z",
        "ranks": n,
        "options": {"bytes": list(nbytes), "schedule": "isolated", "repeats": 100, "warmup": 10},
        "mpi": {"library": "MPICH Version: 5.0.2", "standard": "4.1"},
        "clock": {"name": "MPI_Wtime", "granularity": 2.6e-8, "cost": 2.4e-8},
    }
