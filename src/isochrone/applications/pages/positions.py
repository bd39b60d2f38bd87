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


def listing(run: Run, limit: int = MOST_ROWS) -> list[Block]:
    """Return the positions of a recording in their order, at most so many.

    Raises
    ------
    InputError
        If the run is no recording, or damaged.
    """
    all_positions, why = positions(run)
    if not all_positions:
        return []
    lines = source_lines(sites(run), run.about.started)
    total = max(sum(rank_time.seconds for rank_time in rank_times(run)), 1e-12)
    rows = tuple(_row(lines, entry, total) for entry in _chosen(all_positions, limit))
    columns = columns_of(
        "position", "call", ">size", "with", ">times", ">in calls", ">share", ">computed", "code"
    )
    if not any(row.cells[-1] for row in rows):
        columns = columns[:-1]
        rows = tuple(Row(row.cells[:-1]) for row in rows)
    left = len(all_positions) - len(rows)
    title = f"Positions of the program on {run.size} ranks, times of all ranks together"
    table = Table(title, columns, rows, f"and {plural(left, 'more position')}" if left > 0 else "")
    if not why:
        return [table]
    return [table, Sentence(f"Positions are those of the calls of single ranks: {why}")]


def _chosen(all_positions: list[Position], limit: int) -> list[Position]:
    """Return the positions that take most time, and the loops around them, in their order."""
    slowest = sorted(all_positions, key=lambda entry: -entry.seconds - entry.computation)[:limit]
    loops = {entry.position for entry in all_positions if entry.call == "loop"}
    around = {
        ".".join(parts[:k])
        for entry in slowest
        for parts in [entry.position.split(".")]
        for k in range(1, len(parts))
    }
    names = {id(entry) for entry in slowest}
    return [
        entry for entry in all_positions if id(entry) in names or entry.position in loops & around
    ]


def _row(lines: list[str], entry: Position, total: float) -> Row:
    if entry.call == "loop":
        return Row((entry.position, "loop", "", "", f"{entry.times:,}", "", "", "", ""))
    smallest, largest = round(entry.bytes), round(entry.most)
    size = format_bytes(largest) if largest else "–"
    if smallest != largest:
        size = f"{format_bytes(smallest)} – {size}"
    return Row(
        (
            entry.position,
            entry.call,
            size,
            entry.peers,
            f"{entry.times:,}",
            format_seconds(entry.seconds),
            f"{entry.seconds / total:.1%}",
            format_seconds(entry.computation) if entry.computation else "–",
            where(lines, entry),
        )
    )
