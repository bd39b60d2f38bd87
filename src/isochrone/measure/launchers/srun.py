"""Slurm: srun inside an allocation (salloc, sbatch)."""

import os
import re
from pathlib import Path

from isochrone.measure.launcher import BINDING, Environ, Job, Launcher, on_path, per_node

CONFIGURATIONS = (
    "/etc/slurm/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/run/slurm/conf/slurm.conf",
    "/var/spool/slurmd/conf-cache/slurm.conf",
)
"""Paths of slurm.conf if $SLURM_CONF is not set; the last two are for 'configless' Slurm."""

INTERFACES = {
    "open mpi": "pmix",
    "mpich": "pmi2",
    "intel(r) mpi": "pmi2",
    "mvapich": "pmi2",
}
"""By MPI library: the plug-in of Slurm through which its ranks find each other."""

_NODES = re.compile(r"(\d{1,9})(?:\(x(\d{1,9})\))?")
"""Processors of a node, and how many nodes have as many: ``72(x2)``."""


def detect(environ: Environ, library: str) -> bool:
    """Detect by the allocation."""
    return "SLURM_JOB_ID" in environ and on_path("srun", environ)


def command(job: Job) -> list[str]:
    """Return the tokens of ``srun --ntasks=RANKS``.

    With Slurm's own default, ``MpiDefault=none``, every rank would believe to be alone. There, and
    only there, the plug-in that fits the MPI library is asked for: a site or a user who has chosen
    one knows better.
    """
    return ["srun", f"--ntasks={job.ranks}", *_interface(job), *job.extra, *job.program]


def binding(job: Job) -> tuple[str, ...]:
    """Bind to cores where the allocation has a processor for each rank."""
    nodes = os.environ.get("SLURM_JOB_CPUS_PER_NODE", "").split(",")
    matches = [_NODES.fullmatch(text) for text in nodes]
    room = sum(int(match[1]) * int(match[2] or 1) for match in matches if match)
    chosen = any(variable in os.environ for variable in BINDING)
    return ("--cpu-bind=cores",) if job.threads == 1 < job.ranks <= room and not chosen else ()


def warnings(job: Job) -> list[str]:
    """Return a note on the chosen plug-in."""
    return [f"Slurm has no default MPI plug-in: srun is given {token}" for token in _interface(job)]


def environment(variables: Environ) -> list[str] | None:
    """Return them as one ``--export=ALL,NAME=VALUE,…``, in which no value may have a comma."""
    if any("," in value for value in variables.values()):
        return None
    return [",".join(["--export=ALL", *(f"{name}={text}" for name, text in variables.items())])]


def _interface(job: Job) -> list[str]:
    """Return the option that names the plug-in, if there is need of it."""
    chosen = "SLURM_MPI_TYPE" in os.environ or any(a.startswith("--mpi") for a in job.extra)
    if chosen or not _has_no_default():
        return []
    library = job.library.lower()
    return [f"--mpi={plug_in}" for name, plug_in in INTERFACES.items() if name in library][:1]


def _has_no_default() -> bool:
    """Whether the site's slurm.conf can be read and leaves MPI to the user."""
    configured = os.environ.get("SLURM_CONF")
    for path in [configured] if configured else CONFIGURATIONS:
        try:
            lines = Path(path).read_text(errors="replace").lower().splitlines()
        except OSError:
            continue
        settings = [line.partition("#")[0].partition("=") for line in lines]
        set_to = [value.strip() for key, _, value in settings if key.strip() == "mpidefault"]
        included = any(line.lstrip().startswith("include ") for line in lines)
        return set_to[-1] == "none" if set_to else not included
    return False


LAUNCHER = Launcher(
    command=command,
    detect=detect,
    per_node=per_node("--nodes={nodes} --ntasks-per-node={k}"),
    binding=binding,
    priority=10,
    warnings=warnings,
    starters=("srun",),
    environment=environment,
    killed=r"srun: error: (?P<host>\S+): task (?P<rank>\d+): (?P<signal>[A-Z][a-z]+( [a-z]+)*)",
)
