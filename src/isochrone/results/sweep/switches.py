"""Where a curve changes into another line: the sizes at which an MPI library changes its protocol.

The curve is cut into straight segments, time = a + b bytes, by `isochrone.base.segmentation`, which
also chooses their number. A cut counts as a switch only if the two lines differ by more than the
noise explains **and** by more than a person would care about: no real curve is quite straight.

Two switches may be so close that only two sizes lie between them, through which any line goes. Such
a short piece is looked for among sizes that are close together: both are off the lines before and
after, to the same side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.segmentation import segment, sigma_of_interval
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.results.sweep.curves import Curve

__all__ = ["Switch", "describe", "switches"]

_MIN_SIGMA: Final = 0.002  # of the median: no sweep is straighter, whatever its intervals say
_MAX_SEGMENTS: Final = 6
_SURE: Final = 4.0  # standard errors by which the lines must differ
_SHORT: Final = 2  # sizes of a short piece; three are a segment
_DENSE: Final = 2.0  # ratio of the sizes around a short piece, at most
_WORTH: Final = 0.02  # of the time, as the tolerance of automatic sizes: less is no switch
_WORTH_SLOPE: Final = 0.01  # of the time: what a slope that changes by 2 % makes at twice the size

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Switch:
    """A change between two neighbouring sizes of a sweep; where exactly was not measured.

    Attributes
    ----------
    after, before
        Largest size of the old line and smallest one of the new line, in bytes.
    jump
        Seconds the new line lies above the old one at ``before``; negative if it is faster.
    ratio
        New line over old one at ``before``.
    bandwidth_before, bandwidth_after
        Bytes per second that more bytes cost on either line (1/slope, as often as data moves); None
        if the line is flat within its error.
    """

    after: int
    before: int
    jump: float
    ratio: float
    bandwidth_before: float | None
    bandwidth_after: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the switch for JSON."""
        return dict(vars(self))


class _Line(NamedTuple):
    """A weighted least-squares line and the covariance of its two coefficients.

    ``scatter`` is by how much more than their sigma the values scatter about it; at least 1.
    """

    start: float
    slope: float
    covariance: Array
    scatter: float

    def at(self, x: float) -> float:
        return self.start + self.slope * x

    def error(self, x: float) -> float:
        point = np.array([1.0, x])
        return math.sqrt(max(0.0, float(point @ self.covariance @ point)))


def switches(curve: Curve) -> list[Switch]:
    """Find the protocol switches of a curve, smallest size first; computing has no protocol."""
    x, y = curve.bytes.astype(np.float64), curve.column("median")
    if curve.computes or len(x) < 6 or not np.all(y > 0):  # two lines of three sizes each
        return []
    sigma = np.fmax(sigma_of_interval(curve.column("low"), curve.column("high")), _MIN_SIGMA * y)
    try:
        found = segment(x, y, sigma=sigma, max_segments=min(_MAX_SEGMENTS, len(x) // 3))
    except InputError:
        return []
    # `index` puts a value in a segment; lines are fitted again here for their errors
    member = found.index(x)
    cuts = _clear_cuts(curve, x, y, sigma, member)
    edges = [-1, *cuts, int(member.max())]
    piece = np.searchsorted(np.array(edges[1:]), member)
    short = _short_pieces(x, y, sigma, piece)
    judged = [_judge(curve, x, y, sigma, member, cuts, k)[1] for k in range(len(cuts))]
    within = [(x[k - 1], x[k + _SHORT]) for k in short]
    kept = [s for s in judged if not any(a <= s.after and s.before <= b for a, b in within)]
    kept += [s for k in short for s in _around(curve, x, y, sigma, piece, k)]
    return sorted(kept, key=lambda switch: switch.after)


def _clear_cuts(
    curve: Curve, x: Array, y: Array, sigma: Array, member: NDArray[np.int64]
) -> list[int]:
    """Return the cuts between segments that are switches; ``member`` is the segment of a size."""
    cuts = list(range(int(member.max())))
    while cuts:  # a cut that is none joins its segments, and their neighbours are judged anew
        judged = [_judge(curve, x, y, sigma, member, cuts, k) for k in range(len(cuts))]
        worst = min(range(len(cuts)), key=lambda k: judged[k][0])
        if judged[worst][0] >= 1:
            break
        del cuts[worst]
    return cuts


def _sides(
    x: Array, y: Array, sigma: Array, piece: NDArray[np.int64], k: int
) -> tuple[_Line, _Line] | None:
    """Fit the lines before and after the short piece that begins at index ``k``."""
    index = np.arange(len(x))
    before = (index < k) & (piece == piece[k - 1])
    after = (index >= k + _SHORT) & (piece == piece[k + _SHORT])
    if before.sum() < 3 or after.sum() < 3:
        return None
    return _fit(x[before], y[before], sigma[before]), _fit(x[after], y[after], sigma[after])


def _short_pieces(x: Array, y: Array, sigma: Array, piece: NDArray[np.int64]) -> list[int]:
    """Return the indices at which short pieces begin, the clearest chosen where they overlap."""
    clear: dict[int, float] = {}
    for k in range(3, len(x) - _SHORT - 2):
        if x[k + _SHORT] > _DENSE * x[k - 1]:
            continue
        lines = _sides(x, y, sigma, piece, k)
        if lines is not None:
            own = slice(k, k + _SHORT)
            clear[k] = min(_off(line, x[own], y[own], sigma[own]) for line in lines)
    found: list[int] = []
    for k in sorted(clear, key=lambda k: -clear[k]):
        if clear[k] >= 1 and all(abs(k - other) > _SHORT for other in found):
            found.append(k)
    return found


def _off(line: _Line, x: Array, y: Array, sigma: Array) -> float:
    """Return how clearly values are off a line to the same side; 1 is just enough."""
    off = np.array([value - line.at(at) for at, value in zip(x, y, strict=True)])
    if not (np.all(off > 0) or np.all(off < 0)):
        return 0.0
    error = [math.hypot(line.error(at), s * line.scatter) for at, s in zip(x, sigma, strict=True)]
    return float(np.min(np.abs(off) / np.maximum(_SURE * np.array(error), _WORTH * y)))


def _around(
    curve: Curve, x: Array, y: Array, sigma: Array, piece: NDArray[np.int64], k: int
) -> list[Switch]:
    """Return the two switches around the short piece that begins at index ``k``."""
    lines = _sides(x, y, sigma, piece, k)
    if lines is None:
        return []
    old, new = lines
    last, often = k + _SHORT - 1, _often(curve)
    here, there = old.at(x[k]), new.at(x[last])
    return [
        Switch(
            int(x[k - 1]), int(x[k]), float(y[k] - here),
            float(y[k] / here) if here > 0 else math.inf, _bandwidth(old, often), None,
        ),
        Switch(
            int(x[last]), int(x[last + 1]), float(there - y[last]), float(there / y[last]),
            None, _bandwidth(new, often),
        ),
    ]  # fmt: skip


def describe(switch: Switch) -> str:
    """Say in words what happens: ``between 64 KiB and 128 KiB: 3.9 µs slower (+32 %)``."""
    where = f"between {format_bytes(switch.after)} and {format_bytes(switch.before)}"
    parts = []
    if abs(switch.ratio - 1) >= _WORTH:
        words = "more" if switch.jump > 0 else "less"
        parts.append(
            f"{format_seconds(abs(switch.jump))} {words} ({100 * (switch.ratio - 1):+.0f} %)"
        )
    if switch.bandwidth_before and switch.bandwidth_after:
        change = switch.bandwidth_after / switch.bandwidth_before
        if abs(change - 1) >= _WORTH:
            parts.append(
                f"further bytes at {format_rate(switch.bandwidth_after)} "
                f"instead of {format_rate(switch.bandwidth_before)}"
            )
    elif switch.bandwidth_after:
        parts.append(f"further bytes at {format_rate(switch.bandwidth_after)}")
    return f"{where}: {', '.join(parts) or 'a different line'}"


def _judge(
    curve: Curve, x: Array, y: Array, sigma: Array, member: NDArray[np.int64],
    cuts: Sequence[int], k: int,
) -> tuple[float, Switch]:  # fmt: skip
    """Return how clear a cut is (1 is just enough) and the switch it would be."""
    edges = [-1, *cuts, int(member.max())]
    sides = [(member > a) & (member <= b) for a, b in pairwise(edges[k : k + 3])]
    old, new = (_fit(x[side], y[side], sigma[side]) for side in sides)
    after, before = x[sides[0]].max(), x[sides[1]].min()
    last = x[sides[1]].max()
    jump = new.at(before) - old.at(before)
    jump_clear = min(
        _over(abs(jump), _SURE * math.hypot(new.error(before), old.error(before))),
        _over(abs(jump), _WORTH * abs(new.at(before))),
    )
    turn = new.slope - old.slope
    turn_error = math.sqrt(new.covariance[1, 1] + old.covariance[1, 1])
    turn_clear = min(
        _over(abs(turn), _SURE * turn_error),
        _over(abs(turn) * (last - before), _WORTH_SLOPE * abs(new.at(last))),
    )
    often = _often(curve)
    return max(jump_clear, turn_clear), Switch(
        after=int(after), before=int(before), jump=float(jump),
        ratio=float(new.at(before) / old.at(before)) if old.at(before) > 0 else math.inf,
        bandwidth_before=_bandwidth(old, often), bandwidth_after=_bandwidth(new, often),
    )  # fmt: skip


def _fit(x: Array, y: Array, sigma: Array) -> _Line:
    """Fit a line by weighted least squares; errors from the residuals if these are larger.

    Press et al. 2007, *Numerical Recipes*, 15.2; the errors are scaled by the root of reduced
    chi-square where that exceeds 1.
    """
    rows = np.column_stack([np.ones_like(x), x]) / sigma[:, None]
    scale = np.linalg.norm(rows, axis=0)
    inverse = np.linalg.pinv((rows / scale).T @ (rows / scale)) / np.outer(scale, scale)
    start, slope = inverse @ (rows.T @ (y / sigma))
    freedom = len(x) - 2
    left = float(np.sum((y / sigma - rows @ np.array([start, slope])) ** 2))
    spread = max(1.0, left / freedom) if freedom > 0 else 1.0
    return _Line(float(start), float(slope), inverse * spread, math.sqrt(spread))


def _often(curve: Curve) -> float:
    """Return how often the bytes of a message move: twice if in both directions."""
    end = curve.points[-1]
    return (end.bandwidth or 0.0) * end.median / end.bytes if end.bytes else 0.0


def _bandwidth(line: _Line, often: float) -> float | None:
    error = math.sqrt(line.covariance[1, 1])
    return often / line.slope if often and line.slope > 3 * error else None


def _over(a: float, b: float) -> float:
    return a / b if b > 0 else math.inf
