"""SimGrid: ``--cfg=smpi/bcast:…``, and ``selector`` for the choice of another library."""

import re
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from isochrone.base.errors import InputError, MeasurementError
from isochrone.measure.algorithm import Algorithms, Forced, Mpi, Names
from isochrone.measure.launcher import Job
from isochrone.measure.subprocesses import answer

SELECTOR = "selector"
"""In place of an operation: which library's choice all others follow."""

_OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
)

_SELECTORS = ("default", "mpich", "ompi", "mvapich2", "impi")

_LISTED = re.compile(r"Valid algorithms: (.*?)\.?\s*$", re.MULTILINE)
_SIMGRID_TIMEOUT = 30.0

_PLATFORM = (
    '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    '<platform version="4.1"><zone id="z" routing="Full"><host id="h" speed="1Gf"/></zone>'
    "</platform>"
)


def fits(mpi: Mpi) -> bool:
    """Detect by the launcher: the library cannot be queried."""
    return mpi.launcher == "simgrid"


def known(mpi: Mpi) -> Names:
    """Return what SimGrid lists where it is given a name that it does not have."""
    starter = Job(1, (), mpicc=mpi.mpicc).sibling("smpirun")
    by_operation = _listed(starter, str(mpi.program))
    everywhere = [
        name for name in _SELECTORS if all(name in listed for listed in by_operation.values())
    ]
    return {SELECTOR: tuple(everywhere), **by_operation}


@cache
def _listed(starter: str, program: str) -> Names:
    by_operation = {}
    with tempfile.TemporaryDirectory() as folder:
        platform = Path(folder, "one.xml")
        platform.write_text(_PLATFORM)
        for operation in _OPERATIONS:
            wrong = f"--cfg=smpi/{operation}:?"
            tokens = [starter, "-np", "1", "-platform", str(platform), wrong, program, "--list"]
            try:
                result = answer(tokens, _SIMGRID_TIMEOUT, Path(folder))
            except MeasurementError as error:
                raise InputError(
                    f"cannot run '{starter}': {error.__cause__}", where="--algorithm"
                ) from error
            listed = _LISTED.search(result.stdout + result.stderr)
            if listed is None:
                raise InputError("SimGrid does not list its algorithms", where="--algorithm")
            by_operation[operation] = tuple(listed[1].split(", "))
    return by_operation


def force(algorithms: Mapping[str, str], mpi: Mpi) -> Forced:
    """Return the settings; SimGrid ends at one that it does not know."""
    settings = {SELECTOR: "coll-selector"}
    tokens = (f"--cfg=smpi/{settings.get(op, op)}:{name}" for op, name in algorithms.items())
    return Forced({}, tuple(tokens), refusal="std::invalid_argument")


ALGORITHMS = Algorithms(fits=fits, known=known, force=force)
