"""Runs of ``collective --grid`` made up from known times of phases, and disturbance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isochrone.collectives.grid_collectives import Grid, phases
from isochrone.runfile.run import Run
from made_up.sweeps import run_of

BY = ["op", "p", "grid", "phase", "groups"]
SIZES = (1024, 16384, 262144)


def call(ranks: int, nbytes: int) -> float:
    """Return the time of any operation of the library: a tree of messages."""
    return float(np.log2(max(2, ranks))) * (2e-6 + nbytes / 2e9)


def grid_run(
    grids: Sequence[str] = ("4x4",),
    ops: Sequence[str] = ("allgather",),
    *,
    ranks: int = 16,
    per_node: int = 4,
    sizes: Sequence[int] = SIZES,
    repeats: int = 12,
    noise: float = 0.02,
    factors: Mapping[str, float] | None = None,
    left_over: float = 1.0,
    speedup: float = 1.25,
    seed: int = 7,
    **notes: str,
) -> Run:
    """Make a run of ``collective --grid``.

    All groups of a phase at once take ``factors[phase]`` times as long as one alone (1 where it is
    not given), the whole operation ``left_over`` times as long as its phases with all groups at
    work, and the library's own ``speedup`` times as long as the first grid.
    """
    dice = np.random.default_rng(seed)
    points = [
        point
        for op in ops
        for nbytes in sizes
        for point in _points(op, grids, ranks, per_node, nbytes, factors or {}, left_over, speedup)
    ]
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):  # pass after pass, as the probe visits the points
        for point in points:
            seconds = point["seconds"] * float(dice.lognormal(0, noise))
            rows.append(
                {
                    **point,
                    "root": 0,
                    "pass": repeat,
                    "repeat": repeat,
                    "seconds": seconds,
                    "times": [seconds, 0.9 * seconds],
                }
            )
    options = {"sync": "barrier", "root": "fixed", "grid": ",".join(grids)}
    run = run_of(
        "collective", ranks, per_node, {"sample": rows}, options, "operation, slowest rank"
    )
    run.header.update({"kind": "sweep", "by": BY, "notes": notes})
    return run


def _points(
    op: str,
    grids: Sequence[str],
    ranks: int,
    per_node: int,
    nbytes: int,
    factors: Mapping[str, float],
    left_over: float,
    speedup: float,
) -> list[dict[str, Any]]:
    """Return the points of an operation at a size, with their true times."""
    whole = {"op": op, "p": ranks, "bytes": nbytes, "phase": "total", "groups": 1}
    found: list[dict[str, Any]] = []
    for number, word in enumerate(grids):
        rows, length = Grid.parse(word).over(ranks, per_node)
        in_phases: list[dict[str, Any]] = []
        total = 0.0
        for phase in phases(op, rows, length, nbytes):
            apart = {
                **whole,
                "grid": word,
                "phase": phase.group,
                "phase_op": phase.op,
                "phase_p": phase.ranks,
                "phase_bytes": phase.bytes,
            }
            alone = call(phase.ranks, phase.bytes)
            together = alone * (factors.get(phase.group, 1.0) if phase.groups > 1 else 1.0)
            in_phases.append({**apart, "groups": 1, "seconds": alone})
            if phase.groups > 1:
                in_phases.append({**apart, "groups": phase.groups, "seconds": together})
            total += together
        found += [{**whole, "grid": word, "seconds": left_over * total}, *in_phases]
        if number == 0:
            library = {**whole, "grid": "library", "seconds": speedup * left_over * total}
    return [library, *found]
