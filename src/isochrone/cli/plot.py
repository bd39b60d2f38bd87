"""Draw a latency map: heat map, surface or hierarchy, as PNG, SVG or PDF."""

from __future__ import annotations

import argparse
from pathlib import Path

from isochrone.cli._options import add_message_size
from isochrone.cli._output import add_output, check_output

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone plot``."""
    from isochrone import registry

    views = registry.names("views")
    parser.add_argument("file", type=Path, metavar="FILE", help="run file")
    parser.add_argument(
        "--view", choices=views, default="heatmap", help="what to draw (default: heatmap)"
    )
    parser.add_argument(
        "--what", choices=["mean", "median", "stddev"], default="median",
        help="statistic of the round trips (default: median)",
    )  # fmt: skip
    add_message_size(parser)
    add_output(parser, "picture; its suffix .png, .svg or .pdf says the format", required=True)


def run(args: argparse.Namespace) -> int:
    """Draw, and say where the picture is."""
    from isochrone import registry, views
    from isochrone.run import read

    path = check_output(args.output, force=args.force, inputs=[args.file])
    figure = registry.load("views", args.view).draw(read(args.file), args.what, args.bytes)
    views.save(figure, path)
    print(path)
    return 0
