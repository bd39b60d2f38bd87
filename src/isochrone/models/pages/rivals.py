"""Formulas that fit as well as the one that was taken, and what they say beyond the data."""

from collections.abc import Mapping

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.models.data.terms import point_text, variables_of
from isochrone.models.formulas.segment import Segment, owners
from isochrone.models.prediction.model import Model
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of

_FACTORS = (4, 2)
"""How far beyond the data they are asked, of the largest value, if that is of their segment."""

MAX_RIVALS = 7
"""Rows of the table of rivals, which has ten lines with its title, heads and what was left out."""

_WIDEST = 40
"""Characters of a cell that `isochrone.pages.terminal` does not wrap."""


def rivals(model: Model, rows: int | None = MAX_RIVALS) -> Block:
    """Tabulate the most probable rivals of all segments, and their times beyond the data.

    ``rows`` are the most that are listed; None for all. The times are at a point beyond the data;
    no cell is so wide that it would be wrapped.
    """
    listed = []
    for segment, heading in model.headed:
        point = _beyond(model, segment)
        for rival, weight in segment.every()[1:]:
            at, times = "–", ["–", "–"]
            if point:
                at, by = ", ".join(point_text(point)), (rival, segment)
                seconds = (f.evaluate(_arrays(point), model.weights)[0].item() for f in by)
                times = [format_seconds(time) if time > 0 else "none" for time in seconds]
            texts = (
                heading,
                rival.family,
                f"{100 * weight:.0f} %",
                at,
                *times,
                " + ".join(rival.terms),
            )
            listed.append((weight, Row(tuple(printable(text, _WIDEST) for text in texts))))
    if not listed:
        return Sentence("no other formula fits equally well")
    listed.sort(key=lambda pair: -pair[0])
    shown = listed[:rows]
    omitted = len(listed) - len(shown)
    return Table(
        "Formulas that fit equally well",
        columns_of("holds for", "family", ">weight", "at", ">predicts", ">selected", "terms"),
        tuple(row for _, row in shown),
        f"{omitted} more with less weight: all with -v" if omitted > 0 else "",
    )


def _beyond(model: Model, segment: Segment) -> dict[str, float]:
    """Return a point at four times the most ranks, or bytes; at twice, or none, if not its own.

    The other variables have their largest measured value, or their smallest where that would be
    of another segment.
    """
    rival_terms = [term for rival in segment.rivals for term in rival.terms]
    names = variables_of([*segment.terms, *rival_terms, *segment.range])
    others = [sibling for sibling in model.segments if sibling.where == segment.where]
    needed = {*names, *variables_of([key for sibling in others for key in sibling.range])}
    for name in ("p", "nodes", "w", "entries", "b", "n"):
        low, high = segment.fitted.get(name, (0.0, 0.0))
        if name not in names or low == high:
            continue
        for end in (1, 0):
            fixed = {key: segment.fitted[key][end] for key in names if key in segment.fitted}
            for factor in _FACTORS:
                point = {**fixed, name: factor * high}
                if {"p", "nodes", "ppn"} <= point.keys():
                    point["p"] = point["nodes"] * point["ppn"]
                if needed <= point.keys() and others[owners(others, _arrays(point))[0]] is segment:
                    return point
    return {}


def _arrays(point: Mapping[str, float]) -> dict[str, Floats]:
    return {name: np.array([value]) for name, value in point.items()}
