"""Choose order, number and buffers of aggregators together, by predicted call time.

Numbers and hosts of aggregators and buffers (on Lustre: stripes) are first compared in ROMIO's own
order of hosts, which is fast. For the most promising ones the best order is searched, with a bound
(`assignment`). The gain of each single change is reported as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from time import monotonic
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.record import Members
from isochrone.collective_io.orders.host_costs import MAX_LIST_HOSTS, MAX_TABLE_ENTRIES, assign
from isochrone.collective_io.orders.setting import (
    GIVEN,
    Choice,
    HintList,
    Setting,
    SettingCosts,
    Stripes,
    listed,
    ranked,
)
from isochrone.collective_io.predict.node_cost import refuse_no_time
from isochrone.collective_io.workload.call import BUFFER, Call
from isochrone.collective_io.workload.traffic import Layout

SEARCH_SECONDS = 8.0
"""Time limit, not counting what cannot be left out."""

_COMPARING = 0.4
"""Fraction of it for comparing; the remainder is for orders."""

_MAX_QUICK_HOSTS = 200
"""Hosts for which an order takes seconds to find …"""
_FEW_ORDERS = 3
"""… so that no more of them are searched."""
_COMPARED_ORDERS = 16
_BUFFERED_PLACES = 3
"""Places for which all buffers are compared before others are."""


def choices(
    costs: SettingCosts, *, given_setting: Setting = GIVEN, seconds: float = SEARCH_SECONDS
) -> list[Choice]:
    """Return the compared settings, best first, including the given one.

    Parameters
    ----------
    costs
        What the call takes. Without ``buffer``: with ROMIO's default, unless buffers are not
        compared. A model without bytes cannot compare numbers of aggregators, buffers or stripes,
        where fewer messages are larger ones. Then only orders are compared.
    given_setting
        The active hints.
    seconds
        Time limit.

    Raises
    ------
    InputError
        If there are too many hosts for a hint, or the model gives no time.
    """
    if costs.call.buffer is None and (costs.model.of_bytes or costs.whole is not None):
        costs = replace(costs, call=replace(costs.call, buffer=BUFFER))
    if costs.call.driver == "ompio":
        compared = [*_of_ompio(costs, given_setting)]
    else:
        compared = [*_Search(costs, given_setting, seconds).run()]
    given_seconds = next(choice.seconds for choice in compared if choice.lever == "given")
    return ranked(replace(choice, given_seconds=given_seconds) for choice in compared)


Cut = Members
"""How the parts of aggregators are cut into rounds: what of a setting is changed for that."""


class _Place(NamedTuple):
    """How many aggregators there are, and on which hosts."""

    hints: HintList
    number: int

    @property
    def fewer(self) -> bool:
        """Whether there are fewer than the list has."""
        return self.number < int(self.hints.counts.sum())


class _Tried(NamedTuple):
    place: _Place
    cut: Cut
    choice: Choice

    @property
    def list_key(self) -> bytes:
        """The same for the same list of hosts."""
        return self.place.hints.counts.tobytes()


def _by_seconds(tried: Iterable[_Tried]) -> list[_Tried]:
    return sorted(tried, key=lambda candidate: candidate.choice.seconds)


class _Search(Struct):
    costs: SettingCosts
    given: Setting
    seconds: float
    tried: list[_Tried] = []

    def run(self) -> Iterator[Choice]:
        """Compare, search orders for the best, and find the gain of each single change."""
        begin = monotonic()
        hosts = self.costs.layout.nodes
        if hosts > MAX_LIST_HOSTS:
            raise InputError(
                f"the names of {hosts} hosts do not fit into a hint",
                hint="isochrone place nodes has no such limit",
            )
        as_it_is = self.as_given()
        hints = listed(self.costs.layout, self.given.config)  # in ROMIO's own order
        total = int(hints.counts.sum())
        first = _Place(hints, min(self.given.nodes or total, total))
        self.compare(first, begin + _COMPARING * self.seconds)
        order = self.ordered(self.tried[0], 2.0, "order")
        yield order
        yield from self.alone(first)
        end = begin + self.seconds
        for candidate in self.promising():
            left = end - monotonic()
            if left > 0:
                yield self.ordered(candidate, min(2.0, left / 2), "all")
        bound = 0.0 if self.is_off() else min(order.lower_bound, as_it_is.seconds)
        yield replace(
            as_it_is, setting=self.given, words="unchanged", lever="given", lower_bound=bound
        )

    def as_given(self) -> Choice:
        """Return the time of the given setting; without interleaved accesses nothing is exchanged.

        Where the time of independent accesses is unknown, an exchange is assumed.
        """
        off = self.is_off() and self.costs.alone_is_known
        choice = self.costs.of(self.given._replace(collective=False if off else None))
        assert choice is not None
        if not off:
            refuse_no_time(choice.exchange)
        return choice

    def places(self, first: _Place) -> list[_Place]:
        """Return the given position and all others, those without ``cb_nodes`` first."""
        layouts = lists(self.costs.layout) if self.costs.model.of_bytes else []
        places = [_Place(h, n) for k, h in enumerate(layouts) for n in numbers(h, k == 0)]
        chosen = {(p.hints.counts.tobytes(), p.number): p for p in [*reversed(places), first]}
        others = (selection for selection in chosen.values() if selection is not first)
        return [first, *sorted(others, key=lambda selection: selection.fewer)]

    def cuts(self, selections: Sequence[_Place]) -> list[Cut]:
        """Return the given buffers and stripes, and others that may be chosen."""
        call = self.given.of(self.costs.call)
        counts = [selection.number for selection in selections]
        if not self.costs.model.of_bytes:
            return [{}]
        if call.cyclic:
            present = Stripes(call.targets or 0, call.stripe, call.ratio)
            layouts = stripes(call, max(counts), self.costs.layout.nodes)
            return [{}, *({"stripes": layout} for layout in layouts if layout != present)]
        return [{}, *({"buffer": n} for n in buffers(call, min(counts)) if n != call.buffer)]

    def compare(self, first: _Place, end: float) -> None:
        """Evaluate settings in ROMIO's own order, likely ones first, until time is up."""
        selections = self.places(first)
        cuts = self.cuts(selections)
        done: set[tuple[int, int]] = set()

        def ask(pairs: Iterable[tuple[int, int]]) -> None:
            for p, c in pairs:
                if (p, c) not in done and (not done or monotonic() < end):
                    done.add((p, c))
                    must = np.flatnonzero(selections[p].hints.must).tolist()
                    choice = self.costs.of(self.setting(selections[p], cuts[c], must))
                    if choice is not None:
                        self.tried.append(_Tried(selections[p], cuts[c], choice))

        ask((p, 0) for p in range(len(selections)))
        ask((0, c) for c in range(len(cuts)))
        best = _by_seconds(self.tried)[:_BUFFERED_PLACES]
        likely = [selections.index(candidate.place) for candidate in best]
        ask(product(likely, range(len(cuts))))
        ask((p, c) for c in range(len(cuts)) for p in range(len(selections)))

    def setting(self, selection: _Place, cut: Cut, named: Sequence[int]) -> Setting:
        """Return the setting in which a place's list names these hosts."""
        return self.given._replace(
            config=selection.hints.config(named),
            nodes=selection.number if selection.fewer or self.given.nodes is not None else None,
            collective=True if self.is_off() else self.given.collective,
            **cut,
        )

    def is_off(self) -> bool:
        """Whether nothing is exchanged at present, with a known time."""
        if self.given.collective is not None:
            return not self.given.collective
        return not self.costs.call.exchanges and self.costs.alone_is_known

    def promising(self) -> list[_Tried]:
        """Return candidates for an order search: the best, and the best of each host list."""
        hosts = self.costs.layout.nodes
        most = MAX_TABLE_ENTRIES // hosts
        best = _by_seconds(tried for tried in self.tried[1:] if tried.place.number <= most)
        if hosts > _MAX_QUICK_HOSTS:
            return best[:_FEW_ORDERS]
        first, remaining = best[:_COMPARED_ORDERS], best[_COMPARED_ORDERS:]
        seen = {candidate.list_key for candidate in first}
        of_lists = {candidate.list_key: candidate for candidate in reversed(remaining)}
        return [*first, *_by_seconds(t for key, t in of_lists.items() if key not in seen)]

    def ordered(self, candidate: _Tried, seconds: float, lever: str) -> Choice:
        """Search the best order of a place's hosts."""
        place = candidate.place
        kinds = self.costs.kinds(candidate.choice.setting, place.number)
        rounds = sum(kind.rounds for kind in kinds)
        assignment = assign(kinds, place.hints, self.costs.model, seconds=seconds)
        named = assignment.order[: assignment.named]
        choice = self.costs.of(self.setting(place, candidate.cut, named))
        assert choice is not None
        bound = min(choice.with_exchange(assignment.lower_bound * rounds), choice.seconds)
        return replace(choice, lever=lever, lower_bound=bound)

    def alone(self, first: _Place) -> Iterator[Choice]:
        """Return the best that changes one thing, and leaves the order of hosts as it is."""
        single = [tried for tried in self.tried if bool(tried.cut) == (tried.place is first)]
        for lever in ("number", "buffer", "stripes"):
            of_lever = [tried for tried in single if next(iter(tried.cut), "number") == lever]
            for best in _by_seconds(of_lever)[:1]:
                yield replace(best.choice, lever=lever)
        if self.is_off():
            yield replace(self.tried[0].choice, lever="switch")
        elif (off := self.costs.of(self.given._replace(collective=False))) is not None:
            yield replace(off, lever="switch", lower_bound=off.seconds)


