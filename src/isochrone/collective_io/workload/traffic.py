"""The exchange: messages and bytes of each rank for each file domain, and of each node.

In each round a rank sends one message to each aggregator for which it has data, itself included
(``ADIOI_W_Exchange_data``; a read is the same in the opposite direction). The matrix of ranks and
domains is stored as runs of equal rows, because with 10,240 nodes it would have billions of
entries.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isochrone.base.record import Record
from isochrone.collective_io.workload import (
    AccessPattern,
    FileWindows,
    Floats,
    Ints,
    Numbers,
    Runs,
    expanded,
)

Amounts = NDArray[Any]
"""Whole numbers of messages, or means of bytes and pieces."""

MAX_KINDS = 64
"""Default maximum of distinguished kinds of rounds."""


class Sums(Record):
    """An amount by rank and domain, as sums that any run of ranks can be read from.

    Attributes
    ----------
    ranks, domains
        Numbers of them.
    sent
        Amount of the ranks before each rank, over all domains; shape (ranks + 1,).
    received
        Amount of all ranks for each domain; shape (domains,).
    """

    ranks: int
    domains: int
    sent: Amounts
    received: Amounts
    _key: Ints
    _before: Amounts
    _weight: Amounts

    @property
    def heaviest(self) -> float:
        """The most that one rank has for one domain."""
        return float(self._weight.max(initial=0))

    @property
    def fingerprint(self) -> tuple[bytes, bytes]:
        """Cache by amounts."""
        steps = np.append(True, np.diff(self._weight) != 0)
        return self._key[steps].tobytes(), self._weight[steps].tobytes()

    def span(self) -> tuple[Ints, Ints]:
        """Return for each domain the first rank that has some, and the one after the last."""
        width = self.ranks + 1
        sends = np.flatnonzero(self._weight > 0)
        owner = self._key[sends] // width
        domains = np.arange(self.domains)
        low = np.searchsorted(owner, domains)
        high = np.searchsorted(owner, domains, side="right") - 1
        nonempty = high >= low
        first, last = np.zeros((2, self.domains), np.int64)
        first[nonempty] = self._key[sends[low[nonempty]]] % width
        # a run of ranks ends where the next step of the domain begins
        last[nonempty] = self._key[sends[high[nonempty]] + 1] % width
        return first, last

    def sent_by(self, layout: Layout) -> Amounts:
        """Return the amount of each node, over all domains."""
        of_runs = self.sent[layout.last] - self.sent[layout.first]
        return np.bincount(layout.node, of_runs, layout.nodes)

    def before(self, domain: Ints, rank: Ints) -> Amounts:
        """Return the amount for each ``domain`` of all ranks before each ``rank``."""
        domain, rank = np.broadcast_arrays(domain, rank)
        key = domain * (self.ranks + 1) + rank
        at = np.searchsorted(self._key, key, side="right") - 1
        return np.asarray(self._before[at] + self._weight[at] * (key - self._key[at]))

    def between(self, domain: Ints, first: Ints, last: Ints) -> Amounts:
        """Return the amount for each ``domain`` of the ranks ``first`` … ``last - 1``."""
        amounts: Amounts = self.before(domain, last) - self.before(domain, first)
        return np.maximum(amounts, 0)  # rounded means: avoid negative values


class Traffic(Record):
    """Messages that ranks send for file domains in a round.

    Attributes
    ----------
    messages
        One for each domain that a rank has data for; whole numbers.
    bytes, pieces
        Bytes, and contiguous pieces of the file: the mean over equal rounds.
    """

    messages: Sums
    bytes: Sums
    pieces: Sums

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.messages.ranks

    @property
    def domains(self) -> int:
        """Number of file domains."""
        return self.messages.domains

    @property
    def message_size(self) -> float:
        """Mean bytes of a message."""
        return float(self.bytes.sent[-1]) / max(1, int(self.messages.sent[-1]))


class RoundKind(Record):
    """Equal rounds of the exchange.

    Attributes
    ----------
    traffic
        Messages of one of them, or of ``spread`` of them.
    times
        How often the traffic takes place.
    spread
        Rounds that the traffic is spread over: 1, unless it is an average.
    reading
        Whether data go the other way: from the aggregators to the ranks.
    """

    traffic: Traffic
    times: int = 1
    spread: int = 1
    reading: bool = False

    @property
    def rounds(self) -> int:
        """Rounds of this kind."""
        return self.times * self.spread

    def directed(self, counts: Counts) -> Counts:
        """Return the counts of a write as those of this round."""
        return counts.reversed() if self.reading else counts


def round_kinds(
    pattern: AccessPattern,
    windows: FileWindows,
    max_kinds: int = MAX_KINDS,
    *,
    reading: bool = False,
) -> list[RoundKind]:
    """Count the messages of a pattern whose file is divided into windows, by kind of round.

    All ranks wait for each other in each round (``MPI_Alltoall`` of the sizes, ``MPI_Waitall``), so
    the hot spot of each round counts, and not that of the sum. Rounds with the same messages of
    about the same sizes are one kind, with the mean of their bytes; if there are more than
    ``max_kinds`` kinds, similar ones are averaged.
    """
    touched = pattern.touches(windows.start, windows.end)
    joined = _joined(touched)
    shape = pattern.ranks, windows.domains
    if windows.rounds == 1:
        return [RoundKind(_traffic(*shape, windows, joined, touched, 1), reading=reading)]
    kind, same = alike(windows, joined, touched, pattern.ranks, max_kinds)
    _, first, times = np.unique(kind, return_index=True, return_counts=True)
    round_of = windows.round_index[joined.window]
    if same:  # the messages of the first are those of all
        in_first = first[kind[round_of]] == round_of
        joined, round_of = _Joined(*(column[in_first] for column in joined)), round_of[in_first]
    sides = (
        _by_kind(joined, kind[round_of], len(first)),
        _by_kind(touched, kind[windows.round_index[touched.window]], len(first)),
    )
    kinds = []
    for messages, data, count in zip(*sides, times.tolist(), strict=True):
        mean, spread = (count, 1) if same else (1, count)
        traffic = _traffic(*shape, windows, _Joined(*messages), Runs(*data), mean)
        kinds.append(RoundKind(traffic, mean, spread, reading))
    return kinds


def _by_kind(columns: Sequence[Ints], kind: Ints, kinds: int) -> list[list[Ints]]:
    """Split columns by the kind of each row."""
    order = np.argsort(kind, kind="stable")
    cuts = np.searchsorted(kind[order], np.arange(1, kinds))
    splits = (np.split(column[order], cuts) for column in columns)
    return [list(split) for split in zip(*splits, strict=True)]


class _Joined(NamedTuple):
    """Runs of ranks that touch windows; those of the same window neither overlap nor touch."""

    window: Ints
    first: Ints
    last: Ints


def _joined(runs: Runs) -> _Joined:
    """Join runs of the same window that touch or overlap."""
    if not len(runs.window):
        return _Joined(*runs[:3])
    order = np.lexsort((runs.first, runs.window))
    window, first, last = (column[order] for column in runs[:3])
    # offsets separate the windows, so that one running maximum serves all
    span = int(last.max()) + 2
    reach = np.maximum.accumulate(window * span + last)
    head = np.flatnonzero(np.append(True, (window * span + first)[1:] > reach[:-1]))
    tail = np.append(head[1:], len(window)) - 1
    return _Joined(window[head], first[head], reach[tail] - window[head] * span)


def _traffic(
    ranks: int, domains: int, windows: FileWindows, joined: _Joined, touched: Runs, times: int
) -> Traffic:
    """Sum up one round, or the mean of ``times`` that have the same messages."""
    messages = joined._replace(window=windows.domain[joined.window])
    data = _Joined(windows.domain[touched.window], touched.first, touched.last)
    return Traffic(
        _sums(ranks, domains, messages, np.ones(len(joined.first), np.int64)),
        _sums(ranks, domains, data, touched.bytes / times),
        _sums(ranks, domains, data, touched.pieces / times),
    )


def _sums(ranks: int, domains: int, steps: _Joined, amounts: Amounts) -> Sums:
    """Sum the data of each rank of each run for its window."""
    kind = amounts.dtype
    change = np.bincount(steps.first, amounts, ranks + 1) - np.bincount(
        steps.last, amounts, ranks + 1
    )
    sent = np.append(0, np.cumsum(np.cumsum(change)[:-1])).astype(kind)
    # where the amount of a domain changes from one rank to the next, and by how much
    width = ranks + 1
    base = np.arange(domains) * width
    start = steps.window * width
    key = np.concatenate([start + steps.first, start + steps.last, base])
    change = np.concatenate([amounts, -amounts, np.zeros(len(base), kind)])
    key, inverse = np.unique(key, return_inverse=True)
    weight = np.cumsum(np.bincount(inverse, weights=change, minlength=len(key))).astype(kind)
    passed = np.append(0, np.cumsum(weight[:-1] * np.diff(key)))
    begins = passed[np.searchsorted(key, base)]
    cumulative = (passed - begins[key // width]).astype(kind)
    received = np.diff(np.append(begins, passed[-1] + weight[-1])).astype(kind)
    return Sums(ranks, domains, sent, received, key, cumulative, weight)


Marks = NDArray[np.uint64]

STEPS = (64, 16, 4)
"""Resolutions of sizes, in steps of the largest, from fine to coarse."""

OCTAVE = 0.125
"""Steps of the largest itself, in octaves, for as many as the finest `STEPS`."""

EXAMINED_PARTS = 8
"""Parts of the ranks, and of the file domains, that are looked at where kinds are too many."""


def alike(
    windows: FileWindows, messages: tuple[Ints, Ints, Ints], data: Runs, ranks: int, max_kinds: int
) -> tuple[Ints, bool]:
    """Return the kind of each round, and whether rounds of a kind have the same messages.

    Parameters
    ----------
    windows
        Ranges of the file by domain and round.
    messages
        Window, first rank and rank after the last of runs that send one message each.
    data
        Data of ranks for windows.
    ranks
        Number of them.
    max_kinds
        Maximum number of kinds.
    """
    window, first, last = messages
    marks = _marks(windows, window, windows.domain[window], first, last)
    for steps in STEPS:
        kinds = np.unique(marks + _sizes(windows, data, steps), return_inverse=True)[1]
        if kinds.max() < max_kinds:
            return kinds, True
    return _clustered(_moved(windows, data, ranks), max_kinds), False


def _marks(windows: FileWindows, window: Ints, *columns: Ints) -> Marks:
    """Return a hash of each round, of rows of whole numbers in any order."""
    marks = np.zeros(windows.rounds, np.uint64)
    np.add.at(marks, windows.round_index[window], _hash(*columns))
    return marks


def _hash(*columns: Ints) -> Marks:
    """Hash rows of whole numbers (the finaliser of SplitMix64, Steele et al. 2014)."""
    mark = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mark = (mark + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mark = (mark ^ (mark >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mark = (mark ^ (mark >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mark ^= mark >> np.uint64(31)
    return mark


def _sizes(windows: FileWindows, data: Runs, steps: int) -> Marks:
    """Return a hash of each round, of about how many bytes each rank has for each domain."""
    rounds = windows.round_index[data.window]
    largest = np.zeros(windows.rounds)
    np.maximum.at(largest, rounds, data.bytes)
    octave = np.log2(np.maximum(largest, 1)) / (OCTAVE * STEPS[0] / steps)
    share = np.rint(steps * data.bytes / largest[rounds]).astype(np.int64)
    large = share > 0  # small amounts do not distinguish rounds
    rows = (windows.domain[data.window], data.first, data.last, share)
    marks = _marks(windows, data.window[large], *(column[large] for column in rows))
    return marks + _hash(np.rint(octave).astype(np.int64))


def _moved(windows: FileWindows, data: Runs, ranks: int) -> Floats:
    """Return the bytes of each round between parts of the ranks and parts of the file domains.

    Shape (rounds, PARTS * PARTS). What several neighbouring ranks have counts for the middle one.
    """
    of_rank = (data.first + data.last - 1) // 2 * EXAMINED_PARTS // ranks
    of_domain = windows.domain[data.window] * EXAMINED_PARTS // windows.domains
    at = (windows.round_index[data.window] * EXAMINED_PARTS + of_rank) * EXAMINED_PARTS + of_domain
    sizes = (data.bytes * (data.last - data.first)).astype(np.float64)
    moved = np.bincount(at, sizes, windows.rounds * EXAMINED_PARTS * EXAMINED_PARTS)
    return np.asarray(moved, np.float64).reshape(windows.rounds, -1)


def _clustered(points: Floats, max_kinds: int) -> Ints:
    """Cut points into clusters: the widest is halved along its widest axis, again and again."""
    kinds = np.zeros(len(points), np.int64)
    heap = [_cluster(np.arange(len(points)), points, 0)]
    for kind in range(1, max_kinds):
        width, _, axis, members = heapq.heappop(heap)
        if width == 0:
            break
        order = members[np.argsort(points[members, axis], kind="stable")]
        lower, upper = order[: len(order) // 2], order[len(order) // 2 :]
        heapq.heappush(heap, _cluster(lower, points, 2 * kind))
        heapq.heappush(heap, _cluster(upper, points, 2 * kind + 1))
        kinds[upper] = kind
    return kinds


def _cluster(members: Ints, points: Floats, key: int) -> tuple[float, int, int, Ints]:
    """Return minus how wide a cluster is, a key of its own, its widest axis, and its members."""
    spread = points[members].var(axis=0) * len(members)
    return -float(spread.sum()), key, int(np.argmax(spread)), members


# --- messages of nodes ---------------------------------------------------------------------------

# Messages and bytes of every node: those within it, into it and out of it.


class Layout(Record):
    """Runs of neighbouring ranks and the node each run is on.

    Attributes
    ----------
    first, last
        Ranks ``first`` … ``last - 1`` of each run, in rank order.
    node
        Node of each run.
    hosts
        Names of the nodes, in order of first appearance.
    """

    first: Ints
    last: Ints
    node: Ints
    hosts: Sequence[str]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.hosts)

    @cached_property
    def of_rank(self) -> Ints:
        """Node of each rank."""
        return np.repeat(self.node, self.last - self.first)

    @property
    def ranks(self) -> Ints:
        """Ranks of each node."""
        return np.bincount(self.of_rank, minlength=self.nodes)


class Counts(NamedTuple):
    """Messages and bytes of nodes, of a write: towards the aggregators.

    Attributes
    ----------
    intra
        Messages within the node, those of an aggregator to itself included.
    into
        From other nodes.
    out
        To other nodes.
    intra_bytes, into_bytes, out_bytes
        The bytes of these messages.
    """

    intra: Amounts
    into: Amounts
    out: Amounts
    intra_bytes: Amounts
    into_bytes: Amounts
    out_bytes: Amounts

    @staticmethod
    def none(nodes: int) -> Counts:
        """Return no messages of this many nodes."""
        messages, data = np.zeros((3, nodes), np.int64), np.zeros((3, nodes))
        return Counts(*messages, *data)

    def reversed(self) -> Counts:
        """Return the messages of the corresponding read: the same in the opposite direction."""
        return Counts(
            self.intra, self.out, self.into, self.intra_bytes, self.out_bytes, self.into_bytes
        )

    def plus(self, counts: Counts, times: int = 1) -> Counts:
        """Return the sum of these messages and ``times`` others."""
        return Counts(*(a + times * b for a, b in zip(self, counts, strict=True)))

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """Messages and bytes of each node, flat."""
        sides = [np.asarray(side, np.float64).ravel() for side in self]
        return sum(sides[1:3], sides[0]), sum(sides[4:], sides[3])

    @property
    def message_size(self) -> float:
        """Mean bytes of a message; 0 without messages."""
        messages = int(self.intra.sum() + self.out.sum())
        return float(self.intra_bytes.sum() + self.out_bytes.sum()) / max(1, messages)

    @property
    def busy(self) -> Floats:
        """Mean over the nodes of their busier direction's bytes, as a fraction of the largest.

        Nodes are along the last axis; shape (…, 1).
        """
        load = np.maximum(self.into_bytes, self.out_bytes)
        highest = load.max(axis=-1, initial=0.0, keepdims=True)
        mean = load.mean(axis=-1, keepdims=True)
        return np.asarray(mean / np.where(highest > 0, highest, 1.0))


def layout_of(hosts: Sequence[str]) -> Layout:
    """Return the runs of ranks on the same host; ``hosts`` is that of each rank."""
    names = {host: k for k, host in enumerate(dict.fromkeys(hosts))}
    node = np.array([names[host] for host in hosts])
    first = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
    last = np.append(first[1:], len(node))
    return Layout(first, last, node[first], list(names))


def count(traffic: Traffic, layout: Layout, aggregators: Numbers) -> Counts:
    """Count the messages of every node if domain k is served by rank ``aggregators[k]``."""
    server = layout.of_rank[aggregators[: traffic.domains]]
    pairs = _pairs(layout, server)
    messages = _sides(traffic.messages, layout, server, pairs)
    data = _sides(traffic.bytes, layout, server, pairs)
    intra, into, out = (side.astype(np.int64) for side in messages)
    return Counts(intra, into, out, *data)


def _sides(
    sums: Sums, layout: Layout, server: Ints, pairs: list[tuple[Ints, Ints]]
) -> tuple[Floats, Floats, Floats]:
    """Return what stays within each node, comes into it, and goes out of it."""
    intra = np.zeros(layout.nodes)
    for run, domain in pairs:
        amounts = sums.between(domain, layout.first[run], layout.last[run])
        np.add.at(intra, layout.node[run], amounts)
    received = np.bincount(server, weights=sums.received, minlength=layout.nodes)
    sent = sums.sent_by(layout)
    # bytes may be rounded means: avoid negative values
    intra = np.maximum(intra, 0.0)
    return intra, np.maximum(received - intra, 0.0), np.maximum(sent - intra, 0.0)


def _pairs(layout: Layout, server: Ints) -> list[tuple[Ints, Ints]]:
    """List the runs and the domains that are on the same node, in handy portions."""
    order = np.argsort(layout.node, kind="stable")
    runs_of = np.searchsorted(layout.node[order], np.arange(layout.nodes + 1))
    portions = []
    for portion in np.array_split(np.arange(len(server)), max(1, len(layout.node) // 100_000)):
        low, high = runs_of[server[portion]], runs_of[server[portion] + 1]
        pick, index = expanded(low, high - low)
        portions.append((order[index], portion[pick]))
    return portions
