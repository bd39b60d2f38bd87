"""The limits of ``--fail-on``: whether a comparison exceeds them, or cannot be judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

from isochrone.base.verdicts import NOT_KNOWN
from isochrone.changes.compare import Comparison
from isochrone.changes.components import Difference, Part

MIN_LAUNCHES = 3
"""Of each side: two launches do not show how much launches vary."""

USUAL_LAUNCHES = 5

BLIND = 1.6
"""Largest smallest-detectable ratio at which a comparison may pass: there a point that takes twice
the time is detected in 9 of 10 comparisons of eight points."""


@dataclass(frozen=True)
class Limit:
    """A change that fails: ``slower`` or ``faster`` by more than a fraction of the first time."""

    what: str
    by: float

    def exceeded(self, ratio: float) -> bool:
        """Whether a ratio is beyond the limit."""
        return ratio - 1 > self.by if self.what == "slower" else 1 - ratio > self.by


@dataclass(frozen=True)
class Gate:
    """The result of the limits.

    Attributes
    ----------
    failed
        Components that changed by more than a limit.
    doubts
        Why it cannot be judged, and what to measure, one sentence each; empty if it can.
    """

    failed: list[Part]
    doubts: list[str]

    @property
    def passed(self) -> bool:
        """Whether no limit is exceeded and everything could be judged."""
        return not self.failed and not self.doubts


def judge(found: Comparison, limits: Sequence[Limit]) -> Gate:
    """Apply the limits to a comparison."""
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
        lost.append(f"{found.partial} runs are not complete")
    if lost or found.unit != "launch":
        return lost
    if min(found.launches) < MIN_LAUNCHES:
        counts = " and ".join(map(str, sorted(set(found.launches))))
        return [
            f"{counts} launch{'es' if counts != '1' else ''} per side: at least {MIN_LAUNCHES} "
            f"are needed, {USUAL_LAUNCHES} recommended"
        ]
    known = {k for part in failed for k in part.points}
    open_ = [point for k, point in enumerate(found.points) if k not in known]
    launches = min(found.launches)
    unknown = sum(point.difference.p is None for point in open_)
    if unknown:
        return [f"{unknown} of {len(found.points)} points were measured by fewer than two launches"]
    if found.visible is not None and found.visible >= BLIND:
        return [
            f"launches vary: only changes of {found.visible:.1f}x or more are detected; "
            f"measure {_enough(launches, found.visible, BLIND)} launches per side"
        ]
    doubts = []
    for limit in limits:
        suspects = [  # beyond the scatter of all points, too
            point for point in open_
            if abs(log(point.ratio)) > log(found.visible or 1.0)
            and _leaning(point.difference, limit)
        ]  # fmt: skip
        if suspects:
            worst = max(suspects, key=lambda point: abs(log(point.ratio)))
            more = _enough(launches, found.visible or 1.0, worst.ratio)
            doubts.append(
                f"{len(suspects)} of {len(found.points)} points are possibly {limit.what}, up to "
                f"{worst.ratio:.2f}x: measure {more} launches per side"
            )
        elif not failed and found.overall and _leaning(found.overall, limit):
            doubts.append(
                f"possibly {limit.what} overall, {found.overall.ratio:.2f}x: "
                f"measure {2 * launches} launches per side"
            )
    return doubts


def _leaning(difference: Difference, limit: Limit) -> bool:
    """Whether a difference beyond the limit is not known only by the correction for many tests."""
    low, high = difference.low, difference.high
    excludes_1 = low is not None and high is not None and not low <= 1 <= high
    return difference.verdict == NOT_KNOWN and limit.exceeded(difference.ratio) and excludes_1


def _enough(launches: int, visible: float, ratio: float) -> int:
    """Return how many launches detect a ratio, where ``launches`` detect ``visible``."""
    least = ceil(launches * (log(visible) / abs(log(ratio))) ** 2)
    return max(least, 2 * launches, USUAL_LAUNCHES)
