"""Settings to compare: how many aggregators on which hosts, which buffers, which stripes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from isochrone.collective_io.aggregators.hint_list import HintList
from isochrone.collective_io.aggregators.setting import Stripes
from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.call import Call

__all__ = ["buffers", "lists", "numbers", "stripes"]

MIB: Final = 1024**2

PARTS: Final = 100_000
"""More parts of a file take too long to compare settings with."""

_EACH: Final = (1, 2, 4)
_SHARES: Final = (2, 4, 8, 16, 32)
"""Ranks for each aggregator where large hosts get more of them."""

_STRIPE_SIZES: Final = (1, 4, 16, 64)
_MOST_TARGETS: Final = 64


def lists(hosts: Sequence[str], ranks: Ints) -> list[HintList]:
    """Return how many aggregators hosts may have: as many on each, or more on larger ones."""
    found = [HintList(hosts, ranks, np.minimum(n, ranks), n) for n in _EACH]
    found.append(HintList(hosts, ranks, ranks, None))
    for share in _SHARES:
        counts = np.maximum(1, (ranks + share // 2) // share)
        found.append(HintList(hosts, ranks, counts, 1))
    seen: set[bytes] = set()
    kept = []
    for one in found:
        key = one.counts.tobytes()
        if key not in seen and one.fits(np.flatnonzero(one.must)):
            kept.append(one)
        seen.add(key)
    return kept


def numbers(hints: HintList, usual: bool) -> list[int]:
    """Return numbers of aggregators: all that a list yields, and fewer (``cb_nodes``).

    Fewer than there are hosts are only taken from the ``usual`` list, of one on each host: as many
    on fewer hosts make these hotter.
    """
    most, hosts = int(hints.counts.sum()), len(hints.hosts)
    if usual and most <= 16:
        return list(range(most, 0, -1))
    lower = 1 if usual else hosts
    found = {most, hosts} | {most * k // 4 for k in (1, 2, 3)}
    power = 1
    while power < most:
        found |= {power, power * 3 // 2}
        power *= 2
    return sorted((n for n in found if lower <= n <= most), reverse=True)


def buffers(call: Call, least: int = 1) -> list[int]:
    """Return sizes of ``cb_buffer_size``: powers of two from 1 MiB on to a whole file domain.

    ``least`` is the smallest number of aggregators: it has the largest domains.
    """
    extent = call.pattern.extent[1] - call.pattern.extent[0]
    sizes = []
    size = MIB
    while True:
        if extent // size <= PARTS:
            sizes.append(size)
        if size >= extent // max(1, least) or size >= 1024 * MIB:
            return sizes or [size]
        size *= 2


def stripes(call: Call, most: int, hosts: int) -> Iterator[Stripes]:
    """Return how a file may lie on Lustre: OSTs, bytes of a stripe, aggregators for each OST.

    Never on fewer OSTs than it is now, if that is known: what they write is not modelled.
    ``most`` are the aggregators there may be.
    """
    extent = call.pattern.extent[1] - call.pattern.extent[0]
    count = call.targets or min(hosts, _MOST_TARGETS)
    while count <= max(most, call.targets or 1):
        for size in (s * MIB for s in _STRIPE_SIZES):
            if extent // size <= PARTS and (size == MIB or size * count <= extent):
                for ratio in (r for r in (1, 2, 4) if r == 1 or r * count <= most):
                    yield Stripes(count, size, ratio)
        count *= 2
