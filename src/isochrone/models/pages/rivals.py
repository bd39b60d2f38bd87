"""Formulas that fit as well as the one that was taken, and what they say beyond the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from isochrone.base.units import format_seconds
from isochrone.models import Model, Regime
from isochrone.models.formulas import formula, headings, values
from isochrone.models.regime import owners
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
        rows = []
        for one, weight in regime.every():
            times = [one.evaluate(_arrays(point), model.weights)[0].item() for point in places]
            texts = (format_seconds(time) if time > 0 else "none" for time in times)
            rows.append(Row((one.family, f"{100 * weight:.0f} %", *texts, formula(one))))
        yield Table(
            f"Formulas that fit as well{', ' if words else ''}{words}",
            (*columns, Column("formula")), tuple(rows), "the first was taken",
        )  # fmt: skip


def _beyond(model: Model, regime: Regime) -> list[dict[str, float]]:
    """Return points at twice and four times the most ranks, or bytes, as far as they are its own.

    The other variables have their largest measured value, or their smallest where that would be
    of another regime.
    """
    held = [term for one in regime.rivals for term in one.terms]
    names = variables_of([*regime.terms, *held, *regime.range])
    others = [one for one in model.regimes if one.where == regime.where]
    needed = {*names, *variables_of([key for one in others for key in one.range])}
    for name in ("p", "nodes", "w", "b", "n"):
        low, high = regime.fitted.get(name, (0.0, 0.0))
        if name not in names or low == high:
            continue
        for end in (1, 0):
            rest = {key: regime.fitted[key][end] for key in names if key in regime.fitted}
            points = [{**rest, name: factor * high} for factor in _FACTORS]
            points = [point for point in points if needed <= point.keys()]
            if {"p", "nodes", "ppn"} <= {*rest, name}:
                points = [{**point, "p": point["nodes"] * point["ppn"]} for point in points]
            points = [
                point for point in points if others[owners(others, _arrays(point))[0]] is regime
            ]
            if points:
                return points
    return []


def _arrays(point: Mapping[str, float]) -> dict[str, Any]:
    return {name: np.array([value]) for name, value in point.items()}
