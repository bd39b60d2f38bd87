"""Draw a latency map, sweeps, a model, or messages of nodes, as PNG, SVG or PDF."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from isochrone import views
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.cli.options import read_size
from isochrone.cli.output import add_output, check_output
from isochrone.results import hotspot as hotspots
from isochrone.results import tile_io as tiles
from isochrone.results.sweep.curves import is_sweep
from isochrone.runfile.run import Run, read

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone plot``."""
    views = registry.names("views.figures")
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE",
        help="run file; several for sweeps, models and nodes",
    )  # fmt: skip
    parser.add_argument(
        "--view", choices=views,
        help="what to draw (default: what suits the run: heatmap, time, plane or nodes)",
    )  # fmt: skip
    parser.add_argument(
        "--what", choices=["mean", "median", "stddev"], default="median",
        help="maps: statistic of the round trips (default: median)",
    )  # fmt: skip
    parser.add_argument(
        "--scale", choices=["log", "linear"],
        help="sweeps: of both axes (default: what suits the sizes)",
    )  # fmt: skip
    parser.add_argument(
        "--op", type=_words, default=[], metavar="OP,…",
        help="sweeps: draw these collectives only, e.g. bcast,allreduce",
    )  # fmt: skip
    parser.add_argument(
        "--bytes", type=_sizes, default=[], metavar="SIZE,…",
        help="message size of a map, e.g. 1MiB (default: the smallest); sizes of the view ranks",
    )  # fmt: skip
    parser.add_argument(
        "--model", default="auto", metavar="FAMILY|FILE",
        help="views fit, deviation, plane: model file, or family to fit (default: auto)",
    )  # fmt: skip
    add_output(parser, "picture; its suffix .png, .svg or .pdf says the format", required=True)


def run(args: argparse.Namespace) -> int:
    """Draw, and say where the picture is."""
    path = check_output(args.output, force=args.force, inputs=args.files)
    figure = _draw([read(file) for file in args.files], args)
    views.save(figure, path)
    print(path)
    return 0


def _draw(runs: list[Run], args: argparse.Namespace) -> Any:
    """Load the view and give it what it draws; it returns a figure of matplotlib."""
    usual = {hotspots.KIND: "plane", tiles.KIND: "nodes"}
    name = args.view or usual.get(runs[0].kind, "time" if is_sweep(runs[0]) else "heatmap")
    view = registry.load("views.figures", name)
    if view.DRAWS == "sweep":
        return view.draw(runs, scale=args.scale, sizes=args.bytes, ops=args.op)
    if view.DRAWS in ("model", "hotspot"):
        return view.draw(runs, model=args.model, ops=args.op)
    if view.DRAWS == "nodes":
        return view.draw(runs)
    if len(runs) > 1:
        raise InputError(f"the view {name} draws one run, not {len(runs)}")
    if len(args.bytes) > 1:
        raise InputError(f"the view {name} draws one message size, not {len(args.bytes)}")
    return view.draw(runs[0], args.what, args.bytes[0] if args.bytes else None)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _sizes(text: str) -> list[int]:
    return [read_size(word) for word in _words(text)]
