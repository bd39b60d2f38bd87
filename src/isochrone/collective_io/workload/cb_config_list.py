"""Aggregator ranks, chosen by the rules of ROMIO.

Follows ``ADIOI_cb_config_list_parse`` (``cb_config_list.c``): the hosts of a list are taken in its
order, a name is compared exactly and used once, ``host`` means ``host:1``, ``host:*`` all its
ranks, and ``*:n`` is n ranks of every host not named before, in rank order.
"""

import re
from collections.abc import Sequence

from isochrone.base.errors import InputError

DEFAULT = "*:1"
"""``cb_config_list`` of ROMIO: one aggregator on each host."""

_ITEM = re.compile(r"([^,:]+)(?::(\*|[0-9]{1,9}))?")


def aggregators(hosts: Sequence[str], config: str = DEFAULT, nodes: int | None = None) -> list[int]:
    """Return the ranks that serve file domains 0, 1, … .

    Parameters
    ----------
    hosts
        Host of each rank, as ``MPI_Get_processor_name`` gives it.
    config
        ``cb_config_list``.
    nodes
        ``cb_nodes``: at most this many; None: as many as the list yields.

    Raises
    ------
    InputError
        If the list cannot be read, names a host without ranks, or yields none: opening the file
        fails then.
    """
    left: dict[str, list[int]] = {}
    for rank, host in enumerate(hosts):
        left.setdefault(host, []).append(rank)
    known = set(left)
    chosen = []
    for item in config.split(","):
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise InputError(
                f"cannot read {item!r}", where="cb_config_list", hint="write host, host:2 or *:1"
            )
        name, count = match[1].strip(), match[2] or "1"
        most = len(hosts) if count == "*" else int(count)
        if name != "*" and name not in known:
            raise InputError(
                f"no rank is on host {name!r}", where="cb_config_list",
                hint="names must be exactly those of MPI_Get_processor_name",
            )  # fmt: skip
        for host in list(left) if name == "*" else [name]:
            chosen += left.pop(host, [])[:most]
    chosen = chosen if nodes is None else chosen[:nodes]
    if not chosen:
        raise InputError(
            "the list selects no aggregator", where="cb_config_list", hint="end it with *:1"
        )
    return chosen


def row_aggregators(rows: int, ranks: int) -> list[int]:
    """Return the aggregators of OMPIO for a Cartesian communicator: the first rank of each row.

    ``cart_based_grouping`` (``common_ompio_aggregators.c``); hosts are not looked at.
    """
    return [row * (ranks // rows) for row in range(rows)]


def block_aggregators(number: int, ranks: int) -> list[int]:
    """Return the aggregators of OMPIO if their number is given: the first rank of equal blocks.

    ``forced_grouping`` (``common_ompio_aggregators.c``): the first blocks are one rank longer if
    ranks are left over. Ranks that were mapped by node are dealt out instead.
    """
    each, left = divmod(ranks, number)
    return [block * each + min(block, left) for block in range(number)]
