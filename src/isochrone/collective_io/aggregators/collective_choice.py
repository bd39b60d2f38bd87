"""Choose order, number and buffers of aggregators together, by predicted call time.

Numbers and hosts of aggregators and buffers (on Lustre: stripes) are first compared in ROMIO's own
order of hosts, which is fast. For the most promising ones the best order is searched, with a bound
(`assignment`). The gain of each single change is reported as well.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import attrgetter
from time import monotonic
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.collective_io.aggregators.assignment import MAX_HOSTS, assign
from isochrone.collective_io.aggregators.hint_list import HintList, listed
from isochrone.collective_io.aggregators.host_costs import MOST
from isochrone.collective_io.aggregators.setting import (
    BUFFER,
    GIVEN,
    Choice,
    Setting,
    SettingCost,
    SettingCosts,
    Stripes,
    ranked,
    words_of,
)
from isochrone.collective_io.predict.node_cost import refuse_no_time
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import Layout

SECONDS = 8.0
"""Time limit, not counting what cannot be left out."""

_COMPARING = 0.4
"""Fraction of it for comparing; the remainder is for orders."""

_MANY = 200
"""Hosts for which an order takes seconds to find …"""
_FEW_ORDERS = 3
"""… so that no more of them are searched."""
_ORDERS = 16
_CUTS = 3
"""Places for which all buffers are compared before others are."""


def choices(
    costs: SettingCosts, *, given: Setting = GIVEN, seconds: float = SECONDS
) -> list[Choice]:
    """Return the compared settings, best first, including the given one.

    Parameters
    ----------
    costs
        What the call takes. Without ``buffer``: with ROMIO's default, unless buffers are not
        compared. A model without bytes cannot compare numbers of aggregators, buffers or stripes,
        where fewer messages are larger ones. Then only orders are compared.
    given
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
        return _of_ompio(costs, given)
    return ranked(_Search(costs, given, seconds).run())


Cut = Mapping[str, Any]
"""How the parts of aggregators are cut into rounds: what of a setting is changed for that."""


class _Place(Record):
    """How many aggregators there are, and on which hosts."""

    hints: HintList
    number: int


class _Tried(Record, eq=False):
    place: _Place
    cut: Cut
    setting: Setting
    cost: SettingCost


_SECONDS = attrgetter("cost.seconds")


