"""What is not known of a program, and need not be.

Of an operation without a model, a prediction takes the time that was recorded, and an interval from
nothing to twice that. Small parts that follow no rule are left out of a description.
"""

from collections import defaultdict
from collections.abc import Sequence

from isochrone.applications.thresholds import MAX_LEFT_OUT_SHARE
from isochrone.applications.traces.places import Tree, computed, flat
from isochrone.applications.traces.trace import Trace
from isochrone.base.operations import COLLECTIVES
from isochrone.base.table import grouped
from isochrone.base.text import listed


def recorded_operations(trace: Trace) -> dict[str, str]:
    """Return what the collective operations of a recording take, as a description writes it.

    For each operation the longest call of the rank that waits least. On other numbers of ranks it
    is taken to grow as their square root, between a constant and one rank after the other.
    """
    by_rank: dict[str, list[float]] = defaultdict(list)
    for events in trace.ranks:
        calls = grouped((event.op, event.seconds) for event in events if event.op in COLLECTIVES)
        for op, seconds in calls.items():
            by_rank[op].append(max(seconds))
    ranks = len(trace.ranks)
    return {op: f"{1e6 * min(longest):.4g}us*sqrt(p/{ranks})" for op, longest in by_rank.items()}


class LeftOut:
    """Parts of a program that are not in its description: small, see `MAX_LEFT_OUT_SHARE`.

    Parameters
    ----------
    whole
        Seconds of each recording, of all ranks together.

    Attributes
    ----------
    positions
        Of these parts.
    """

    def __init__(self, run_times: Sequence[float]) -> None:
        self.whole = [max(seconds, 1e-12) for seconds in run_times]
        self.used = [0.0] * len(run_times)
        self.positions: list[str] = []

    @property
    def share(self) -> float:
        """Largest share of the run time of a recording."""
        return max(used / run_time for used, run_time in zip(self.used, self.whole, strict=True))

    def take(self, trees: Sequence[Tree], position: str) -> bool:
        """Leave out a part of each recording, if they are small enough."""
        used = [earlier + _seconds(tree) for earlier, tree in zip(self.used, trees, strict=True)]
        if any(
            seconds >= MAX_LEFT_OUT_SHARE * run_time
            for seconds, run_time in zip(used, self.whole, strict=True)
        ):
            return False
        self.used = used
        self.positions.append(position)
        return True

    def share_of(self, trees: Sequence[Tree]) -> float:
        """Return the largest share of the run time of a recording that a part takes."""
        return max(
            _seconds(tree) / run_time for tree, run_time in zip(trees, self.whole, strict=True)
        )

    def warning(self) -> str:
        """Say what was left out."""
        return (
            f"{self.share:.2%} of the run time follows no rule and is left out: "
            f"position{'s' * (len(self.positions) > 1)} {listed(self.positions, 5)}"
        )


def _seconds(tree: Tree) -> float:
    """Return the seconds of all ranks at some places, in calls and computing."""
    return sum(computed(place) + sum(place.round.sites.values()) for place in flat(tree))


def to_skip(kinds: Sequence[Sequence[str]]) -> list[int]:
    """Return how many places each recording loses, so that all go on with the same kind.

    As few as possible; all that are left, if no kind is in all of them.
    """
    common = set.intersection(*map(set, kinds))
    ways = [[of.index(kind) for of in kinds] for kind in sorted(common)]
    return min(ways, key=sum, default=[len(of) for of in kinds])
