"""What a report says of a hot spot: what a message costs a node, the plane, the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from isochrone import models, views
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.models import Model, Piece
from isochrone.models.words import headings
from isochrone.pages.html.pictures import Picture, inline
from isochrone.pages.html.words import describe_ranks
from isochrone.results import hotspot as hotspots
from isochrone.results.hotspot import GridPoint
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times

__all__ = ["hotspot", "interval"]

MOST_ROWS: Final = 64
MOST_SENTENCES: Final = 6

_COSTS: Final = {
    "pe": ("for each message into the node or out of it", 0.5),
    "max(in,out)": ("for each message of the busier direction", 1.0),
    "min(in,out)": ("for each message of the other direction", 1.0),
    "pa": ("for each message within the node", 0.5),
    "1": ("to start with", 1.0),
}
"""What the coefficient of a term is of, and its part of a pair: two messages are one."""

CAPTION: Final = (
    "The plane of the model from the side: a line for each number of messages, which says what "
    "the formula gives; points are what was measured."
)


def hotspot(run: Run, name: str) -> dict[str, Any] | None:
    """Collect what is said about a hot spot; ``name`` keeps its ids apart from others'."""
    if run.kind != hotspots.KIND:
        return None
    points = hotspots.points([run])
    model, why = _model(run, points)
    picture = None
    if points:
        figure = views.draw("plane", [run], views.Options(model=model or "auto"))
        words = f"Measured points of the hot spot on {run.size} ranks, view plane."
        svg = inline(views.to_svg(figure), f"{name}-plane", words)
        title = "The fitted plane" if model else "The measured points"
        picture = Picture("plane", title, CAPTION if model else _READ, svg)
    costs = _costs(model) if model else []
    return {
        "who": _who(run),
        "unreachable": _unreachable(run),
        "tiles": _tiles(points),
        "words": costs[:MOST_SENTENCES],
        "more": max(0, len(costs) - MOST_SENTENCES),
        "why": why,
        "fit": _quality(model) if model else None,
        "picture": picture,
        "rows": [_row(point) for point in points[:MOST_ROWS]],
        "left_out": max(0, len(points) - MOST_ROWS),
        "meaning": printable(run.header.get("seconds_are") or "", 120),
    }


_READ: Final = "Points are medians, bars their 95 % intervals."


def _model(run: Run, points: Sequence[GridPoint]) -> tuple[Model | None, str]:
    """Fit the family that predicts best; or say why none can be fitted."""
    if not points:
        return None, "no point was measured"
    try:
        return models.fit(models.of_run(run), "auto"), ""
    except InputError as error:
        return None, error.what.removeprefix("no family of models can be fitted: ")


def _quality(model: Model) -> dict[str, str]:
    deviation = model.quality["deviation"]
    return {
        "family": model.family,
        "r2": f"{model.quality['r2']:.4f}",
        "average": f"{100 * deviation['average']:.1f} %",
        "largest": f"{100 * deviation['maximum']:.1f} %",
        "regimes": "" if len(model.pieces) == len(_kinds(model)) else "several",
    }


def _kinds(model: Model) -> list[dict[str, Any]]:
    """Return what the formulas are for, each once: the regimes of one have that in common."""
    found: list[dict[str, Any]] = []
    for piece in model.pieces:
        if piece.where not in found:
            found.append(piece.where)
    return found


def _costs(model: Model) -> list[dict[str, Any]]:
    """Say for each regime what each kind of message costs the node."""
    found = []
    for where in _kinds(model):
        own = [piece for piece in model.pieces if piece.where == where]
        regimes = headings([replace(piece, where={}) for piece in own])
        for piece, regime in zip(own, regimes, strict=True):
            found.append({
                "name": _name(where) + (f", {regime}" if regime else ""),
                "costs": [_cost(piece, term) for term in _COSTS if term in piece.terms],
            })  # fmt: skip
    return found


def _name(where: dict[str, Any]) -> str:
    """Name what a formula is for: ``intra-first, 4 MiB``."""
    words = [printable(where.get("order", "any order"), 20)]
    if isinstance(where.get("bytes"), int):
        words.append(format_bytes(where["bytes"]))
    if where.get("hot", 1) != 1:
        words.append(f"{where['hot']} hot processes")
    return ", ".join(words)


def _cost(piece: Piece, term: str) -> dict[str, str]:
    """Say what one kind of message costs, and how well that is known."""
    place = piece.terms.index(term)
    what, part = _COSTS[term]
    text = format_seconds(part * piece.coefficients[place])
    known = ""
    if piece.low is not None and piece.high is not None:
        low, high = part * piece.low[place], part * piece.high[place]
        if low <= 0 <= high:
            known = "cannot be told from nothing"
        else:
            known = f"{format_seconds(low)} to {format_seconds(high)}"
    return {"what": what, "time": text, "known": known}


def _tiles(points: Sequence[GridPoint]) -> list[dict[str, str]]:
    """Return the shortest and the longest time."""
    found = []
    by_time = sorted(points, key=lambda point: point.times.median)
    for point in dict.fromkeys([by_time[0], by_time[-1]]) if by_time else ():
        note = f"{point.intra} messages within the node, {point.into} in, {point.out} out"
        found.append({
            "value": format_seconds(point.times.median),
            "where": "fastest point" if point is by_time[0] else "slowest point",
            "note": f"{note}; {format_bytes(point.bytes)} each",
        })  # fmt: skip
    return found


def _who(run: Run) -> list[str]:
    """Say who was hot, and who their partners were."""
    listed = hotspots.roles(run)
    by_role = {
        role: [one for one in listed if one["role"] == role] for role in hotspots.ROLES
    }  # fmt: skip
    if not by_role["hot"]:
        return []
    hosts = ", ".join(dict.fromkeys(one["host"] for one in by_role["hot"] if one["host"]))
    text = f"Hot: {_ranks(by_role['hot'])}" + (f" on {hosts}" if hosts else "")
    for role, words in (("intra", "within the node"), ("inter", "on other nodes")):
        own = by_role[role]
        text += f"; partners {words}: {_ranks(own) if own else 'none'}"
    return [f"{text}."]


def _ranks(listed: Sequence[dict[str, Any]]) -> str:
    ranks = describe_ranks([one["rank"] for one in listed])
    return f"rank{'s' if len(listed) > 1 else ''} {ranks}"


def _unreachable(run: Run) -> str:
    """Summarise the points of the grid that the machine was too small for."""
    missed = hotspots.unreachable(run)
    if not missed:
        return ""
    count = sum(reason["points"] for reason in missed)
    why = "; ".join(f"{one['why']} ({one['points']})" for one in missed[:3])
    return f"{count} point{'s' if count > 1 else ''} of the grid could not be reached: {why}."


def _row(point: GridPoint) -> dict[str, str]:
    times = point.times
    return {
        "intra": str(point.intra), "in": str(point.into), "out": str(point.out),
        "pa": f"{point.pa:g}", "pe": f"{point.pe:g}", "order": point.order,
        "hot": str(point.hot), "size": format_bytes(point.bytes), "n": f"{times.n:,}",
        "median": format_seconds(times.median), "interval": interval(times),
        "min": format_seconds(times.min),
    }  # fmt: skip


def interval(times: Times) -> str:
    """Write the interval of a median for a table."""
    if times.n < 2 or times.high <= times.low:
        return "–"
    return f"{format_seconds(times.low)} to {format_seconds(times.high)}"
