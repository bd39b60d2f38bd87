"""Formulas that fit as well as the one that was taken, and what they say beyond the data."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.models.formulas import formula, values
from isochrone.models.model import Model
from isochrone.models.segment import Segment, owners
from isochrone.models.terms import variables_of
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of

_FACTORS = (2, 4)
"""How far beyond the data they are asked, of the largest value."""


MAX_RIVALS = 7
"""Rows of the table of rivals, which has ten lines with its title, heads and what was left out."""

_WIDEST = 40
"""Characters of a cell that `isochrone.pages.terminal` does not wrap."""


def rivals(model: Model) -> Block:
    """Tabulate the most probable rivals of all segments, and their times beyond the data.

    That is at the farther of the points of `_beyond`; no cell is so wide that it would be wrapped.
    """
    listed = []
    for segment, heading in model.headed:
        points = _beyond(model, segment)[-1:]
        for rival, weight in segment.every()[1:]:
            at, times = "–", ["–", "–"]
            for point in points:
                at, by = ", ".join(values(point)), (rival, segment)
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
    omitted = len(listed) - MAX_RIVALS
    return Table(
        "Formulas that fit equally well",
        columns_of("holds for", "family", ">weight", "at", ">predicts", ">selected", "terms"),
        tuple(row for _, row in listed[:MAX_RIVALS]),
        f"{omitted} more with less weight: all, as formulas, with -v" if omitted > 0 else "",
    )


def every_rival(model: Model) -> Iterator[Block]:
    """Yield a table for each segment: weight, family, times beyond the data, and formula."""
    for segment, heading in model.headed:
        if not segment.rivals:
            yield Sentence("no other formula fits equally well", about=heading)
            continue
        points = _beyond(model, segment)
        beyond = (">" + ", ".join(values(point)) for point in points)
        columns = columns_of("family", ">weight", *beyond, "formula")
        rows = []
        for candidate, weight in segment.every():
            times = [
                candidate.evaluate(_arrays(point), model.weights)[0].item() for point in points
            ]
            texts = (format_seconds(time) if time > 0 else "none" for time in times)
            rows.append(
                Row((candidate.family, f"{100 * weight:.0f} %", *texts, formula(candidate)))
            )
        yield Table(
            f"Formulas that fit equally well{', ' if heading else ''}{heading}",
            columns,
            tuple(rows),
            "the first was selected",
        )


def _beyond(model: Model, segment: Segment) -> list[dict[str, float]]:
    """Return points at twice and four times the most ranks, or bytes, as far as they are its own.

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
            points = [{**fixed, name: factor * high} for factor in _FACTORS]
            points = [point for point in points if needed <= point.keys()]
            if {"p", "nodes", "ppn"} <= {*fixed, name}:
                points = [{**point, "p": point["nodes"] * point["ppn"]} for point in points]
            points = [
                point for point in points if others[owners(others, _arrays(point))[0]] is segment
            ]
            if points:
                return points
    return []


def _arrays(point: Mapping[str, float]) -> dict[str, Any]:
    return {name: np.array([value]) for name, value in point.items()}
