"""The MPI and the launcher that measurements share, and their launches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from isochrone import __version__
from isochrone.base import journal
from isochrone.base.errors import InputError, IsochroneError, MeasurementError, WrongResult
from isochrone.base.text import Tell, whole_number
from isochrone.measure import algorithm as algorithms
from isochrone.measure import discovery, probe, tuned
from isochrone.measure import launcher as launchers
from isochrone.measure.algorithm import Forced, Mpi
from isochrone.measure.data_file import data_file
from isochrone.measure.job import Report, run
from isochrone.measure.launcher import Job, Launcher
from isochrone.measure.probe import Probe
from isochrone.runfile.file import whole_records

_MEASURED = ("sample", "pair", "offset", "iterations", "computation")
"""Records of a run file with measured times."""

_WRONG = "wrong-result"
"""Code of the warning on operations that returned wrong data and were left out."""

_LIBRARIES = {"tile-io": "io"}
"""Libraries that are loaded into the ranks of an experiment."""


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
        Of the command line; the launcher finds its own among them. ``usual`` holds what is
        configured of the launcher, of the compiler wrapper and of the probe.
    warn
        Called with warnings of the launcher for the user.
    """

    built: Probe
    name: str
    launcher: Launcher
    options: Mapping[str, Any]
    warn: Tell = lambda text: None

    @classmethod
    def choose(cls, options: Mapping[str, Any], warn: Tell) -> Setup:
        """Find launcher and probe, and build the probe if there is none."""
        options = _with_usual(options)
        name = options.get("launcher") or launchers.asked_for(options)
        launcher = launchers.load(name) if name else None
        mpicc, named = options.get("mpicc"), options.get("probe")
        if launcher is not None and launcher.compiler:
            if named is not None:
                raise InputError(
                    f"--launcher {name} compiles its own probe",
                    where="--probe",
                    hint="remove it",
                )
            compiler = None if mpicc else launcher.compiler
            hint = launcher.package if compiler else ""
            built = probe.build(probe.find_mpicc(compiler or mpicc, hint=hint))
        elif launcher is not None and not launcher.needs_mpi:
            built = discovery.alone(warn)
        else:
            wanted = discovery.named_or_usual(named, mpicc, options.get("usual") or {})
            try:
                built = discovery.find(*wanted, tell=warn)
            except probe.NoMpi:
                if launcher is not None or options.get("experiment") != "synthetic":
                    raise
                return cls.choose({**options, "launcher": "alone"}, warn)
        if launcher is None or name is None:
            name = launchers.choose(os.environ, built.library)
            launcher = launchers.load(name)
            how = "detected"
        else:
            how = "selected"
        journal.note(f"launcher {name}: {how}")
        journal.note(f"probe {built.path} ({built.origin}), compiler wrapper {built.mpicc}")
        return cls(built, name, launcher, options, cache(warn))  # each text once

    def default_ranks(self) -> int:
        """Return the ranks the launcher knows of, those of the Slurm job, or one a processor."""
        count = self.launcher.ranks(self.options)
        if count:
            return count
        tasks = whole_number(os.environ.get("SLURM_NTASKS", ""))
        return max(2, len(os.sched_getaffinity(0))) if tasks is None else tasks

    def with_per_node(self, ranks: int, per_node: int, folder: Path) -> Setup:
        """Return it with so many ranks on each node; it may write a file into the folder.

        Raises
        ------
        InputError
            If the launcher cannot be determined.
        """
        chosen = self.launcher.per_node
        if chosen is None:
            raise InputError(f"{self.name} cannot choose ranks on a node", where="--per-node")
        return replace(
            self, options={**self.options, **chosen(self.options, ranks, per_node, folder)}
        )

    def sweeps(self) -> dict[str, str]:
        """List the sweeps of the probe, with a line on each, if it can run without a launcher."""
        experiments = self.built.experiments.values() if self.launcher.stands_alone else ()
        return {
            experiment.name: experiment.summary
            for experiment in experiments
            if experiment.kind == "sweep"
        }

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
            local = launchers.processors(os.environ) is not None
            self.built.check(experiment, options, ranks, local=local)

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

        The notes of the run file say how ranks are started: they are bound to cores, unless the
        user gives launcher options, or ranks have several threads.

        ``extra`` are launcher options before the user's own; ``placed`` says that they name a file
        with the number of ranks of each host: it is meant, however many processors are here.
        """
        program = [
            str(self.built.path),
            experiment,
            *options,
            "--out",
            str(path),
            "--report-progress",
        ]
        if (stall := self.options.get("stall_timeout")) is not None:
            program += ["--stall-timeout", f"{stall:g}"]
        program += ["--force"] if force else []
        job = replace(self._job(program, ranks, placed=placed), threads=_threads(options))
        recorded = {"isochrone": __version__, "launcher": self.name, **(notes or {})}
        recorded |= self.launcher.notes(job)
        user_args = job.extra
        if not user_args and not placed and (user_args := self.launcher.binding(job)):
            recorded["binding"] = "core"
        note_options = [
            token for key, value in recorded.items() for token in ("--note", f"{key}={value}")
        ]
        loaded = self._loaded(_LIBRARIES[experiment]) if experiment in _LIBRARIES else []
        job = replace(
            job, program=(*job.program, *note_options), extra=(*loaded, *extra, *user_args)
        )
        for text in self.launcher.warnings(job):
            self.warn(text)
        return self.launcher.command(job)

    def program(self, command: Sequence[str], ranks: int) -> list[str]:
        """Return the command that starts a user's program as measurements are started."""
        job = self._job(command, ranks)
        return self.launcher.command(replace(job, extra=(*self.launcher.computing, *job.extra)))

    def _job(self, command: Sequence[str], ranks: int, *, placed: bool = False) -> Job:
        return Job(
            ranks=ranks,
            program=tuple(command),
            extra=tuple(self.options.get("launcher_arg") or ()),
            mpicc=self.built.mpicc,
            processors=None if placed else launchers.processors(os.environ),
            cores=None if placed else launchers.cores(os.environ),
            options=self.options,
            library=self.mpi().library,
        )

    def _loaded(self, name: str) -> list[str]:
        """Return the launcher options that load a library into the ranks, if there can be any.

        It only adds to what is measured, so nothing fails without it.
        """
        if not self.launcher.stands_alone or self.launcher.environment({}) is None:
            return []
        try:
            library = discovery.library(self.built, name, self.warn)
            return self.launcher.environment(tuned.preloaded(library, os.environ)) or []
        except IsochroneError as error:
            self.warn(f"the phases inside file accesses are not measured: {error}")
            return []


