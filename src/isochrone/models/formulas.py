"""The regimes of a model as text: what each is for, and its formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.models.regime import Regime
from isochrone.models.terms import is_size, unit


def headings(regimes: Sequence[Regime]) -> list[str]:
    """Write what each regime is for: its selectors and its range."""
    texts = []
    for k, regime in enumerate(regimes):
        before = [other for other in regimes[:k] if other.where == regime.where]
        words = [printable(f"{key} {value}") for key, value in regime.where.items()]
        texts.append(", ".join(words + _bounds(regime, before)))
    return texts


def ranges(regimes: Sequence[Regime]) -> list[str]:
    """Write the range of each regime; empty where it has none."""
    return [", ".join(_bounds(regime, regimes[:k])) for k, regime in enumerate(regimes)]


def _bounds(regime: Regime, before: Sequence[Regime]) -> list[str]:
    """Write the bounds of a regime; one that an earlier regime includes is not its own."""
    words = []
    for name, (low, high) in regime.range.items():
        others = [other.range[name] for other in before if name in other.range]
        text = name
        if low is not None:
            sign = "<" if low in [end for _, end in others] else "≤"
            text = f"{number(name, low)} {sign} {text}"
        if high is not None:
            sign = "<" if high in [start for start, _ in others] else "≤"
            text = f"{text} {sign} {number(name, high)}"
        words.append(text)
    return words


def number(name: str, value: float) -> str:
    """Write a value of a variable or of a product of them, with a unit if it is a size."""
    if float(value).is_integer() and is_size(name):
        return format_bytes(int(value))
    return f"{value:g}"


def values(point: Mapping[str, float]) -> list[str]:
    """Write the variables of a model at one point, ranks first: ``p = 20``, ``b = 1 MiB``."""
    names = sorted(point, key=lambda name: name == "b")
    return [f"{name} = {number(name, point[name])}" for name in names]


def formula(regime: Regime) -> str:
    """Write the formula with its numbers and their units: ``1.2e-06 s + 3.1e-10 s/B · b``.

    A line that begins at larger sizes is written from where it begins, if it is below zero at 0.
    """
    terms, values = list(regime.terms), list(regime.coefficients)
    if (
        len(terms) == 2
        and terms[0] == "1"
        and values[0] < 0 < (low := regime.fitted.get(regime.terms[1], (0.0, 0.0))[0])
    ):
        terms[1], values[0] = f"({terms[1]} - {low:g})", values[0] + values[1] * low
    parts = []
    for value, term in zip(values, terms, strict=True):
        sign = "-" if value < 0 else "+"
        what = "" if term == "1" else f" · {term}"
        parts.append(f"{sign} {abs(value):.6g} {unit(term)}{what}")
    return " ".join(parts).removeprefix("+ ")
