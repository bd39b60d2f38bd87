"""Latency maps made up from a formula: pictures and reports are tested without timing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isochrone.base.table import Table
from isochrone.runfile.run import Rank, Run

PAPER_PAIRS = {
    (0, 1): (10.44, 0.12), (0, 2): (20.07, 0.09), (0, 3): (24.34, 0.14),
    (1, 2): (23.20, 0.09), (1, 3): (22.72, 0.23), (2, 3): (11.44, 0.14),
}  # fmt: skip
"""Mean and standard deviation in µs of the example log in the mmpi paper."""


def block(hosts: int, per_host: int, name: str = "n{}") -> list[str]:
    """Fill one host after the other."""
    return [name.format(h) for h in range(hosts) for _ in range(per_host)]


def cyclic(hosts: int, per_host: int, name: str = "n{}") -> list[str]:
    """Deal the ranks out, one to each host in turn."""
    return [name.format(h) for _ in range(per_host) for h in range(hosts)]


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
        Rank(rank=r, host=h, node=int(node[r]), cpu=int(place[r]), core=int(place[r]),
             package=int(half[r]), numa=int(half[r]))
        for r, h in enumerate(hosts)
    ]  # fmt: skip
    partial = missing is not None
    return Run(
        header={**_header(n, nbytes), **header},
        ranks=ranks,
        tables={"pair": Table(columns)},
        end=None if partial else {"seconds": 12.5, "complete": True},
    )


def paper_map() -> Run:
    """Make the 4-process example of the mmpi paper, as its log is imported: mean and stddev."""
    i, j = (np.array(side, dtype=np.int64) for side in zip(*PAPER_PAIRS, strict=True))
    mean, stddev = (np.array(c) * 1e-6 for c in zip(*PAPER_PAIRS.values(), strict=True))
    columns = {
        "i": i, "j": j, "bytes": np.full(6, 64), "n": np.full(6, 100),
        "mean": mean, "stddev": stddev, "median": mean.copy(),
    }  # fmt: skip
    hosts = block(2, 2, "nid0067{}")
    return Run(
        header={"experiment": "latency-map", "ranks": 4, "options": {"bytes": [64]}},
        ranks=[Rank(rank=r, host=h, node=r // 2) for r, h in enumerate(hosts)],
        tables={"pair": Table(columns)},
        end={"seconds": 1.0, "complete": True},
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
    columns["retest"] = np.concatenate([np.zeros(len(table), bool), np.ones(chosen.sum(), bool)])
    run.tables["pair"] = Table(columns)
    return run


def _pairs(
    i: np.ndarray, j: np.ndarray, size: int, base: np.ndarray, noise: float,
    generator: np.random.Generator,
) -> dict[str, np.ndarray]:  # fmt: skip
    median = base * (1 + noise * generator.standard_normal(len(base)))
    spread = np.abs(median * noise * generator.lognormal(0, 0.6, len(base)))
    return {
        "i": i, "j": j, "bytes": np.full(len(i), size), "n": np.full(len(i), 100),
        "mean": median + spread / 2, "stddev": spread, "min": median - spread / 2,
        "median": median, "p95": median + 2 * spread, "max": median + 4 * spread,
        "low": median - spread / 5, "high": median + spread / 5,
    }  # fmt: skip


def _header(n: int, nbytes: Sequence[int]) -> dict[str, Any]:
    return {
        "experiment": "latency-map",
        "started": "2026-11-21T08:30:00Z",
        "ranks": n,
        "options": {"bytes": list(nbytes), "order": "quiet", "repeats": 100, "warmup": 10},
        "mpi": {"library": "MPICH Version: 5.0.2", "standard": "4.1"},
        "clock": {"name": "MPI_Wtime", "granularity": 2.6e-8, "cost": 2.4e-8},
    }


def exchange(hosts: int = 4, ranks: int = 8) -> Run:
    """Make a tile-io run that holds the messages of its nodes; node 1 has the most."""
    each = np.full(hosts, 4)
    columns = {"node": np.arange(hosts), "intra": each.copy(), "in": each.copy(), "out": each * 1}
    columns["out"][1] = 12
    names = block(hosts, ranks // hosts)
    return Run(
        header={"experiment": "tile-io", "ranks": ranks, "started": "2026-11-21T08:30:00Z"},
        ranks=[Rank(rank=r, host=h, node=r * hosts // ranks) for r, h in enumerate(names)],
        tables={"node": Table(columns)},
        end={"seconds": 1.0, "complete": True},
    )
