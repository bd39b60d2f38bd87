"""Whether a comparison passes what the user allows, or cannot be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Final

from isochrone.changes.compare import Comparison
from isochrone.changes.components import Difference, Part

MIN_LAUNCHES: Final = 3
"""Of each side. Two launches have one difference, and no idea of how much launches differ."""

USUAL_LAUNCHES: Final = 5

BLIND: Final = 1.6
"""Where a single point is seen from this ratio on, one that takes twice the time is seen in 9 of
10 comparisons of eight points; beyond it, silence is no proof."""


@dataclass(frozen=True)
class Limit:
    """What is not allowed: ``slower`` or ``faster`` by more than a part of the first time."""

    what: str
    by: float

    def exceeded(self, ratio: float) -> bool:
        """Whether a ratio is beyond the limit."""
        return ratio - 1 > self.by if self.what == "slower" else 1 - ratio > self.by


@dataclass(frozen=True)
class Gate:
    """What came of the limits.

    Attributes
    ----------
    failed
        Parts that changed by more than a limit allows.
    doubts
        Why it cannot be judged, and what to measure, one sentence each; empty if it can.
    """

    failed: list[Part]
    doubts: list[str]

    @property
    def passed(self) -> bool:
        """Whether all is known to be well, as far as the launches show it."""
        return not self.failed and not self.doubts


def judge(found: Comparison, limits: Sequence[Limit]) -> Gate:
    """Hold a comparison against what is allowed."""
    failed = [
        part for part in found.parts
        if any(part.difference.verdict == one.what and one.exceeded(part.difference.ratio)
               for one in limits)
    ]  # fmt: skip
    return Gate(failed, _doubts(found, limits, failed) if limits else [])


def _doubts(found: Comparison, limits: Sequence[Limit], failed: Sequence[Part]) -> list[str]:
    lost = []
    if found.one_sided:
        lost.append(f"{found.one_sided} points were measured on one side only")
    if found.partial:
        lost.append(f"{found.partial} runs did not come to their end")
    if lost or found.unit != "launch":
        return lost
    if min(found.launches) < MIN_LAUNCHES:
        starts = " and ".join(map(str, sorted(set(found.launches))))
        return [
            f"{starts} start{'s' if starts != '1' else ''} a side, and launches of one command "
            f"differ: it needs {MIN_LAUNCHES} a side, better {USUAL_LAUNCHES}"
        ]
    known = {k for part in failed for k in part.points}
    open_ = [point for k, point in enumerate(found.points) if k not in known]
    launches = min(found.launches)
    unknown = sum(point.difference.p is None for point in open_)
    if unknown:
        return [f"{unknown} of {len(found.points)} points were measured by fewer than two launches"]
    if found.visible is not None and found.visible >= BLIND:
        return [
            f"launches differ so much that a point is seen from {found.visible:.1f}x on only: it "
            f"needs {_enough(launches, found.visible, BLIND)} starts a side"
        ]
    said = []
    for limit in limits:
        suspects = [  # beyond the scatter of all points, too
            point for point in open_
            if abs(log(point.ratio)) > log(found.visible or 1.0)
            and _leaning(point.difference, limit)
        ]  # fmt: skip
        if suspects:
            worst = max(suspects, key=lambda point: abs(log(point.ratio)))
            more = _enough(launches, found.visible or 1.0, worst.ratio)
            said.append(
                f"{len(suspects)} of {len(found.points)} points may be {limit.what}, up to "
                f"{worst.ratio:.2f}x, which is not proved: it needs {more} starts a side"
            )
        elif not failed and found.overall and _leaning(found.overall, limit):
            said.append(
                f"on the whole it may be {limit.what}, {found.overall.ratio:.2f}x, which is not "
                f"proved: it needs {2 * launches} starts a side"
            )
    return said


def _leaning(difference: Difference, limit: Limit) -> bool:
    """Whether something beyond the limit is unclear only because many questions were asked."""
    low, high = difference.low, difference.high
    apart = low is not None and high is not None and not low <= 1 <= high
    return difference.verdict == "unclear" and limit.exceeded(difference.ratio) and apart


def _enough(launches: int, visible: float, ratio: float) -> int:
    """Return how many launches show a ratio, of which ``launches`` show ``visible``."""
    least = ceil(launches * (log(visible) / abs(log(ratio))) ** 2)
    return max(least, 2 * launches, USUAL_LAUNCHES)
