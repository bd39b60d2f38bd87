"""Fit a model, a formula with intervals, to measured times.

The input is one or more run files (point-to-point, bisection, collective, hotspot), output of OSU,
IMB or nccl-tests as it is, or CSV files with columns such as op,p,b,seconds (or --map-columns).
--family auto tries every family of formulas whose variables the data contain and selects the one
with the smallest cross-validation error; docs/model-families.md lists the families. Run files
that hold nothing to fit, such as maps, are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from isochrone import models
from isochrone.base import registry
from isochrone.base.text import warn
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import files_of, tell_partial
from isochrone.console.options import add_flag, add_option, read_count, read_percent
from isochrone.console.output import add_output, check_output, print_path
from isochrone.formats.foreign_results import Reading, add_reading
from isochrone.models.beyond import nowhere_near
from isochrone.models.file import model_file
from isochrone.models.pages import explanation
from isochrone.models.pages.model import blocks, brief, rivals
from isochrone.pages.terminal import print_blocks

EXAMPLES = (
    ("which formula describes a message?", "isochrone fit sizes.jsonl -o model.json"),
    ("with intervals, deviations and the formulas that were tried", "isochrone fit sizes.jsonl -v"),
    ("one family, to runs on several numbers of ranks",
     "isochrone fit bcast-*.jsonl --family bcast --op bcast -o bcast.json"),
    ("why this formula, and what to measure next", "isochrone fit times.csv --explain"),
)  # fmt: skip


DOCUMENTS = {"model": model_file}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone fit``."""
    parser.epilog = f"families of models: {', '.join(registry.names('*.families'))}"
    add_option(parser, "files", "FILE", Path,
        "run file, output of OSU, IMB or nccl-tests, or CSV", nargs="+")  # fmt: skip
    add_option(parser, "--family", "FAMILY", str,
        "family of models, listed below (default: auto, the best one)",
        default="auto")  # fmt: skip
    add_option(parser, "--op", "OP", str, "operation: fit only this one (default: all)")
    add_option(parser, "--posting", "ORDER", str,
        "hot spot: only this posting order (default: all)", expert=True)  # fmt: skip
    add_option(parser, "--split", "WHERE", str,
        "breakpoints: p:4 or p*b:64KiB,8MiB (given), p (search along p), none; may be repeated "
        "(default: search)", action="append", expert=True)  # fmt: skip
    add_option(parser, "--known-breakpoint", "WHERE", str,
        "where the library switches its algorithm: b:12KiB,512KiB or p:8, the largest value "
        "before the switch; may be repeated", action="append", default=[], expert=True)  # fmt: skip
    add_option(parser, "--max-segments", "N", read_count,
        "maximum number of segments along a variable (default: 4; of one variable 6)",
        expert=True)  # fmt: skip
    add_option(parser, "--tolerance", "PERCENT", read_percent,
        "deviations below this do not create another segment (default: 1%%)",
        default=0.01, expert=True)  # fmt: skip
    add_option(parser, "--weights", None, str,
        "minimise relative deviations (default), or absolute ones, in seconds",
        choices=["relative", "absolute"], default="relative", expert=True)  # fmt: skip
    add_flag(parser, "--robust", "give outliers less weight (Huber)", expert=True)
    add_flag(parser, "--rivals",
        "list the formulas that fit as well, and their predictions beyond the data")  # fmt: skip
    add_flag(parser, "--explain",
        "explain the choice of the formula, and which measurement would decide"
    )  # fmt: skip
    add_option(parser, "--max-ranks", "N", int,
        "with --explain: the most ranks that can be started (default: twice the most measured)"
    )  # fmt: skip
    add_flag(parser, "-v --verbose",
        "also intervals of the coefficients, deviations, and the families tried"
    )  # fmt: skip
    add_json(parser)
    add_reading(parser)
    add_output(parser, "model file to write (default: none)")


def run(args: argparse.Namespace) -> int:
    """Fit, print what was found, and write the model file."""
    files = files_of(args.files)
    if args.output:
        check_output(args.output, force=args.force, inputs=files)
    reading = Reading.of(args)
    data, left_out = models.load_usable(
        [reading.measured(path) for path in files], reading.columns,
        op=args.op, order=args.posting,
    )  # fmt: skip
    for error in left_out:
        warn(f"left out: {error}", 510)
    for path in data.partial:
        tell_partial(path)
    splits = models.parse_splits(
        args.split, args.max_segments, args.tolerance, args.known_breakpoint
    )
    model = models.fit(data, args.family, splits=splits, weights=args.weights, robust=args.robust)
    model.warnings += nowhere_near(model.segments, splits.known)
    if args.explain:
        model.extra["explanation"] = explanation.document(model, args.max_ranks)
    if args.output:
        models.write(model, args.output)
    if args.json:
        print_json(models.document(model))
    else:
        print_blocks(blocks(model) if args.verbose else brief(model))
        if args.rivals:
            print_blocks(list(rivals(model)))
        if args.explain:
            print_blocks(explanation.explanation(model, args.max_ranks))
        if args.output:
            print_path(args.output)
    return 0
