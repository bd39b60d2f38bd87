"""One slow part of the machine: what it is, how slow, and what was seen."""

from typing import Annotated, Literal, NamedTuple

from msgspec.structs import replace

from isochrone.base.documents import Hidden, IfKnown, shown
from isochrone.base.record import Record
from isochrone.base.units import format_rate, format_seconds


class LevelRatio(NamedTuple):
    """How many times as long round trips of a level take."""

    level: int
    ratio: float


class NotUnderstood(NamedTuple):
    """How many pairs nothing explains, and between which factors they are off."""

    pairs: int
    from_: float
    to: float


class SlowKind(Record):
    """What a kind of slow component is; whoever treats kinds differently asks this.

    Attributes
    ----------
    concerns
        Which pairs it makes slow: those with ``either`` end among its ranks, ``both`` ends, or
        exactly ``one``.
    unit
        Whether it is a node or a rank, which is compared with its like. Its hosts are bad if it is
        confirmed; of other kinds any of several hosts, or what is between them, may be the cause.
    link
        Whether it is what is between two ends.
    directed
        Whether it is slow in one direction, compared with the other.
    """

    concerns: Literal["either", "both", "one"]
    unit: bool = False
    link: bool = False
    directed: bool = False


KINDS = {
    "node": SlowKind("either", unit=True),
    "rank": SlowKind("either", unit=True),
    "pair": SlowKind("both", link=True),
    "switch": SlowKind("both"),  # slow inside
    "cores": SlowKind("both"),  # of one node, slow among themselves
    "uplink": SlowKind("one"),  # slow beyond it
    "direction": SlowKind("both", link=True, directed=True),
    "sender": SlowKind("either", unit=True, directed=True),
    "receiver": SlowKind("either", unit=True, directed=True),
}


class Slow(Record):
    """One part of the machine that is slower than its like.

    Attributes
    ----------
    kind
        One of `KINDS`.
    who
        For a person: host names or rank numbers. Host names come from elsewhere: escape them.
    ratio
        Its round trips over what they would take without it, on the closest level it has.
    ranks, hosts
        The ranks concerned, and their hosts as far as known; of an uplink, those behind it.
    level
        Level of that ratio: the closest it has pairs on.
    seconds, expected
        Median round trip of its pairs on ``level``, and what they would take without it.
    pairs
        Number of pairs this rests on, of all levels.
    added, low, high
        What it adds to a typical round trip of all levels in seconds, and the 95 % interval of
        that: not seconds - expected, where it takes longer by a factor.
    ratios
        Level and ratio of each level it has pairs on, the closest first.
    instead
        What would explain the same pairs as well; empty where nothing does.
    retested
        Whether at least three of its pairs, or all, were measured again alone, and were slow both
        times: nearer to the slow time than to the expected one, in log time.
    first
        Median of those pairs as first measured, if they were.
    suspected
        Seen once only: measure it again.
    moved
        Bytes of a message in a map of bandwidths: over the seconds, they are the bandwidth.
    gpus
        PCI addresses of the GPUs of a rank or a pair, in a map of messages in their memory.
    quantity
        What the times are, `Run.pair_quantity`.
    """

    kind: str
    who: str
    ratio: float
    ranks: tuple[int, ...]
    hosts: tuple[str, ...]
    level: int
    seconds: float
    expected: float
    pairs: int
    added: float
    low: Annotated[float, "as added_low"]
    high: Annotated[float, "as added_high"]
    ratios: tuple[LevelRatio, ...] = ()
    instead: tuple[str, ...] = ()
    retested: bool = False
    first: IfKnown[float] = None
    suspected: IfKnown[bool] = None
    moved: IfKnown[float] = None
    gpus: IfKnown[tuple[str, ...]] = None
    quantity: Hidden[str] = "round trip"

    @property
    def of(self) -> SlowKind:
        """What its kind is."""
        return KINDS[self.kind]

    def as_measured_alone(self, alone: float) -> "Slow":
        """Return it with the times of pairs that take so many times as long alone as in the map."""
        if self.first is None or self.of.directed:
            return self
        return replace(
            self,
            seconds=self.seconds - (1 - alone) * self.expected,
            expected=alone * self.expected,
            ratio=1 + (self.ratio - 1) / alone,
            ratios=tuple(LevelRatio(k, 1 + (ratio - 1) / alone) for k, ratio in self.ratios),
        )

    @property
    def name(self) -> str:
        """Its kind and who it is, with what it may be instead: ``node n5, or its link``."""
        label = f"{self.kind} {self.who.removeprefix(f'{self.kind} ')}"
        if self.gpus:
            label = f"{'link of ' * self.of.link}GPU {' and GPU '.join(self.gpus)}, {label}"
        return ", or ".join([label, *self.instead])

    @property
    @shown
    def evidence(self) -> str:
        """What was seen, in one sentence."""
        single = self.pairs == 1
        if self.moved is not None:
            return self._slow_rate(self.moved)
        if self.of.directed:
            there, back = format_seconds(self.seconds), format_seconds(self.expected)
            links = "" if single else f", on {self.pairs} links"
            return f"takes {there} in this direction, {back} in the other{links}"
        its, trips = f"its {self.quantity}", f"{self.pairs} {self.quantity}s"
        text = f"adds {format_seconds(self.added)} to {its if single else f'each of {trips}'}"
        low, high = format_seconds(self.low), format_seconds(self.high)
        if self.scaled:
            take = f"{its} takes" if single else f"its {trips} typically take"
            text = f"{take} {self.ratio:.2f}x as long"
            ends = (self.low / self.added, self.high / self.added)
            low, high = (f"{1 + (self.ratio - 1) * end:.3f}" for end in ends)
        if low != high:
            text += f" (95 % interval {low} to {high})"
        several = len(self.ratios) > 1
        text += f"; {'for example ' * self.scaled}on level {self.level}: " if several else ": "
        text += f"{format_seconds(self.expected)} expected, "
        if self.first is not None:
            text += f"{format_seconds(self.first)} measured, "
        how = "measured" if self.first is None else "re-measured alone"
        text += f"{format_seconds(self.seconds)} {how}"
        if several and not self.scaled:
            farthest, ratio = self.ratios[-1]
            text += (
                f" ({self.ratios[0][1]:.1f}x as long); on level {farthest}: {ratio:.1f}x as long"
            )
        return text

    def _slow_rate(self, moved: float) -> str:
        """Say the bandwidths instead of times in which so many bytes are moved."""
        here, usual = format_rate(moved / self.seconds), format_rate(moved / self.expected)
        on = "" if self.pairs == 1 else f", of {self.pairs} pairs"
        if self.of.directed:
            return f"{here} in this direction, {usual} in the other{on}"
        return f"{here} measured, {usual} expected on level {self.level}{on}"

    @property
    def scaled(self) -> bool:
        """Whether it takes longer by the same factor near and far, rather than by the same time."""
        if len(self.ratios) < 2:
            return False
        factors = [ratio for _, ratio in self.ratios]
        return max(factors) < 1.1 * min(factors)
