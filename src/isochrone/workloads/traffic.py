"""Messages of the exchange: how many each rank sends for each file domain.

In each round a rank sends one message to each aggregator for which it has data, itself included
(``ADIOI_W_Exchange_data``; a read is the same the other way round). The matrix of ranks and domains
is kept as runs of equal rows, because with 10,240 nodes it would have billions of entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.workloads import Ints
from isochrone.workloads.access_pattern import AccessPattern, Runs
from isochrone.workloads.file_domains import FileWindows

__all__ = ["MAX_KINDS", "RoundKind", "Traffic", "round_kinds"]

MAX_KINDS: Final = 64
"""Kinds of rounds that are told apart; if there are more, all are taken as their average."""


@dataclass(frozen=True)
class Traffic:
    """Messages by rank and domain, as sums that any run of ranks can be read from.

    Attributes
    ----------
    ranks, domains
        Numbers of them.
    sent
        Messages of the ranks before each rank, over all domains; shape (ranks + 1,).
    received
        Messages of all ranks for each domain; shape (domains,).
    """

    ranks: int
    domains: int
    sent: Ints
    received: Ints
    _key: Ints
    _before: Ints
    _weight: Ints

    @property
    def heaviest(self) -> int:
        """The most messages that one rank sends for one domain."""
        return int(self._weight.max(initial=0))

    def span(self) -> tuple[Ints, Ints]:
        """Return for each domain the first rank that sends to it, and the one after the last."""
        width = self.ranks + 1
        sends = np.flatnonzero(self._weight > 0)
        owner = self._key[sends] // width
        domains = np.arange(self.domains)
        low = np.searchsorted(owner, domains)
        high = np.searchsorted(owner, domains, side="right") - 1
        some = high >= low
        first, last = np.zeros((2, self.domains), np.int64)
        first[some] = self._key[sends[low[some]]] % width
        # a run of ranks ends where the next step of the domain begins
        last[some] = self._key[sends[high[some]] + 1] % width
        return first, last

    def before(self, domain: Ints, rank: Ints) -> Ints:
        """Return the messages for each ``domain`` of all ranks before each ``rank``."""
        domain, rank = np.broadcast_arrays(domain, rank)
        key = domain * (self.ranks + 1) + rank
        at = np.searchsorted(self._key, key, side="right") - 1
        result: Ints = self._before[at] + self._weight[at] * (key - self._key[at])
        return result

    def between(self, domain: Ints, first: Ints, last: Ints) -> Ints:
        """Return the messages for each ``domain`` of the ranks ``first`` … ``last - 1``."""
        return self.before(domain, last) - self.before(domain, first)


@dataclass(frozen=True)
class RoundKind:
    """Rounds of the exchange that are alike.

    Attributes
    ----------
    traffic
        Messages of one of them, or of ``spread`` of them.
    times
        How often the traffic takes place.
    spread
        Rounds that the traffic is spread over: 1, unless it is an average.
    """

    traffic: Traffic
    times: int = 1
    spread: int = 1

    @property
    def rounds(self) -> int:
        """Rounds of this kind."""
        return self.times * self.spread


def round_kinds(pattern: AccessPattern, windows: FileWindows) -> list[RoundKind]:
    """Count the messages of a pattern whose file is cut into windows, by kind of round.

    All ranks wait for each other in each round (``MPI_Alltoall`` of the sizes, ``MPI_Waitall``), so
    the hot spot of each round counts, and not that of the sum. Few rounds differ, however.
    """
    runs = pattern.touches(windows.start, windows.end)
    domain, round_index = windows.domain[runs.window], windows.round_index[runs.window]
    shape = pattern.ranks, windows.domains
    if windows.rounds == 1:
        return [RoundKind(_traffic(*shape, domain, runs))]
    marks = np.zeros(windows.rounds, np.uint64)
    np.add.at(marks, round_index, _mark(domain, runs.first, runs.last))
    _, first, times = np.unique(marks, return_index=True, return_counts=True)
    if len(first) > MAX_KINDS:
        return [RoundKind(_traffic(*shape, domain, runs), spread=windows.rounds)]
    found = []
    for representative, count in zip(first, times, strict=True):
        keep = round_index == representative
        some = Runs(*(column[keep] for column in runs))
        found.append(RoundKind(_traffic(*shape, domain[keep], some), int(count)))
    return found


def _mark(*columns: Ints) -> NDArray[np.uint64]:
    """Hash rows of whole numbers (the finaliser of SplitMix64, Steele et al. 2014)."""
    mark = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mark = (mark + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mark = (mark ^ (mark >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mark = (mark ^ (mark >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mark ^= mark >> np.uint64(31)
    return mark


def _traffic(ranks: int, domains: int, domain: Ints, runs: Runs) -> Traffic:
    """Sum up runs of ranks that send a message for a domain."""
    steps = np.bincount(runs.first, minlength=ranks + 1)
    steps = steps - np.bincount(runs.last, minlength=ranks + 1)
    sent = np.zeros(ranks + 1, np.int64)
    np.cumsum(np.cumsum(steps)[:-1], out=sent[1:])
    # where the number of messages of a domain changes from one rank to the next, and by how much
    width = ranks + 1
    base = np.arange(domains) * width
    key = np.concatenate([domain * width + runs.first, domain * width + runs.last, base])
    change = np.concatenate([np.ones_like(domain), -np.ones_like(domain), np.zeros_like(base)])
    key, inverse = np.unique(key, return_inverse=True)
    weight = np.cumsum(np.bincount(inverse, weights=change, minlength=len(key)).astype(np.int64))
    passed = np.append(0, np.cumsum(weight[:-1] * np.diff(key)))
    begins = passed[np.searchsorted(key, base)]
    before = passed - begins[key // width]
    received = np.diff(np.append(begins, passed[-1] + weight[-1]))
    return Traffic(ranks, domains, sent, received, key, before, weight)
