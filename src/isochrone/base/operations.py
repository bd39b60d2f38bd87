"""The collective operations of MPI that are measured, modelled, simulated and recorded."""

from dataclasses import dataclass

from isochrone.base.operation_table import TABLE


@dataclass(frozen=True)
class Operation:
    """A row of the table.

    Attributes
    ----------
    title
        Name in MPI, without ``MPI_``.
    like
        The operation that stands for it where it was not measured: itself, or of equal blocks.
    traits
        What is true of it, as in ``probe/messages/operations.h``.
    """

    title: str
    like: str
    traits: frozenset[str]


def _operations() -> dict[str, Operation]:
    rows = (line.split() for line in TABLE.split("\n") if line)
    return {name: Operation(title, like, frozenset(traits)) for name, title, like, *traits in rows}


OPERATIONS = _operations()


def _with(trait: str) -> tuple[str, ...]:
    return tuple(name for name, operation in OPERATIONS.items() if trait in operation.traits)


COLLECTIVES = tuple(OPERATIONS)
"""Those that `measure collective` measures, in small letters without ``MPI_``."""

ROOTED = _with("rooted")
"""Those that have a root."""

TO_ROOT = _with("root_receives")
"""Those of which only the root has a result."""

FROM_ROOT = tuple(name for name in ROOTED if name not in TO_ROOT)
"""Those of which the root has all data."""

REDUCING = _with("reduces")
"""Those that combine elements, doubles if not said otherwise."""

VARYING = _with("varying")
"""Those that have a count for each block."""

NEIGHBORS = _with("neighbors")
"""Those of the neighbours in a topology."""

EQUAL_WORK = tuple(
    name
    for name, operation in OPERATIONS.items()
    if operation.traits.isdisjoint({"rooted", "of_those_before", "varying", "neighbors"})
)
"""Those with the same work for all ranks."""

DESCRIBED = tuple(name for name in COLLECTIVES if name not in NEIGHBORS)
"""Those of descriptions and traces of applications. An exchange describes neighbours."""


def like(op: str) -> str:
    """Return the operation that stands for one where it was not measured; others for themselves."""
    return OPERATIONS[op].like if op in OPERATIONS else op
