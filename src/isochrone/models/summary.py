"""All there is to know of a fitted model as a text, for a notebook or a terminal in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.text import printable
from isochrone.base.units import format_error
from isochrone.models.formulas import formula
from isochrone.models.segment import Segment
from isochrone.models.terms import unit

if TYPE_CHECKING:
    from isochrone.models.model import Model


UNKNOWN = "-"


def summary(model: Model, title: str) -> str:
    """Write the formulas with what their coefficients are worth, and the candidates."""
    lines = [title]
    held_out = model.quality.get("held_out", {})
    errors = [
        f"{format_error(deviation['median'])} with one {name} left out"
        for name, deviation in held_out.items()
        if "median" in deviation  # not in files of version 0.1
    ]
    if errors:
        lines.append(f"median cross-validation error: {', '.join(errors)}")
    for segment, heading in model.headed:
        lines += ["", *_segment(segment, heading, model.weights)]
    for entry in model.ranking:
        lines += ["", *_candidates(entry)]
    lines += [f"Warning: {printable(text, 400)}" for text in model.warnings]
    return "\n".join(lines)


def correlations(segment: Segment) -> Floats | None:
    """Return how the errors of the coefficients go together, shape (terms, terms).

    None if that is not known; NaN for a coefficient that has no error.
    """
    if segment.covariance is None:
        return None
    covariance = np.array(segment.covariance)
    error = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(covariance / np.outer(error, error))


def _segment(segment: Segment, heading: str, weights: str) -> Iterator[str]:
    """Yield the formula of a segment, its coefficients, and how their errors go together."""
    yield f"{heading}: t = {formula(segment)}" if heading else f"t = {formula(segment)}"
    worth = []
    if segment.points is not None:
        worth.append(f"{segment.points} points")
    if segment.r2 is not None:
        worth.append(f"R² {segment.r2:.6f}")
    if segment.sigma is not None:
        around = format_error(segment.sigma) if weights == "relative" else f"{segment.sigma:.3g} s"
        worth.append(f"standard deviation of the residuals {around}")
        worth.append(f"{segment.degrees_of_freedom} degrees of freedom")
    if worth:
        yield "  " + ", ".join(worth)
    names = [printable(name, 20) for name in segment.symbols or segment.terms]
    titles = ["coefficient", "of", "value", "standard error", "95 % interval", "unit"]
    rows = []
    for k, (name, term) in enumerate(zip(names, segment.terms, strict=True)):
        error, interval = UNKNOWN, UNKNOWN
        if segment.covariance is not None:
            error = f"{np.sqrt(segment.covariance[k][k]):.2g}"
        if segment.low is not None and segment.high is not None:
            interval = f"{segment.low[k]:.5g} to {segment.high[k]:.5g}"
        rows.append([name, term, f"{segment.coefficients[k]:.5g}", error, interval, unit(term)])
    yield from _table(titles, rows)
    together = correlations(segment)
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
    selectors = ", ".join(printable(f"{key} {value}") for key, value in entry["where"].items())
    yield f"candidates{f' for {selectors}' if selectors else ''}, the first was selected"
    tried = [row for row in entry["families"] if row.get("held_out") is not None]
    judged = any(row.get("sicc") is not None for row in tried)
    titles = ["family", "cross-validation error", *["SICc"] * judged, "coefficients", "segments"]
    yield from _table(
        titles,
        [
            [
                printable(row["family"], 40),
                format_error(row["held_out"]),
                *[UNKNOWN if row.get("sicc") is None else f"{row['sicc']:.1f}"] * judged,
                str(row.get("coefficients", UNKNOWN)),
                str(row.get("pieces", UNKNOWN)),
            ]
            for row in tried
        ],
    )
    for row in entry["families"]:
        if row.get("held_out") is None:
            yield f"  not {printable(row['family'], 40)}: {printable(row.get('reason', ''), 200)}"


def _table(titles: Sequence[str], rows: Sequence[list[str]]) -> Iterator[str]:
    """Yield lines of columns that are aligned; a row may be shorter than the others."""
    every = [titles, *rows]
    widths = [max(len(row[k]) for row in every if k < len(row)) for k in range(len(titles))]
    for row in every:
        yield (
            "  "
            + "  ".join(
                text.ljust(width) for text, width in zip(row, widths, strict=False)
            ).rstrip()
        )
