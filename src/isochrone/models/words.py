"""The formulas of a model in words."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.models.piece import Piece
from isochrone.models.terms import unit

__all__ = ["formula", "headings", "number"]


def headings(pieces: Sequence[Piece]) -> list[str]:
    """Say what each piece is for: selectors and regime."""
    texts = []
    for k, piece in enumerate(pieces):
        before = [other for other in pieces[:k] if other.where == piece.where]
        words = [printable(f"{key} {value}") for key, value in piece.where.items()]
        texts.append(", ".join(words + _regimes(piece, before)))
    return texts


def _regimes(piece: Piece, before: Sequence[Piece]) -> list[str]:
    """Write the regime of a piece; a bound that an earlier piece holds is not its own."""
    words = []
    for name, (low, high) in piece.range.items():
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
    """Write a value of a variable, with a unit if it is a size."""
    if "b" in name.split("*") and float(value).is_integer():
        return format_bytes(int(value))
    return f"{value:g}"


def formula(piece: Piece) -> str:
    """Write the formula with its numbers and their units: ``1.2e-06 s + 3.1e-10 s/B · b``."""
    parts = []
    for value, term in zip(piece.coefficients, piece.terms, strict=True):
        sign = "-" if value < 0 else "+"
        what = "" if term == "1" else f" · {term}"
        parts.append(f"{sign} {abs(value):.6g} {unit(term)}{what}")
    return " ".join(parts).removeprefix("+ ")
