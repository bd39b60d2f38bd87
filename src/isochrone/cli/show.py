"""Say what is in a run file: levels, placement, what is slow, what to be wary of."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isochrone.cli._options import add_message_size

if TYPE_CHECKING:
    from rich.console import Console

    from isochrone.run import Run

__all__ = ["add_arguments", "print_file", "run"]

MOST_SLOW = 12
"""Slow parts listed one by one; more are counted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone show``."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="run file")
    parser.add_argument("--json", action="store_true", help="one JSON document, for scripts")
    add_message_size(parser)


def run(args: argparse.Namespace) -> int:
    """Print what each file holds."""
    if args.json:
        documents = [_document(path, args.bytes) for path in args.files]
        print(json.dumps(documents[0] if len(documents) == 1 else documents))
        return 0
    for path in args.files:
        print_file(path, args.bytes)
    return 0


def print_file(path: Path, nbytes: int | None = None) -> None:
    """Print one file for a person."""
    from rich.console import Console

    from isochrone.cli._clocks import print_clocks
    from isochrone.run import read

    console = Console(highlight=False, soft_wrap=True)
    found = read(path)
    _print_header(console, found)
    if "pair" in found.tables:
        _print_map(console, found, nbytes)
        return
    if not found.tables:
        console.print("  it holds no measurement")
    if "sync" in found.tables:
        print_clocks(console, found)
    for name, table in found.tables.items():
        console.print(f"  {len(table)} records of '{name}'", markup=False)
    for warning in found.warnings:
        _print_warning(console, str(warning.get("text", "")))


def _document(path: Path, nbytes: int | None) -> dict[str, Any]:
    """Return what a script wants to know of one file."""
    from isochrone import topology
    from isochrone.cli._clocks import summarise
    from isochrone.run import read

    found = read(path)
    about = {"experiment": found.experiment, "origin": found.origin, "complete": found.complete}
    if "pair" not in found.tables:
        counts = {name: len(table) for name, table in found.tables.items()}
        clocks = {"clocks": summarise(found)} if "sync" in counts else {}
        about = {**about, "ranks": found.size, "records": counts, **clocks}
        return {**about, "warnings": found.warnings}
    return {**topology.analyse(found, nbytes).to_json(), **about}


def _print_header(console: Console, found: Run) -> None:
    from isochrone.text import printable

    nodes = len(set(found.hosts) - {""})
    where = f"{nodes} node{'s' if nodes > 1 else ''}"
    library = " ".join(str(found.header.get("mpi", {}).get("library", "")).split())
    origin = "" if found.origin == "measured" else found.origin
    parts = [found.experiment, origin, f"{found.size} ranks on {where}", library]
    console.print(printable(" · ".join(p for p in parts if p)), style="bold", markup=False)
    if not found.complete:
        console.print("  partial run: it did not come to its end", style="yellow")


def _print_map(console: Console, found: Run, nbytes: int | None) -> None:
    from isochrone import topology
    from isochrone.text import printable
    from isochrone.units import format_bytes

    sizes = found.message_sizes()
    chosen = sizes[0] if nbytes is None else nbytes
    document = topology.analyse(found, chosen).to_json()
    console.print(f"\nRound trip of {format_bytes(chosen)} (half of it is one way):")
    _print_levels(console, document["levels"])
    placement = document["placement"]
    counts = placement["ranks_per_node"]
    each = f"{counts[0]}" if len(set(counts)) == 1 else ", ".join(map(str, counts[:16]))
    more = " …" if len(set(counts)) > 1 and len(counts) > 16 else ""
    console.print(f"Placement: {placement['kind']}, ranks per node: {each}{more}")
    _print_slow(console, document["slow"])
    for warning in document["warnings"]:
        _print_warning(console, str(warning["text"]))
    others = [format_bytes(size) for size in sizes if size != chosen]
    if others:
        console.print(printable(f"Also measured: {', '.join(others)} (see --bytes)"))


def _print_levels(console: Console, levels: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from isochrone.units import format_seconds

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for title, side in (("level", "left"), ("median", "right"), ("half", "right"),
                        ("pairs", "right"), ("groups", "left")):  # fmt: skip
        table.add_column(title, justify=side)  # type: ignore[arg-type]
    for level in levels:
        median = level["median"]
        table.add_row(
            f"{level['level']}  {level.get('name', '')}",
            format_seconds(median), format_seconds(median / 2), str(level["pairs"]),
            _describe_groups(level["groups"]),
        )  # fmt: skip
    console.print(table)


def _describe_groups(groups: list[list[int]]) -> str:
    """Write groups of ranks briefly: ``all ranks``, ``0-3 | 4-7``, ``64 groups of 16``."""
    if len(groups) == 1:
        return "all ranks"
    if len(groups) <= 8 and sum(map(len, groups)) <= 64:
        return " | ".join(ranges(group) for group in groups)
    sizes = sorted({len(group) for group in groups})
    spread = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"{len(groups)} groups of {spread}"


def ranges(ranks: list[int]) -> str:
    """Write rank numbers as ranges: ``0-3,8``."""
    parts: list[str] = []
    start = previous = None
    for rank in [*sorted(ranks), None]:
        if start is not None and (rank is None or previous is None or rank != previous + 1):
            parts.append(f"{start}" if start == previous else f"{start}-{previous}")
            start = None
        start = rank if start is None else start
        previous = rank
    return ",".join(parts)


def _print_slow(console: Console, slow: list[dict[str, Any]]) -> None:
    from isochrone.text import printable

    if not slow:
        console.print("Nothing is slow for its level.", style="green")
        return
    console.print("Slow for their level:", style="red")
    for part in slow[:MOST_SLOW]:
        who = str(part["who"]).removeprefix(f"{part['kind']} ")
        line = f"  {part['kind']} {who}: {part['ratio']:.1f}x  {part['evidence']}"
        console.print(printable(line), markup=False)
    if len(slow) > MOST_SLOW:
        console.print(f"  … and {len(slow) - MOST_SLOW} more (--json lists all)")


def _print_warning(console: Console, text: str) -> None:
    from isochrone.text import printable

    console.print(f"Warning: {printable(text, 400)}", style="yellow", markup=False)
