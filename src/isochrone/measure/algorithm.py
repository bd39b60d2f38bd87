"""What forces the algorithms of an MPI library: which there are, and what one launch needs.

`isochrone.measure.algorithms` holds the families of libraries, one per file; each file ends in its
`Algorithms`. The names of the algorithms are the library's own.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.base import registry
from isochrone.base.errors import InputError

LIST = "list"
"""What the user types instead of algorithms to see which there are."""

NOTE = "algorithm"
"""Note of a run file with the forced algorithms."""

_PAIR = re.compile(r"([a-z_]+)=([A-Za-z0-9_.:-]+)")


Names = dict[str, tuple[str, ...]]
"""Of algorithms, by operation."""


@dataclass(frozen=True)
class Mpi:
    """The MPI in use.

    Attributes
    ----------
    library
        Its version text; empty where its programs only run below a launcher.
    launcher
        Name of the launcher.
    mpicc, program
        The compiler wrapper, and the probe that it made.
    """

    library: str
    launcher: str
    mpicc: Path
    program: Path

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.library[:60] or self.launcher


@dataclass(frozen=True)
class Forced:
    """What a launch needs so that the algorithms are active.

    Attributes
    ----------
    environ
        Variables of the launcher, which every launcher hands on to the ranks.
    options
        Of the launcher.
    warnings
        What the user should know, one sentence each.
    refusal
        Message of the library if a forced algorithm cannot be used.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str = ""


@dataclass(frozen=True)
class Algorithms:
    """A family of MPI libraries.

    Attributes
    ----------
    fits
        Whether a library is of this family.
    known
        Returns the algorithms by operation, in the library's own words.
    force
        Returns what a launch needs for algorithms that are known.
    """

    fits: Callable[[Mpi], bool]
    known: Callable[[Mpi], Names]
    force: Callable[[Mapping[str, str], Mpi], Forced]


names, load = registry.family("measure.algorithms", "ALGORITHMS", Algorithms)


def family_of(mpi: Mpi) -> Algorithms:
    """Return the family of a library.

    Raises
    ------
    InputError
        If none is known.
    """
    for family in map(load, names()):
        if family.fits(mpi):
            return family
    raise InputError(
        f"Isochrone cannot set the algorithms of {mpi.name}",
        where="--algorithm",
        hint=f"supported: {', '.join(names())}",
    )


def chosen(text: str, mpi: Mpi) -> dict[str, str]:
    """Read ``bcast=binomial,allgather=ring``, and check it against what the library has.

    An unknown name must be refused here: not every library says that it ignores it.

    Raises
    ------
    InputError
        If it cannot be read, or the library has no such algorithm.
    """
    available = family_of(mpi).known(mpi)
    algorithms = {}
    for assignment in text.split(","):
        pair = _PAIR.fullmatch(assignment.strip())
        if pair is None:
            raise InputError(
                f"'{assignment[:40]}' is not OPERATION=ALGORITHM",
                where="--algorithm",
                hint="try bcast=binomial; --algorithm list shows all",
            )
        operation, name = pair.groups()
        if operation not in available:
            raise InputError(
                f"{mpi.name} has no selectable algorithms of '{operation}'",
                where="--algorithm",
                hint=f"operations: {', '.join(available)}",
            )
        if name not in available[operation]:
            raise InputError(
                f"{mpi.name} has no algorithm '{name}' of {operation}",
                where="--algorithm",
                hint=f"there are: {', '.join(available[operation])}",
            )
        if operation in algorithms:
            raise InputError(f"{operation} is given two algorithms", where="--algorithm")
        algorithms[operation] = name
    return algorithms
