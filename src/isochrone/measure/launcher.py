"""What a launcher is: whether it is available here, and which tokens start the ranks.

`isochrone.measure.launchers` holds the launchers, one per file; each file ends in its `Launcher`.
"""

import argparse
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.base.text import did_you_mean

BATCH_JOB = ("SLURM_JOB_ID", "PBS_JOBID", "FLUX_URI", "LSB_JOBID", "COBALT_JOBID")
"""Variables that a batch system sets in a job."""

BINDING = (
    "HYDRA_BINDING",
    "OMPI_MCA_hwloc_base_binding_policy",
    "PRTE_MCA_hwloc_default_binding_policy",
    "SLURM_CPU_BIND",
)
"""Variables by which a user binds ranks."""

Environ = Mapping[str, str]
"""Variables of an environment."""

Options = Mapping[str, object]
"""Values of the options of the command line; each launcher finds its own among them."""


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
    cores
        Cores of this machine to which its ranks may be bound; None: not known, or not wanted.
    root
        Whether the user is root.
    options
        Values of the launchers' own options.
    library
        Version text of the probe's MPI library; empty where unknown.
    threads
        Of each rank, that work at the same time: such ranks are not bound to a core.
    """

    ranks: int
    program: tuple[str, ...]
    extra: tuple[str, ...] = ()
    mpicc: Path | None = None
    processors: int | None = None
    cores: int | None = None
    root: bool = field(default_factory=lambda: os.geteuid() == 0)
    options: Options = field(default_factory=dict)
    library: str = ""
    threads: int = 1

    @property
    def size(self) -> str:
        """How many ranks there are, and threads where a rank has several."""
        several = f" of {self.threads} threads" if self.threads > 1 else ""
        return f"{self.ranks} ranks{several}"

    @property
    def oversubscribed(self) -> bool:
        """Whether there are more ranks, or threads, than processors, if known before the start."""
        return self.processors is not None and self.ranks * self.threads > self.processors

    @property
    def enough_cores(self) -> bool:
        """Whether each of several ranks can be bound to its own core."""
        return self.cores is not None and self.threads == 1 < self.ranks <= self.cores

    def sibling(self, starter: str) -> str:
        """Path of the starter that belongs to the MPI of the probe.

        ``/opt/mpi/bin/mpiexec`` for ``/opt/mpi/bin/mpicc``, ``mpiexec.mpich`` for Debian's
        ``mpicc.mpich``. Falls back to the name only.
        """
        if self.mpicc is not None:
            for wrapper in ("smpicc", "mpicc"):
                if wrapper in self.mpicc.name:
                    candidate = self.mpicc.with_name(self.mpicc.name.replace(wrapper, starter))
                    return str(candidate) if os.access(candidate, os.X_OK) else starter
        return starter


PerNode = Callable[[Options, int, int, Path], Options]
"""From options, ranks, those on a node, and a folder for a host file."""


def per_node(template: str) -> PerNode:
    """Return what adds words to the user's own, ``{k}`` and ``{nodes}`` filled in."""

    def chosen(options: Options, ranks: int, k: int, folder: Path) -> Options:
        user_args: Any = options.get("launcher_arg") or ()
        return {"launcher_arg": [*template.format(k=k, nodes=-(-ranks // k)).split(), *user_args]}

    return chosen


@dataclass(frozen=True)
class Launcher:
    """How the ranks of a job are started. Only ``command`` is needed.

    Attributes
    ----------
    command
        Returns the tokens that start the ranks of a job; starts nothing itself.
    detect
        Whether it is the right one here: from the environment, and from what the MPI library that
        the probe was built with says of itself. Default: never, the user has to name it.
    priority
        The lowest is asked first: batch systems (10), then the starters of MPI libraries (20).
    add_arguments
        Adds its options to the command line; their values are in ``job.options``.
    asked_for
        Whether its own options select it, even if it is not named.
    ranks
        Default number of ranks; None: not known.
    per_node
        Returns the options that put so many of the ranks on a node, as `per_node`; None where this
        cannot be chosen.
    binding
        Tokens that bind each rank to its own core; none where there are too few, or the MPI library
        binds by itself.
    warnings
        Warnings for the user, one sentence each.
    notes
        Notes for the run file on how the ranks are started.
    compiler
        Compiler wrapper that the probe has to be built with; empty: that of the user's MPI.
    package
        What to do where this wrapper is missing.
    needs_mpi
        Whether the probe is that of an MPI; otherwise one that has only the experiment synthetic.
    stands_alone
        Whether a probe that is built for it can be run without a launcher, to check its options.
    killed
        Pattern of its message about a killed rank, with the group ``signal`` (a number, or a name
        as of strsignal) and, only if reliable, ``rank`` and ``host``.
    stuck
        Pattern of its message about a deadlock after which it exits with 0.
    starters
        Names of its program.
    computing
        Options for programs of users, so that their computation takes time.
    environment
        Options, right after the program, that add variables to the environment of the ranks only;
        None where there are none.
    """

    command: Callable[[Job], list[str]]
    detect: Callable[[Environ, str], bool] = lambda environ, library: False
    priority: int = 30
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    asked_for: Callable[[Options], bool] = lambda options: False
    ranks: Callable[[Options], int | None] = lambda options: None
    per_node: PerNode | None = None
    binding: Callable[[Job], tuple[str, ...]] = lambda job: ()
    warnings: Callable[[Job], list[str]] = lambda job: []
    notes: Callable[[Job], dict[str, str]] = lambda job: {}
    compiler: str = ""
    package: str = ""
    needs_mpi: bool = True
    stands_alone: bool = True
    killed: str = ""
    stuck: str = ""
    starters: tuple[str, ...] = ()
    computing: tuple[str, ...] = ()
    environment: Callable[[Environ], list[str] | None] = lambda variables: None


names, load = registry.family("measure.launchers", "LAUNCHER", Launcher)
"""The launchers, as the user types them; one by its name."""


def named(text: str) -> str:
    """Return the name of a launcher as it was typed.

    Raises
    ------
    InputError
        If there is none of this name; suggests a similar one.
    """
    if text in names():
        return text
    guess = did_you_mean(text, names())
    raise InputError(f"there is no launcher '{text}' ({guess}there are: {', '.join(names())})")


def choose(environ: Environ, library: str) -> str:
    """Name the launcher that fits the environment and the MPI library.

    Raises
    ------
    InputError
        If none does.
    """
    for name in sorted(names(), key=lambda name: load(name).priority):
        if load(name).detect(environ, library):
            return name
    raise InputError(
        f"no launcher is known for {library or 'this MPI'}",
        hint="give --launcher generic --launcher-template 'ibrun -n {ranks} {program}'",
    )


def asked_for(options: Options) -> str | None:
    """Name the launcher that the user means by giving its options, if there is one."""
    return next((name for name in names() if load(name).asked_for(options)), None)


def processors(environ: Environ) -> int | None:
    """Count the processors of this machine that we may use; None if the ranks run elsewhere."""
    if any(variable in environ for variable in BATCH_JOB):
        return None
    return len(os.sched_getaffinity(0))


def cores(environ: Environ) -> int | None:
    """Count the cores of this machine to which ranks may be bound.

    None if the ranks run elsewhere, or if the user has chosen: by a variable, or by processors
    (``taskset``, a container) that a launcher would not keep to.
    """
    allowed = os.sched_getaffinity(0)
    chosen = any(variable in environ for variable in BINDING)
    if chosen or processors(environ) is None or len(allowed) != os.cpu_count():
        return None
    folder = Path("/sys/devices/system/cpu")
    try:
        core_lists = {(folder / f"cpu{k}/topology/core_cpus_list").read_text() for k in allowed}
    except OSError:
        return None
    return len(core_lists)


def on_path(program: str, environ: Environ) -> bool:
    """Whether a program can be started from the user's PATH."""
    return shutil.which(program, path=environ.get("PATH")) is not None
