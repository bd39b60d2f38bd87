"""A collective call: an access pattern, the driver that cuts up its file, and the hints for it."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import whole_number
from isochrone.collective_io.workload import AccessPattern, FileWindows, Ints, expanded
from isochrone.collective_io.workload.accesses import Accesses
from isochrone.collective_io.workload.grid import Grid
from isochrone.collective_io.workload.traffic import MAX_KINDS, RoundKind, round_kinds

DEFAULT = "*:1"
"""``cb_config_list`` of ROMIO: one aggregator on each host."""

_ITEM = re.compile(r"([^,:]+)(?::(\*|[0-9]{1,9}))?")

Hints = Mapping[str, str]
"""Hints of a file for the MPI library, by key."""

DRIVERS = ("even", "lustre", "ompio")
"""ROMIO's generic driver, its Lustre driver, and OMPIO."""

BUFFER = 16 * 1024**2
"""ROMIO's default ``cb_buffer_size``."""

STRIPE = 1024**2
"""Default bytes of a Lustre stripe."""

_MOST_KINDS = 1024
_MEMORY = 20_000_000
"""Maximum number of kinds of rounds in a prediction, and of kinds times ranks."""


class Call(Record):
    """A collective read or write, as known before a run.

    Attributes
    ----------
    pattern
        Who touches which bytes.
    driver
        One of `DRIVERS`.
    reading
        Whether it is a read: data go from the aggregators to the ranks.
    buffer
        ``cb_buffer_size`` in bytes; None: one round, however large, as in the cFireworks paper.
    unit, smallest
        ``striping_unit`` and ``romio_min_fdomain_size`` of the generic driver.
    stripe, targets, ratio
        Stripe size, number of OSTs of the file (None: as many as aggregators) and
        ``romio_lustre_co_ratio`` of the Lustre driver.
    members
        Ranks that opened the file, in the order of its communicator; None: all.
    collective
        Whether ``romio_cb_write``, or ``romio_cb_read`` of a read, is ``enable`` or ``disable``;
        None: ``automatic``.
    through
        The library that made the call, if it is not ROMIO, whose rules are assumed.
    """

    pattern: AccessPattern
    driver: str = "even"
    reading: bool = False
    buffer: int | None = None
    unit: int = 0
    smallest: int = 0
    stripe: int = STRIPE
    targets: int | None = None
    ratio: int = 1
    members: Sequence[int] | None = None
    collective: bool | None = None
    through: str = ""

    def __post_init__(self) -> None:
        if self.driver not in DRIVERS:
            raise InputError(
                f"there is no driver '{self.driver}'", hint=f"there are: {', '.join(DRIVERS)}"
            )

    @property
    def cyclic(self) -> bool:
        """Whether stripes are dealt out: ROMIO's Lustre driver does so for writes only."""
        return self.driver == "lustre" and not self.reading

    def aggregators(
        self, by_rank: Sequence[str], config: str = DEFAULT, nodes: int | None = None
    ) -> list[int]:
        """Return the ranks that serve the file, in the order of its parts.

        ROMIO looks at the members of the file's communicator alone, in their order there.

        Parameters
        ----------
        by_rank
            Host of each rank of the job.
        config, nodes
            The hints ``cb_config_list`` and ``cb_nodes``.

        Raises
        ------
        InputError
            As of the function `aggregators`.
        """
        if self.members is None:
            return aggregators(by_rank, config, nodes)
        hosts = [by_rank[rank] for rank in self.members]
        return [self.members[k] for k in aggregators(hosts, config, nodes)]

    def windows(self, aggregators: int) -> FileWindows:
        """Divide the file among this many aggregators."""
        extent = self.pattern.extent
        if self.cyclic:
            clients = lustre_clients(aggregators, self.targets or aggregators, self.ratio)
            return stripe_cyclic(extent, clients, self.stripe)
        domains = even(extent, aggregators, unit=self.unit, smallest=self.smallest)
        if self.buffer is None:
            return domains
        return in_rounds(domains, *self.pattern.touched(domains.start, domains.end), self.buffer)

    def round_kinds(self, aggregators: int, *, exactly: bool = False) -> list[RoundKind]:
        """Count the messages for this number of aggregators, by kind of round.

        ``exactly``: distinguish all kinds, up to a limit; a search, which evaluates each kind
        thousands of times, is faster without.
        """
        affordable = _MEMORY // (self.pattern.ranks + aggregators)
        limit = max(MAX_KINDS, min(affordable, _MOST_KINDS)) if exactly else MAX_KINDS
        return round_kinds(self.pattern, self.windows(aggregators), limit, reading=self.reading)

    def of_ompio(self, count: int | None = None) -> list[int]:
        """Return the aggregators of OMPIO: the first rank of this many equal blocks.

        ``forced_grouping`` (``common_ompio_aggregators.c``): the first blocks are one rank longer
        if ranks are left over. Ranks that were mapped by node are dealt out instead. Without a
        number, blocks are the rows of a Cartesian communicator (``cart_based_grouping``). Hosts are
        not looked at.
        """
        if count is None:
            if not isinstance(self.pattern, Grid) or len(self.pattern.axes) < 2:
                raise InputError(
                    "OMPIO's aggregators are only known for ranks in a Cartesian grid",
                    hint="give --tiles or --blocks",
                )
            count = self.pattern.axes[0].blocks
        length, left = divmod(self.pattern.ranks, count)
        return [block * length + min(block, left) for block in range(count)]

    @property
    def exchanges(self) -> bool:
        """Whether data go through aggregators: by the hints, or if accesses interleave."""
        if self.collective is not None or self.driver == "ompio":
            return self.collective is not False
        return self.pattern.interleaved

    def nothing_exchanged(self) -> list[str]:
        """Reason why the library exchanges nothing, if so."""
        if self.exchanges:
            return []
        hint = "romio_cb_read" if self.reading else "romio_cb_write"
        if self.collective is False:
            return [f"ROMIO exchanges nothing in this call: {hint} is 'disable'"]
        return [
            "ROMIO exchanges nothing in this call: the ranks' accesses do not interleave, and "
            f"{hint} is not 'enable'"
        ]

    def warnings(self) -> list[str]:
        """Warnings of differences between the real exchange and the counts."""
        warnings = self.nothing_exchanged()
        if self.through and self.driver != "ompio":
            warnings.append(
                f"the recorded program used {self.through}; ROMIO's file domains and aggregators "
                "are assumed"
            )
        if self.driver == "lustre" and self.reading:
            warnings.append(
                "ROMIO's Lustre driver reads with even file domains; the prediction does so, too"
            )
        return warnings


