"""Shared parts of the hot-spot figures: points, model and queries."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isochrone import models  # before the variables, which it loads itself
from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.collective_io.results import hotspot as hotspots
from isochrone.collective_io.results.hotspot import GridPoint
from isochrone.collective_io.variables.hotspot import BYTES, NODE, filled
from isochrone.collective_io.workload import Floats
from isochrone.models.figures._fitted import head, name_of, origin_notes, resolve
from isochrone.runfile.origin import together, with_noun
from isochrone.runfile.run import Run
from isochrone.views.view import Figure, Options

KNOWN = ("pe", "busy", *NODE, *BYTES)
"""Variables of models of a node."""

MAX_CHARACTERS = 96


def points_of(runs: Sequence[Run]) -> list[GridPoint]:
    """Return the points of hot spots.

    Raises
    ------
    InputError
        If there is none.
    """
    if not runs:
        raise InputError("no run is given", hint="give at least one run file")
    points = hotspots.points(runs)
    if not points:
        raise InputError(
            "the run contains no point of a hot spot",
            where=str(runs[0].path or ""),
            hint="the run was interrupted, or has too few nodes or ranks",
        )
    return points


def model_for(runs: Sequence[Run], options: Options) -> tuple[models.Model | None, str]:
    """Return the model, or why there is none.

    Raises
    ------
    InputError
        If a model that was named cannot be had, or is none of a node.
    """
    try:
        model, _, _ = resolve(runs, options.model, options.ops)
    except InputError as error:
        if options.model != "auto":
            raise
        reason = error.what.removeprefix("no family of models fits: ")
        return None, printable(f"no formula: {reason}", MAX_CHARACTERS)
    foreign = [name for name in model.variables if name not in KNOWN]
    if foreign or set(model.variables) <= {"b", "busy"}:
        named = ", ".join(foreign or model.variables)
        raise InputError(f"the model depends on {named}, not on the messages of a node")
    return model, ""


def add_head(
    figure: Figure,
    model: models.Model | None,
    why: str,
    runs: Sequence[Run],
    left_out: int,
    points: Sequence[str],
    lines: str,
    *,
    positioned: bool = False,
) -> None:
    """Title and caption: meaning of ``points`` and ``lines``, and omissions."""
    origin, notes = together(run.origin for run in runs), list(points)
    title = f"{with_noun(origin, 'points').capitalize()} of the hot spot"
    if model is not None:
        title += f" and {name_of(model)}"
        notes += [f"{lines}: the formula", *origin_notes(model, origin)]
    if any(not run.complete for run in runs):
        notes.append("partial run")
    if left_out > 0:
        notes.append(f"{left_out} more are not drawn")
    head(figure, title, [*notes, why] if why else notes, places=positioned)


class Panel(NamedTuple):
    """Points of one kind, and the coordinates along two axes for `value`.

    Attributes
    ----------
    where
        Order, hot processes and size.
    pa
        Of all points, where the two sides are directions.
    """

    where: dict[str, Any]
    points: list[GridPoint]
    x: str
    y: str
    pa: float | None = None

    def values(self, side: str) -> list[float]:
        """Return what the points have of a side."""
        return [value(point, side) for point in self.points]

    def heading(self, within: str) -> str:
        """Name the points; ``within`` formats `pa`."""
        labels = [printable(self.where["order"], 20), format_bytes(self.where["bytes"])]
        labels += [f"{self.where['hot']} hot processes"] * (self.where["hot"] != 1)
        return " · ".join([*labels, *([] if self.pa is None else [within.format(self.pa)])])

    def variables(self, x: Floats, y: Floats, busy: float = 0.0) -> dict[str, Floats]:
        """Return the variables of a model; balanced where directions do not matter.

        ``busy`` as in models, 0: no other node is.
        """
        if self.pa is None:
            sides = {self.x: x, self.y: y}
            sides |= {"in": sides["pe"], "out": sides["pe"]}
        else:
            sides = {"pa": np.full_like(x, self.pa), "pe": (x + y) / 2, "in": x, "out": y}
        nobody = np.zeros_like(x)
        return filled({**sides, "b": nobody + self.where["bytes"], "busy": nobody + busy})

    def selected(self, model: models.Model) -> dict[str, Any]:
        """Return which part of a model these points are of."""
        return {key: value for key, value in self.where.items() if key in model.selectors}

    def segments(self, model: models.Model | None) -> list[models.Segment]:
        """Return the formulas of a model for these points; none if it is for others."""
        try:
            return model.chosen(self.selected(model)) if model else []
        except InputError:
            return []


def groups(points: Sequence[GridPoint]) -> list[tuple[dict[str, Any], list[GridPoint]]]:
    """Group points by order, hot processes and size, as `Panel.where`."""
    by_setting = grouped(((point.order, point.hot, point.bytes), point) for point in points)
    names = ("order", "hot", "bytes")
    return [(dict(zip(names, key, strict=True)), members) for key, members in by_setting.items()]


def value(point: GridPoint, side: str) -> float:
    """Return the messages of a point of one kind, or of its busier or other direction."""
    of = {"in": point.into, "out": point.out, "pa": point.pa, "pe": point.pe}
    of |= {"max": max(point.into, point.out), "min": min(point.into, point.out)}
    return float(of[side])
