"""What measurements share: one MPI and one launcher; what is started, and what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isochrone import __version__
from isochrone.base.errors import InputError, IsochroneError, MeasurementError
from isochrone.measure import algorithm as algorithms
from isochrone.measure import launcher as launchers
from isochrone.measure import probe
from isochrone.measure.algorithm import Forced, Mpi
from isochrone.measure.launcher import Job, Launcher
from isochrone.measure.probe import Probe, Progress

__all__ = ["Setup", "follow"]


@dataclass(frozen=True)
class Setup:
    """One MPI and one launcher, for any number of measurements.

    Attributes
    ----------
    built
        The probe.
    name, launcher
        The name of the launcher, and its declaration.
    options
        Of the command line; the launcher finds its own among them.
    warn
        Is told what the launcher has to do that the user should know.
    """

    built: Probe
    name: str
    launcher: Launcher
    options: Mapping[str, Any]
    warn: Callable[[str], None] = lambda text: None

    @classmethod
    def choose(cls, options: Mapping[str, Any], warn: Callable[[str], None]) -> Setup:
        """Find launcher and compiler wrapper, and build the probe if need be."""
        name = options.get("launcher") or launchers.asked_for(options)
        launcher = launchers.load(name) if name else None
        mpicc = options.get("mpicc")
        if mpicc is None and launcher is not None and launcher.compiler:
            wrapper = probe.find_mpicc(launcher.compiler, hint=launcher.package)
        else:
            wrapper = probe.find_mpicc(mpicc)
        built = probe.build(wrapper)
        if launcher is None or name is None:
            name = launchers.choose(os.environ, built.library)
            launcher = launchers.load(name)
        return cls(built, name, launcher, options, warn)

    def default_ranks(self) -> int:
        """Return the ranks the launcher knows of, those of the Slurm job, or one a processor."""
        known = self.launcher.ranks(self.options)
        if known:
            return known
        tasks = os.environ.get("SLURM_NTASKS", "")
        return int(tasks) if tasks.isdigit() else max(2, len(os.sched_getaffinity(0)))

    def sweeps(self) -> dict[str, str]:
        """List the sweeps of the probe, as far as it can run by itself to tell."""
        return self.built.sweeps() if self.launcher.stands_alone else {}

    def mpi(self) -> Mpi:
        """Return the MPI as those who know its algorithms ask for it."""
        library = self.built.library if self.launcher.stands_alone else ""
        return Mpi(library, self.name, self.built.mpicc, self.built.path)

    def force(self, text: str) -> Forced:
        """Return what forces algorithms of the library: ``bcast=binomial,allgather=ring``.

        Raises
        ------
        InputError
            If the library has no such algorithm, or it is not known how to choose one.
        """
        mpi = self.mpi()
        return algorithms.family_of(mpi).force(algorithms.chosen(text, mpi), mpi)

    def check(self, experiment: str, options: Sequence[str], ranks: int) -> None:
        """Let the probe refuse options before any rank is started, if it can run by itself."""
        if self.launcher.stands_alone:
            here = launchers.processors(os.environ) is not None
            self.built.check(experiment, options, ranks, here=here)

    def tokens(
        self,
        experiment: str,
        options: Sequence[str],
        ranks: int,
        path: Path,
        *,
        force: bool = False,
        notes: Mapping[str, str] | None = None,
        extra: Sequence[str] = (),
        placed: bool = False,
    ) -> list[str]:
        """Return the command that measures and writes ``path``; warn of what is unusual about it.

        ``extra`` are launcher options before the user's own; ``placed`` says that they name a file
        with the number of ranks of each host: it is meant, however many processors are here.
        """
        program = [str(self.built.path), experiment, *options, "--out", str(path), "--progress"]
        job = self._job([*program, "--force"] if force else program, ranks, notes or {})
        job = replace(
            job, extra=(*extra, *job.extra), processors=None if placed else job.processors
        )
        for text in self.launcher.warnings(job):
            self.warn(text)
        return self.launcher.command(job)

    def _job(self, program: list[str], ranks: int, notes: Mapping[str, str]) -> Job:
        """Describe the ranks to start; the notes say how in the run file."""
        job = Job(
            ranks=ranks,
            program=tuple(program),
            extra=tuple(self.options.get("launcher_arg") or ()),
            mpicc=self.built.mpicc,
            processors=launchers.processors(os.environ),
            options=self.options,
            library=self.built.library if self.launcher.stands_alone else "",
        )
        told = {"isochrone": __version__, "launcher": self.name, **notes}
        told |= self.launcher.notes(job)
        words = [word for key, value in told.items() for word in ("--note", f"{key}={value}")]
        return replace(job, program=(*job.program, *words))


def follow(
    tokens: Sequence[str],
    path: Path,
    *,
    timeout: float | None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Run the launcher to its end and make sure that the run file ``path`` is complete.

    Raises
    ------
    InputError
        If the launcher cannot be started, or no run file was written.
    MeasurementError
        If the ranks fail, or end too early; says where what was measured is kept.
    Interrupted
        If a signal ended them; likewise.
    """
    before = path.stat().st_mtime_ns if path.exists() else 0
    try:
        probe.run(tokens, timeout=timeout, progress=progress, run_file=path)
    except IsochroneError as error:
        if path.is_file() and path.stat().st_mtime_ns != before:
            error.hint = f"what was measured is kept in {path}"
        raise
    if not path.is_file():
        raise InputError(
            "the ranks ended without writing it", where=str(path),
            hint="is its folder visible on the node of rank 0?",
        )  # fmt: skip
    if not _has_end(path):
        raise MeasurementError(
            "the ranks ended before the measurement was complete",
            hint=f"what was measured is kept in {path}",
        )


def _has_end(path: Path) -> bool:
    """Tell whether the run file ends with its last record: a simulated deadlock exits with 0."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 200))
        return stream.read().rpartition(b'{"record":')[2].startswith(b'"end"')
