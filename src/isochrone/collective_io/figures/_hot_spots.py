"""What the views of a hot spot share: its points, the model, and what that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.collective_io.results import hotspot as hotspots
from isochrone.collective_io.results.hotspot import GridPoint
from isochrone.models import Model, Regime
from isochrone.models.figures._fitted import name_of, origin_notes, resolve
from isochrone.models.sizes import BYTES, NODE, filled
from isochrone.runfile.origin import together, with_noun
from isochrone.runfile.run import Run

__all__ = [
    "asked",
    "by_kind",
    "heading",
    "model_for",
    "notes_of",
    "points_of",
    "regimes_of",
    "title",
    "value_of",
]

Array = NDArray[np.float64]

KNOWN: Final = ("pe", "busy", *NODE, *BYTES)
"""Variables of models of a node."""

MAX_CHARACTERS: Final = 96


def points_of(runs: Sequence[Run]) -> list[GridPoint]:
    """Return the points of hot spots.

    Raises
    ------
    InputError
        If there is none.
    """
    if not runs:
        raise InputError("no run to draw", hint="name at least one")
    points = hotspots.points(runs)
    if not points:
        raise InputError(
            "no point of the hot spot was measured", where=str(runs[0].path or ""),
            hint="it was cut short before the first point, or has too few nodes or ranks",
        )  # fmt: skip
    return points


def model_for(
    runs: Sequence[Run], model: str | Path | Model, ops: Sequence[str]
) -> tuple[Model | None, str]:
    """Return the model, or why there is none.

    Raises
    ------
    InputError
        If a model that was named cannot be had, or is none of a node.
    """
    try:
        found, _, _ = resolve(runs, model, ops)
    except InputError as error:
        if model != "auto":
            raise
        reason = error.what.removeprefix("no family of models can be fitted: ")
        return None, printable(f"no formula: {reason}", MAX_CHARACTERS)
    foreign = [name for name in found.variables if name not in KNOWN]
    if foreign or set(found.variables) <= {"b", "busy"}:
        named = ", ".join(foreign or found.variables)
        raise InputError(f"the model is a function of {named}, not of the messages of a node")
    return found, ""


def by_kind(points: Sequence[GridPoint]) -> list[tuple[dict[str, Any], list[GridPoint]]]:
    """Part points by order, hot processes and size, and say what these are."""
    groups: dict[tuple[Any, ...], list[GridPoint]] = {}
    for point in points:
        groups.setdefault((point.order, point.hot, point.bytes), []).append(point)
    names = ("order", "hot", "bytes")
    return [(dict(zip(names, kind, strict=True)), own) for kind, own in groups.items()]


def heading(where: Mapping[str, Any]) -> list[str]:
    """Say of which kind points are."""
    hot = [f"{where['hot']} hot processes"] * (where["hot"] != 1)
    return [printable(where["order"], 20), format_bytes(where["bytes"]), *hot]


def value_of(point: GridPoint, what: str) -> float:
    """Return what is along an axis: messages of a direction, or pairs of them."""
    values = {"in": point.into, "out": point.out, "pa": point.pa, "pe": point.pe,
              "max": max(point.into, point.out), "min": min(point.into, point.out)}  # fmt: skip
    return float(values[what])


def title(model: Model | None, origin: str) -> str:
    """Say what is drawn."""
    points = with_noun(origin, "points").capitalize()
    return f"{points} of the hot spot" + (f" and {name_of(model)}" if model else "")


def notes_of(
    model: Model | None, why: str, runs: Sequence[Run], left_out: int,
    points: str = "points: medians and their 95 % intervals", lines: str = "lines",
) -> list[str]:  # fmt: skip
    """Say what points and lines are, and what is not drawn."""
    words = [points]
    if model is not None:
        origin = together(run.origin for run in runs)
        words += [f"{lines}: the formula", *origin_notes(model, origin)]
    if any(not run.complete for run in runs):
        words.append("partial run")
    if left_out:
        words.append(f"{left_out} more are not drawn")
    return [*words, why] if why else words


def asked(messages: Mapping[str, Array], size: int, busy: float = 0.0) -> dict[str, Array]:
    """Return messages of this size with their bytes; ``busy`` as in models, 0: no other node is."""
    nobody = np.zeros_like(messages["pa"])
    return filled({**messages, "b": nobody + size, "busy": nobody + busy})


def regimes_of(model: Model, where: Mapping[str, Any]) -> list[Regime]:
    """Return the formulas of a model for one kind of points; none if it is for others."""
    known = {key: value for key, value in where.items() if key in model.selectors}
    try:
        return model.chosen(known)
    except InputError:
        return []
