"""An arrangement of ranks: the order in which the nodes of a job are filled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isochrone.measure.allocation import Allocation


@dataclass(frozen=True)
class Arrangement:
    """Nodes as the job has them, and the order in which they are to be filled.

    Each node is filled with all its ranks before the next one.

    Attributes
    ----------
    given
        The nodes of the job.
    nodes
        Indices of them, in the order in which they are to be filled.
    """

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
