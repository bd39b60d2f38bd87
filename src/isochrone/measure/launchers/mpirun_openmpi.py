"""Open MPI: mpirun."""

import os

from isochrone.measure.launcher import Environ, Job, Launcher, on_path, per_node


def detect(environ: Environ, library: str) -> bool:
    """Detect by the library."""
    return "open mpi" in library.lower()


def command(job: Job) -> list[str]:
    """Return the tokens of ``mpirun -n RANKS``.

    Open MPI refuses to start as root and with more ranks than processors; both are allowed here
    explicitly, and ranks that have to share a processor yield it while they wait. Ranks with
    several threads are not bound: by default two ranks are, to a core each.
    """
    tokens = [job.sibling("mpirun"), "-n", str(job.ranks)]
    if job.root:
        tokens.append("--allow-run-as-root")
    if job.oversubscribed and "--map-by" not in job.extra:
        tokens += ["--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none"]
        tokens += ["--mca", "mpi_yield_when_idle", "1"]
    elif job.threads > 1 and "--bind-to" not in job.extra:
        tokens += ["--bind-to", "none"]
    return [*tokens, *_without_ssh(job), *job.extra, *job.program]


def _without_ssh(job: Job) -> list[str]:
    """Return what lets Open MPI 4 start ranks on this host if there is no ssh, which it asks for.

    Its later versions do without.
    """
    chosen = "OMPI_MCA_plm_rsh_agent" in os.environ or "OMPI_MCA_plm" in os.environ
    has_agent = chosen or any(on_path(program, os.environ) for program in ("ssh", "rsh"))
    if has_agent or job.processors is None or "plm" in " ".join(job.extra):
        return []
    return ["--mca", "plm", "isolated"] if "open mpi v4" in job.library.lower() else []


def binding(job: Job) -> tuple[str, ...]:
    """Bind to cores; by default more than two ranks are bound to packages or NUMA nodes."""
    return ("--bind-to", "core") if job.enough_cores else ()


def warnings(job: Job) -> list[str]:
    """Return warnings on what Open MPI would refuse by default."""
    texts = []
    if job.root:
        texts.append("running Open MPI as root, which it discourages")
    if job.oversubscribed:
        texts.append(f"oversubscribed: Open MPI starts {job.size} on {job.processors} processors")
    return texts


def environment(variables: Environ) -> list[str]:
    """Return them as ``-x NAME=VALUE``."""
    return [token for name, value in variables.items() for token in ("-x", f"{name}={value}")]


LAUNCHER = Launcher(
    command=command,
    detect=detect,
    per_node=per_node("--map-by ppr:{k}:node:OVERSUBSCRIBE"),
    binding=binding,
    priority=20,
    warnings=warnings,
    starters=("mpirun", "mpiexec", "prterun", "orterun"),
    environment=environment,
    killed=(
        r"process rank (?P<rank>\d+) with PID \d+ on node (?P<host>\S+) exited on "
        r"signal (?P<signal>\d+)"
    ),
)
