"""Launches of collectives whose times are known: the library, its algorithms, and grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isochrone.runfile.run import Rank, Run
from made_up.sweeps import table_of

SIZES = (64, 256, 1024, 4096)


def time_of(nbytes: int) -> float:
    """Return what the library takes."""
    return 1e-5 + nbytes / 1e9


def launch(
    factors: Mapping[str, float | Mapping[int, float]],
    *,
    seed: int = 1,
    sizes: Sequence[int] = SIZES,
    ops: Sequence[str] = ("allgather",),
    noise: float = 0.1,
    launch_noise: float = 0.0,
    passes: int = 10,
    repeats: int = 3,
    ranks: int = 16,
    per_node: int = 4,
    algorithm: str = "",
    library: str = "MPICH Version: 5.0.2",
    simulated: bool = False,
    layout: Sequence[int] | None = None,
) -> Run:
    """Make up a launch that measures all choices in turn.

    ``factors`` says by how much a choice (``library``, or a grid) differs from `time_of`, at all
    sizes or by size. A pass is slow or fast as a whole, by ``noise``, and so is each repetition; a
    launch makes each choice slow or fast by ``launch_noise``.
    """
    dice = np.random.default_rng(seed)
    lasting = {name: dice.lognormal(0, launch_noise) for name in factors}
    rows: list[dict[str, Any]] = []
    for turn in range(passes):
        common = dice.lognormal(0, noise)
        for op in ops:
            for size in sizes:
                for name, factor in factors.items():
                    part = factor if isinstance(factor, int | float) else factor[size]
                    typical = time_of(size) * part * lasting[name] * common
                    rows += [
                        {
                            "op": op,
                            "p": ranks,
                            "grid": name,
                            "phase": "total",
                            "groups": 1,
                            "bytes": size,
                            "pass": turn,
                            "repeat": turn * repeats + k,
                            "seconds": typical * dice.lognormal(0, noise),
                        }
                        for k in range(repeats)
                    ]
    return run_of(rows, ranks, per_node, algorithm, library, simulated, layout)


def run_of(
    rows: list[dict[str, Any]],
    ranks: int,
    per_node: int,
    algorithm: str,
    library: str,
    simulated: bool,
    layout: Sequence[int] | None,
) -> Run:
    """Make a run of samples."""
    header = {
        "format": 1,
        "experiment": "collective",
        "kind": "sweep",
        "by": ["op", "p", "grid", "phase", "groups"],
        "ranks": ranks,
        "options": {},
        "mpi": {"library": library, "standard": "5.0"},
        "clock": {"source": "MPI_Wtime", "granularity": 1e-9, "cost": 1e-8, "simulated": simulated},
        "notes": {"algorithm": algorithm} if algorithm else {},
    }
    nodes = layout or [rank // per_node for rank in range(ranks)]
    where = [Rank(k, f"n{node}", node) for k, node in enumerate(nodes)]
    return Run(header, where, {"sample": table_of(rows)}, [], {"complete": True})