def aggregators(hosts: Sequence[str], config: str = DEFAULT, nodes: int | None = None) -> list[int]:
    """Return the ranks that serve file domains 0, 1, …, chosen by the rules of ROMIO.

    Follows ``ADIOI_cb_config_list_parse`` (``cb_config_list.c``): the hosts of a list are taken in
    its order, a name is compared exactly and used once, ``host`` means ``host:1``, ``host:*`` all
    its ranks, and ``*:n`` is n ranks of every host not named before, in rank order.

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
    left = grouped((host, rank) for rank, host in enumerate(hosts))
    host_names = set(left)
    chosen = []
    for item in config.split(","):
        match = _ITEM.fullmatch(item.strip())
        if match is None:
            raise InputError(
                f"cannot read {item!r}", where="cb_config_list", hint="write host, host:2 or *:1"
            )
        name, count = match[1].strip(), match[2] or "1"
        limit = len(hosts) if count == "*" else int(count)
        if name != "*" and name not in host_names:
            raise InputError(
                f"no rank is on host {name!r}",
                where="cb_config_list",
                hint="names must be exactly those of MPI_Get_processor_name",
            )
        for host in list(left) if name == "*" else [name]:
            chosen += left.pop(host, [])[:limit]
    chosen = chosen if nodes is None else chosen[:nodes]
    if not chosen:
        raise InputError(
            "the list selects no aggregator", where="cb_config_list", hint="end it with *:1"
        )
    return chosen


def call_of(
    pattern: AccessPattern,
    hints: Hints,
    *,
    reading: bool,
    driver: str | None = None,
    buffer: int | None = BUFFER,
) -> Call:
    """Return the call of a pattern with the active hints.

    Without a ``driver``, the file system decides. ``buffer`` is the one without that hint.
    """
    number = {key: whole_number(value) or 0 for key, value in hints.items()}.get
    lustre = hints.get("romio_filesystem_type", "").upper().startswith("LUSTRE")
    driver = driver or ("lustre" if lustre else "even")
    unit, stripes = number("striping_unit", 0), driver == "lustre"
    collective = hints.get("romio_cb_read" if reading else "romio_cb_write", "")
    return Call(
        pattern,
        driver,
        reading,
        number("cb_buffer_size") or buffer,
        unit,
        number("romio_min_fdomain_size", 0),
        stripes * unit or STRIPE,
        (number("striping_factor") or None) if stripes else None,
        stripes * number("romio_lustre_co_ratio", 0) or 1,
        members=pattern.members if isinstance(pattern, Accesses) else None,
        collective={"enable": True, "disable": False}.get(collective),
    )


# --- file domains --------------------------------------------------------------------------------

# The part of the file of each aggregator, by round of the exchange.
#
# The rules are those of the libraries, read in their sources: ROMIO in MPICH 5.0 and OMPIO in
# Open MPI 5.0.

MAX_WINDOWS = 20_000_000
"""More parts than that of one file are refused: they would not fit into memory."""


def even(
    extent: tuple[int, int],
    domains: int,
    *,
    unit: int = 0,
    smallest: int = 0,
) -> FileWindows:
    """Cut the extent evenly, as ROMIO's generic driver does.

    ``ADIOI_Calc_file_domains`` (``ad_aggregate.c``): equal lengths, rounded up, of at least
    ``smallest`` bytes; with a striping ``unit`` each end moves to its nearest multiple.
    """
    first, last = extent
    length = max(-(-(last - first) // domains), smallest)
    if length * domains >= 2**62:
        raise InputError(
            "the file domains exceed 4 EiB", hint="give a smaller romio_min_fdomain_size"
        )
    end = first + length * np.arange(1, domains + 1, dtype=np.int64)
    if unit > 0:
        front = end % unit
        end = np.where(front < unit - front, end - front, end + unit - front)
        end[-1] = last
    end = np.minimum(end, last)
    start = np.maximum.accumulate(np.append(first, end[:-1]))
    return _without_empty(np.arange(domains), np.zeros(domains, np.int64), start, end, domains)


def in_rounds(domains: FileWindows, first: Ints, last: Ints, buffer: int) -> FileWindows:
    """Cut each domain into rounds of ``buffer`` bytes (``cb_buffer_size``).

    ``ADIOI_Exch_and_write`` (``ad_write_coll.c``) begins with the ``first`` byte of the domain that
    any rank touches, and ends with the ``last``.
    """
    rounds = np.maximum(-(-(last - first) // buffer), 0)
    _check_number(int(rounds.sum()))
    pick, round_index = expanded(np.zeros_like(rounds), rounds)
    begin = first[pick] + round_index * buffer
    end = np.minimum(begin + buffer, last[pick])
    return _without_empty(domains.domain[pick], round_index, begin, end, domains.domains)


def lustre_clients(aggregators: int, stripes: int, ratio: int = 1) -> int:
    """Return how many of the aggregators ROMIO's Lustre driver uses.

    ``ADIOI_LUSTRE_Get_striping_info`` (``ad_lustre_aggregate.c``): with at least as many
    aggregators as OSTs a multiple of the ``stripes``, at most ``romio_lustre_co_ratio`` for each
    OST; with fewer, the largest divisor of ``stripes``.
    """
    if aggregators >= stripes:
        return stripes * min(aggregators // stripes, ratio)
    return next(n for n in range(aggregators, 0, -1) if stripes % n == 0)


def stripe_cyclic(extent: tuple[int, int], clients: int, size: int) -> FileWindows:
    """Deal stripes of ``size`` bytes out, as ROMIO's Lustre driver does when it writes.

    ``ADIOI_LUSTRE_Calc_aggregator``: stripe ``offset / size`` goes to aggregator number
    ``stripe % clients``; each of them moves one stripe in a round.
    """
    first, last = extent
    _check_number(last // size - first // size + 1)
    stripe = np.arange(first // size, (last - 1) // size + 1, dtype=np.int64)
    start = np.maximum(stripe * size, first)
    end = np.minimum((stripe + 1) * size, last)
    round_index = stripe // clients - stripe[0] // clients
    return _without_empty(stripe % clients, round_index, start, end, clients)


def _check_number(windows: int) -> None:
    if windows > MAX_WINDOWS:
        raise InputError(
            f"the file has {windows} parts, above the limit of {MAX_WINDOWS}",
            hint="give a larger buffer or stripe, or smaller tiles",
        )


def _without_empty(
    domain: Ints, round_index: Ints, start: Ints, end: Ints, domains: int
) -> FileWindows:
    keep = start < end
    return FileWindows(domain[keep], round_index[keep], start[keep], end[keep], domains)
