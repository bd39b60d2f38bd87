"""The hosts of ``cb_config_list`` in order, within the limits of such a hint.

A host is named once, and its aggregators are the first of its ranks: ``n1:2,n4,*:1`` is two ranks
of n1, one of n4, then one of each other host in rank order. So not every order of aggregators can
be expressed, and the length of a hint limits the number of named hosts.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from isochrone.base.arrays import Bools
from isochrone.base.record import Record
from isochrone.collective_io.workload import Ints, Numbers, expanded
from isochrone.collective_io.workload.call import DEFAULT, aggregators
from isochrone.collective_io.workload.traffic import Layout

VALUE_LIMIT = 1023
"""Characters of a hint: ``MPI_MAX_INFO_VAL`` of MPICH is 1024, the end of the string included."""


class HintList(Record, eq=False):
    """Hosts with a number of aggregators each, of which some are named and the others follow.

    Attributes
    ----------
    layout
        The hosts, in rank order, and the ranks of each.
    counts
        Aggregators of each host, at most its ranks.
    others
        ``n`` of the ``*:n`` at the end of the list; None: ``*:*``, all ranks.
    """

    layout: Layout
    counts: Ints
    others: int | None = 1

    @property
    def hosts(self) -> Sequence[str]:
        """Names of the hosts."""
        return self.layout.hosts

    @cached_property
    def must(self) -> Bools:
        """Whether a host must be named, because its number differs from ``others``."""
        ranks = self.layout.ranks
        default_counts = ranks if self.others is None else np.minimum(self.others, ranks)
        return np.asarray(self.counts != default_counts)

    @cached_property
    def _lengths(self) -> Ints:
        return np.array([len(self._item(k)) + 1 for k in range(len(self.hosts))], np.int64)

    @property
    def end(self) -> str:
        """The last item: all hosts that are not named."""
        return "*:*" if self.others is None else f"*:{self.others}"

    def _item(self, host: int) -> str:
        count = int(self.counts[host])
        return self.hosts[host] if count == 1 else f"{self.hosts[host]}:{count}"

    def config(self, named: Numbers) -> str:
        """Return the value of ``cb_config_list``.

        The end is needed: otherwise hosts without a name serve nothing.
        """
        return ",".join([*(self._item(int(k)) for k in named), self.end])

    def fits(self, named: Numbers) -> bool:
        """Whether these hosts fit into a hint and include all that must be named."""
        named = np.asarray(named, np.int64)
        short = int(self._lengths[named].sum()) + len(self.end) <= VALUE_LIMIT
        return short and int(self.must[named].sum()) == int(self.must.sum())

    def completed(self, named: Numbers) -> Ints:
        """Let all hosts that are not named follow in their own order, as ``*:n`` does."""
        named = np.asarray(named, np.int64)
        left = np.ones(len(self.hosts), bool)
        left[named] = False
        return np.concatenate([named, np.flatnonzero(left)])

    def room(self, order: Ints) -> int:
        """Return how many hosts of an order, from its first on, a hint can name."""
        lengths = np.cumsum(self._lengths[order]) + len(self.end)
        return int(np.searchsorted(lengths, VALUE_LIMIT, side="right"))

    def longest(self, order: Ints) -> Ints:
        """Return the hosts of an order that a hint can name: the first ones, and those it must."""
        if self.fits(order):
            return order
        for room in range(self.room(order), -1, -1):
            late = order[room:]
            named = np.concatenate([order[:room], late[self.must[late]]])
            if self.fits(named):
                return named
        return np.flatnonzero(self.must)

    def aggregators(self, order: Ints) -> list[int]:
        """Return the ranks that serve, in the order of the file domains."""
        by_host = np.argsort(self.layout.of_rank, kind="stable")
        first = np.cumsum(self.layout.ranks) - self.layout.ranks
        ranks: list[int] = by_host[expanded(first[order], self.counts[order])[1]].tolist()
        return ranks


def listed(layout: Layout, config: str = DEFAULT) -> HintList:
    """Return how many aggregators hosts have by a list, in any order of it.

    By a list that leaves hosts out they have one each, as by default.
    """
    node = layout.of_rank
    match = re.fullmatch(r"(?:.*,)?\s*\*:([1-9][0-9]{0,8}|\*)\s*", config)
    others = 1 if match is None else None if match[1] == "*" else int(match[1])
    served = aggregators([layout.hosts[k] for k in node.tolist()], config)
    counts = np.bincount(node[served], minlength=layout.nodes).astype(np.int64)
    return HintList(layout, counts, others) if counts.all() else listed(layout)
