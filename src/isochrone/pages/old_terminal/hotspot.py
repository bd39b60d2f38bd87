"""What ``isochrone show`` says of a hot spot: a table of the grid, who took part, what is left."""

from __future__ import annotations

from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.pages.terminal.latency_map import ranges
from isochrone.pages.terminal.times import interval
from isochrone.pages.terminal.warning import print_warning
from isochrone.results.hotspot import GridPoint, points, roles, unreachable
from isochrone.runfile.run import Run

__all__ = ["document", "print_run"]

MOST_ROWS: Final = 128
MOST_STARS: Final = 8
MOST_HOSTS: Final = 6
WIDTH: Final = 120
"""Characters that the widest table needs."""

_WORDS: Final = {"intra": "inside", "inter": "on other nodes"}


def document(found: Run, nbytes: int | None) -> dict[str, Any]:
    """Return what a script wants to know of a hot spot."""
    return {
        "ranks": found.size,
        "seconds_are": found.header.get("seconds_are", ""),
        "options": found.header.get("options", {}),
        "points": [point.to_json() for point in _chosen(found, nbytes)],
        "unreachable": unreachable(found),
        "roles": roles(found),
        "warnings": found.warnings,
    }


def print_run(console: Console, found: Run, nbytes: int | None) -> None:
    """Print a hot spot for a person."""
    # A table that is wider than the terminal is wrapped by it; rich would cut its cells.
    console.width = max(console.width, WIDTH)
    meaning = found.header.get("seconds_are")
    if meaning:
        console.print(printable(f"  Times are: {meaning}"), markup=False)
    _print_roles(console, roles(found))
    points = _chosen(found, nbytes)
    if points:
        console.print("\nMessages of the hot node, within it, into it and out of it; "
                      "pa = intra/2, pe = (in + out)/2:")  # fmt: skip
        _print_points(console, points[:MOST_ROWS])
    else:
        console.print("  no point was measured")
    if len(points) > MOST_ROWS:
        console.print(f"… and {len(points) - MOST_ROWS} more points (--json lists all)")
    missed = unreachable(found)
    if missed:
        count = sum(reason["points"] for reason in missed)
        why = "; ".join(f"{one['why']} ({one['points']})" for one in missed[:3])
        more = f"; {len(missed) - 3} more reasons" if len(missed) > 3 else ""
        many = "s" if count > 1 else ""
        console.print(f"Not reachable: {count} point{many} of the grid: {why}{more}", markup=False)
    for warning in found.warnings:
        print_warning(console, str(warning.get("text", "")))


def _chosen(found: Run, nbytes: int | None) -> list[GridPoint]:
    """Return the points that are shown: all, or those of the one size the user names."""
    listed = points([found])
    if nbytes is None:
        return listed
    kept = [point for point in listed if point.bytes == nbytes]
    if not kept:
        known = ", ".join(str(size) for size in sorted({point.bytes for point in listed}))
        raise InputError(
            f"nothing was measured with {nbytes} bytes", hint=f"there are: {known}" if known else ""
        )
    return kept


def _print_roles(console: Console, listed: list[dict[str, Any]]) -> None:
    """Print a line a star: its hot process, and its partners."""
    stars: dict[int, list[dict[str, Any]]] = {}
    for one in listed:
        stars.setdefault(one["group"], []).append(one)
    for members in list(stars.values())[:MOST_STARS]:
        parts = [f"Hot: {_who(members, 'hot')}"]
        for role, words in _WORDS.items():
            if any(one["role"] == role for one in members):
                parts.append(f"partners {words}: {_who(members, role)}")
        console.print(printable("  " + " · ".join(parts), 400), markup=False)
    if len(stars) > MOST_STARS:
        console.print(f"  … and {len(stars) - MOST_STARS} more hot processes (--json lists all)")


def _who(members: list[dict[str, Any]], role: str) -> str:
    """Name ranks and their hosts: ``ranks 4,8 (n1, n2)``."""
    own = [one for one in members if one["role"] == role]
    hosts = [host for host in dict.fromkeys(one["host"] for one in own) if host]
    named = ", ".join(hosts[:MOST_HOSTS]) + (", …" if len(hosts) > MOST_HOSTS else "")
    many = "s" if len(own) > 1 else ""
    return f"rank{many} {ranges([one['rank'] for one in own])}" + (f" ({named})" if named else "")


def _print_points(console: Console, points: list[GridPoint]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("intra", "in", "out", "pa", "pe", "order", "hot", "size", "n", "median",
                  "95 % interval", "min"):  # fmt: skip
        table.add_column(title, justify="left" if title == "order" else "right", no_wrap=True)
    for point in points:
        times = point.times
        table.add_row(
            str(point.intra), str(point.into), str(point.out), f"{point.pa:g}", f"{point.pe:g}",
            _plain(point.order), str(point.hot), format_bytes(point.bytes), str(times.n),
            format_seconds(times.median), interval(times), format_seconds(times.min),
        )  # fmt: skip
    console.print(table)


def _plain(text: str) -> str:
    """Return a text of a file so that rich prints it as it is."""
    return escape(text)
