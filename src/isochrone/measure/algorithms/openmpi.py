"""Open MPI: parameters of its component ``tuned``, in the environment of the launcher."""

import re
from collections.abc import Mapping

from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.operations import COLLECTIVES
from isochrone.measure.algorithm import Algorithms, Forced, Mpi, Names
from isochrone.measure.open_mpi import ompi_info

RIVALS = ("han", "acoll", "xhc", "sm")
"""Components that would take an operation before ``tuned`` does."""

_OFF = ("coll_ucc_enable", "coll_hcoll_enable")
"""Switches of components that have no priority below that of ``tuned``."""

Numbers = dict[str, dict[str, int]]
"""Of algorithms, by operation and name."""

_VALUE = re.compile(r"mca:coll:tuned:param:coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(.+)")


def fits(mpi: Mpi) -> bool:
    """Detect by the library."""
    return "open mpi" in mpi.library.lower()


def known(mpi: Mpi) -> Names:
    """Return what ``ompi_info`` of this installation lists."""
    return {op: tuple(names) for op, names in numbers(mpi).items()}


def numbers(mpi: Mpi) -> Numbers:
    """Return the numbers of the algorithms by operation and name; they differ by version.

    Raises
    ------
    InputError
        If ``ompi_info`` cannot be run.
    """
    try:
        lines = ompi_info(mpi.mpicc, "--param", "coll", "tuned")
    except MeasurementError as error:
        raise InputError(
            f"cannot run 'ompi_info', which lists the algorithms: {error.__cause__}",
            where="--algorithm",
        ) from error
    by_operation: Numbers = {}
    for line in lines:
        value = _VALUE.fullmatch(line)
        if value and value[1] in COLLECTIVES and value[2] != "0":  # 0: the library's own choice
            by_operation.setdefault(value[1], {})[value[3]] = int(value[2])
    if not by_operation:
        raise InputError("ompi_info lists no algorithms of coll/tuned", where="--algorithm")
    return {op: by_operation[op] for op in COLLECTIVES if op in by_operation}


def force(algorithms: Mapping[str, str], mpi: Mpi) -> Forced:
    """Return the parameters; those of components that are not there do no harm."""
    parameters = {"coll_tuned_use_dynamic_rules": "1"}
    parameters |= {f"coll_{rival}_priority": "0" for rival in RIVALS}
    parameters |= dict.fromkeys(_OFF, "0")
    by_operation = numbers(mpi)
    for operation, name in algorithms.items():
        parameters[f"coll_tuned_{operation}_algorithm"] = str(by_operation[operation][name])
    warning = (
        "Open MPI does not report which algorithm it used. With --algorithm, all operations of the "
        "run use the component coll/tuned, even if another component is the default"
    )
    return Forced({f"OMPI_MCA_{k}": v for k, v in parameters.items()}, (), (warning,))


ALGORITHMS = Algorithms(fits=fits, known=known, force=force)
