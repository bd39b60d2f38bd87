"""What a report says of the formula that fits a sweep between two ranks."""

from __future__ import annotations

from typing import Any, Final

from isochrone import models, views
from isochrone.base.errors import InputError
from isochrone.models.words import formula, headings
from isochrone.pages.html.pictures import Picture, inline
from isochrone.results.sweep.curves import curves
from isochrone.runfile.run import Run

__all__ = ["model_of"]

FAMILY: Final = "hockney"
LEAST_SIZES: Final = 5


def model_of(run: Run, name: str) -> dict[str, Any] | None:
    """Fit start-up time and time a byte to a sweep of one pair; None if that says nothing."""
    if run.experiment != "point-to-point":
        return None
    found = curves(run)
    if len(found) != 1 or len(found[0].points) < LEAST_SIZES:
        return None
    try:
        model = models.fit(models.of_run(run), FAMILY)
    except InputError:  # for example times of 0 in a coarse clock
        return None
    deviation = model.quality["deviation"]
    figure = views.draw("fit", [run], views.Options(model=model))
    svg = inline(views.to_svg(figure), f"{name}-fit", "Measured times and the formula, view fit.")
    return {
        "family": FAMILY,
        "pieces": [
            {"where": words, "formula": f"t = {formula(piece)}"}
            for piece, words in zip(model.pieces, headings(model.pieces), strict=True)
        ],
        "r2": f"{model.quality['r2']:.4f}",
        "average": f"{100 * deviation['average']:.1f} %",
        "largest": f"{100 * deviation['maximum']:.1f} %",
        "picture": Picture(
            "fit", "Measured times and the formula",
            "Points are medians, lines the formula, the band its 95 % interval.", svg,
        ),
    }  # fmt: skip
