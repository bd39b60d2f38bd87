"""A fitted model, printed for a person."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from isochrone.base.text import printable
from isochrone.models import Model, Piece
from isochrone.models.terms import VARIABLES, unit
from isochrone.models.words import formula, headings, number

__all__ = ["percent", "print_fit"]

MOST_ROWS = 16
"""Values of a variable listed with their deviations; of more, the worst are."""


def print_fit(model: Model) -> None:
    """Print formulas, coefficients, how well they fit, and the ranking of families."""
    console = Console(highlight=False, soft_wrap=True)
    quality = model.quality
    console.print(
        f"{model.family} model of {quality['points']} points, {quality['samples']} measured times",
        style="bold", markup=False,
    )  # fmt: skip
    for piece, words in zip(model.pieces, headings(model.pieces), strict=True):
        if words:
            console.print(words, markup=False)
        console.print(f"  t = {formula(piece)}", style="cyan", markup=False)
        _print_coefficients(console, piece)
    _print_quality(console, quality)
    for entry in model.ranking:
        _print_ranking(console, entry)
    for warning in model.warnings:
        console.print(f"Warning: {printable(warning, 400)}", style="yellow", markup=False)


def percent(value: float) -> str:
    """Write a part of one as a percentage."""
    return f"{100 * value:.2f} %"


def _print_coefficients(console: Console, piece: Piece) -> None:
    lows, highs = piece.low or [], piece.high or []
    rows = zip(piece.symbols, piece.terms, piece.coefficients, lows, highs, strict=True)
    for symbol, term, value, low, high in rows:
        text = f"    {symbol:<12} {term:<20} {value:>12.5g} {unit(term):<5} [{low:.5g}, {high:.5g}]"
        console.print(text, markup=False)
    if piece.r2 is not None:
        console.print(f"    R² {piece.r2:.6f} at {piece.points} points", markup=False)


def _print_quality(console: Console, quality: dict[str, Any]) -> None:
    console.print("|predicted - measured| / measured          least   average   largest")
    _print_deviation(console, "at the fitted points", quality["deviation"])
    for name, found in quality["held_out"].items():
        what = "left out one by one" if name == "point" else f"all of one {name} left out"
        _print_deviation(console, what, found)
    for name, values in quality["groups"].items():
        rows = list(values.items())
        if len(rows) > MOST_ROWS:
            rows.sort(key=lambda row: -row[1]["average"])
            console.print(f"  the worst {MOST_ROWS} of {len(rows)} values of {name}", markup=False)
        for value, found in rows[:MOST_ROWS]:
            text = number(name, float(value)) if name in VARIABLES else printable(value, 30)
            _print_deviation(console, f"{name} = {text}", found)
    console.print(f"  R² {quality['r2']:.6f}")


def _print_deviation(console: Console, what: str, found: dict[str, float]) -> None:
    numbers = "".join(f"{percent(found[key]):>10}" for key in ("minimum", "average", "maximum"))
    console.print(f"  {what:<36}{numbers}", markup=False)


def _print_ranking(console: Console, entry: dict[str, Any]) -> None:
    words = ", ".join(f"{key} {value}" for key, value in entry["where"].items())
    title = f"Families by held-out error{', ' if words else ''}{printable(words)}"
    console.print(title, style="bold", markup=False)
    for k, row in enumerate(entry["families"]):
        if row["held_out"] is None:
            text = f"  {row['family']:<22} not fitted: {printable(row['reason'], 300)}"
        else:
            text = (
                f"  {row['family']:<22} {percent(row['held_out']):>9}  "
                f"{row['coefficients']} coefficients in {row['pieces']} "
                f"regime{'s' if row['pieces'] > 1 else ''}{'   <- taken' if k == 0 else ''}"
            )
        console.print(text, markup=False)
