"""Make the tables of simulated collectives that lie beside this file; takes a quarter of an hour.

.venv/bin/python tests/golden/simgrid/make.py FOLDER

SimGrid 3.32 runs each operation with the algorithms that MPICH and Open MPI choose for it
(`smpi/coll-selector`), one rank a node (`flat`) or eight (`16x8`, filled node by node). One
repetition, because simulated times are exact; one before it, because some algorithms make
communicators when they are first used.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ISOCHRONE = (sys.executable, "-m", "isochrone")
PLATFORMS = {"flat": ("nodes:128 cores:1", 1), "16x8": ("nodes:16 cores:8", 8)}
RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
SIZES = (8, 64, 256, *(1024 << k for k in range(8)), 524288, 1048576)
PAIRWISE = {"mpich": 16384, "ompi": 2048}
"""Largest blocks of alltoall off powers of two: SimGrid's exchange in pairs ends there."""


def main(folder: Path) -> None:
    """Simulate all; a table grows by the ranks."""
    for name, (machine, _) in PLATFORMS.items():
        path = folder / f"{name}.xml"
        subprocess.run([*ISOCHRONE, "platform", machine, "-o", path], check=True)
    for ranks in RANKS:
        for name, (_, per_node) in PLATFORMS.items():
            for library in PAIRWISE:
                path = folder / f"{library}-{name}.csv"
                if not path.exists():
                    path.write_text("op,p,b,seconds" + ",nodes,ppn" * (per_node > 1) + "\n")
                place = f",{-(-ranks // per_node)},{min(ranks, per_node)}" * (per_node > 1)
                with path.open("a") as stream:
                    for ops, sizes in tasks(library, ranks):
                        for row in simulated(folder / f"{name}.xml", library, ranks, ops, sizes):
                            stream.write(row + place + "\n")


def tasks(library: str, ranks: int) -> list[tuple[str, list[int]]]:
    """Return operations and their sizes; what holds a block of each rank is kept in memory."""
    one = [size for size in SIZES if size * ranks <= 2**25 or size <= 65536]
    each = [size for size in SIZES if size <= max(2**28 // ranks**2, 16384)]
    power = not ranks & (ranks - 1)
    return [
        ("barrier,bcast,reduce,allreduce", list(SIZES)),
        ("gather,scatter", one),
        ("allgather", each),
        ("alltoall", [size for size in each if power or size <= PAIRWISE[library]]),
    ]


def simulated(platform: Path, library: str, ranks: int, ops: str, sizes: list[int]) -> list[str]:
    """Return rows of a table."""
    out = platform.with_suffix(".jsonl")
    options = ["--bytes", ",".join(map(str, sizes)), "--repeats", "1", "--warmup", "1"]
    argv = [
        *ISOCHRONE,
        "measure",
        "collective",
        "-n",
        str(ranks),
        "--op",
        ops,
        *options,
        "--sync",
        "window",
        "--launcher",
        "simgrid",
        "--platform",
        platform,
        f"--launcher-arg=--cfg=smpi/coll-selector:{library}",
        "--quiet",
        "--force",
        "-o",
        out,
    ]
    subprocess.run(argv, check=True, timeout=1800)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return [
        f"{row['op']},{row['p']},{row['bytes']},{row['seconds']:.6g}"
        for row in rows
        if row["record"] == "sample"
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
