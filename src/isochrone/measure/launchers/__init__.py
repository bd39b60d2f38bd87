"""Launchers: ONE FILE = ONE LAUNCHER; each returns the argv tokens that start the ranks.

A launcher module has

``PRIORITY``
    Batch systems (10) are asked before the MPI library's own starter (20).
``detect(environ, library) -> bool``
    Whether it is the right one here: from the environment and from what the MPI library that the
    probe was built with says of itself.
``command(job) -> list[str]``
    The tokens. It starts nothing.

and where it needs them

``doubts(job) -> list[str]``
    What it had to do that a person should know, one sentence each.
``add_arguments(parser)``
    Options of its own; their values come back in ``job.options``.
``asked_for(options) -> bool``
    Whether the values of its own options say that it is meant, even if it is not named.
``ranks(options) -> int | None``
    How many ranks there are to start, if the user does not say.
``notes(job) -> dict[str, str]``
    What the run file should say about how the ranks were started.
``COMPILER``, ``PACKAGE``, ``STANDS_ALONE``
    Another compiler wrapper for the probe, what to install where that is missing, and whether the
    probe it makes can be run without a launcher.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from isochrone.base import registry
from isochrone.base.errors import InputError

__all__ = ["Job", "asked_for", "choose", "processors"]

BATCH_JOB: Final = ("SLURM_JOB_ID", "PBS_JOBID", "FLUX_URI", "LSB_JOBID", "COBALT_JOBID")
"""Variables that a batch system sets in a job."""


@dataclass(frozen=True)
class Job:
    """Ranks to start.

    Attributes
    ----------
    ranks
        How many.
    program
        Path of the probe and its options.
    extra
        The user's own launcher options, passed on as they are.
    mpicc
        Compiler wrapper the probe was built with; its siblings start its ranks.
    processors
        Processors of this machine that we may use; None inside a batch job, where the ranks run
        elsewhere.
    root
        Whether the user is root.
    options
        Values of the launchers' own options.
    library
        What the MPI library of the probe says of itself; empty where the probe cannot say.
    """

    ranks: int
    program: tuple[str, ...]
    extra: tuple[str, ...] = ()
    mpicc: Path | None = None
    processors: int | None = None
    root: bool = field(default_factory=lambda: os.geteuid() == 0)
    options: Mapping[str, object] = field(default_factory=dict)
    library: str = ""

    @property
    def oversubscribed(self) -> bool:
        """Whether there are more ranks than processors, as far as can be known before the start."""
        return self.processors is not None and self.ranks > self.processors

    def sibling(self, starter: str) -> str:
        """Path of the starter that belongs to the MPI of the probe.

        ``/opt/mpi/bin/mpicc`` has ``/opt/mpi/bin/mpiexec`` beside it, and Debian's
        ``mpicc.mpich`` has ``mpiexec.mpich``. Falls back to the name alone.
        """
        if self.mpicc is not None:
            for wrapper in ("smpicc", "mpicc"):
                if wrapper in self.mpicc.name:
                    beside = self.mpicc.with_name(self.mpicc.name.replace(wrapper, starter))
                    return str(beside) if os.access(beside, os.X_OK) else starter
        return starter


def choose(environ: Mapping[str, str], library: str) -> str:
    """Name the launcher that fits the environment and the MPI library.

    Raises
    ------
    InputError
        If none does.
    """
    modules = [
        (name, registry.load("measure.launchers", name))
        for name in registry.names("measure.launchers")
    ]
    for name, module in sorted(modules, key=lambda item: item[1].PRIORITY):
        if module.detect(environ, library):
            return name
    raise InputError(
        f"no launcher is known for {library or 'this MPI'}",
        hint="give --launcher generic --launcher-template 'ibrun -n {ranks} {program}'",
    )


def asked_for(options: Mapping[str, object]) -> str | None:
    """Name the launcher that the user means by giving its options, if there is one."""
    for name in registry.names("measure.launchers"):
        module = registry.load("measure.launchers", name)
        if hasattr(module, "asked_for") and module.asked_for(options):
            return name
    return None


def processors(environ: Mapping[str, str]) -> int | None:
    """Count the processors of this machine that we may use; None if the ranks run elsewhere."""
    if any(variable in environ for variable in BATCH_JOB):
        return None
    return len(os.sched_getaffinity(0))


def on_path(program: str, environ: Mapping[str, str]) -> bool:
    """Tell whether a program can be started from the user's PATH."""
    return shutil.which(program, path=environ.get("PATH")) is not None
