"""The probe with a shim below it that sees, and changes, what its MPI does; see shim.c."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from beds.mpis import CROWDED, PATIENCE, Mpi
from isochrone.measure import job
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

Message = tuple[int, int, int]
"""From whom to whom, and how many bytes."""


@dataclass(frozen=True)
class Traffic:
    """Messages that were seen, with how often.

    Attributes
    ----------
    written, listed
        Data, and lists of pieces, sent by the library within a collective write.
    read
        Data sent by the library within a collective read.
    replayed, replayed_back
        Sent by the probe's replay of a write, and of a read.
    """

    written: Counter[Message]
    listed: Counter[Message]
    read: Counter[Message]
    replayed: Counter[Message]
    replayed_back: Counter[Message]


@dataclass(frozen=True)
class Shim:
    """The shim, compiled for an MPI."""

    mpi: Mpi
    folder: Path

    @property
    def library(self) -> Path:
        """The shared library, made when it is asked for first."""
        path = self.folder / "shim.so"
        if not path.exists():
            source = Path(__file__).with_name("shim.c")
            flags = ("-shared", "-fPIC", "-O1", "-Wall")
            subprocess.run([self.mpi.probe.mpicc, *flags, source, "-o", path, "-ldl"], check=True)
        return path

    def around(self, program: list[str], **settings: object) -> list[str]:
        """Return the tokens that start a program with the shim."""
        named = {f"ISO_SHIM_{key.upper()}": value for key, value in settings.items()} | CROWDED
        words = [f"{key}={value}" for key, value in named.items()]
        return ["env", f"LD_PRELOAD={self.library}", *words, *program]

    def run(self, experiment: str, *options: str, ranks: int, out: Path, **settings: object) -> Run:
        """Measure with the shim on this machine, and read the run file."""
        argv = self.mpi.argv(experiment, *options, "--out", str(out), ranks=ranks)
        place = argv.index(str(self.mpi.probe.path))
        job.run([*argv[:place], *self.around(argv[place:], **settings)], timeout=PATIENCE)
        return read(out)

    def traffic(self, ranks: int, log: Path) -> Traffic:
        """Read what the ranks have logged."""
        found: dict[str, Counter[Message]] = {
            name: Counter() for name in Traffic.__dataclass_fields__
        }
        for rank in range(ranks):
            for line in Path(f"{log}.{rank}").read_text().splitlines():
                what, how, destination, nbytes = line.split()
                first = int(how) == 1
                name = {
                    "write": "listed" if first else "written",
                    "read": "" if first else "read",
                    "replay": "replayed" if first else "replayed_back",
                }[what]
                if name:
                    found[name][rank, int(destination), int(nbytes)] += 1
        return Traffic(**found)
