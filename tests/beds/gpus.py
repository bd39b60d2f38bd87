"""GPUs that are not there: the probe with the drivers of gpu_driver.c."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from beds.mpis import CROWDED, PATIENCE, Mpi
from isochrone.measure import job
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1", "libamdhip64.so", "libze_loader.so.1")
"""One file under all names."""


class Copies(NamedTuple):
    """What the driver of one rank copied from its GPU, and to it."""

    gpu: int
    reads: int
    bytes_read: int
    writes: int
    bytes_written: int


@dataclass(frozen=True)
class Gpus:
    """The drivers, compiled, for an MPI, and libraries that make MPI GPU-aware."""

    mpi: Mpi
    folder: Path

    def around(self, program: list[str], *preloaded: Path, **settings: object) -> list[str]:
        """Return the tokens that start a program with GPUs, and with preloaded libraries."""
        driver = self.folder / LIBRARIES[0]
        if not driver.exists():
            self._compile("gcc", "gpu_driver.c", driver)
            for name in LIBRARIES[1:]:
                (self.folder / name).symlink_to(driver.name)
        words: dict[str, object] = {**settings, **CROWDED}
        words |= {"LD_LIBRARY_PATH": self.folder}
        if preloaded:
            words["LD_PRELOAD"] = ":".join(map(str, preloaded))
        return ["env", *(f"{key}={value}" for key, value in words.items()), *program]

    @property
    def aware(self) -> tuple[Path, Path]:
        """Libraries that make MPI take pointers to CUDA memory."""
        library = self.folder / "gpu_aware.so"
        if not library.exists():
            self._compile(str(self.mpi.probe.mpicc), "gpu_aware.c", library)
        return self.folder / LIBRARIES[0], library

    def run(
        self,
        experiment: str,
        *options: str,
        ranks: int = 2,
        aware: bool = False,
        preloaded: tuple[Path, ...] = (),
        **settings: object,
    ) -> Run:
        """Measure, and read the run file ``run.jsonl``; the log of the driver is ``copies``."""
        out = self.folder / "run.jsonl"
        argv = self.mpi.argv(experiment, *options, "--force", "--out", str(out), ranks=ranks)
        place = argv.index(str(self.mpi.probe.path))
        self.log.unlink(missing_ok=True)
        libraries = (*(self.aware if aware else ()), *preloaded)
        program = self.around(argv[place:], *libraries, GPU_DRIVER_LOG=self.log, **settings)
        job.run([*argv[:place], *program], timeout=PATIENCE)
        return read(out)

    @property
    def log(self) -> Path:
        """What the drivers of all ranks write."""
        return self.folder / "copies"

    def copies(self) -> list[Copies]:
        """Return the copies of the last measurement, of each rank."""
        lines = self.log.read_text().splitlines()
        return sorted(Copies(*map(int, line.split())) for line in lines)

    @staticmethod
    def _compile(compiler: str, source: str, library: Path) -> None:
        flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")
        path = Path(__file__).with_name(source)
        subprocess.run([compiler, *flags, path, "-o", library], check=True)
