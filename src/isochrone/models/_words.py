"""A model in words, for a terminal and for a notebook."""

from __future__ import annotations

from html import escape

from isochrone.models._model import Model, Piece
from isochrone.models._terms import unit
from isochrone.text import printable
from isochrone.units import format_bytes

__all__ = ["formula", "html", "headings", "number", "plain", "title"]


def plain(model: Model) -> str:
    """Write a model as a few lines of text."""
    lines = [title(model)]
    for piece, words in zip(model.pieces, headings(model), strict=True):
        lines.append(f"  {words}: {formula(piece)}" if words else f"  {formula(piece)}")
    return "\n".join(lines)


def html(model: Model) -> str:
    """Write a model as a table for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(words)}</td><td>{escape(formula(piece))}</td></tr>"
        for piece, words in zip(model.pieces, headings(model), strict=True)
    )
    return f"<b>{escape(title(model))}</b><table>{rows}</table>"


def title(model: Model) -> str:
    """Name the family and how well it fits."""
    words = [f"{printable(model.family)} model"]
    r2 = model.quality.get("r2")
    if isinstance(r2, float):
        words.append(f"R² {r2:.4f}")
    deviation = model.quality.get("deviation")
    if isinstance(deviation, dict) and isinstance(deviation.get("average"), float):
        words.append(f"average deviation {100 * deviation['average']:.2f} %")
    if model.source:
        words.append(printable(model.source))
    return " · ".join(words)


def headings(model: Model) -> list[str]:
    """Say what each piece is for: selectors and regime."""
    texts = []
    for k, piece in enumerate(model.pieces):
        before = [other for other in model.pieces[:k] if other.where == piece.where]
        words = [printable(f"{key} {value}") for key, value in piece.where.items()]
        texts.append(", ".join(words + _regimes(piece, before)))
    return texts


def _regimes(piece: Piece, before: list[Piece]) -> list[str]:
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