class _Search(Struct):
    costs: SettingCosts
    given: Setting
    seconds: float
    tried: list[_Tried] = []
    given_seconds: float = 0.0

    def run(self) -> Iterator[Choice]:
        """Compare, search orders for the best, and find the gain of each single change."""
        begin = monotonic()
        hosts = self.costs.layout.nodes
        if hosts > MAX_HOSTS:
            raise InputError(
                f"the names of {hosts} hosts do not fit into a hint",
                hint="isochrone place nodes has no such limit",
            )
        as_it_is = self.cost_as_given()
        self.given_seconds = as_it_is.seconds
        hints = listed(self.costs.layout, self.given.config)  # in ROMIO's own order
        total = int(hints.counts.sum())
        first = _Place(hints, min(self.given.nodes or total, total))
        self.compare(first, begin + _COMPARING * self.seconds)
        order = self.ordered(self.tried[0], 2.0, "order")
        yield order
        yield from self.alone(first)
        end = begin + self.seconds
        for one in self.promising():
            left = end - monotonic()
            if left > 0:
                yield self.ordered(one, min(2.0, left / 2), "all")
        bound = 0.0 if self.is_off() else min(order.lower_bound, as_it_is.seconds)
        yield self.choice(self.given, as_it_is, bound, "given")

    def cost_as_given(self) -> SettingCost:
        """Return the time of the given setting; without interleaved accesses nothing is exchanged.

        Where the time of independent accesses is unknown, an exchange is assumed.
        """
        if self.is_off() and self.costs.alone_is_known:
            alone = self.costs.of(self.given._replace(collective=False))
            assert alone is not None
            return alone
        found = self.costs.of(self.given._replace(collective=None))
        assert found is not None
        refuse_no_time(found.exchange)
        return found

    def places(self, first: _Place) -> list[_Place]:
        """Return the given position and all others, those without ``cb_nodes`` first."""
        found = [first]
        if self.costs.model.of_bytes:
            for k, hints in enumerate(lists(self.costs.layout)):
                found += [_Place(hints, number) for number in numbers(hints, k == 0)]
        chosen = {(place.hints.counts.tobytes(), place.number): place for place in reversed(found)}
        rest = [place for place in chosen.values() if place is not first]
        rest.sort(key=lambda place: place.number != int(place.hints.counts.sum()))
        return [first, *rest]

    def cuts(self, places: Sequence[_Place]) -> list[Cut]:
        """Return the given buffers and stripes, and others that may be chosen."""
        call = self.given.of(self.costs.call)
        found: list[Cut] = [{}]
        if not self.costs.model.of_bytes:
            return found
        if call.cyclic:
            now = Stripes(call.targets or 0, call.stripe, call.ratio)
            most, hosts = max(place.number for place in places), self.costs.layout.nodes
            found += [{"stripes": one} for one in stripes(call, most, hosts) if one != now]
        else:
            least = min(place.number for place in places)
            found += [{"buffer": one} for one in buffers(call, least) if one != call.buffer]
        return found

    def compare(self, first: _Place, end: float) -> None:
        """Evaluate settings in ROMIO's own order, likely ones first, until time is up."""
        places = self.places(first)
        cuts = self.cuts(places)
        done: set[tuple[int, int]] = set()

        def ask(pairs: Iterable[tuple[int, int]]) -> None:
            for p, c in pairs:
                if (p, c) not in done and (not done or monotonic() < end):
                    done.add((p, c))
                    must = np.flatnonzero(places[p].hints.must).tolist()
                    setting = self.setting(places[p], cuts[c], must)
                    cost = self.costs.of(setting)
                    if cost is not None:
                        self.tried.append(_Tried(places[p], cuts[c], setting, cost))

        ask((p, 0) for p in range(len(places)))
        ask((0, c) for c in range(len(cuts)))
        best = sorted(self.tried, key=_SECONDS)[:_CUTS]
        likely = [places.index(one.place) for one in best]
        ask(product(likely, range(len(cuts))))
        ask((p, c) for c in range(len(cuts)) for p in range(len(places)))

    def setting(self, place: _Place, cut: Cut, named: Sequence[int]) -> Setting:
        """Return the setting in which a place's list names these hosts."""
        fewer = place.number < int(place.hints.counts.sum())
        return self.given._replace(
            config=place.hints.config(named),
            nodes=place.number if fewer or self.given.nodes is not None else None,
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
        some = (one for one in self.tried[1:] if one.place.number * hosts <= MOST)
        best = sorted(some, key=_SECONDS)
        if hosts > _MANY:
            return best[:_FEW_ORDERS]
        of_lists = {one.place.hints.counts.tobytes(): one for one in reversed(best)}
        each = sorted(of_lists.values(), key=_SECONDS)
        return [*best[:_ORDERS], *(one for one in each if one not in best[:_ORDERS])]

    def ordered(self, one: _Tried, seconds: float, lever: str) -> Choice:
        """Search the best order of a place's hosts."""
        kinds = self.costs.kinds(one.setting, one.place.number)
        rounds = sum(kind.rounds for kind in kinds)
        found = assign(kinds, one.place.hints, self.costs.model, seconds=seconds)
        setting = self.setting(one.place, one.cut, found.order[: found.named])
        cost = self.costs.of(setting)
        assert cost is not None
        bound = cost.with_exchange(found.lower_bound * rounds)
        return self.choice(setting, cost, min(bound, cost.seconds), lever)

    def alone(self, first: _Place) -> Iterator[Choice]:
        """Return the best that changes one thing, and leaves the order of hosts as it is."""
        single = [one for one in self.tried if bool(one.cut) == (one.place is first)]
        for lever in ("number", "buffer", "stripes"):
            some = [one for one in single if next(iter(one.cut), "number") == lever]
            if some:
                best = min(some, key=_SECONDS)
                yield self.choice(best.setting, best.cost, 0.0, lever)
        off = self.given._replace(collective=False)
        if self.is_off():
            yield self.choice(self.tried[0].setting, self.tried[0].cost, 0.0, "switch")
        elif (cost := self.costs.of(off)) is not None:
            yield self.choice(off, cost, cost.seconds, "switch")

    def choice(self, setting: Setting, cost: SettingCost, bound: float, lever: str) -> Choice:
        words = "unchanged" if lever == "given" else words_of(setting)
        memory = self.costs.memory(setting, cost.aggregators)
        return Choice(
            setting, cost.aggregators, cost.seconds, self.given_seconds, bound, cost.parts, words,
            memory, lever,
        )  # fmt: skip


MIB = 1024**2

PARTS = 100_000
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
    found = [
        *(HintList(layout, np.minimum(n, ranks), n) for n in _EACH),
        HintList(layout, ranks, None),
        *(HintList(layout, counts, 1) for counts in shares),
    ]
    first = {one.counts.tobytes(): one for one in reversed(found)}
    different = (one for one in found if one is first[one.counts.tobytes()])
    return [one for one in different if one.fits(np.flatnonzero(one.must))]


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
    for k in range(most.bit_length()):
        found |= {2**k, 2**k * 3 // 2}
    return sorted((n for n in found if lower <= n <= most), reverse=True)


def buffers(call: Call, least: int) -> list[int]:
    """Return sizes of ``cb_buffer_size``: powers of two from 1 MiB on to a whole file domain.

    ``least`` is the smallest number of aggregators: it has the largest domains.
    """
    extent = call.pattern.extent[1] - call.pattern.extent[0]
    sizes = [MIB]
    while sizes[-1] < min(extent // least, 1024 * MIB):
        sizes.append(2 * sizes[-1])
    return [size for size in sizes if extent // size <= PARTS] or sizes[-1:]


def stripes(call: Call, most: int, hosts: int) -> Iterator[Stripes]:
    """Return layouts of a file on Lustre: OSTs, stripe size, aggregators for each OST.

    Never fewer OSTs than now, if known: their write time is not modelled. ``most`` are the
    aggregators there may be.
    """
    extent = call.pattern.extent[1] - call.pattern.extent[0]
    count = call.targets or min(hosts, _MOST_TARGETS)
    while count <= max(most, call.targets or 1):
        for size in (s * MIB for s in _STRIPE_SIZES):
            if extent // size <= PARTS and (size == MIB or size * count <= extent):
                for ratio in (r for r in (1, 2, 4) if r == 1 or r * count <= most):
                    yield Stripes(count, size, ratio)
        count *= 2


# --- OMPIO ---------------------------------------------------------------------------------------

# OMPIO: choose the number of aggregators; no hint selects their hosts.


def _of_ompio(costs: SettingCosts, given: Setting) -> list[Choice]:
    """Return numbers of aggregators, the best first; parameters as of `collective_choice`.

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
            where="--model", hint="isochrone measure hotspot --bytes 32KiB,256KiB,1MiB,2MiB",
        )  # fmt: skip
    numbers = _ompio_numbers(len(costs.by_rank), costs.layout.nodes)
    found: list[Choice] = []
    for setting in (given, *(Setting(nodes=number) for number in numbers)):
        served = costs.call.of_ompio(setting.nodes)
        cost = costs.of(setting, served)
        assert cost is not None
        refuse_no_time(cost.exchange)
        before = found[0].given_seconds if found else cost.seconds
        lever, words = "given", "unchanged"
        if found:
            lever, words = "number", f"{len(served)} aggregators ({ompio_option(setting)})"
        # there is one set of aggregators for each number: what it takes is the least it can take
        found.append(
            Choice(
                setting, served, cost.seconds, before, cost.seconds, cost.parts, words,
                costs.memory(setting, served), lever,
            )
        )  # fmt: skip
    return ranked(found)


def _ompio_numbers(ranks: int, hosts: int) -> list[int]:
    """Return numbers of aggregators to compare: all of few ranks, or powers of two and hosts."""
    if ranks <= 64:
        return list(range(1, ranks + 1))
    powers = {2**k for k in range(ranks.bit_length())}
    return sorted(powers | {hosts, ranks} | {n * 3 // 2 for n in powers if n * 3 // 2 <= ranks})


def ompio_option(setting: Setting) -> str:
    """Return the option of mpirun for a number of aggregators."""
    return f"--mca io_ompio_num_aggregators {setting.nodes}"
