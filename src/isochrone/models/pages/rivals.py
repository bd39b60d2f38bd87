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
    for segment, words in model.headed:
        place = _beyond(model, segment)[-1:]
        for one, weight in segment.every()[1:]:
            at, times = "–", ["–", "–"]
            for point in place:
                at, by = ", ".join(values(point)), (one, segment)
                each = (f.evaluate(_arrays(point), model.weights)[0].item() for f in by)
                times = [format_seconds(time) if time > 0 else "none" for time in each]
            texts = (words, one.family, f"{100 * weight:.0f} %", at, *times, " + ".join(one.terms))
            listed.append((weight, Row(tuple(printable(text, _WIDEST) for text in texts))))
    if not listed:
        return Sentence("no other formula fits equally well")
    listed.sort(key=lambda pair: -pair[0])
    more = len(listed) - MAX_RIVALS
    return Table(
        "Formulas that fit equally well",
        columns_of("holds for", "family", ">weight", "at", ">predicts", ">selected", "terms"),
        tuple(row for _, row in listed[:MAX_RIVALS]),
        f"{more} more with less weight: all, as formulas, with -v" if more > 0 else "",
    )


def every_rival(model: Model) -> Iterator[Block]:
    """Yield a table for each segment: weight, family, times beyond the data, and formula."""
    for segment, words in model.headed:
        if not segment.rivals:
            yield Sentence("no other formula fits equally well", about=words)
            continue
        places = _beyond(model, segment)
        beyond = (">" + ", ".join(values(point)) for point in places)
        columns = columns_of("family", ">weight", *beyond, "formula")
        rows = []
        for one, weight in segment.every():
            times = [one.evaluate(_arrays(point), model.weights)[0].item() for point in places]
            texts = (format_seconds(time) if time > 0 else "none" for time in times)
            rows.append(Row((one.family, f"{100 * weight:.0f} %", *texts, formula(one))))
        yield Table(
            f"Formulas that fit equally well{', ' if words else ''}{words}",
            columns, tuple(rows), "the first was selected",
        )  # fmt: skip


def _beyond(model: Model, segment: Segment) -> list[dict[str, float]]:
    """Return points at twice and four times the most ranks, or bytes, as far as they are its own.

    The other variables have their largest measured value, or their smallest where that would be
    of another segment.
    """
    held = [term for one in segment.rivals for term in one.terms]
    names = variables_of([*segment.terms, *held, *segment.range])
    others = [one for one in model.segments if one.where == segment.where]
    needed = {*names, *variables_of([key for one in others for key in one.range])}
    for name in ("p", "nodes", "w", "b", "n"):
        low, high = segment.fitted.get(name, (0.0, 0.0))
        if name not in names or low == high:
            continue
        for end in (1, 0):
            rest = {key: segment.fitted[key][end] for key in names if key in segment.fitted}
            points = [{**rest, name: factor * high} for factor in _FACTORS]
            points = [point for point in points if needed <= point.keys()]
            if {"p", "nodes", "ppn"} <= {*rest, name}:
                points = [{**point, "p": point["nodes"] * point["ppn"]} for point in points]
            points = [
                point for point in points if others[owners(others, _arrays(point))[0]] is segment
            ]
            if points:
                return points
    return []


def _arrays(point: Mapping[str, float]) -> dict[str, Any]:
    return {name: np.array([value]) for name, value in point.items()}