def _threads(options: Sequence[str]) -> int:
    """Return how many threads of a rank work at the same time, at most, by ``--threads 1,2,4``."""
    words = " ".join(options).replace("=", " ").split()
    counts = words[words.index("--threads") + 1 :][:1] if "--threads" in words else []
    return max((int(text) for text in ",".join(counts).split(",") if text.isdigit()), default=1)


def _with_usual(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return options with the configured launcher, unless another one is selected.

    Its arguments and its template only apply to the configured launcher.
    """
    configured = options.get("usual") or {}
    named = options.get("launcher") or launchers.asked_for(options)
    if not configured or (named and named != configured.get("launcher")):
        return options
    return {
        **options,
        "launcher": named or configured.get("launcher"),
        "launcher_template": options.get("launcher_template")
        or configured.get("launcher-template", ""),
        "launcher_arg": [
            *configured.get("launcher-args", ()),
            *(options.get("launcher_arg") or ()),
        ],
    }


def follow(
    tokens: Sequence[str],
    path: Path,
    *,
    timeout: float | None,
    progress: Report = lambda _: None,
) -> None:
    """Run the launcher, and check that the run file ``path`` is complete.

    Raises
    ------
    InputError
        If the launcher cannot be started, or no run file was written.
    MeasurementError
        If the ranks fail, or end too early; names the partial run file. Also if the folder of the
        run file was removed.
    WrongResult
        If an operation returned wrong data; all others were measured.
    Interrupted
        If a signal ended them; likewise.
    """
    old_mtime = path.stat().st_mtime_ns if path.exists() else 0
    data = data_file(tokens)
    try:
        run(tokens, timeout=timeout, progress=progress, run_file=path, data_file=data)
    except IsochroneError as error:
        refused = isinstance(error, InputError)  # what is there is not of these ranks
        if not refused and path.is_file() and path.stat().st_mtime_ns != old_mtime:
            if wrong := _wrong_results(path):
                hint = f"all other results are in {path}"
                raise WrongResult("; ".join(wrong), hint=hint) from error
            # a hint says that the data file was removed
            partial = _partial_results(path, None if error.hint else data)
            error.hint = "; ".join(filter(None, [error.hint, partial]))
        raise
    if not path.parent.is_dir():
        raise MeasurementError(
            "the run file was removed or renamed during the measurement", where=path
        )
    if not path.is_file():
        raise InputError(
            "the ranks ended without writing the run file",
            where=path,
            hint="check that the node of rank 0 has this folder",
        )
    if not _has_end(path):
        raise MeasurementError(
            "the ranks ended before the measurement was complete",
            hint=_partial_results(path, data),
        )


def _wrong_results(path: Path) -> list[str]:
    """Return which operations of a complete measurement returned wrong data."""
    return [
        str(record.get("text"))
        for record in (whole_records(path) if _has_end(path) else ())
        if record.get("record") == "warning" and record.get("code") == _WRONG
    ]


def _partial_results(path: Path, data: Path | None) -> str:
    """Return whether the run file of an incomplete measurement has times, and remaining files.

    ``data`` is a file of the ranks that was not removed here; it may be on the host of rank 0.
    """
    text = f"nothing was measured: {path} has no times"
    host = ""
    for record in whole_records(path):
        if record.get("record") in _MEASURED:
            text = f"partial results are in {path}"
            break
        if record.get("record") == "rank" and record.get("rank") == 0:
            host = str(record.get("host", ""))
    if data is not None and not data.exists() and host not in ("", os.uname().nodename):
        text += f"; {data} may be left on {host}"
    return text


def _has_end(path: Path) -> bool:
    """Whether the run file has its ``end`` record: a simulated deadlock exits with 0."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 200))
        return stream.read().rpartition(b'{"record":')[2].startswith(b'"end"')
