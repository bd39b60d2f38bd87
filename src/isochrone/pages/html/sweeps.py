"""What a report says of sweeps over message sizes: words, tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.pages.html.pictures import Picture, sweep_picture
from isochrone.pages.html.words import describe_ranks
from isochrone.results.sweep.curves import Curve, Point, curves, is_sweep, parts
from isochrone.results.sweep.switches import Switch, describe, switches
from isochrone.runfile.run import Run

__all__ = ["holds_sweep", "sweep", "together"]

MOST_CURVES: Final = 12
MOST_ROWS: Final = 48
MOST_TILES: Final = 4
MOST_LINES: Final = 24
"""Lines in one picture; of more, nobody can follow one."""
CLEARLY_LATER: Final = 1.1


def holds_sweep(run: Run) -> bool:
    """Whether there is anything to say of it here."""
    return is_sweep(run) and len(run.tables.get("sample", ())) > 0


def sweep(run: Run, name: str) -> dict[str, Any]:
    """Collect what is said about one sweep; ``name`` keeps its ids apart from others'."""
    found = curves(run)
    shown = found[:MOST_CURVES]
    changes = [switches(curve) for curve in shown]
    bystander = run.tables.get("bystander")
    out = bystander["rank"].tolist() if bystander is not None and "rank" in bystander else []
    out = [rank for rank in out if isinstance(rank, int)]
    return {
        "meaning": printable(run.header.get("seconds_are") or "", 120),
        "tiles": [tile for curve in shown[:MOST_TILES] for tile in _tiles(run, curve)][:MOST_TILES],
        "words": [_words(curve) for curve in shown],
        "switches": [
            {"name": _name(curve), "text": describe(change)}
            for curve, own in zip(shown, changes, strict=True)
            for change in own
        ],
        "later": [text for curve in shown for text in _later(run, curve)],
        "bystanders": describe_ranks(out) if out else "",
        "pictures": _pictures([run], name, len(found)),
        "tables": [_table(c, own) for c, own in zip(shown, changes, strict=True)],
        "left_out": max(0, len(found) - MOST_CURVES),
    }


def together(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Put the sweeps of one experiment into common pictures, where there are several."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        if holds_sweep(run):
            groups.setdefault(run.experiment, []).append(run)
    found = []
    for experiment, members in groups.items():
        if len(members) > 1:
            count = sum(len(curves(run)) for run in members)
            pictures = _pictures(members, f"all-{experiment}", count)
            if pictures:
                found.append({"experiment": experiment.replace("-", " "), "runs": len(members),
                              "pictures": pictures})  # fmt: skip
    return found


def _pictures(runs: Sequence[Run], name: str, count: int) -> list[Picture]:
    """Draw the views that have something to show."""
    if count > MOST_LINES * (1 if len(runs) > 1 else 2):
        return []
    found = [curve for run in runs for curve in curves(run)]
    wanted = []
    if any(len(curve.points) > 1 for curve in found) or len(runs) > 1:
        wanted.append("time")
        if any(point.bandwidth for curve in found for point in curve.points):
            wanted.append("bandwidth")
    if len({curve.p for curve in found if "pair" not in curve.key}) > 1:
        wanted.append("ranks")
    return [sweep_picture(runs, view, name) for view in wanted]


def _name(curve: Curve) -> str:
    """Return ``Ranks 0–3`` or ``Bcast on 8 ranks``."""
    name = curve.name if "op" in curve.key else curve.name[:1].upper() + curve.name[1:]
    return name if "pair" in curve.key else f"{name} on {curve.p} ranks"


def _tiles(run: Run, curve: Curve) -> list[dict[str, str]]:
    """Return the time of the shortest message and the highest bandwidth."""
    first = curve.points[0]
    tiles = [{
        "value": format_seconds(first.median), "where": _name(curve),
        "note": f"{format_bytes(first.bytes)}, {run.header.get('seconds_are') or 'median'}",
    }]  # fmt: skip
    best = _best(curve)
    if best is not None and best.bandwidth:
        note = f"highest bandwidth, at {format_bytes(best.bytes)}"
        tiles.append({"value": format_rate(best.bandwidth), "where": _name(curve), "note": note})
    return tiles


def _best(curve: Curve) -> Point | None:
    moving = [point for point in curve.points if point.bandwidth]
    return max(moving, key=lambda point: point.bandwidth or 0.0, default=None)


def _words(curve: Curve) -> dict[str, str]:
    """Say in a sentence how long the shortest and the longest message take."""
    first, last, best = curve.points[0], curve.points[-1], _best(curve)
    text = f"takes {format_seconds(first.median)}"
    if len(curve.points) > 1:
        text += (
            f" with {format_bytes(first.bytes)} and {format_seconds(last.median)} with "
            f"{format_bytes(last.bytes)}"
        )
    if best is not None and best.bandwidth:
        text += f"; the bandwidth is highest at {format_bytes(best.bytes)}: "
        text += format_rate(best.bandwidth)
    if "pair" in curve.key:
        text = text.replace("takes", "take", 1)
    return {"name": _name(curve), "text": text}


def _later(run: Run, curve: Curve) -> list[str]:
    """Name the ranks or pairs that are clearly later than the middle one."""
    hosts = run.hosts
    texts = []
    for part in parts(curve)[:3]:
        if part.ratio < CLEARLY_LATER:
            break
        who = "–".join(map(str, part.who))
        on = ", ".join(dict.fromkeys(hosts[r] for r in part.who if r < len(hosts) and hosts[r]))
        kind = "pair" if len(part.who) > 1 else "rank"
        texts.append(
            f"{_name(curve)}: {kind} {who}{f' ({on})' if on else ''} takes {part.ratio:.2f}× the "
            f"time of the middle one and was last in {100 * part.last:.0f} % of the repetitions."
        )
    return texts


def _table(curve: Curve, changes: Sequence[Switch]) -> dict[str, Any]:
    marked = {change.before for change in changes}
    rated = any(point.message_rate for point in curve.points)
    rows = [
        {
            "size": format_bytes(point.bytes), "n": f"{point.n:,}",
            "median": format_seconds(point.median),
            "interval": f"{format_seconds(point.low)} to {format_seconds(point.high)}"
            if point.n > 1 and point.high > point.low
            else "–",
            "min": format_seconds(point.min), "mean": format_seconds(point.mean),
            "bandwidth": format_rate(point.bandwidth) if point.bandwidth else "–",
            "messages": f"{point.message_rate:,.0f}" if point.message_rate else "–",
            "switch": point.bytes in marked,
        }
        for point in curve.points[:MOST_ROWS]
    ]  # fmt: skip
    return {
        "name": _name(curve), "rows": rows, "rated": rated,
        "left_out": max(0, len(curve.points) - MOST_ROWS),
    }  # fmt: skip
