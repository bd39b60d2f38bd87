"""What several measurements share: the MPI, the launcher, the built probe."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from isochrone import __version__
from isochrone.base import registry
from isochrone.base.errors import InputError, IsochroneError, MeasurementError
from isochrone.base.units import parse_seconds
from isochrone.measure import launchers, probe
from isochrone.measure.launchers import Job
from isochrone.measure.probe import Probe
from isochrone.measure.progress import progress_bar

__all__ = ["Bench", "add_bench", "follow", "rank_count", "seconds_above_zero"]


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how ranks are started: MPI, launcher, limits."""
    names = registry.names("measure.launchers")
    parser.add_argument("--mpicc", metavar="X", help="compiler wrapper of your MPI")
    parser.add_argument(
        "--launcher", metavar="L", choices=names,
        help="how to start the ranks (default: found from the batch job and the MPI); one of: "
        + ", ".join(names),
    )  # fmt: skip
    parser.add_argument(
        "--launcher-arg", action="append", default=[], metavar="A",
        help="one more argument for the launcher; may be repeated (--launcher-arg=--exclusive)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="print the command, start nothing")
    for name in names:
        launcher = registry.load("measure.launchers", name)
        if hasattr(launcher, "add_arguments"):
            launcher.add_arguments(parser)


@dataclass(frozen=True)
class Bench:
    """One MPI and one launcher, for any number of measurements.

    Attributes
    ----------
    built
        The probe.
    name, launcher
        Of the launcher, and its module.
    options
        Of the command line; launchers find theirs among them.
    """

    built: Probe
    name: str
    launcher: ModuleType
    options: Mapping[str, Any]

    @classmethod
    def choose(cls, options: Mapping[str, Any]) -> Bench:
        """Find launcher and compiler wrapper, and build the probe if need be."""
        name = options.get("launcher") or launchers.asked_for(options)
        launcher = registry.load("measure.launchers", name) if name else None
        mpicc = options.get("mpicc")
        if mpicc is None and launcher is not None and hasattr(launcher, "COMPILER"):
            wrapper = probe.find_mpicc(launcher.COMPILER, hint=launcher.PACKAGE)
        else:
            wrapper = probe.find_mpicc(mpicc)
        built = probe.build(wrapper)
        if launcher is None or name is None:
            name = launchers.choose(os.environ, built.library)
            launcher = registry.load("measure.launchers", name)
        return cls(built, name, launcher, options)

    def default_ranks(self) -> int:
        """Return the ranks the launcher knows of, those of the Slurm job, or one a processor."""
        known = self.launcher.ranks(self.options) if hasattr(self.launcher, "ranks") else None
        if known:
            return int(known)
        tasks = os.environ.get("SLURM_NTASKS", "")
        return int(tasks) if tasks.isdigit() else max(2, len(os.sched_getaffinity(0)))

    def sweeps(self) -> dict[str, str]:
        """List the sweeps of the probe, as far as it can run by itself to tell."""
        return self.built.sweeps() if getattr(self.launcher, "STANDS_ALONE", True) else {}

    def check(self, experiment: str, options: Sequence[str], ranks: int) -> None:
        """Let the probe refuse options before any rank is started, if it can run by itself."""
        if getattr(self.launcher, "STANDS_ALONE", True):
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
        """Return the command that measures and writes ``path``; say what is doubtful about it.

        ``extra`` are launcher options before the user's own; ``placed`` says that they name a file
        with the number of ranks of each host: it is meant, however many processors are here.
        """
        program = [str(self.built.path), experiment, *options, "--out", str(path), "--progress"]
        job = self._job([*program, "--force"] if force else program, ranks, notes or {})
        job = replace(
            job, extra=(*extra, *job.extra), processors=None if placed else job.processors
        )
        for doubt in self.launcher.doubts(job) if hasattr(self.launcher, "doubts") else ():
            print(f"isochrone: {doubt}", file=sys.stderr)
        return list(self.launcher.command(job))

    def _job(self, program: list[str], ranks: int, notes: Mapping[str, str]) -> Job:
        """Describe the ranks to start; the notes say how in the run file."""
        stands_alone = getattr(self.launcher, "STANDS_ALONE", True)
        job = launchers.Job(
            ranks=ranks,
            program=tuple(program),
            extra=tuple(self.options.get("launcher_arg") or ()),
            mpicc=self.built.mpicc,
            processors=launchers.processors(os.environ),
            options=self.options,
            library=self.built.library if stands_alone else "",
        )
        told = {"isochrone": __version__, "launcher": self.name, **notes}
        if hasattr(self.launcher, "notes"):
            told |= self.launcher.notes(job)
        words = [word for key, value in told.items() for word in ("--note", f"{key}={value}")]
        return replace(job, program=(*job.program, *words))


def follow(
    tokens: list[str], path: Path, *, title: str, timeout: float | None, quiet: bool = False
) -> None:
    """Run the launcher to its end; an error says what the run file still holds."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    try:
        with progress_bar(title, quiet=quiet) as advance:
            probe.run(tokens, timeout=timeout, progress=advance)
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
            "the ranks ended before the measurement did",
            hint=f"what was measured is kept in {path}",
        )


def _has_end(path: Path) -> bool:
    """Tell whether the run file ends with its last record: a simulated deadlock exits with 0."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 200))
        return stream.read().rpartition(b'{"record":')[2].startswith(b'"end"')


def rank_count(text: str) -> int:
    """Read a number of ranks for argparse, which wants its own kind of error."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of ranks")
    return int(text)


def seconds_above_zero(text: str) -> float:
    """Read a duration such as 90 or 10min for argparse."""
    try:
        seconds = parse_seconds(text)
    except InputError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds
