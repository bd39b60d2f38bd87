"""What makes a prediction doubtful: beyond what was measured, between segments, no time at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.text import printable
from isochrone.base.units import MAX_SECONDS, MIN_SECONDS
from isochrone.models.data.terms import (
    VARIABLES,
    Selector,
    evaluate_term,
    number,
    variables_of,
)
from isochrone.models.formulas.segment import Segment
from isochrone.models.prediction.questions import recorded
from isochrone.models.thresholds import TESTED

if TYPE_CHECKING:
    from isochrone.models.selection.backtest import Backtest


_ONLY = {
    "power2(p)": "powers of two",
    "power2(nodes)": "powers of two",
    "even(p)": "even numbers",
}


def outside(
    segments: Sequence[Segment],
    owner: Ints,
    points: Mapping[str, Floats],
    backtests: Sequence[Backtest],
) -> list[str]:
    """Say where points lie outside what was fitted, and what extrapolation was worth there.

    Parameters
    ----------
    segments, owner
        Formulas, and the number of the one that each point belongs to, shape (n,).
    points
        Variables, each of shape (n,).
    backtests
        Of all that the model is for.
    """
    remarks = []
    beyond: dict[str, list[Floats]] = {}
    for k, segment in enumerate(segments):
        unmeasured = segment.of_other_class(points) & (owner == k)
        if unmeasured.any():
            (name,) = variables_of(segment.only)
            remarks.append(
                f"{name} = {_listed(name, np.unique(points[name][unmeasured]))}: only "
                f"{_ONLY[segment.only[0]]} were measured"
            )
        for name, (low, high) in segment.fitted.items():
            if not set(variables_of([name])) <= points.keys():
                continue  # no formula holds it
            value = evaluate_term(name, points)[owner == k]
            # Between two segments is not outside: that is said with the switch.
            lower, behind = segment.reach.get(name, (None, None))
            lowest, highest = low if lower is None else lower, high if behind is None else behind
            away = np.unique(value[(value < lowest) | (value > highest)])
            if away.size:
                beyond.setdefault(name, []).append(away)
    plain = [name for name in beyond if name in VARIABLES] or list(beyond)
    for name in plain:  # of several segments, once
        away = np.unique(np.concatenate(beyond[name]))
        low, high = recorded(segments, name) or (0.0, 0.0)
        outer = away[(away < low) | (away > high)]
        if not outer.size:
            remarks.append(f"{name} = {_listed(name, away)} is outside its formula's range")
            continue
        times = outer[-1] / high if name == "p" else 1.0
        caveat = f" ({times:.0f}x: not tested beyond {TESTED}x)" if times > TESTED else ""
        remarks.append(
            f"{name} = {_listed(name, outer)} is outside the fitted range "
            f"{number(name, low)} to {number(name, high)}{caveat}"
        )
    measured = recorded(segments, "p")
    computed = {"p": points["nodes"] * points["ppn"]} if {"nodes", "ppn"} <= points.keys() else {}
    ranks = {**computed, **points}.get("p", np.zeros(1))
    # a published formula has no data to try it on
    tried = all(segment.covariance is not None for segment in segments)
    if measured is not None and tried and np.any(ranks > measured[1]):
        selections = [segment.where for segment in segments]
        remarks += missed([backtest for backtest in backtests if backtest.where in selections]) or [
            untried(measured[1])
        ]
    return list(dict.fromkeys(remarks))


def untried(largest: float) -> str:
    """Say that backtests need more numbers of ranks."""
    return (
        "extrapolation was not tested: that needs three numbers of ranks up to "
        f"{number('p', largest / 2)}, half of the largest"
    )


def missed(backtests: Sequence[Backtest]) -> list[str]:
    """Say what extrapolation within the data was worth, a sentence for each operation.

    The trial with most data comes first; the other is named if errors grow with the distance.
    """
    sentences = []
    for where in dict.fromkeys(repr(backtest.where) for backtest in backtests):
        group = [backtest for backtest in backtests if repr(backtest.where) == where]
        last, *others = sorted(group, key=lambda backtest: -backtest.upto)
        trials = [last, *(backtest for backtest in others if backtest.average > last.average)]
        of = f"{selected(last.where)}: extrapolation test: ".removeprefix(": ")
        sentences.append(of + "; ".join(trial(backtest) for backtest in trials))
    return sentences


def selected(where: Mapping[str, Selector]) -> str:
    """Write what formulas are for."""
    return ", ".join(printable(f"{key} {value}", 60) for key, value in where.items())


def trial(backtest: Backtest) -> str:
    """Write one trial: ``a fit to p ≤ 16 misses the times at p = 32 by 18 %``."""
    name = backtest.variable
    values = [number(name, value) for value in backtest.values]
    listed = ", ".join(values) if len(values) <= 3 else f"{values[0]} to {values[-1]}"
    average, maximum = (
        f"{float(f'{100 * share:.2g}'):g} %" for share in (backtest.average, backtest.maximum)
    )
    fit = f"a fit to {name} ≤ {number(name, backtest.upto)}"
    text = f"{fit} misses the times at {name} = {listed} by {average}"
    return text if maximum == average else f"{text} on average and {maximum} at most"


# --- between two segments -------------------------------------------------------------------------


@dataclass(frozen=True)
class Switch:
    """A change of segment somewhere between two measured values.

    Attributes
    ----------
    name
        Variable, or product of variables.
    below, above
        Largest measured value of the segment below, and smallest of the one above.
    taken
        Largest value that is taken to belong to the segment below.
    """

    name: str
    below: float
    above: float
    taken: float

    def __str__(self) -> str:
        low, high, at = (number(self.name, v) for v in (self.below, self.above, self.taken))
        return f"somewhere between {low} and {high} (assumed: {at})"

    def holds(self, value: Floats) -> Bools:
        """Return which values are in the gap, shape (n,)."""
        return (value > self.below) & (value < self.above)


def switches(segments: Sequence[Segment]) -> list[Switch]:
    """Return the switches that were found between segments, each once, in rising order."""
    unique = {switch: None for segment in segments for switch in _ends(segment)}
    return sorted(unique, key=lambda switch: (switch.name, switch.below))


def between(segments: Sequence[Segment], points: Mapping[str, Floats]) -> list[str]:
    """Say which points may be in either of two segments, one sentence for each switch."""
    gaps: dict[Switch, set[float]] = {}
    for segment in segments:
        maybe = segment.may_hold(points) if segment.reach else np.zeros(0, dtype=bool)
        if not maybe.any():
            continue
        for switch in _ends(segment):
            value = evaluate_term(switch.name, points)
            inside = value[maybe & switch.holds(value)]
            if len(inside):
                gaps.setdefault(switch, set()).update(inside.tolist())
    return [
        f"{switch.name} = {_listed(switch.name, sorted(values))} "
        f"{'is' if len(values) == 1 else 'are'} between two segments of the formula: the "
        f"breakpoint is {switch}"
        for switch, values in gaps.items()
    ]


def nowhere_near(
    segments: Sequence[Segment], breakpoints: Mapping[str, Sequence[float]]
) -> list[str]:
    """Say which known switches of a library are in no gap between segments, one sentence each."""
    gaps = switches(segments)
    return [
        f"one formula fits on both sides of the known breakpoint {name} = {number(name, value)}"
        for name, values in breakpoints.items()
        for value in values
        if not any(s.name == name and s.below <= value < s.above for s in gaps)
    ]


def _ends(segment: Segment) -> Iterator[Switch]:
    """Yield the gaps at the ends of a segment."""
    for name, reach in segment.reach.items():
        bounds, cuts = segment.range.get(name, (None, None)), segment.switch.get(name, (None, None))
        for k in (0, 1):
            mine, reached, at = bounds[k], reach[k], cuts[k]
            if mine is not None and reached is not None and at is not None:
                yield Switch(name, min(mine, reached), max(mine, reached), at)


def _listed(name: str, values: Sequence[float] | Floats) -> str:
    head = ", ".join(number(name, value) for value in values[:3])
    return head + (", …" if len(values) > 3 else "")


# --- no time --------------------------------------------------------------------------------------


def without_time(
    segments: Sequence[Segment], points: Mapping[str, Floats], seconds: Floats
) -> tuple[Bools, list[str]]:
    """Mark the points that no formula gives a time for, shape (n,), and say why.

    One rank has nobody to send to: a formula of many says nothing of it, unless one was measured.
    """
    nowhere = ~((seconds >= MIN_SECONDS) & (seconds <= MAX_SECONDS))
    reasons = []
    measured = recorded(segments, "p")
    single_rank = np.zeros(len(seconds), dtype=bool)
    if "p" in points and not (measured and measured[0] <= 1):
        single_rank = points["p"] < 2
    if single_rank.any():
        reasons.append(
            "p = 1 cannot be predicted: it was not measured, and a single rank sends no messages"
        )
    rows = np.flatnonzero(nowhere & ~single_rank)
    if len(rows):
        location = ", ".join(f"{name} = {number(name, v[rows[0]])}" for name, v in points.items())
        suffix = f", and at {len(rows) - 1} more" if len(rows) > 1 else ""
        reasons.append(f"the formula gives no valid time at {location}{suffix}")
    return nowhere | single_rank, reasons
