"""What ``isochrone show`` says of collective I/O: its phases, aggregators, messages of nodes."""

from __future__ import annotations

from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.pages.terminal.times import interval
from isochrone.pages.terminal.warning import print_warning
from isochrone.results import tile_io as tiles
from isochrone.results.tile_io import Phase, phases
from isochrone.runfile.run import Run

__all__ = ["document", "print_run"]

MOST_NAMES: Final = 16
MOST_NODES: Final = 64
WIDTH: Final = 120
"""Characters that the widest table needs."""

HOT: Final = "« hot"


def document(found: Run, nbytes: int | None) -> dict[str, Any]:
    """Return what a script wants to know of collective I/O."""
    return {
        "ranks": found.size,
        "seconds_are": found.header.get("seconds_are", ""),
        "options": found.header.get("options", {}),
        "phases": [phase.to_json() for phase in _chosen(found, nbytes)],
        "aggregators": tiles.aggregators(found),
        "file_io": tiles.file_io(found),
        "hints": tiles.hints(found),
        "nodes": tiles.nodes(found),
        "warnings": found.warnings,
    }


def print_run(console: Console, found: Run, nbytes: int | None) -> None:
    """Print collective I/O for a person."""
    # A table that is wider than the terminal is wrapped by it; rich would cut its cells.
    console.width = max(console.width, WIDTH)
    options = _options(found)
    if options:
        console.print(printable(f"  {options}", 300), style="dim", markup=False)
    phases = _chosen(found, nbytes)
    if phases:
        console.print()
        _print_phases(console, phases)
    else:
        console.print("  nothing was timed")
    _print_aggregators(console, tiles.aggregators(found), tiles.file_io(found))
    hints = tiles.hints(found)
    if hints:
        words = " · ".join(f"{key}={value}" for key, value in hints.items())
        console.print(printable(f"Hints of the library: {words}", 1500), markup=False)
    _print_nodes(console, tiles.nodes(found))
    for warning in found.warnings:
        print_warning(console, str(warning.get("text", "")))


def _options(found: Run) -> str:
    """Name the options that are of the access and not of how often it is measured."""
    options = found.header.get("options")
    if not isinstance(options, dict):
        return ""
    names = ("file", "tiles", "tile", "element", "overlap", "phase", "cb-buffer", "hints")
    return " · ".join(f"{name} {options[name]}" for name in names if options.get(name) is not None)


def _chosen(found: Run, nbytes: int | None) -> list[Phase]:
    """Return the phases that are shown: all, or those of files of the size the user names."""
    listed = phases(found)
    kept = [phase for phase in listed if nbytes in (None, phase.bytes)]
    if listed and not kept:
        known = ", ".join(str(size) for size in sorted({phase.bytes for phase in listed}))
        raise InputError(f"no file of {nbytes} bytes", hint=f"there are: {known}")
    return kept


def _print_phases(console: Console, phases: list[Phase]) -> None:
    """Print a line for each part of each phase; the access itself has a bandwidth."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("phase", "op", "time of"):
        table.add_column(title, no_wrap=True)
    for title in ("size", "n", "median", "95 % interval", "min", "bandwidth"):
        table.add_column(title, justify="right", no_wrap=True)
    for phase in phases:
        rate = phase.bandwidth
        for number, (part, times) in enumerate(phase.times.items()):
            access = part == "seconds"
            table.add_row(
                "" if number else escape(phase.phase), "" if number else escape(phase.op),
                _part(phase) if access else part,
                format_bytes(phase.bytes) if access else "",
                str(times.n), format_seconds(times.median), interval(times),
                format_seconds(times.min), format_rate(rate[0]) if access and rate else "",
            )  # fmt: skip
    console.print(table)


def _part(phase: Phase) -> str:
    """Name the access itself: ``exchange in 4 rounds``, or ``write``."""
    if phase.phase != "exchange":
        return escape(phase.op)
    many = f" in {phase.rounds} rounds" if phase.rounds is not None and phase.rounds > 1 else ""
    return f"exchange{many}"


def _print_aggregators(
    console: Console, listed: list[dict[str, Any]], accessed: list[dict[str, Any]]
) -> None:
    """Say who serves the parts of the file, and whose process really accessed it."""
    if listed:
        source = listed[0]["source"]
        words = f"Aggregators, in the order of the file ({source}): {_named(listed)}"
        console.print(printable(words, 600), markup=False)
    for op in dict.fromkeys(one["op"] for one in accessed):
        own = [one for one in accessed if one["op"] == op]
        words = f"Ranks that accessed the file to {op}: {_named(own)}"
        console.print(printable(words, 600), markup=False)


def _named(listed: list[dict[str, Any]]) -> str:
    """Write ranks and hosts: ``0 (n0), 4 (n1)``; of many, the first."""
    names = [f"{one['rank']} ({one['host']})" if one["host"] else str(one["rank"])
             for one in listed[:MOST_NAMES]]  # fmt: skip
    more = len(listed) - MOST_NAMES
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _print_nodes(console: Console, nodes: list[dict[str, Any]]) -> None:
    """Print the messages of each node, the hot spot marked."""
    if not nodes:
        return
    console.print("\nMessages of the nodes in all rounds when writing; reading swaps in and out:")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("node", no_wrap=True)
    for title in ("intra", "in", "out"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    # If not all can be shown, the hot one must be.
    shown = sorted(nodes, key=lambda one: not one["hot"])[:MOST_NODES]
    for one in sorted(shown, key=lambda one: int(one["node"])):
        name = escape(printable(one["host"], 40)) or str(one["node"])
        counts = (str(one[key]) for key in ("intra", "in", "out"))
        table.add_row(name, *counts, HOT if one["hot"] else "",
                      style="red" if one["hot"] else None)  # fmt: skip
    console.print(table)
    if len(nodes) > MOST_NODES:
        console.print(f"… and {len(nodes) - MOST_NODES} more nodes (--json lists all)")