MIB = 1024**2

MAX_FILE_PARTS = 100_000
"""More parts of a file take too long to compare settings with."""

_EACH = (1, 2, 4)
_SHARES = (2, 4, 8, 16, 32)
"""Ranks for each aggregator where large hosts get more of them."""

_STRIPE_SIZES = (1, 4, 16, 64)
_MOST_TARGETS = 64


def lists(layout: Layout) -> list[HintList]:
    """Return how many aggregators hosts may have: as many on each, or more on larger ones."""
    ranks = layout.ranks
    shares = (np.maximum(1, (ranks + share // 2) // share) for share in _SHARES)
    host_lists = [
        *(HintList(layout, np.minimum(n, ranks), n) for n in _EACH),
        HintList(layout, ranks, None),
        *(HintList(layout, counts, 1) for counts in shares),
    ]
    different = {hints.counts.tobytes(): hints for hints in reversed(host_lists)}
    return [
        hints
        for hints in host_lists
        if hints in different.values() and hints.fits(np.flatnonzero(hints.must))
    ]


def numbers(hints: HintList, one_each: bool) -> list[int]:
    """Return numbers of aggregators: all that a list yields, and fewer (``cb_nodes``).

    Fewer than there are hosts are only taken from the ``one_each`` list, of one on each host: as
    many on fewer hosts make these hotter.
    """
    total, hosts = int(hints.counts.sum()), len(hints.counts)
    if one_each and total <= 16:
        return list(range(total, 0, -1))
    lower = 1 if one_each else hosts
    counts = {total, hosts} | {total * k // 4 for k in (1, 2, 3)}
    for k in range(total.bit_length()):
        counts |= {2**k, 2**k * 3 // 2}
    return sorted((n for n in counts if lower <= n <= total), reverse=True)


def buffers(call: Call, fewest: int) -> list[int]:
    """Return sizes of ``cb_buffer_size``: powers of two from 1 MiB on to a whole file domain.

    ``fewest`` is the smallest number of aggregators: it has the largest domains.
    """
    extent = call.pattern.extent[1] - call.pattern.extent[0]
    sizes = [MIB]
    while sizes[-1] < min(extent // fewest, 1024 * MIB):
        sizes.append(2 * sizes[-1])
    return [size for size in sizes if extent // size <= MAX_FILE_PARTS] or sizes[-1:]


def stripes(call: Call, max_aggregators: int, hosts: int) -> Iterator[Stripes]:
    """Return layouts of a file on Lustre: OSTs, stripe size, aggregators for each OST.

    Never fewer OSTs than now, if known: their write time is not modelled. ``max_aggregators`` are
    the aggregators there may be.
    """
    extent = call.pattern.extent[1] - call.pattern.extent[0]
    count = call.targets or min(hosts, _MOST_TARGETS)
    while count <= max(max_aggregators, call.targets or 1):
        for size in (s * MIB for s in _STRIPE_SIZES):
            if extent // size <= MAX_FILE_PARTS and (size == MIB or size * count <= extent):
                for ratio in (r for r in (1, 2, 4) if r == 1 or r * count <= max_aggregators):
                    yield Stripes(count, size, ratio)
        count *= 2


# --- OMPIO ---------------------------------------------------------------------------------------

# OMPIO: choose the number of aggregators; no hint selects their hosts.


def _of_ompio(costs: SettingCosts, given_setting: Setting) -> Iterator[Choice]:
    """Return the given number of aggregators, and others; parameters as of `choices`.

    Without a number, OMPIO takes a rank of each row of a Cartesian communicator.

    Raises
    ------
    InputError
        If numbers cannot be compared, or OMPIO's present choice is unknown.
    """
    if not costs.model.of_bytes:
        raise InputError(
            "OMPIO only has a hint for the number of aggregators; choosing it needs a model of "
            "several message sizes",
            where="--model",
            hint="isochrone measure hotspot --bytes 32KiB,256KiB,1MiB,2MiB",
        )
    lever, words = "given", "unchanged"
    numbers = _ompio_numbers(len(costs.by_rank), costs.layout.nodes)
    for setting in (given_setting, *(Setting(nodes=count) for count in numbers)):
        served = costs.call.of_ompio(setting.nodes)
        choice = costs.of(setting, served)
        assert choice is not None
        refuse_no_time(choice.exchange)
        if lever == "number":
            words = f"{len(served)} aggregators ({ompio_option(setting)})"
        # there is one set of aggregators for each number: what it takes is the least it can take
        yield replace(choice, words=words, lever=lever, lower_bound=choice.seconds)
        lever = "number"


def _ompio_numbers(ranks: int, hosts: int) -> list[int]:
    """Return numbers of aggregators to compare: all of few ranks, or powers of two and hosts."""
    if ranks <= 64:
        return list(range(1, ranks + 1))
    powers = {2**k for k in range(ranks.bit_length())}
    return sorted(powers | {hosts, ranks} | {n * 3 // 2 for n in powers if n * 3 // 2 <= ranks})


def ompio_option(setting: Setting) -> str:
    """Return the option of mpirun for a number of aggregators."""
    return f"--mca io_ompio_num_aggregators {setting.nodes}"
