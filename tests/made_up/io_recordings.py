"""Recorded collective I/O whose truth is known: a matrix written by blocks, in rounds."""

from __future__ import annotations

from typing import Any

from isochrone.base.record import Members
from isochrone.runfile.run import Rank, Run
from made_up.sweeps import table_of

__all__ = ["io_recording", "spent"]


def spent(call: str, rank: int, seconds: float, op: str | None = None, **more: Any) -> Members:
    """Return what a rank spent in calls of one kind to the first file."""
    given = {"bytes": 0, "pieces": 0, "span": 0, "empty": 0} if op else {}
    return {
        "rank": rank,
        "file": 0,
        "call": call,
        "op": op,
        "calls": 1,
        "seconds": seconds,
        "waiting": 0.0,
        "access": 0.0,
        "last": 0,
        "late": 0.0,
        **given,
        **more,
    }


def io_recording(side: int = 2, calls: int = 3, *, seen: bool = True) -> Run:
    """Record a program of side x side ranks that writes a matrix ``calls`` times, and reads once.

    A block is 64 rows of 1 KiB. Each call writes behind the one before. A write takes 1 s: 0.1 s
    offsets, 0.05 s sizes, 0.5 s exchange, 0.2 s file, in 4 rounds; the last rank comes 0.1 s after
    the first. Without ``seen`` only the file was seen, as with OMPIO.
    """
    ranks, rows, width = side * side, 64, 1024
    whole = ranks * rows * width
    pieces = [
        {
            "pattern": pattern,
            "rank": r,
            "length": width,
            "count": rows,
            "stride": side * width,
            "offset": (r // side) * rows * side * width + r % side * width,
        }
        for pattern in range(2)
        for r in range(ranks)
    ]
    inside = {"offsets": 0.1, "counts": 0.05, "exchange": 0.5, "late": 0.1, "rounds": 4}
    parts = {**(inside if seen else {}), "file": 0.2}
    made = [
        {
            "call": k,
            "pattern": 0,
            "shift": k * whole,
            "name": "MPI_File_write_at_all",
            "seconds": 1.0,
            **parts,
        }
        for k in range(calls)
    ]
    made.append(
        {
            "call": calls,
            "pattern": 1,
            "shift": 0,
            "name": "MPI_File_read_all",
            "seconds": 0.9,
            **parts,
        }
    )
    common = {"file": 0, "bytes": whole, "pieces": ranks * rows, "whole": True}
    opened = {"file": 0, "name": "/scratch/out.h5", "opens": 1, "filesystem": "lustre"}
    tables = {
        "file": table_of([opened]),
        "hint": table_of(
            [
                {"file": 0, "key": "cb_nodes", "value": "2", "given": "2"},
                {"file": 0, "key": "romio_cb_write", "value": "enable", "given": None},
            ]
        ),
        "pattern": table_of(
            [
                {"pattern": 0, "op": "write", "calls": calls, **common},
                {"pattern": 1, "op": "read", "calls": 1, **common},
            ]
        ),
        "piece": table_of(pieces),
        "call": table_of(made),
        "independent": table_of(
            [
                {"file": 0, "op": "write", "calls": 5, "bytes": 480, "ranks": 1, "seconds": 0.01},
            ]
        ),
        "time": table_of(
            [
                *(
                    row
                    for r in range(ranks)
                    for row in (
                        spent("open", r, 0.02),
                        spent(
                            "collective",
                            r,
                            1.0 * calls,
                            "write",
                            calls=calls,
                            bytes=rows * width,
                            pieces=rows,
                            span=rows * side * width,
                            access=0.2 * calls,
                            waiting=0.1 * calls * (r > 0),
                            last=calls * (r == 0),
                            late=0.1 * calls * (r == 0),
                        ),
                        spent(
                            "collective",
                            r,
                            0.9,
                            "read",
                            bytes=rows * width,
                            pieces=rows,
                            span=rows * side * width,
                            access=0.2,
                        ),
                    )
                ),
                spent(
                    "independent",
                    0,
                    0.01,
                    "write",
                    calls=5,
                    bytes=480,
                    pieces=5,
                    span=480,
                    access=0.01,
                ),
            ]
        ),
    }
    header = {
        "experiment": "io-recording",
        "kind": "io-recording",
        "ranks": ranks,
        "notes": {"command": "./heat 64"},
    }
    places = [Rank(r, f"n{r // 2}", r // 2) for r in range(ranks)]
    return Run(header, places, tables, [], {"seconds": 10.0, "complete": True})
