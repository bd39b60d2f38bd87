"""Formulas that fit as well as the one that was taken, and what they say beyond the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from isochrone.base.units import format_seconds
from isochrone.models import Model, Regime
from isochrone.models.formulas import formula, headings, values
from isochrone.models.terms import variables_of
from isochrone.pages.page import Block, Column, Row, Sentence, Table

__all__ = ["rivals"]

_FACTORS: Final = (2, 4)
"""How far beyond the data they are asked, of the largest value."""


def rivals(model: Model) -> Iterator[Block]:
    """Yield a table for each regime: weight, family, times beyond the data, and formula."""
    for regime, words in zip(model.regimes, headings(model.regimes), strict=True):
        if not regime.rivals:
            yield Sentence("no other formula fits as well", about=words)
            continue
        places = _beyond(model, regime)
        columns = [Column("family"), Column("weight", right=True)]
        columns += [Column(", ".join(values(point)), right=True) for point in places]
        rows = [
            Row((one.family, f"{100 * weight:.0f} %",
                 *(_time(one, point, model.weights) for point in places), formula(one)))
            for one, weight in regime.every()
        ]  # fmt: skip
        yield Table(
            f"Formulas that fit as well{', ' if words else ''}{words}",
            (*columns, Column("formula")), tuple(rows), "the first was taken",
        )  # fmt: skip


def _beyond(model: Model, regime: Regime) -> list[dict[str, float]]:
    """Return points at twice and four times the most ranks, or bytes, as far as they are its own.

    The other variables have their largest measured value, or their smallest where that would be
    of another regime.
    """
    names = _variables(regime)
    others = [one for one in model.regimes if one.where == regime.where]
    for name in ("p", "nodes", "w", "b", "n"):
        low, high = regime.fitted.get(name, (0.0, 0.0))
        if name not in names or low == high:
            continue
        for end in (1, 0):
            rest = {key: regime.fitted[key][end] for key in names if key in regime.fitted}
            points = [{**rest, name: factor * high} for factor in _FACTORS]
            points = [_with_ranks(point) for point in points if set(names) <= point.keys()]
            points = [point for point in points if _owns(regime, others, point)]
            if points:
                return points
    return []


def _variables(regime: Regime) -> list[str]:
    """List the variables that the formula, its rivals and its range hold."""
    rivals = [term for one in regime.rivals for term in one.terms]
    return variables_of([*regime.terms, *rivals, *regime.range])


def _with_ranks(point: dict[str, float]) -> dict[str, float]:
    """Make the number of ranks agree with nodes and ranks on each, where both are asked for."""
    if {"p", "nodes", "ppn"} <= point.keys():
        return {**point, "p": point["nodes"] * point["ppn"]}
    return point


def _owns(regime: Regime, others: list[Regime], point: Mapping[str, float]) -> bool:
    """Whether a point is of this regime."""
    at = _arrays(point)
    needed = {name for one in others for name in variables_of(list(one.range))}
    if not needed <= point.keys():
        return False
    nearest = min(others, key=lambda one: float(one.distance(at)[0]))
    return nearest is regime


def _time(regime: Regime, point: Mapping[str, float], weights: str) -> str:
    """Write what a formula gives; a time of zero or less is none."""
    seconds = float(regime.evaluate(_arrays(point), weights)[0][0])
    return format_seconds(seconds) if seconds > 0 else "none"


def _arrays(point: Mapping[str, float]) -> dict[str, Any]:
    return {name: np.array([value]) for name, value in point.items()}
