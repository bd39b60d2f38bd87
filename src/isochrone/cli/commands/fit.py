"""Fit a model (a formula) to measured times.

A family is a set of formulas, such as hockney: latency + bytes / bandwidth. By default, the family
that predicts best is chosen. A table has columns such as op,p,b,seconds: operation, ranks, bytes
and time. Names such as Processes, MessageSize and Latency(us) are understood, too.
"""

import argparse
from pathlib import Path

from isochrone import models
from isochrone.base.text import warn
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import files_of, tell_partial
from isochrone.console.options import (
    add_expert,
    add_flag,
    add_option,
    hide,
    read_percent,
    read_time,
)
from isochrone.console.output import add_output, check_output, print_path
from isochrone.formats.foreign_results import Reading, add_reading
from isochrone.models.pages import explanation
from isochrone.models.pages.model import blocks, brief, model_page
from isochrone.models.pages.rivals import MAX_RIVALS, rivals
from isochrone.models.prediction.doubtful import nowhere_near
from isochrone.models.prediction.file import model_file
from isochrone.pages.terminal import print_blocks

EXAMPLES = (
    ("which formula describes the time of a message?", "isochrone fit sizes.jsonl -o model.json"),
    (
        "how well does the formula fit, and which other families were tried?",
        "isochrone fit sizes.jsonl -v",
    ),
)


DOCUMENTS = {"model": model_file}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone fit``."""
    add_option(
        parser,
        "files",
        "FILE",
        Path,
        "run file (except a latency map), output of OSU, IMB or nccl-tests, table, or file of "
        "Extra-P",
        nargs="+",
    )
    add_option(
        parser,
        "--family",
        "FAMILY",
        str,
        "family of formulas, such as hockney, see docs/model-families.md (default: auto)",
        default="auto",
    )
    add_option(parser, "--op", "OP", str, "fit only this operation (default: all)")
    add_expert(
        parser,
        "--split",
        "WHERE",
        str,
        "breakpoints of the formula: p:4 or p*b:64KiB (given), p (search along p), none; may be "
        "repeated (default: search)",
        action="append",
    )
    add_expert(
        parser,
        "--known-breakpoint",
        "WHERE",
        str,
        "known switches of the library's algorithm: b:12KiB,512KiB or p:8, the largest values "
        "before them; may be repeated",
        action="append",
        default=[],
    )
    add_expert(
        parser,
        "--tolerance",
        "PERCENT",
        read_percent,
        "do not split a segment for deviations below this (default: 1%%)",
        default=0.01,
    )
    add_expert(
        parser,
        "--weights",
        None,
        str,
        "minimise relative deviations (default), or deviations in seconds",
        choices=["relative", "absolute"],
        default="relative",
    )
    add_flag(parser, "--robust", "give outliers less weight (Huber weights)", expert=True)
    add_flag(
        parser,
        "--rivals",
        "list the most probable rival formulas, which fit equally well, and their predictions "
        "outside the measured range; with -v all",
    )
    add_flag(
        parser,
        "--explain",
        "explain why this formula was chosen, and which measurements would confirm it",
    )
    add_expert(
        parser,
        "--max-ranks",
        "N",
        int,
        "with --explain: largest number of ranks you can start (default: twice the largest "
        "measured)",
    )
    add_expert(
        parser,
        "--budget",
        "TIME",
        read_time,
        "with --explain: time for all measurements, such as 5m (default: that of one)",
        default=0.0,
    )
    add_flag(
        parser,
        "-v --verbose",
        "also print all families tried, deviations, and intervals of coefficients",
    )
    add_option(
        parser,
        "--page",
        "FILE",
        Path,
        "write an HTML page: the formula, its picture, and its deviations",
    )
    add_json(parser)
    add_reading(parser, op=False)
    hide(parser, "--ranks")
    add_output(parser, "model file to write (default: none)")


def run(args: argparse.Namespace) -> int:
    """Fit, print what was found, and write the model file."""
    files = files_of(args.files)
    for path in filter(None, (args.output, args.page)):
        check_output(path, force=args.force, inputs=files)
    data, left_out = models.load_usable(Reading.of(args).measured(files), op=args.op)
    for line in data.read_as:
        warn(line)
    for error in left_out:
        warn(f"skipped: {error}", 510)
    for path in data.partial:
        tell_partial(path)
    splits = models.parse_splits(args.split, args.tolerance, args.known_breakpoint)
    model = models.fit(data, args.family, splits=splits, weights=args.weights, robust=args.robust)
    model.warnings += nowhere_near(model.segments, splits.known)
    if args.explain:
        model.extra["explanation"] = explanation.document(model, args.max_ranks, args.budget)
    if args.output:
        models.write(model, args.output)
    if args.page:
        from isochrone.pages.html.render import write_page

        write_page(model_page(model), args.page)
    if args.json:
        print_json(models.document(model))
    else:
        print_blocks(blocks(model) if args.verbose else brief(model))
        if args.rivals:
            print_blocks([rivals(model, None if args.verbose else MAX_RIVALS)])
        if args.explain:
            print_blocks(explanation.explanation(model.extra["explanation"]))
        if args.output:
            print_path(args.output)
    return 0
