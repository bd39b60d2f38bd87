"""Sweeps over message sizes made up from a formula: latency + bytes / bandwidth, and switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isochrone.base.table import Table, TableBuilder
from isochrone.runfile.run import Rank, Run

SIZES = (0, *(2**k for k in range(3, 23)))
"""0 and 8 B to 4 MiB."""


def line(latency: float = 1.2e-6, bandwidth: float = 6e9) -> Callable[[int], float]:
    """Return the time of a message without any switch of protocol."""
    return lambda nbytes: latency + nbytes / bandwidth


def switching(nbytes: int) -> float:
    """Return a time that goes over to another line above 64 KiB, as with a rendezvous protocol."""
    return 1.2e-6 + nbytes / 6e9 if nbytes <= 65536 else 5.2e-6 + nbytes / 11e9


def three_protocols(nbytes: int) -> float:
    """Return a time with two switches of protocol, as many libraries have them."""
    if nbytes <= 1024:
        return 1.2e-6 + nbytes / 4e9
    return 2e-6 + nbytes / 7e9 if nbytes <= 65536 else 6e-6 + nbytes / 11e9


def point_to_point(
    time: Callable[[int], float] = switching,
    *,
    sizes: Sequence[int] = SIZES,
    pairs: Sequence[tuple[int, int]] = ((0, 3),),
    repeats: int = 20,
    noise: float = 0.02,
    seed: int = 7,
    per_node: int = 2,
    ranks: int = 4,
    complete: bool = True,
    passes: int | None = None,
    **options: Any,
) -> Run:
    """Make a run of ``point-to-point``; ``passes`` that its samples say they are of, if any."""
    dice = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):  # pass after pass, as the probe visits the sizes
        for i, j in pairs:
            for nbytes in sizes:
                factor = dice.lognormal(0, noise)
                number = {} if passes is None else {"pass": repeat * passes // repeats}
                rows.append(
                    {
                        "i": i,
                        "j": j,
                        "bytes": nbytes,
                        "repeat": repeat,
                        **number,
                        "seconds": time(nbytes) * factor,
                    }
                )
    given = {"mode": "blocking", "window": 1, "layout": "contiguous", "cache": "hot", **options}
    words = "half a round trip"
    if given["window"] > 1:
        words = "message of a window"
    if given["mode"] == "bidirectional":
        words = "exchange in both directions"
    return run_of(
        "point-to-point", ranks, per_node, {"sample": rows}, given, words, complete=complete
    )


def bisection(
    ranks: int = 9,
    *,
    sizes: Sequence[int] = SIZES[1:],
    repeats: int = 12,
    slow: int | None = None,
    noise: float = 0.03,
    per_node: int = 3,
    pairing: str = "halves",
    **options: Any,
) -> Run:
    """Make a run of ``bisection``; the pair number ``slow`` takes twice as long."""
    dice = np.random.default_rng(7)
    half = ranks // 2
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        for nbytes in sizes:
            times = switching(nbytes) * dice.lognormal(0, noise, half)
            if slow is not None:
                times[slow] *= 2
            rows.append(
                {
                    "bytes": nbytes,
                    "p": ranks,
                    "pairs": half,
                    "repeat": repeat,
                    "seconds": float(times.max()),
                    "rate": float((nbytes / times).sum()),
                    "times": times.tolist(),
                }
            )
    cuts = [{"i": k, "j": k + half} for k in range(half)]
    records = {"cut": cuts, "bystander": [{"rank": ranks - 1}] if ranks % 2 else [], "sample": rows}
    return run_of(
        "bisection",
        ranks,
        per_node,
        records,
        {"pairing": pairing, **options},
        "exchange there and back halved, slowest pair",
    )


def at_once(name: str, numbers: Sequence[int], **options: Any) -> Run:
    """Make a run of ``point-to-point`` with numbers of ``pairs`` or ``threads`` at the same time.

    They share a link: each takes as long as all of them after another, 1 µs with 1000 B.
    """
    dice = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for number in numbers:
        of = {"p": 2 * number} if name == "pairs" else {"i": 0, "j": 1}
        for repeat in range(40):
            times = number * 1e-6 * dice.lognormal(0, 0.02, number)
            rows.append(
                {
                    **of,
                    name: number,
                    "bytes": 1000,
                    "repeat": repeat,
                    "pass": repeat // 4,
                    "seconds": float(times.max()),
                    "rate": float((1000 / times).sum()),
                    "times": times.tolist(),
                }
            )
    run = run_of("point-to-point", 8, 4, {"sample": rows}, options, "half a round trip")
    by = ["p", "pairs"] if name == "pairs" else ["i", "j", "threads"]
    return replace(run, header={**run.header, "kind": "sweep", "by": by})


def matching(each: float) -> Run:
    """Make a run of ``matching`` in which an entry of a queue adds ``each`` seconds to 1 µs."""
    dice = np.random.default_rng(5)
    rows = [
        {
            "op": queue,
            "entries": entries,
            "bytes": 8,
            "repeat": k,
            "pass": k // 4,
            "seconds": (1e-6 + each * entries) * dice.lognormal(0, 0.02),
        }
        for k in range(40)
        for queue in ("posted", "unexpected")
        for entries in (0, 1, 64, 1024)
    ]
    run = run_of("matching", 2, 2, {"sample": rows}, {}, "half a round trip")
    return replace(run, header={**run.header, "kind": "sweep", "by": ["op", "entries"]})


def collective(
    ops: Sequence[str] = ("bcast", "allreduce"),
    ranks: int = 8,
    *,
    sizes: Sequence[int] = SIZES[1:],
    repeats: int = 12,
    late: int | None = None,
    noise: float = 0.03,
    per_node: int = 4,
    **options: Any,
) -> Run:
    """Make a run of ``collective``; the rank ``late`` is always done 1.5 times later."""
    dice = np.random.default_rng(7)
    steps = float(np.log2(max(2, ranks)))
    rows: list[dict[str, Any]] = []
    for op_number, op in enumerate(ops):
        for repeat in range(repeats):
            for nbytes in (0,) if op == "barrier" else sizes:
                base = steps * (1.5e-6 + nbytes / 4e9) * (1 + op_number)
                times = base * dice.lognormal(0, noise, ranks)
                if late is not None:
                    times[late] *= 1.5
                rows.append(
                    {
                        "op": op,
                        "p": ranks,
                        "bytes": nbytes,
                        "root": 0,
                        "repeat": repeat,
                        "seconds": float(times.max()),
                        "times": times.tolist(),
                    }
                )
    given = {"sync": "barrier", "root": "fixed", **options}
    return run_of("collective", ranks, per_node, {"sample": rows}, given, "operation, slowest rank")


def done_at(
    op: str,
    units: Sequence[float],
    *,
    sizes: Sequence[int] = (8, 1024, 65536),
    repeats: int = 12,
    noise: float = 0.05,
    per_node: int = 4,
    seed: int = 7,
) -> Run:
    """Make a run of a collective operation whose ranks are done after so many messages each."""
    dice = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        for nbytes in sizes:
            noisy = dice.lognormal(0, noise, len(units))
            times = np.array(units) * (1.5e-6 + nbytes / 4e9) * noisy
            rows.append(
                {
                    "op": op,
                    "p": len(units),
                    "bytes": nbytes,
                    "root": 0,
                    "repeat": repeat,
                    "seconds": float(times.max()),
                    "times": times.tolist(),
                }
            )
    return run_of(
        "collective",
        len(units),
        per_node,
        {"sample": rows},
        {"sync": "barrier", "root": "fixed"},
        "operation, slowest rank",
    )


def table_of(rows: Sequence[dict[str, Any]]) -> Table:
    """Make the table that the reader of the run file would make."""
    builder = TableBuilder()
    for row in rows:
        builder.add(dict(row))
    return builder.build()


def run_of(
    experiment: str,
    ranks: int,
    per_node: int,
    records: dict[str, list[dict[str, Any]]],
    options: dict[str, Any],
    seconds_are: str,
    *,
    complete: bool = True,
) -> Run:
    return Run(
        header={
            "experiment": experiment,
            "started": "2026-11-21T08:30:00Z",
            "ranks": ranks,
            "options": options,
            "seconds_are": seconds_are,
            "mpi": {"library": "MPICH Version: 5.0.2", "standard": "4.1"},
            "clock": {"source": "MPI_Wtime", "granularity": 2.6e-8, "cost": 2.4e-8},
        },
        ranks=[
            Rank(rank=r, host=f"n{r // per_node}", node=r // per_node, cpu=r % per_node)
            for r in range(ranks)
        ],
        tables={name: table_of(rows) for name, rows in records.items() if rows},
        end={"seconds": 12.5, "complete": True} if complete else None,
    )
