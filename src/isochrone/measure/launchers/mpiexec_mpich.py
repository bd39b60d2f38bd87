"""MPICH and its derivatives (Intel MPI, MVAPICH, Cray MPICH): Hydra's mpiexec."""

from isochrone.measure.launcher import Environ, Job, Launcher, per_node

_RELATIVES = ("MPICH", "Intel(R) MPI", "MVAPICH")


def detect(environ: Environ, library: str) -> bool:
    """Detect by the library."""
    return any(name.lower() in library.lower() for name in _RELATIVES)


def command(job: Job) -> list[str]:
    """Return the tokens of ``mpiexec -n RANKS``."""
    return [job.sibling("mpiexec"), "-n", str(job.ranks), *job.extra, *job.program]


def binding(job: Job) -> tuple[str, ...]:
    """Bind with MPICH, which by default does not; its derivatives bind by themselves."""
    is_mpich = job.library.lower().startswith("mpich")
    return ("-bind-to", "core") if is_mpich and job.enough_cores else ()


def environment(variables: Environ) -> list[str]:
    """Return them as ``-genv NAME VALUE``."""
    return [token for name, value in variables.items() for token in ("-genv", name, value)]


# Hydra names any process of the job, and joins the signals of all by a bitwise or.
LAUNCHER = Launcher(
    command=command,
    detect=detect,
    per_node=per_node("-ppn {k}"),
    binding=binding,
    priority=20,
    starters=("mpiexec", "mpirun"),
    environment=environment,
    killed=r"TERMINATED WITH THE EXIT STRING: [^(]*\(signal (?P<signal>\d+)\)",
)
