"""What ``isochrone show`` says of a latency map: levels, placement, what is slow."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.pages.terminal.warning import print_warning
from isochrone.results.latency_map import topology
from isochrone.runfile.run import Run

__all__ = ["document", "print_run", "ranges"]

MOST_SLOW = 12
"""Slow parts listed one by one; more are counted."""


def document(found: Run, nbytes: int | None) -> dict[str, Any]:
    """Return what a script wants to know of a latency map."""
    return topology.analyse(found, nbytes).to_json()


def print_run(console: Console, found: Run, nbytes: int | None) -> None:
    """Print a latency map for a person."""
    sizes = found.message_sizes()
    chosen = sizes[0] if nbytes is None else nbytes
    read = topology.analyse(found, chosen).to_json()
    console.print(f"\nRound trip of {format_bytes(chosen)} (half of it is one way):")
    _print_levels(console, read["levels"])
    placement = read["placement"]
    counts = placement["ranks_per_node"]
    each = f"{counts[0]}" if len(set(counts)) == 1 else ", ".join(map(str, counts[:16]))
    more = " …" if len(set(counts)) > 1 and len(counts) > 16 else ""
    console.print(f"Placement: {placement['kind']}, ranks per node: {each}{more}")
    _print_slow(console, read["slow"])
    for warning in read["warnings"]:
        print_warning(console, str(warning["text"]))
    others = [format_bytes(size) for size in sizes if size != chosen]
    if others:
        console.print(printable(f"Also measured: {', '.join(others)} (see --bytes)"))


def _print_levels(console: Console, levels: list[dict[str, Any]]) -> None:
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
