"""What an installation of Open MPI has, by its ``ompi_info``."""

import re
from functools import cache
from pathlib import Path

from isochrone.base.errors import MeasurementError
from isochrone.measure.launcher import Job
from isochrone.measure.subprocesses import answer

_COMPONENT = re.compile(r"mca:(\w+):(\w+):version:.*component:.*")
_PARAMETER = re.compile(r"mca:\w+:\w+:param:(\w+):value:(.*)")


@cache
def ompi_info(mpicc: Path | None, *arguments: str) -> list[str]:
    """Return the lines that ``ompi_info`` of an installation prints for these words.

    Raises
    ------
    MeasurementError
        If it cannot be run.
    """
    # the job is only needed for the path of a program next to mpicc
    program = Job(1, (), mpicc=mpicc).sibling("ompi_info")
    return answer([program, *arguments, "--level", "9", "--parsable"]).stdout.splitlines()


def installed(mpicc: Path | None) -> tuple[frozenset[str], dict[str, str]]:
    """Return the components, such as ``io:romio321``, and the parameters with their values.

    Both are empty if there is no ``ompi_info``.
    """
    try:
        lines = ompi_info(mpicc, "--all")
    except MeasurementError:
        return frozenset(), {}
    components = [match for line in lines if (match := _COMPONENT.fullmatch(line))]
    parameters = [match for line in lines if (match := _PARAMETER.fullmatch(line))]
    return (
        frozenset(f"{match[1]}:{match[2]}" for match in components),
        {match[1]: match[2] for match in parameters},
    )
