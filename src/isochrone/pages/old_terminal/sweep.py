"""What ``isochrone show`` says of a sweep: a table a curve, switches of protocol, slowest ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.pages.terminal.warning import print_warning
from isochrone.results.sweep.curves import Curve, Part, Point, curves, parts
from isochrone.results.sweep.switches import Switch, describe, switches
from isochrone.runfile.run import Run

__all__ = ["document", "print_run"]

MOST_PARTS: Final = 3
"""Slowest ranks named; a rank is named only if it is clearly slower than the middle one."""

CLEARLY_SLOWER: Final = 1.1
MARK: Final = "«"
WIDTH: Final = 120
"""Characters that the widest table needs."""


def document(found: Run, nbytes: int | None) -> dict[str, Any]:
    """Return what a script wants to know of a sweep."""
    listed = []
    for curve, shown in _chosen(curves(found), nbytes):
        entry = shown.to_json()
        entry["switches"] = [switch.to_json() for switch in switches(curve)]
        slowest = [
            {"ranks": list(part.who), "ratio": part.ratio, "last": part.last}
            for part in _slow(parts(curve))
        ]
        if slowest:
            entry["slowest"] = slowest
        listed.append(entry)
    return {
        "ranks": found.size,
        "seconds_are": found.header.get("seconds_are", ""),
        "options": found.header.get("options", {}),
        "curves": listed,
        "bystanders": bystanders(found),
        "warnings": found.warnings,
    }


def print_run(console: Console, found: Run, nbytes: int | None) -> None:
    """Print a sweep for a person."""
    # A table that is wider than the terminal is wrapped by it; rich would cut its cells.
    console.width = max(console.width, WIDTH)
    options = _options(found)
    if options:
        console.print(printable(f"  {options}"), style="dim", markup=False)
    meaning = found.header.get("seconds_are")
    if meaning:
        console.print(printable(f"  Times are: {meaning}"), markup=False)
    out = bystanders(found)
    if out:
        many = "s" if len(out) > 1 else ""
        console.print(f"  Rank{many} {', '.join(map(str, out))} sat out: an odd number of ranks")
    for curve, shown in _chosen(curves(found), nbytes):
        changes = switches(curve)
        ranks = "" if "pair" in curve.key else f", {curve.p} ranks"
        console.print(f"\n{printable(curve.name)}{ranks}:", markup=False)
        _print_points(console, shown, changes)
        for change in changes:
            console.print(f"{MARK} Protocol switch {describe(change)}", style="cyan", markup=False)
        _print_slow(console, found, _slow(parts(curve)))
    for warning in found.warnings:
        print_warning(console, str(warning.get("text", "")))


def bystanders(found: Run) -> list[int]:
    """List the ranks that sat out a bisection."""
    table = found.tables.get("bystander")
    if table is None or "rank" not in table or table["rank"].dtype.kind != "i":
        return []
    return [int(rank) for rank in table["rank"]]


def _chosen(found: list[Curve], nbytes: int | None) -> list[tuple[Curve, Curve]]:
    """Return each curve, and what of it is shown: all, or the one size the user names."""
    if nbytes is None:
        return [(curve, curve) for curve in found]
    kept = []
    for curve in found:
        points = tuple(point for point in curve.points if point.bytes == nbytes)
        kept += [(curve, replace(curve, points=points))] if points else []
    if not kept:
        known = sorted({size for curve in found for size in curve.bytes.tolist()})
        hint = f"there are: {', '.join(map(str, known))}"
        raise InputError(f"nothing was measured with {nbytes} bytes", hint=hint)
    return kept


def _options(found: Run) -> str:
    """Name the options that are of the experiment and not of how long it measures."""
    options = found.header.get("options")
    if not isinstance(options, dict):
        return ""
    names = ("mode", "window", "layout", "stride", "cache", "cache-bytes", "pairing", "seed",
             "root", "sync")  # fmt: skip
    unused = {"stride": ("layout", "vector"), "cache-bytes": ("cache", "cold"),
              "seed": ("pairing", "random")}  # fmt: skip
    shown = []
    for name in names:
        key = name if name in options else name.replace("-", "_")
        other, value = unused.get(name, ("", None))
        if options.get(key) is None or (other and options.get(other) != value):
            continue
        shown.append(f"{name} {options[key]}")
    return " · ".join(shown)


def _print_points(console: Console, curve: Curve, changes: list[Switch]) -> None:
    points = curve.points
    rated = any(point.message_rate is not None for point in points)
    moved = any(point.bandwidth is not None for point in points)
    skewed = any(point.skew is not None for point in points)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    titles = ["size", "median", "95 % interval", "min", "mean"]
    titles += ["bandwidth"] * moved + ["messages"] * rated + ["skew"] * skewed + ["n"]
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)  # the mark of a switch
    marked = {change.before for change in changes}
    for point in points:
        cells = [format_bytes(point.bytes), format_seconds(point.median), _interval(point),
                 format_seconds(point.min), format_seconds(point.mean)]  # fmt: skip
        cells += [_rate(point.bandwidth)] * moved
        cells += [_messages(point.message_rate)] * rated
        cells += [format_seconds(point.skew) if point.skew is not None else "–"] * skewed
        table.add_row(*cells, str(point.n), MARK if point.bytes in marked else "")
    console.print(table)


def _interval(point: Point) -> str:
    """Write an interval with one unit if both ends have the same."""
    low, high = format_seconds(point.low), format_seconds(point.high)
    if point.n < 2:
        return "–"
    number, _, unit = low.partition(" ")
    return f"{number} … {high}" if high.endswith(f" {unit}") else f"{low} … {high}"


def _rate(rate: float | None) -> str:
    return "–" if not rate else format_rate(rate)


def _messages(rate: float | None) -> str:
    """Write messages per second: ``3.2 M/s``."""
    if rate is None:
        return "–"
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if rate >= factor:
            return f"{rate / factor:.3g} {unit}/s"
    return f"{rate:.3g} /s"


def _slow(found: list[Part]) -> list[Part]:
    return [part for part in found if part.ratio >= CLEARLY_SLOWER][:MOST_PARTS]


def _print_slow(console: Console, found: Run, slow: list[Part]) -> None:
    if not slow:
        return
    console.print("Later than the others:", style="red")
    hosts = found.hosts
    for part in slow:
        who = "–".join(map(str, part.who))
        where = ", ".join(dict.fromkeys(hosts[r] for r in part.who if r < len(hosts) and hosts[r]))
        name = f"{'pair' if len(part.who) > 1 else 'rank'} {who}" + (f" ({where})" if where else "")
        line = f"  {name}: {part.ratio:.2f}x the middle one, last in {100 * part.last:.0f} %"
        console.print(printable(line), markup=False)
