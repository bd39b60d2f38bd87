"""A program as it was recorded, as a table that says where its time is spent."""

from isochrone.applications.results.listing import Position, positions, where
from isochrone.applications.results.recorded_calls import sites
from isochrone.applications.results.recording import rank_times
from isochrone.base.units import format_bytes, format_seconds
from isochrone.measure.source_lines import source_lines
from isochrone.pages.page import Block, Row, Sentence, Table, columns_of
from isochrone.pages.words import plural
from isochrone.runfile.run import Run

MOST_ROWS = 200
"""Rows of a listing; of more positions, those that take most time."""


def listing(run: Run, most: int = MOST_ROWS) -> list[Block]:
    """Return the positions of a recording in their order, at most so many.

    Raises
    ------
    InputError
        If the run is no recording, or damaged.
    """
    found, why = positions(run)
    if not found:
        return []
    lines = source_lines(sites(run), run.about.started)
    whole = max(sum(one.seconds for one in rank_times(run)), 1e-12)
    rows = tuple(_row(lines, one, whole) for one in _chosen(found, most))
    columns = columns_of(
        "position", "call", ">size", "with", ">times", ">in calls", ">share", ">computed", "code"
    )
    if not any(row.cells[-1] for row in rows):
        columns = columns[:-1]
        rows = tuple(Row(row.cells[:-1]) for row in rows)
    left = len(found) - len(rows)
    title = f"Positions of the program on {run.size} ranks, times of all ranks together"
    table = Table(
        title, columns, rows, f"and {plural(left, 'more position')}" if left > 0 else ""
    )  # fmt: skip
    if not why:
        return [table]
    return [table, Sentence(f"Positions are those of the calls of single ranks: {why}")]


def _chosen(found: list[Position], most: int) -> list[Position]:
    """Return the positions that take most time, and the loops around them, in their order."""
    kept = sorted(found, key=lambda one: -one.seconds - one.computation)[:most]
    loops = {one.position for one in found if one.call == "loop"}
    around = {
        ".".join(parts[:k]) for one in kept for parts in [one.position.split(".")]
        for k in range(1, len(parts))
    }  # fmt: skip
    names = {id(one) for one in kept}
    return [one for one in found if id(one) in names or one.position in loops & around]


def _row(lines: list[str], one: Position, whole: float) -> Row:
    if one.call == "loop":
        return Row((one.position, "loop", "", "", f"{one.times:,}", "", "", "", ""))
    least, most = round(one.bytes), round(one.most)
    size = format_bytes(most) if most else "–"
    if least != most:
        size = f"{format_bytes(least)} – {size}"
    return Row((
        one.position, one.call, size, one.peers, f"{one.times:,}",
        format_seconds(one.seconds), f"{one.seconds / whole:.1%}",
        format_seconds(one.computation) if one.computation else "–", where(lines, one),
    ))  # fmt: skip
