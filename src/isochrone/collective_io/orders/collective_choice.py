"""Choose order, number and buffers of aggregators together, by predicted call time.

Numbers and hosts of aggregators and buffers (on Lustre: stripes) are first compared in ROMIO's own
order of hosts, which is fast. For the most promising ones the best order is searched, with a bound
(`assignment`). The gain of each single change is reported as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from operator import attrgetter
from time import monotonic

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.collective_io.orders.assignment import MAX_LIST_HOSTS, assign
from isochrone.collective_io.orders.hint_list import HintList, listed
from isochrone.collective_io.orders.host_costs import MAX_TABLE_ENTRIES
from isochrone.collective_io.orders.setting import (
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
        return _of_ompio(costs, given_setting)
    return ranked(_Search(costs, given_setting, seconds).run())


Cut = Members
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
        if hosts > MAX_LIST_HOSTS:
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
        for candidate in self.promising():
            left = end - monotonic()
            if left > 0:
                yield self.ordered(candidate, min(2.0, left / 2), "all")
        bound = 0.0 if self.is_off() else min(order.lower_bound, as_it_is.seconds)
        yield self.choice(self.given, as_it_is, bound, "given")

    def cost_as_given(self) -> SettingCost:
        """Return the time of the given setting; without interleaved accesses nothing is exchanged.

        Where the time of independent accesses is unknown, an exchange is assumed.
        """
        if self.is_off() and self.costs.alone_is_known:
            independent = self.costs.of(self.given._replace(collective=False))
            assert independent is not None
            return independent
        cost = self.costs.of(self.given._replace(collective=None))
        assert cost is not None
        refuse_no_time(cost.exchange)
        return cost

    def places(self, first: _Place) -> list[_Place]:
        """Return the given position and all others, those without ``cb_nodes`` first."""
        candidates = [first]
        if self.costs.model.of_bytes:
            for k, hints in enumerate(lists(self.costs.layout)):
                candidates += [_Place(hints, count) for count in numbers(hints, k == 0)]
        chosen = {
            (selection.hints.counts.tobytes(), selection.number): selection
            for selection in reversed(candidates)
        }
        remaining = [selection for selection in chosen.values() if selection is not first]
        remaining.sort(key=lambda selection: selection.number != int(selection.hints.counts.sum()))
        return [first, *remaining]

    def cuts(self, selections: Sequence[_Place]) -> list[Cut]:
        """Return the given buffers and stripes, and others that may be chosen."""
        call = self.given.of(self.costs.call)
        cuts: list[Cut] = [{}]
        if not self.costs.model.of_bytes:
            return cuts
        if call.cyclic:
            present_stripes = Stripes(call.targets or 0, call.stripe, call.ratio)
            largest, hosts = (
                max(selection.number for selection in selections),
                self.costs.layout.nodes,
            )
            cuts += [
                {"stripes": striping}
                for striping in stripes(call, largest, hosts)
                if striping != present_stripes
            ]
        else:
            fewest = min(selection.number for selection in selections)
            cuts += [{"buffer": size} for size in buffers(call, fewest) if size != call.buffer]
        return cuts

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
                    setting = self.setting(selections[p], cuts[c], must)
                    cost = self.costs.of(setting)
                    if cost is not None:
                        self.tried.append(_Tried(selections[p], cuts[c], setting, cost))

        ask((p, 0) for p in range(len(selections)))
        ask((0, c) for c in range(len(cuts)))
        best = sorted(self.tried, key=_SECONDS)[:_BUFFERED_PLACES]
        likely = [selections.index(candidate.place) for candidate in best]
        ask(product(likely, range(len(cuts))))
        ask((p, c) for c in range(len(cuts)) for p in range(len(selections)))

    def setting(self, selection: _Place, cut: Cut, named: Sequence[int]) -> Setting:
        """Return the setting in which a place's list names these hosts."""
        fewer = selection.number < int(selection.hints.counts.sum())
        return self.given._replace(
            config=selection.hints.config(named),
            nodes=selection.number if fewer or self.given.nodes is not None else None,
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
        affordable = (
            candidate
            for candidate in self.tried[1:]
            if candidate.place.number * hosts <= MAX_TABLE_ENTRIES
        )
        best = sorted(affordable, key=_SECONDS)
        if hosts > _MAX_QUICK_HOSTS:
            return best[:_FEW_ORDERS]
        of_lists = {
            candidate.place.hints.counts.tobytes(): candidate for candidate in reversed(best)
        }
        best_of_lists = sorted(of_lists.values(), key=_SECONDS)
        return [
            *best[:_COMPARED_ORDERS],
            *(candidate for candidate in best_of_lists if candidate not in best[:_COMPARED_ORDERS]),
        ]

    def ordered(self, candidate: _Tried, seconds: float, lever: str) -> Choice:
        """Search the best order of a place's hosts."""
        kinds = self.costs.kinds(candidate.setting, candidate.place.number)
        rounds = sum(kind.rounds for kind in kinds)
        assignment = assign(kinds, candidate.place.hints, self.costs.model, seconds=seconds)
        setting = self.setting(candidate.place, candidate.cut, assignment.order[: assignment.named])
        cost = self.costs.of(setting)
        assert cost is not None
        bound = cost.with_exchange(assignment.lower_bound * rounds)
        return self.choice(setting, cost, min(bound, cost.seconds), lever)

    def alone(self, first: _Place) -> Iterator[Choice]:
        """Return the best that changes one thing, and leaves the order of hosts as it is."""
        single = [
            candidate
            for candidate in self.tried
            if bool(candidate.cut) == (candidate.place is first)
        ]
        for lever in ("number", "buffer", "stripes"):
            of_lever = [
                candidate for candidate in single if next(iter(candidate.cut), "number") == lever
            ]
            if of_lever:
                best = min(of_lever, key=_SECONDS)
                yield self.choice(best.setting, best.cost, 0.0, lever)
        off = self.given._replace(collective=False)
        if self.is_off():
            yield self.choice(self.tried[0].setting, self.tried[0].cost, 0.0, "switch")
        elif (cost := self.costs.of(off)) is not None:
            yield self.choice(off, cost, cost.seconds, "switch")

    def choice(self, setting: Setting, cost: SettingCost, bound: float, lever: str) -> Choice:
        label = "unchanged" if lever == "given" else words_of(setting)
        memory = self.costs.memory(setting, cost.aggregators)
        return Choice(
            setting,
            cost.aggregators,
            cost.seconds,
            self.given_seconds,
            bound,
            cost.parts,
            label,
            memory,
            lever,
        )


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
    first = {host_list.counts.tobytes(): host_list for host_list in reversed(host_lists)}
    different = (
        host_list for host_list in host_lists if host_list is first[host_list.counts.tobytes()]
    )
    return [host_list for host_list in different if host_list.fits(np.flatnonzero(host_list.must))]


def numbers(hints: HintList, one_each: bool) -> list[int]:
    """Return numbers of aggregators: all that a list yields, and fewer (``cb_nodes``).

    Fewer than there are hosts are only taken from the ``one_each`` list, of one on each host: as
    many on fewer hosts make these hotter.
    """
    total, hosts = int(hints.counts.sum()), len(hints.hosts)
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


def _of_ompio(costs: SettingCosts, given_setting: Setting) -> list[Choice]:
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
            where="--model",
            hint="isochrone measure hotspot --bytes 32KiB,256KiB,1MiB,2MiB",
        )
    numbers = _ompio_numbers(len(costs.by_rank), costs.layout.nodes)
    compared: list[Choice] = []
    for setting in (given_setting, *(Setting(nodes=count) for count in numbers)):
        served = costs.call.of_ompio(setting.nodes)
        cost = costs.of(setting, served)
        assert cost is not None
        refuse_no_time(cost.exchange)
        given_seconds = compared[0].given_seconds if compared else cost.seconds
        lever, description = "given", "unchanged"
        if compared:
            lever, description = "number", f"{len(served)} aggregators ({ompio_option(setting)})"
        # there is one set of aggregators for each number: what it takes is the least it can take
        compared.append(
            Choice(
                setting,
                served,
                cost.seconds,
                given_seconds,
                cost.seconds,
                cost.parts,
                description,
                costs.memory(setting, served),
                lever,
            )
        )
    return ranked(compared)


def _ompio_numbers(ranks: int, hosts: int) -> list[int]:
    """Return numbers of aggregators to compare: all of few ranks, or powers of two and hosts."""
    if ranks <= 64:
        return list(range(1, ranks + 1))
    powers = {2**k for k in range(ranks.bit_length())}
    return sorted(powers | {hosts, ranks} | {n * 3 // 2 for n in powers if n * 3 // 2 <= ranks})


def ompio_option(setting: Setting) -> str:
    """Return the option of mpirun for a number of aggregators."""
    return f"--mca io_ompio_num_aggregators {setting.nodes}"
