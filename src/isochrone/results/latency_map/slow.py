"""One slow part of the machine: what it is, how slow, and what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from isochrone.base.units import format_seconds

__all__ = ["Slow"]


@dataclass(frozen=True)
class Slow:
    """One part of the machine that is slower than its like.

    Attributes
    ----------
    kind
        ``switch``, ``node``, ``rank`` or ``pair``.
    who
        For a person: host names or rank numbers. Host names come from elsewhere: escape them.
    ratio
        Its round trips over those of its healthy like on the same level.
    ranks, hosts
        The ranks concerned, and their hosts as far as known.
    level
        Level of the slow pairs; for a part with several, the one most of them are on.
    seconds, expected
        Median round trip of its pairs, and what the others of their levels take.
    pairs
        Number of pairs this rests on.
    retested
        Whether any of them was measured again alone; that measurement then counts.
    first
        Median of the same pairs as first measured, if retested.
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
    retested: bool = False
    first: float | None = None

    @property
    def evidence(self) -> str:
        """What was seen, in one sentence."""
        trips = "its round trip takes"
        if self.pairs > 1:
            trips = f"{self.pairs} of its round trips take"
        text = f"{trips} {format_seconds(self.seconds)} instead of {format_seconds(self.expected)}"
        if self.first is not None:
            first, again = format_seconds(self.first), format_seconds(self.seconds)
            text += f" (measured again alone: {again}, at first {first})"
        return text

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; times in seconds."""
        record: dict[str, Any] = {
            "kind": self.kind, "who": self.who, "ratio": self.ratio, "ranks": list(self.ranks),
            "hosts": list(self.hosts), "level": self.level, "seconds": self.seconds,
            "expected": self.expected, "pairs": self.pairs, "retested": self.retested,
            "evidence": self.evidence,
        }  # fmt: skip
        if self.first is not None:
            record["first"] = self.first
        return record
