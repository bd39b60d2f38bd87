"""Runs of grid collectives made up from formulas: the library's own, grids, and phases apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2
from typing import Any

import numpy as np

from isochrone.collectives.grid_collectives import Grid, Phase, phases
from isochrone.runfile.grid_groups import arranged, place_of
from isochrone.runfile.run import Run
from made_up.sweeps import run_of

__all__ = ["SIZES", "disturbed", "grid_run", "group_time", "total_time"]

SIZES = (1024, 4096, 16384, 65536, 262144)

LATENCY = {"CG": 2e-6, "LG": 5e-6}
BANDWIDTH = {"CG": 8e9, "LG": 2e9}
"""A row is within few nodes, a column goes to another node at each step."""

WAYS = {
    "bcast": 1.0,
    "reduce": 1.2,
    "allreduce": 2.0,
    "gather": 0.8,
    "scatter": 0.7,
    "allgather": 1.5,
}


def group_time(op: str, kind: str, ranks: int, size: float) -> float:
    """Return what one group alone takes: a tree of messages whose time depends on the group."""
    steps = ceil(log2(ranks)) if ranks > 1 else 0
    return WAYS[op] * steps * (LATENCY[kind] + size / BANDWIDTH[kind])


def disturbed(kind: str, sharing: int, size: float) -> float:
    """Return by what factor groups on one node slow each other down: columns share its way out."""
    if kind == "CG":
        return 1.0
    way = size / BANDWIDTH[kind]
    return (LATENCY[kind] + sharing * way) / (LATENCY[kind] + way)


def total_time(op: str, rows: int, length: int, size: int, sharing: int) -> float:
    """Return what an operation takes on a grid: the phases one after the other, disturbed."""
    return sum(
        group_time(one.op, one.group, one.ranks, one.bytes)
        * (disturbed(one.group, sharing, one.bytes) if one.groups > 1 else 1.0)
        for one in phases(op, rows, length, size)
    )


def grid_run(
    ranks: int = 16,
    grids: Sequence[str] = ("2x8", "4x4", "8x2"),
    *,
    ops: Sequence[str] = ("bcast", "allgather"),
    sizes: Sequence[int] = SIZES,
    repeats: int = 8,
    per_node: int = 4,
    noise: float = 0.01,
    seed: int = 3,
) -> Run:
    """Make a run of ``collective --grid``: totals, and each phase alone and in all groups."""
    dice = np.random.default_rng(seed)
    node_of = np.arange(ranks) // per_node
    rows: list[dict[str, Any]] = []

    def add(seconds: float, **of: Any) -> None:
        time = seconds * dice.lognormal(0, noise)
        rows.append({**of, "p": ranks, "root": 0, "batch": 1, "seconds": time, "times": [time]})

    for repeat in range(repeats):
        for op in ops:
            for size in sizes:
                common = {"op": op, "bytes": size, "repeat": repeat}
                add(
                    group_time(op, "CG", ranks, size),
                    **common,
                    grid="library",
                    phase="total",
                    groups=1,
                )
                for word in grids:
                    p1, p2 = Grid.parse(word).over(ranks, per_node)
                    sharing = _sharing(word, p2, node_of)
                    total = total_time(op, p1, p2, size, sharing)
                    add(total, **common, grid=word, phase="total", groups=1)
                    for part in phases(op, p1, p2, size):
                        _add_phase(add, part, {**common, "grid": word}, sharing)
    run = run_of(
        "collective",
        ranks,
        per_node,
        {"sample": rows},
        {"sync": "barrier"},
        "operation, slowest rank",
    )
    run.header |= {"kind": "sweep", "by": ["op", "p", "grid", "phase", "groups"]}
    return run


def _sharing(word: str, length: int, node_of: np.ndarray[Any, Any]) -> int:
    """Return how many columns have a member on one node."""
    column = arranged(word, length, node_of)[1]
    return place_of([0], column, node_of).sharing


def _add_phase(add: Any, part: Phase, common: dict[str, Any], sharing: int) -> None:
    """Add a phase of one group, and of all at once if there are several."""
    of = {
        **common,
        "phase": part.group,
        "phase_op": part.op,
        "phase_p": part.ranks,
        "phase_bytes": part.bytes,
    }
    alone = group_time(part.op, part.group, part.ranks, part.bytes)
    add(alone, **of, groups=1)
    if part.groups > 1:
        add(alone * disturbed(part.group, sharing, part.bytes), **of, groups=part.groups)
