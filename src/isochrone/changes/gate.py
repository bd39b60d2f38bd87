"""The limits of ``--fail-on``: whether a comparison exceeds them, or cannot be judged."""

from collections.abc import Sequence
from math import ceil, exp, log

from isochrone.base.record import Record
from isochrone.base.verdicts import NOT_KNOWN
from isochrone.changes.compare import Comparison
from isochrone.changes.components import Difference, Part
from isochrone.changes.thresholds import BLIND, MIN_LAUNCHES, USUAL_LAUNCHES


class Limit(Record):
    """A change that fails: ``slower`` or ``faster`` by more than a fraction of the first time."""

    what: str
    by: float

    def exceeded(self, ratio: float) -> bool:
        """Whether a ratio is beyond the limit."""
        return ratio - 1 > self.by if self.what == "slower" else 1 - ratio > self.by


class Gate(Record):
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


def judge(comparison: Comparison, limits: Sequence[Limit]) -> Gate:
    """Apply the limits to a comparison."""
    failed = [
        component
        for component in comparison.parts
        if any(
            component.difference.verdict == limit.what
            and limit.exceeded(component.difference.ratio)
            for limit in limits
        )
    ]
    return Gate(failed, _doubts(comparison, limits, failed) if limits else [])


def what_to_measure(launches: int = USUAL_LAUNCHES) -> str:
    """Return how to measure several launches."""
    return (
        f"isochrone measure … --launches {launches} on each side, or both together, alternately: "
        f"isochrone compare --measure '…' '…' --launches {launches}"
    )


def _doubts(comparison: Comparison, limits: Sequence[Limit], failed: Sequence[Part]) -> list[str]:
    lost = []
    if comparison.one_sided:
        lost.append(f"{comparison.one_sided} points were measured on one side only")
    if comparison.partial:
        lost.append(f"{comparison.partial} runs are not complete")
    if lost or comparison.unit != "launch":
        return lost
    if min(comparison.launches) < MIN_LAUNCHES:
        return [
            f"fewer than {MIN_LAUNCHES} launches on a side, {USUAL_LAUNCHES} are recommended: "
            f"{what_to_measure()}"
        ]
    explained = {
        k: component.difference.ratio for component in comparison.parts for k in component.points
    }
    failed_points = {k for component in failed for k in component.points}
    open_ = [
        (point.difference, explained.get(k, 1.0))
        for k, point in enumerate(comparison.points)
        if k not in failed_points
    ]
    launches = min(comparison.launches)
    unknown = sum(difference.p is None for difference, _ in open_)
    if unknown:
        return [
            f"{unknown} of {len(comparison.changes)} points were measured by fewer than two "
            "launches"
        ]
    visible = comparison.visible or 1.0
    if visible >= BLIND:
        return [
            f"launches vary: only changes of {visible:.1f}x or more are detected: "
            f"{_more(launches, visible, BLIND)}"
        ]
    doubts = []
    for limit in limits:
        suspects = [  # beyond the scatter of all points, too
            (difference.ratio, beyond)
            for difference, expected in open_
            if (beyond := exp(abs(log(difference.ratio / expected)))) > visible
            and _leaning(difference, limit, expected)
        ]
        if suspects:
            ratio, beyond = max(suspects, key=lambda suspect: suspect[1])
            doubts.append(
                f"{len(suspects)} of {len(comparison.changes)} points are possibly {limit.what}, "
                "up to "
                f"{ratio:.2f}x: {_more(launches, visible, beyond)}"
            )
        elif not failed and comparison.overall and _leaning(comparison.overall, limit):
            doubts.append(
                f"possibly {limit.what} overall, {comparison.overall.ratio:.2f}x: "
                f"{_more(launches, 1.0, BLIND)}"
            )
    return doubts


def _leaning(difference: Difference, limit: Limit, expected: float = 1.0) -> bool:
    """Whether a difference beyond the limit is not known only by the correction for many tests.

    It must differ from the usual ratio, that of the component which explains the point.
    """
    low, high = difference.low, difference.high
    differs = low is not None and high is not None and not low <= expected <= high
    return difference.verdict == NOT_KNOWN and limit.exceeded(difference.ratio) and differs


def _more(launches: int, visible: float, ratio: float) -> str:
    """Say how many launches detect a ratio, where ``launches`` detect ``visible``."""
    needed = ceil(launches * (log(visible) / log(ratio)) ** 2)
    return what_to_measure(max(needed, 2 * launches, USUAL_LAUNCHES))
