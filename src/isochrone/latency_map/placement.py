"""How the scheduler dealt the ranks out to the hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from isochrone.base.documents import Hidden

__all__ = ["Placement", "placement_of"]


@dataclass(frozen=True)
class Placement:
    """Where the ranks are.

    Attributes
    ----------
    kind
        ``block`` (each host's ranks follow each other), ``cyclic`` (dealt out one by one, passing
        over hosts that are full) or ``irregular``.
    hosts
        Host names in the order in which the ranks meet them. They come from elsewhere: escape them.
    ranks_per_node
        Number of ranks on each.
    """

    kind: str
    hosts: Hidden[tuple[str, ...]]
    ranks_per_node: tuple[int, ...]


def placement_of(hosts: Sequence[str]) -> Placement:
    """Recognise the placement from the hosts in rank order; one rank on each host is ``block``."""
    count = Counter(hosts)  # keeps the order of first appearance
    if len(list(groupby(hosts))) == len(count):
        kind = "block"
    elif list(hosts) == _dealt(count):
        kind = "cyclic"
    else:
        kind = "irregular"
    return Placement(kind, tuple(count), tuple(count.values()))


def _dealt(count: Counter[str]) -> list[str]:
    """Deal ranks out round after round until every host has its number."""
    return [host for turn in range(max(count.values())) for host in count if count[host] > turn]
