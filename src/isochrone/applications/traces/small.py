"""Operations that take so little of a program that no model of them is needed.

A prediction takes the longest that was recorded, and an interval from nothing to twice that.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from isochrone.applications.traces.trace import Trace
from isochrone.base.operations import COLLECTIVES

SMALL = 0.01
"""Share of the run time below which an operation needs no model: twice as much is less than the
3 % by which a description may miss the time that was recorded."""


def small_operations(trace: Trace) -> dict[str, float]:
    """Return the collective operations of less than `SMALL` of the time, each with its longest.

    Seconds of a call, waiting included; the mean of those of a rank at one position.
    """
    calls: dict[str, list[float]] = defaultdict(list)
    for events in trace.ranks:
        for event in events:
            if event.op in COLLECTIVES:
                calls[event.op].append(event.seconds)
    return {
        op: max(seconds) for op, seconds in calls.items() if sum(seconds) < SMALL * trace.seconds
    }


def bounded(found: Sequence[Mapping[str, float]]) -> dict[str, str]:
    """Return the operations that are small in all recordings, as a description writes them."""
    common = set.intersection(*map(set, found)) if found else set()
    return {op: f"{1e6 * max(of[op] for of in found):.4g}us" for op in sorted(common)}
