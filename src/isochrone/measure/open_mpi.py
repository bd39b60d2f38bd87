"""What an installation of Open MPI has, by its ``ompi_info``."""

import re
from functools import cache
from pathlib import Path

from isochrone.base.errors import MeasurementError
from isochrone.measure.launcher import Job
from isochrone.measure.subprocesses import answer

_COMPONENT = re.compile(r"mca:(\w+):(\w+):version:.*component:.*")
_PARAMETER = re.compile(r"mca:\w+:\w+:param:(\w+):value:(.*)")

LISTED = ("--parsable", "--all", "--level", "9")


@cache
def installed(mpicc: Path | None) -> tuple[frozenset[str], dict[str, str]]:
    """Return the components, such as ``io:romio321``, and the parameters with their values.

    Both are empty if there is no ``ompi_info``.
    """
    # the job is only needed for the path of a program next to mpicc
    try:
        result = answer([Job(1, (), mpicc=mpicc).sibling("ompi_info"), *LISTED])
    except MeasurementError:
        return frozenset(), {}
    lines = result.stdout.splitlines()
    components = [match for line in lines if (match := _COMPONENT.fullmatch(line))]
    parameters = [match for line in lines if (match := _PARAMETER.fullmatch(line))]
    return (
        frozenset(f"{match[1]}:{match[2]}" for match in components),
        {match[1]: match[2] for match in parameters},
    )
