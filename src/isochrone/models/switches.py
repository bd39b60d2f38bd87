"""Where regimes change: between two measured values, and where in between that is taken to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.models.formulas import number
from isochrone.models.regime import Regime
from isochrone.models.terms import evaluate_term

__all__ = ["Switch", "between", "nowhere_near", "switches"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Switch:
    """A change of regime somewhere between two measured values.

    Attributes
    ----------
    name
        Variable, or product of variables.
    below, above
        Largest measured value of the regime below, and smallest of the one above.
    taken
        Largest value that is taken to belong to the regime below.
    """

    name: str
    below: float
    above: float
    taken: float

    def __str__(self) -> str:
        low, high = number(self.name, self.below), number(self.name, self.above)
        at = number(self.name, self.taken)
        return f"somewhere between {low} and {high}, taken at {at}"

    def holds(self, value: Array) -> NDArray[np.bool_]:
        """Return which values are in the gap, shape (n,)."""
        return np.asarray((value > self.below) & (value < self.above))


def switches(regimes: Sequence[Regime]) -> list[Switch]:
    """Return the switches that were found between regimes, each once, in rising order."""
    found = {switch: None for regime in regimes for switch in _ends(regime)}
    return sorted(found, key=lambda one: (one.name, one.below))


def between(regimes: Sequence[Regime], points: Mapping[str, Array]) -> list[str]:
    """Say which points may be in either of two regimes, one sentence for each switch."""
    found: dict[Switch, set[float]] = {}
    for regime in regimes:
        maybe = regime.may_hold(points) if regime.reach else np.zeros(0, dtype=bool)
        if not maybe.any():
            continue
        for switch in _ends(regime):
            value = evaluate_term(switch.name, points)
            inside = value[maybe & switch.holds(value)]
            if len(inside):
                found.setdefault(switch, set()).update(inside.tolist())
    return [
        f"{switch.name} = {_listed(switch.name, sorted(values))} "
        f"{'is' if len(values) == 1 else 'are'} between two regimes: the switch is {switch}"
        for switch, values in found.items()
    ]


def nowhere_near(regimes: Sequence[Regime], known: Mapping[str, Sequence[float]]) -> list[str]:
    """Say which known switches of a library are in no gap between regimes, one sentence each."""
    found = switches(regimes)
    return [
        f"the times do not change their formula at the known switch {name} = {number(name, value)}"
        for name, values in known.items()
        for value in values
        if not any(s.name == name and s.below <= value < s.above for s in found)
    ]


def _ends(regime: Regime) -> Iterator[Switch]:
    """Yield the gaps at the ends of a regime."""
    for name, reach in regime.reach.items():
        own, taken = regime.range.get(name, (None, None)), regime.switch.get(name, (None, None))
        for k in (0, 1):
            mine, other, at = own[k], reach[k], taken[k]
            if mine is not None and other is not None and at is not None:
                yield Switch(name, min(mine, other), max(mine, other), at)


def _listed(name: str, values: Sequence[float]) -> str:
    shown = ", ".join(number(name, value) for value in values[:3])
    return shown + (", …" if len(values) > 3 else "")
