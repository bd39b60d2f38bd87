"""Plot a latency map, sweeps, a model, or the messages of nodes, as PNG, SVG or PDF."""

from __future__ import annotations

import argparse
from pathlib import Path

from isochrone import views
from isochrone.base import registry
from isochrone.cli.options import read_size
from isochrone.cli.output import add_output, check_output
from isochrone.runfile.file import read

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone plot``."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE",
        help="run file; several for sweeps, models and nodes",
    )  # fmt: skip
    parser.add_argument(
        "--view", choices=registry.names(views.FAMILY),
        help="view to draw (default, by kind of run: heatmap, time, plane or nodes)",
    )  # fmt: skip
    parser.add_argument(
        "--what", choices=["mean", "median", "stddev"], default="median",
        help="maps: statistic of the round trips (default: median)",
    )  # fmt: skip
    parser.add_argument(
        "--scale", choices=["log", "linear"],
        help="sweeps: scale of both axes (default: by the spacing of the sizes)",
    )  # fmt: skip
    parser.add_argument(
        "--op", type=_words, default=[], metavar="OP,…",
        help="sweeps: draw these collectives only, e.g. bcast,allreduce",
    )  # fmt: skip
    parser.add_argument(
        "--bytes", type=_sizes, default=[], metavar="SIZE,…",
        help="message size of a map, e.g. 1MiB (default: the smallest); view ranks: several sizes",
    )  # fmt: skip
    parser.add_argument(
        "--model", default="auto", metavar="FAMILY|FILE",
        help="views fit, deviation, plane: model file, or family to fit (default: auto)",
    )  # fmt: skip
    add_output(parser, "figure; the suffix .png, .svg or .pdf sets the format", required=True)


def run(args: argparse.Namespace) -> int:
    """Draw, and say where the picture is."""
    path = check_output(args.output, force=args.force, inputs=args.files)
    runs = [read(file) for file in args.files]
    options = views.Options(
        what=args.what, sizes=tuple(args.bytes), scale=args.scale, ops=tuple(args.op),
        model=args.model,
    )  # fmt: skip
    figure = views.draw(args.view or views.usual(runs[0].kind), runs, options)
    views.save(figure, path)
    print(path)
    return 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _sizes(text: str) -> list[int]:
    return [read_size(word) for word in _words(text)]
