"""File domains: the part of the file of each aggregator, by round of the exchange.

The rules are those of the libraries, read in their sources: ROMIO in MPICH 5.0 and OMPIO in
Open MPI 5.0.
"""

from typing import NamedTuple

import numpy as np

from isochrone.base.errors import InputError
from isochrone.collective_io.workload import Ints, expanded

MAX_WINDOWS = 20_000_000
"""More parts than that of one file are refused: they would not fit into memory."""


class FileWindows(NamedTuple):
    """Parts ``[start, end)`` of the file; each belongs to one domain and is moved in one round."""

    domain: Ints
    round_index: Ints
    start: Ints
    end: Ints
    domains: int

    @property
    def rounds(self) -> int:
        """Rounds of the exchange."""
        return int(self.round_index.max(initial=0)) + 1


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
