"""Comparison of grids with the library, and of operations with the sum of their phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from isochrone.base.inference import ratio_interval, verdict
from isochrone.collectives.results.grid_collectives import LIBRARY, PHASES, TOTAL, GridPoint

MIN_GAIN: Final = 0.02
"""Of the time: who is less faster is not called so."""

ADDS_UP: Final = 0.1
"""Of the time: by how much the sum of the phases may miss the total."""

Verdict = Literal["faster", "slower", "within the noise"]

_WORDS: Final[dict[str, Verdict]] = {
    "faster": "faster", "slower": "slower", "same": "within the noise",
    "not known": "within the noise",
}  # fmt: skip

Key = tuple[str, int, int]


@dataclass(frozen=True)
class Gain:
    """Comparison of a grid with the library, for one operation and size.

    Attributes
    ----------
    library, on_grid
        The whole operation, both ways.
    ratio, low, high
        Library over grid and its 95 % interval; above 1 the grid is faster. The interval is NaN
        without repetitions.
    """

    library: GridPoint
    on_grid: GridPoint
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Whether the grid is significantly faster."""
        low, high = _ends(self, self.ratio)
        return _WORDS[verdict(1 / self.ratio, 1 / high, 1 / low, least=MIN_GAIN)]

    def document(self) -> dict[str, Any]:
        """Return it for a document."""
        point = self.on_grid
        return {
            "op": point.op, "p": point.ranks, "bytes": point.bytes, "grid": point.grid,
            "seconds": point.seconds, "library": self.library.seconds, "ratio": self.ratio,
            "low": self.low, "high": self.high, "verdict": self.verdict,
        }  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """A whole operation on a grid compared with its phases.

    Attributes
    ----------
    total
        The whole operation.
    phases
        LG and CG, each with all groups at work.
    ratio, low, high
        Sum of the phases over the total and its 95 % interval, NaN without repetitions.
    """

    total: GridPoint
    phases: tuple[GridPoint, GridPoint]
    ratio: float
    low: float
    high: float

    @property
    def adds_up(self) -> bool:
        """Whether the sum of the phases equals the total, within the interval."""
        low, high = _ends(self, self.ratio)
        return bool(low <= 1 + ADDS_UP and high >= 1 - ADDS_UP)

    def document(self) -> dict[str, Any]:
        """Return it for a document."""
        return {
            "op": self.total.op, "p": self.total.ranks, "bytes": self.total.bytes,
            "grid": self.total.grid, "total": self.total.seconds,
            **{phase.phase: phase.seconds for phase in self.phases},
            "ratio": self.ratio, "low": self.low, "high": self.high,
        }  # fmt: skip


def gains(found: Sequence[GridPoint]) -> list[Gain]:
    """Compare each grid with the library at the same operation, ranks and size."""
    library = {_key(p): p for p in found if p.grid == LIBRARY and p.phase == TOTAL}
    return [
        Gain(own, point, own.seconds / point.seconds, *ratio_interval(own.estimate, point.estimate))
        for point in found
        if point.grid != LIBRARY and point.phase == TOTAL and point.seconds > 0
        and (own := library.get(_key(point))) is not None
    ]  # fmt: skip


def best(found: Sequence[GridPoint]) -> list[Gain]:
    """Return of each operation and size the grid that took the shortest time."""
    shortest: dict[Key, Gain] = {}
    for gain in gains(found):
        key = _key(gain.on_grid)
        if key not in shortest or gain.ratio > shortest[key].ratio:
            shortest[key] = gain
    return list(shortest.values())


def parts(found: Sequence[GridPoint]) -> list[Parts]:
    """Compare the phases of each grid, all groups at work, with the whole operation."""
    working: dict[tuple[Key, str, str], GridPoint] = {}
    for point in found:
        place = (_key(point), point.grid, point.phase)
        if place not in working or point.groups > working[place].groups:
            working[place] = point
    listed = []
    for (key, grid, phase), total in working.items():
        leaders, rows = (working.get((key, grid, name)) for name in PHASES)
        if phase == TOTAL and leaders and rows and total.seconds > 0:
            listed.append(_parts(total, (leaders, rows)))
    return listed


def _parts(total: GridPoint, phases: tuple[GridPoint, GridPoint]) -> Parts:
    """Add the phases; the distances of their ends are those of independent errors."""
    seconds = sum(phase.seconds for phase in phases)
    down = math.hypot(*(phase.seconds - phase.low for phase in phases))
    up = math.hypot(*(phase.high - phase.seconds for phase in phases))
    ends = ratio_interval((seconds, seconds - down, seconds + up), total.estimate)
    return Parts(total, phases, seconds / total.seconds, *ends)


def _ends(one: Gain | Parts, unknown: float | None) -> Any:
    """Return the ends of an interval; unknown ones are replaced."""
    return (unknown if math.isnan(end) else end for end in (one.low, one.high))


def _key(point: GridPoint) -> Key:
    return point.op, point.ranks, point.bytes
