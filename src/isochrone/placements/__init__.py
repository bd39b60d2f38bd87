"""Files that make a launcher place ranks on nodes in an order: ONE FILE = ONE FORMAT.

A placement module has

``FILE``
    The usual name of the file.
``text(order) -> str``
    What is in it.
``start(path, ranks) -> Start``
    How the launcher is told to use it.

``order`` is an `Order`: the nodes as the job has them, and the order in which they are to be
filled, each with all its ranks before the next one.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isochrone.workloads.allocation import Allocation

__all__ = ["Order", "Start"]


@dataclass(frozen=True)
class Order:
    """Nodes as the job has them, and the order in which they are to be filled."""

    given: Allocation
    nodes: Sequence[int]

    @property
    def filled(self) -> Allocation:
        """The nodes in the order in which they are to be filled."""
        return self.given.reordered(self.nodes)

    def hosts(self) -> Iterator[str]:
        """Yield the host of each rank."""
        yield from self.filled.by_rank

    def ranks(self) -> Iterator[tuple[str, range]]:
        """Yield each host with its ranks, in the order in which they are filled."""
        first = 0
        filled = self.filled
        for host, count in zip(filled.hosts, filled.cores, strict=True):
            yield host, range(first, first + count)
            first += count


@dataclass(frozen=True)
class Start:
    """How a launcher is started such that it uses the file.

    Attributes
    ----------
    launcher
        Its name in `isochrone.measure.launchers`.
    words
        The user's words of the launcher before its options, e.g. ``mpiexec -n 16``.
    options
        What is added for the file.
    environ
        Variables that are set for it.
    """

    launcher: str
    words: Sequence[str]
    options: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)

    def line(self, program: str = "./a.out") -> str:
        """Return the command line for a person."""
        variables = [f"{key}={shlex.quote(value)}" for key, value in self.environ.items()]
        return " ".join([*variables, shlex.join([*self.words, *self.options]), program])


def absolute(path: Path) -> str:
    """Return a path that means the same wherever the job is started."""
    return str(path.absolute())
