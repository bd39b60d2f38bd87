"""What makes a prediction doubtful that goes beyond what was measured, and what that was worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.models.formulas import number
from isochrone.models.questions import recorded
from isochrone.models.regime import Regime
from isochrone.models.terms import evaluate_term, variables_of

if TYPE_CHECKING:
    from isochrone.models.model import Backtest

__all__ = ["UNTRIED", "missed", "outside", "trial", "untried"]

Array = NDArray[np.float64]

UNTRIED: Final = "too few numbers of ranks to try how well the formula goes on"

_TRIED: Final = "p"
"""The variable that backtests extrapolate."""


def outside(
    regimes: Sequence[Regime], owner: NDArray[np.int64], points: Mapping[str, Array],
    backtests: Sequence[Backtest],
) -> list[str]:  # fmt: skip
    """Say where points lie outside what was fitted, and what extrapolation was worth there.

    Parameters
    ----------
    regimes, owner
        Formulas, and the number of the one that each point belongs to, shape (n,).
    points
        Variables, each of shape (n,).
    backtests
        Of all that the model is for.
    """
    found: dict[str, None] = {}
    for k, regime in enumerate(regimes):
        mine = owner == k
        for name, (low, high) in regime.fitted.items():
            if not set(variables_of([name])) <= points.keys():
                continue  # no formula holds it
            value = evaluate_term(name, points)[mine]
            # Between two regimes is not outside: that is said with the switch.
            before, behind = regime.reach.get(name, (None, None))
            least, most = low if before is None else before, high if behind is None else behind
            away = np.unique(value[(value < least) | (value > most)])
            if away.size:
                shown = ", ".join(number(name, v) for v in away[:3])
                found[
                    f"{name} = {shown}{', …' if away.size > 3 else ''} is outside "
                    f"the fitted range {number(name, low)} to {number(name, high)}"
                ] = None
    return [*found, *_worth(regimes, points, backtests)]


def _worth(
    regimes: Sequence[Regime], points: Mapping[str, Array], backtests: Sequence[Backtest]
) -> list[str]:
    """Say once what it was worth to go on to more ranks; nothing if that is not asked for."""
    measured = recorded(regimes, _TRIED)
    if measured is None or not _beyond(points, measured[1]) or not _has_intervals(regimes):
        return []
    places = [regime.where for regime in regimes]
    known = missed([one for one in backtests if one.where in places])
    return known or [untried(measured[1])]


def _beyond(points: Mapping[str, Array], largest: float) -> bool:
    """Whether more ranks than were measured are asked for."""
    if _TRIED in points:
        return bool(np.any(points[_TRIED] > largest))
    if {"nodes", "ppn"} <= points.keys():
        return bool(np.any(points["nodes"] * points["ppn"] > largest))
    return False


def _has_intervals(regimes: Sequence[Regime]) -> bool:
    """Whether the formulas were fitted here: a published one has no data to try it on."""
    return all(regime.covariance is not None for regime in regimes)


def untried(largest: float) -> str:
    """Say that backtests need more numbers of ranks."""
    half = number(_TRIED, largest / 2)
    return f"{UNTRIED}: that takes three of them up to {_TRIED} = {half}"


def missed(backtests: Sequence[Backtest]) -> list[str]:
    """Say what extrapolation within the data was worth, a sentence for each operation.

    The trial with most data comes first; the other is told if errors grow with the distance.
    """
    groups: dict[str, list[Backtest]] = {}
    for one in backtests:
        groups.setdefault(repr(one.where), []).append(one)
    sentences = []
    for group in groups.values():
        last, *others = sorted(group, key=lambda one: -one.upto)
        told = [last, *(one for one in others if one.average > last.average)]
        sentences.append("tried within the data: " + "; ".join(trial(one) for one in told))
    return list(dict.fromkeys(sentences))


def trial(one: Backtest) -> str:
    """Write one trial: ``from p ≤ 16 it missed p = 32 by 18 %, at most 31 %``."""
    values = ", ".join(number(one.variable, value) for value in one.values)
    if len(one.values) > 3:
        ends = (number(one.variable, one.values[k]) for k in (0, -1))
        values = " to ".join(ends)
    average, most = _percent(one.average), _percent(one.maximum)
    text = f"from {one.variable} ≤ {number(one.variable, one.upto)} it missed "
    text += f"{one.variable} = {values} by {average}"
    return text if most == average else f"{text} on average and {most} at most"


def _percent(value: float) -> str:
    """Write a part of one as a percentage of two digits."""
    return f"{float(f'{100 * value:.2g}'):g} %"
