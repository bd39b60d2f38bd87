"""Recordings whose truth is known: a halo exchange on a grid of ranks, with an allreduce."""

from __future__ import annotations

import numpy as np

from isochrone.base.table import Table
from isochrone.runfile.run import Rank, Run

__all__ = ["halo_recording"]


def halo_recording(rows: int, columns: int, iterations: int = 100, *, ppn: int = 4) -> Run:
    """Record a periodic halo exchange: 8 KiB to the left and right, 1 KiB up and down.

    The first rank computes 2 ms before the loop, all ranks 1 ms in each iteration before they wait.
    """
    ranks = rows * columns
    edges: list[tuple[int, int, int, int, float]] = []
    calls: list[dict[str, object]] = []
    loops: list[dict[str, object]] = []
    for rank in range(ranks):
        i, j = divmod(rank, columns)
        steps = ((0, 1, 8192), (0, -1, 8192), (1, 0, 1024), (-1, 0, 1024))
        peers = [(((i + di) % rows) * columns + (j + dj) % columns, size) for di, dj, size in steps]
        sent: dict[int, list[int]] = {}
        for peer, size in peers:
            sent.setdefault(peer, []).append(size)
        edges += [
            (rank, to, len(n) * iterations, sum(n) * iterations, 1e-4) for to, n in sent.items()
        ]
        loops.append({"rank": rank, "thread": 0, "at": 0, "depth": 0, "count": iterations})
        body = [("irecv", *one) for one in peers] + [("isend", *one) for one in peers]
        body += [("waitall", -1, 0), ("allreduce", -1, 8)]
        for k, (op, peer, size) in enumerate(body):
            gap = [iterations, iterations * 1e-6, 1e-6, 1e-6, -60, iterations]
            if op == "waitall":
                gap = [iterations, iterations * 1e-3, 1e-3, 1e-3, -30, iterations]
            call: dict[str, object] = {
                "rank": rank,
                "thread": 0,
                "at": k + 1,
                "depth": 1,
                "op": op,
                "peer": peer,
                "bytes": size,
                "source": -1,
                "received": 0,
                "any": False,
                "root": -1,
                "group": 0 if op == "allreduce" else -1,
                "requests": 0,
                "open": False,
                "calls": iterations,
                "seconds": iterations * 1e-5,
                "gap": gap,
                "gap_1": None,
            }
            if k == 0:
                first = 2e-3 if rank == 0 else 1e-6
                call["gap"] = [1, first, first, first, -27 if rank == 0 else -60, 1]
                again = iterations - 1
                call["gap_1"] = [again, again * 1e-6, 1e-6, 1e-6, -60, again]
            calls.append(call)
    tables = {
        "group": _table([{"group": 0, "members": f"0-{ranks - 1}"}]),
        "rank_time": _table(
            [
                {
                    "rank": r,
                    "seconds": 1.0,
                    "communication": 0.25 + 0.5 * r / ranks,
                    "computation": 0.2,
                    "recording": 1e-3,
                    "tail": 0.0,
                    "calls": 10 * iterations,
                    "threads": 1,
                }
                for r in range(ranks)
            ]
        ),
        "edge": _table(
            [
                dict(zip(("from", "to", "messages", "bytes", "seconds"), edge, strict=True))
                for edge in edges
            ]
        ),
        "loop": _table(loops),
        "call": _table(calls),
        "operation": _table(
            [
                {
                    "op": op,
                    "bytes": size,
                    "group": group,
                    "members": ranks if group == 0 else 2,
                    "calls": ranks * times * iterations,
                    "moved": float(ranks * times * iterations * size),
                    "seconds": seconds,
                    "most": 1e-3,
                }
                for op, size, group, times, seconds in (
                    ("isend", 8192, -1, 2, 0.01),
                    ("isend", 1024, -1, 2, 0.005),
                    ("waitall", 0, -1, 1, 2.0),
                    ("allreduce", 8, 0, 1, 1.0),
                )
            ]
        ),
    }
    header = {
        "experiment": "recording",
        "kind": "recording",
        "ranks": ranks,
        "notes": {"command": "./halo 100"},
    }
    places = [Rank(r, f"n{r // ppn}", r // ppn) for r in range(ranks)]
    return Run(header, places, tables, [], {"seconds": 1.0, "complete": True})


def _table(rows: list[dict[str, object]]) -> Table:
    columns = {}
    for key in rows[0]:
        values = [row[key] for row in rows]
        if isinstance(values[0], list) or values[0] is None or isinstance(values[0], str):
            columns[key] = np.empty(len(values), dtype=object)
            columns[key][:] = values
        else:
            columns[key] = np.array(values)
    return Table(columns)
