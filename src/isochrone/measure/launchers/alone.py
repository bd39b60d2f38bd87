"""One process without MPI, which only the experiment synthetic needs."""

from isochrone.base.errors import InputError
from isochrone.measure.launcher import Job, Launcher


def command(job: Job) -> list[str]:
    """Return the program itself.

    Raises
    ------
    InputError
        If more than one rank is wanted.
    """
    if job.ranks > 1:
        raise InputError(
            f"there is no MPI to start {job.ranks} ranks",
            hint="-n 1; --shape 8,4,2 gives ranks to the synthetic machine",
        )
    return list(job.program)


LAUNCHER = Launcher(command=command, ranks=lambda options: 1, needs_mpi=False)
