"""Say what is in run files: levels of a map, curves of a sweep, points of a hot spot, phases."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from isochrone.base.text import printable
from isochrone.cli.options import add_message_size
from isochrone.pages.terminal import hotspot as _show_hotspot
from isochrone.pages.terminal import latency_map as _show_map
from isochrone.pages.terminal import sweep as _show_sweep
from isochrone.pages.terminal import tile_io as _show_tile_io
from isochrone.pages.terminal.clocks import print_clocks, summarise
from isochrone.pages.terminal.warning import print_warning
from isochrone.results import hotspot as hotspots
from isochrone.results import tile_io as tiles
from isochrone.results.sweep.curves import is_sweep
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

__all__ = ["add_arguments", "print_file", "run"]


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
    for number, path in enumerate(args.files):
        if number:
            print()
        print_file(path, args.bytes)
    return 0


def print_file(path: Path, nbytes: int | None = None) -> None:
    """Print one file for a person."""
    console = Console(highlight=False, soft_wrap=True)
    found = read(path)
    _print_header(console, found)
    reader = _reader(found)
    if reader is not None:
        reader.print_run(console, found, nbytes)
        if "sync" in found.tables:
            console.print()
            print_clocks(console, found)
        return
    if not found.tables:
        console.print("  it holds no measurement")
    if "sync" in found.tables:
        print_clocks(console, found)
    for name, table in found.tables.items():
        console.print(f"  {len(table)} records of '{name}'", markup=False)
    for warning in found.warnings:
        print_warning(console, str(warning.get("text", "")))


def _reader(found: Run) -> ModuleType | None:
    """Return the module that reads this kind of run; None where only records can be counted."""
    if "pair" in found.tables:
        return _show_map
    if found.kind == hotspots.KIND and found.tables:
        return _show_hotspot
    if found.kind == tiles.KIND and found.tables:
        return _show_tile_io
    if is_sweep(found) and "sample" in found.tables:
        return _show_sweep
    return None


def _document(path: Path, nbytes: int | None) -> dict[str, Any]:
    """Return what a script wants to know of one file."""
    found = read(path)
    about: dict[str, Any] = {
        "experiment": found.experiment,
        "origin": found.origin,
        "complete": found.complete,
    }
    if "sync" in found.tables:
        about["clocks"] = summarise(found)
    reader = _reader(found)
    if reader is None:
        counts = {name: len(table) for name, table in found.tables.items()}
        return {**about, "ranks": found.size, "records": counts, "warnings": found.warnings}
    return {**reader.document(found, nbytes), **about}


def _print_header(console: Console, found: Run) -> None:
    nodes = len(set(found.hosts) - {""})
    where = f" on {nodes} node{'s' if nodes > 1 else ''}" if nodes else ""
    library = " ".join(str(found.header.get("mpi", {}).get("library", "")).split())
    origin = "" if found.origin == "measured" else found.origin
    parts = [found.experiment, origin, f"{found.size} ranks{where}", library]
    console.print(printable(" · ".join(p for p in parts if p)), style="bold", markup=False)
    if not found.complete:
        console.print("  partial run: it did not come to its end", style="yellow")
