"""Programs into which each of the libraries is loaded, that lead through all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from beds.mpis import Mpi
from beds.recorded import built
from beds.scripts import random_program
from beds.tuned import rules, table
from isochrone.collectives.tuning_table import compiled

__all__ = ["PROGRAMS", "Program"]

ENDS_WITH = 7
"""Exit code of the program of collective operations."""


@dataclass(frozen=True)
class Program:
    """A command line, the variables that the library needs, and the exit code of its ranks."""

    words: tuple[str, ...]
    environ: dict[str, str]
    ends_with: int = 0
    writes: tuple[Path, ...] = field(default=())


def _collectives(mpi: Mpi, ranks: int, binaries: Path, folder: Path) -> Program:
    """All operations, on grids of all ranks and of some."""
    found = rules(ranks, "rows-of-2", 1, 10**6)
    found += rules(2, "nodes", 64, 64, nodes=1) if ranks > 2 else []
    path = table(folder / "table.json", mpi, found)
    environ = {"ISOCHRONE_TUNING": str(compiled(path)), "ISOCHRONE_TUNING_REPORT": "1"}
    return Program((str(built(mpi, binaries, "collectives", "-g")),), environ, ENDS_WITH)


def _messages(mpi: Mpi, ranks: int, binaries: Path, folder: Path) -> Program:
    """Messages, persistent ones, completions, communicators, nested loops, from a random script."""
    random_program(31 + ranks, ranks).write(folder / "script")
    words = (str(built(mpi, binaries, "scripted", "-g")), str(folder / "script"))
    out = folder / "calls.jsonl"
    return Program(words, {"ISOCHRONE_RECORD": str(out)}, writes=(out,))


def _views(mpi: Mpi, ranks: int, binaries: Path, folder: Path) -> Program:
    """A file with random views: nested datatypes, every kind of call."""
    # ROMIO of Debian's MPICH does not know datatypes of large counts.
    flags = ("-DNO_LARGE_COUNTS",) if mpi.name == "debian-mpich" else ()
    words = (str(built(mpi, binaries, "file_views", "-g", *flags)), str(folder / "data"), "3")
    out = folder / "io.jsonl"
    return Program(words, {"ISOCHRONE_IO_RECORD": str(out)}, writes=(out,))


def _tiles(mpi: Mpi, ranks: int, binaries: Path, folder: Path) -> Program:
    """Three files one after the other, with hints."""
    program = built(mpi, binaries, "io_program", "-g")
    words = (str(program), str(folder / "data"), "random:5", "5003", "3", "cb_buffer_size=4096")
    out = folder / "io.jsonl"
    return Program(words, {"ISOCHRONE_IO_RECORD": str(out)}, writes=(out,))


Prepare = Callable[[Mpi, int, Path, Path], Program]

PROGRAMS: dict[str, tuple[str, Prepare]] = {
    "collectives": ("grid", _collectives),
    "messages": ("record", _messages),
    "file-views": ("io", _views),
    "file-tiles": ("io", _tiles),
}
"""A name, and the library. A program is prepared for an MPI and a number of ranks; it is built in
the first folder and finds its files in the second."""
