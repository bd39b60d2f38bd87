"""Upper bound on the speedup that any setting can achieve.

It is reported before anything is tried: where most of a call does not depend on the order of nodes
or aggregators, the best order gains little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.units import format_seconds
from isochrone.collective_io.predict.call_parts import LATE, PARTS
from isochrone.collective_io.predict.exchange_bound import least_exchange
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost, collective_features
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.node_messages import layout_of

NAMES: Final = {
    "offsets": "offsets and lengths", "counts": "sizes", "exchange": "the exchange",
    "file": "the file", "rest": "the rest",
}  # fmt: skip

EACH: Final = 64
"""Up to so many ranks each number of aggregators is looked at, and of more, powers of two."""

MAX_RANKS: Final = 2048
"""With more ranks, evaluating other numbers of aggregators takes too long."""


class Gain(NamedTuple):
    """How many times as fast, and the seconds; null: beyond any number."""

    gain: float | None
    seconds: float


class Bounds(NamedTuple):
    """The most that can be gained, by anything and by another order alone."""

    gain: float | None
    seconds: float
    why: str
    by_order: Gain


@dataclass(frozen=True)
class BestPossible:
    """Bounds on the time of a call.

    Attributes
    ----------
    now
        Seconds of the given setting.
    by_order
        Lower bound for all orders of nodes or aggregators.
    by_hints
        The same for any number of aggregators and any buffer; None: not known.
    independent
        Seconds without collective buffering; None: not known.
    why
        Sentences on the limits; the first has the gain.
    """

    now: Hidden[float]
    by_order: Hidden[float]
    by_hints: float | None
    independent: float | None
    why: Hidden[list[str]]

    @property
    @shown
    def bounds(self) -> Inline[Bounds]:
        """How much can be gained, for a document."""
        order = Gain(self.order_gain, min(self.by_order, self.now))
        return Bounds(self.gain, min(self.seconds, self.now), " ".join(self.why), order)

    @property
    def seconds(self) -> float:
        """The least of the known bounds."""
        known = [self.by_hints, self.independent]
        return min([self.by_order, *(one for one in known if one is not None)])

    @property
    def gain(self) -> float:
        """Maximum speedup; at least 1."""
        return _gain(self.now, self.seconds)

    @property
    def order_gain(self) -> float:
        """How many times as fast another order alone can be."""
        return _gain(self.now, self.by_order)


def best_possible(
    whole: WholeCall, call: Call, by_rank: Sequence[str], aggregators: Sequence[int]
) -> BestPossible:
    """Return how much any order, and any hints, can gain at most."""
    features = whole.features(call, by_rank, aggregators)
    now = whole.of(call.reading, features)
    most = max(Counter(by_rank[rank] for rank in aggregators).values())
    bound = _bounded(whole, call, by_rank, len(aggregators), features.values, most)
    law = whole.times.laws.get((call.reading, "exchange"))
    exchange, least = (
        law.ask(one).seconds if law else one.get("exchange", 0.0)
        for one in (features.values, bound)
    )
    by_order = max(0.0, now.seconds - exchange + min(exchange, least))
    alone = whole.independent(call, by_rank)
    independent = alone.seconds if alone else None
    why = _of_order(now, by_order, exchange)
    by_hints, ranks = None, len(by_rank)
    if now.known and call.driver != "ompio" and ranks <= MAX_RANKS:
        # any number of aggregators, in a single round
        single = call if call.cyclic else replace(call, buffer=None)
        few = range(1, ranks + 1) if ranks <= EACH else (2**k for k in range(ranks.bit_length()))
        by_hints = min(by_order, *(_least(whole, single, by_rank, number) for number in few))
        if by_hints <= 0.97 * by_order:
            why.append(
                "With another number of aggregators or another buffer, too, at most "
                f"{_gain(now.seconds, by_hints):.3g} times as fast."
            )
    why += _of_independent(now, alone, call.reading)
    return BestPossible(now.seconds, by_order, by_hints, independent, why)


def _bounded(
    whole: WholeCall,
    call: Call,
    by_rank: Sequence[str],
    number: int,
    values: dict[str, float],
    most: int | None = None,
) -> dict[str, float]:
    """Return the quantities of a call with its hot spot at its lower bound."""
    layout, _ = layout_of(by_rank)
    kinds = call.round_kinds(number)
    least = least_exchange(kinds, layout, whole.model, most)
    found = {**values, "hot_bytes": least.bytes, "hot_messages": least.messages}
    return {**found, "exchange": least.seconds} if whole.model else found


def _least(whole: WholeCall, call: Call, by_rank: Sequence[str], number: int) -> float:
    """Return the sum of what each part takes at least with this many aggregators."""
    ranks = list(range(number))
    found = collective_features(call, by_rank, ranks, None).values
    values = _bounded(whole, call, by_rank, number, found)
    # lists of pieces travel with the data
    lists = values["hot_bytes"] / max(found["hot_bytes"], 1.0)
    values["list_pieces"] *= min(lists, 1.0)
    values |= {"rounds": 1.0, "calls": 2.0}
    laws = [whole.times.laws.get((call.reading, part)) for part in (*PARTS, LATE)]
    return sum(law.least(values) for law in laws if law)


def _of_order(now: WholeCost, least: float, exchange: float) -> list[str]:
    """Sentence on the gain of another order, and on what it does not change."""
    gain = _gain(now.seconds, least)
    if not now.known:
        return [
            f"The exchange can be at most {gain:.2g} times as fast in another order; the other "
            f"phases are not known."
        ]
    other = max(now.seconds - exchange, 0.0)
    fixed = [(name, value) for name, value in now.parts.items() if name != "exchange" and value]
    fixed.sort(key=lambda one: -one[1])
    names = [NAMES[name] for name, value in fixed if value > 0.02 * now.seconds]
    said = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
    of = f"{format_seconds(other, 3)} of {format_seconds(now.seconds, 3)}"
    if gain < 1.005:
        return [f"No other order is faster: the exchange is at its lower bound; {of} are {said}."]
    why = f": {of} are {said}, which no order changes" if said else ""
    return [f"At most {gain:.3g} times as fast by another order of nodes or aggregators{why}."]


def _of_independent(now: WholeCost, alone: WholeCost | None, reading: bool) -> list[str]:
    """Sentence on the benefit of collective buffering."""
    hint = "romio_cb_read" if reading else "romio_cb_write"
    if alone is None:
        if not now.known:
            return []
        return [f"Without collective buffering: not known; measure it with {hint} = disable."]
    times = f"{format_seconds(alone.seconds, 3)} without, {format_seconds(now.seconds, 3)} with it"
    if alone.high < now.low:
        return [f"Collective buffering is slower here; disable it ({hint} = disable): {times}."]
    if alone.seconds < now.seconds:
        return [f"Collective buffering may be slower here; try {hint} = disable: {times}."]
    return [f"Collective buffering is faster: {times}."]


def _gain(now: float, least: float) -> float:
    return max(1.0, now / least) if least > 0 else float("inf")
