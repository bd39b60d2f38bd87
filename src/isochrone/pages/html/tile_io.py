"""What a report says of collective I/O: how long its phases take, who serves the file, nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.pages.html.hotspot import interval
from isochrone.results import tile_io as tiles
from isochrone.results.tile_io import Phase
from isochrone.runfile.run import Run

__all__ = ["tile_io"]

MOST_NAMES: Final = 16

_ACCESS: Final = {"write": "Writing", "read": "Reading"}
_EXCHANGE: Final = {"write": "The exchange of a write", "read": "The exchange of a read"}


def tile_io(run: Run) -> dict[str, Any] | None:
    """Collect what is said about collective I/O; None for a run of something else."""
    if run.kind != tiles.KIND:
        return None
    phases = tiles.phases(run)
    return {
        "tiles": [_tile(phase) for phase in phases],
        "words": [_sentence(phase) for phase in phases] or ["Nothing was timed."],
        "who": [text for text in (_aggregators(run), *_accessed(run), _hot(run)) if text],
        "rows": [row for phase in phases for row in _rows(phase)],
        "hints": list(tiles.hints(run).items()),
    }


def _name(phase: Phase) -> str:
    names = _EXCHANGE if phase.phase == "exchange" else _ACCESS
    return names.get(phase.op, phase.op)


def _tile(phase: Phase) -> dict[str, str]:
    rate = phase.bandwidth
    return {
        "value": format_seconds(phase.times["seconds"].median),
        "where": _name(phase),
        "note": format_bytes(phase.bytes) + (f", {format_rate(rate[0])}" if rate else ""),
    }


def _sentence(phase: Phase) -> str:
    """Say how long a phase takes, how fast that is, and what surrounds it."""
    access = phase.times["seconds"]
    text = f"{_name(phase)} {'for' if phase.phase == 'exchange' else ''}"
    text = f"{text.strip()} a file of {format_bytes(phase.bytes)} takes "
    text += format_seconds(access.median)
    if phase.rounds is not None and phase.rounds > 1:
        text += f" in {phase.rounds} rounds"
    if phase.bandwidth:
        text += f", which is {format_rate(phase.bandwidth[0])}"
    around = [
        f"{format_seconds(phase.times[part].median)} to {part} it"
        for part in ("open", "close") if part in phase.times
    ]  # fmt: skip
    return text + (f"; besides, {' and '.join(around)}" if around else "") + "."


def _aggregators(run: Run) -> str:
    listed = tiles.aggregators(run)
    if not listed:
        return ""
    many = "s" if len(listed) > 1 else ""
    return (
        f"{len(listed)} aggregator{many}, in the order of the file: rank{many} {_named(listed)} "
        f"({listed[0]['source']})."
    )


def _accessed(run: Run) -> list[str]:
    """Say whose process really read or wrote the file."""
    found = tiles.file_io(run)
    texts = []
    for op in dict.fromkeys(one["op"] for one in found):
        own = [one for one in found if one["op"] == op]
        many = "s" if len(own) > 1 else ""
        texts.append(f"To {op} it, the file was accessed by rank{many} {_named(own)}.")
    return texts


def _hot(run: Run) -> str:
    """Say which node has most messages with others."""
    hot = [one for one in tiles.nodes(run) if one["hot"]]
    if not hot:
        return ""
    names = [printable(one["host"], 40) or str(one["node"]) for one in hot[:4]]
    more = f" and {len(hot) - 4} more" if len(hot) > 4 else ""
    one = hot[0]
    words = f"{one['in']} messages in and {one['out']} out when writing"
    if len(hot) > 1:
        total = one["in"] + one["out"]
        return f"The busiest nodes are {', '.join(names)}{more}, each with {total} messages."
    return f"The hot spot is {names[0]}: {words}. All others wait for it."


def _named(listed: Sequence[dict[str, Any]]) -> str:
    names = [f"{one['rank']} ({printable(one['host'], 40)})" if one["host"] else str(one["rank"])
             for one in listed[:MOST_NAMES]]  # fmt: skip
    more = len(listed) - MOST_NAMES
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _rows(phase: Phase) -> list[dict[str, str]]:
    """Return a row for each part that was timed."""
    rows = []
    for part, times in phase.times.items():
        access = part == "seconds"
        rate = phase.bandwidth if access else None
        what = "exchange" if phase.phase == "exchange" else phase.op
        rows.append({
            "phase": phase.phase, "op": phase.op, "part": what if access else part,
            "size": format_bytes(phase.bytes), "n": f"{times.n:,}",
            "median": format_seconds(times.median), "interval": interval(times),
            "min": format_seconds(times.min), "rate": format_rate(rate[0]) if rate else "–",
        })  # fmt: skip
    return rows
