"""All there is to know of a fitted model as a text, for a notebook or a terminal in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.text import printable
from isochrone.models.formulas import formula, headings
from isochrone.models.regime import Regime
from isochrone.models.terms import unit

if TYPE_CHECKING:
    from isochrone.models.model import Model

Array = NDArray[np.float64]

UNKNOWN: Final = "-"


def summary(model: Model, title: str) -> str:
    """Write the formulas with what their coefficients are worth, and the candidates."""
    lines = [title]
    held_out = model.quality.get("held_out", {})
    errors = [
        f"{percent(found['average'])} {'point by point' if name == 'point' else f'by {name}'}"
        for name, found in held_out.items()
    ]
    if errors:
        lines.append(f"error where it was not fitted: {', '.join(errors)}")
    for regime, words in zip(model.regimes, headings(model.regimes), strict=True):
        lines += ["", *_regime(regime, words, model.weights)]
    for entry in model.ranking:
        lines += ["", *_candidates(entry)]
    lines += [f"Warning: {printable(text, 400)}" for text in model.warnings]
    return "\n".join(lines)


def correlations(regime: Regime) -> Array | None:
    """Return how the errors of the coefficients go together, shape (terms, terms).

    None if that is not known; NaN for a coefficient that has no error.
    """
    if regime.covariance is None:
        return None
    covariance = np.array(regime.covariance)
    error = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(covariance / np.outer(error, error))


def _regime(regime: Regime, words: str, weights: str) -> Iterator[str]:
    """Yield the formula of a regime, its coefficients, and how their errors go together."""
    yield f"{words}: t = {formula(regime)}" if words else f"t = {formula(regime)}"
    worth = []
    if regime.points is not None:
        worth.append(f"{regime.points} points")
    if regime.r2 is not None:
        worth.append(f"R² {regime.r2:.6f}")
    if regime.sigma is not None:
        around = percent(regime.sigma) if weights == "relative" else f"{regime.sigma:.3g} s"
        worth.append(f"standard deviation around it {around}")
        worth.append(f"{regime.degrees_of_freedom} degrees of freedom")
    if worth:
        yield "  " + ", ".join(worth)
    names = [printable(name, 20) for name in regime.symbols or regime.terms]
    titles = ["coefficient", "of", "value", "standard error", "95 % interval", "unit"]
    rows = []
    for k, (name, term) in enumerate(zip(names, regime.terms, strict=True)):
        error, interval = UNKNOWN, UNKNOWN
        if regime.covariance is not None:
            error = f"{np.sqrt(regime.covariance[k][k]):.2g}"
        if regime.low is not None and regime.high is not None:
            interval = f"{regime.low[k]:.5g} to {regime.high[k]:.5g}"
        rows.append([name, term, f"{regime.coefficients[k]:.5g}", error, interval, unit(term)])
    yield from _table(titles, rows)
    together = correlations(regime)
    if together is not None and len(names) > 1:
        yield from _table(
            ["correlation", *names[:-1]],
            [
                [
                    name,
                    *[UNKNOWN if np.isnan(value) else f"{value:.2f}" for value in together[k, :k]],
                ]
                for k, name in enumerate(names)
                if k
            ],
        )


def _candidates(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the families that were tried, the one that was taken first."""
    words = ", ".join(printable(f"{key} {value}") for key, value in entry["where"].items())
    yield f"candidates{f' for {words}' if words else ''}, the first was taken"
    tried = [row for row in entry["families"] if row.get("held_out") is not None]
    judged = any(row.get("sicc") is not None for row in tried)
    titles = ["family", "held-out error", *["SICc"] * judged, "coefficients", "regimes"]
    yield from _table(titles, [
        [printable(row["family"], 40), percent(row["held_out"]),
         *[UNKNOWN if row.get("sicc") is None else f"{row['sicc']:.1f}"] * judged,
         str(row.get("coefficients", UNKNOWN)), str(row.get("pieces", UNKNOWN))]
        for row in tried
    ])  # fmt: skip
    for row in entry["families"]:
        if row.get("held_out") is None:
            yield f"  not {printable(row['family'], 40)}: {printable(row.get('reason', ''), 200)}"


def _table(titles: Sequence[str], rows: Sequence[list[str]]) -> Iterator[str]:
    """Yield lines of columns that are aligned; a row may be shorter than the others."""
    every = [titles, *rows]
    widths = [
        max(len(row[k]) for row in every if k < len(row)) for k in range(len(titles))
    ]  # fmt: skip
    for row in every:
        yield "  " + "  ".join(
            text.ljust(width) for text, width in zip(row, widths, strict=False)
        ).rstrip()  # fmt: skip


def percent(value: float) -> str:
    """Write a part of one as a percentage with three digits."""
    return f"{100 * value:.3g} %"
