"""Extrapolate the run time of a program to more ranks, from recordings on few.

    isochrone scale R4.jsonl R8.jsonl R16.jsonl --to 512 --model messages.json collectives.json
    isochrone scale -n 4,8,16 --to 512 --model m.json -- ./app

The second form also records the (unmodified) program. From the recordings a description of the
program for any number of ranks is derived, and predicted with the models. As a test the largest
recording is predicted from the others; its error widens the interval. If the program does not scale
regularly, the command fails and names the first such call.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from isochrone import models
from isochrone.applications.description import reading
from isochrone.applications.predict.scaling import Scaling, scale
from isochrone.applications.results.recording import trace
from isochrone.base.errors import MeasurementError
from isochrone.base.units import format_seconds
from isochrone.collectives.predict.grid_collectives import Machine
from isochrone.console.as_json import add_json, print_json
from isochrone.console.options import add_mpi, add_option, read_count
from isochrone.console.output import add_output, check_output
from isochrone.measure import recorded, tuned
from isochrone.models.cli.predictions import add_models
from isochrone.pages.page import Block, Column, Row, Table, Warnings
from isochrone.pages.terminal import print_blocks
from isochrone.runfile.file import read

EXAMPLES = (
    ("from three recordings to 512 ranks",
     "isochrone scale r4.jsonl r8.jsonl r16.jsonl --to 512 --model messages.json allreduce.json"),
    ("recorded, and predicted on several numbers of ranks",
     "isochrone scale -n 4,8,16 --to 64,128 --model m.json -o app.yaml -- ./app"),
)  # fmt: skip

MPIEXEC = "mpiexec"


def counts(text: str) -> list[int]:
    """Return numbers of ranks, separated by commas."""
    return [read_count(one) for one in text.split(",")]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone scale``."""
    parser.usage = "%(prog)s (RECORDING ... | -n N,N,N -- PROGRAM) --to N --model FILE ..."
    add_option(parser, "--to", "N,...", counts, "numbers of ranks to extrapolate to", required=True)
    add_option(
        parser,
        "-n --ranks",
        "N,...",
        counts,
        "record PROGRAM on these numbers of ranks, such as 4,8,16",
    )
    add_models(parser, required=True)
    add_option(
        parser,
        "--ppn",
        "N",
        read_count,
        "ranks on each node (default: as measured)",
    )
    add_output(parser, "write the description for any number of ranks (YAML; default: none)")
    add_json(parser)
    add_mpi(parser)
    add_option(parser, "words", "RECORDING", str,
        "run files of isochrone record on several numbers of ranks; with -n: PROGRAM and its "
        "arguments",
        nargs="+")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Record if asked for, generalize, predict, and print."""
    words: list[str] = args.words
    if args.output is not None:
        check_output(args.output, force=args.force)
    paths = [Path(word) for word in words]
    if args.ranks is not None:
        paths = [_recorded(args, words, ranks) for ranks in args.ranks]
    known = [models.read(path) for path in args.model]
    machine = Machine(-(-max(args.to) // args.ppn), args.ppn) if args.ppn else None
    found = scale([trace(read(path)) for path in paths], args.to, known, machine)
    if args.output is not None:
        description = reading.parse(found.document, str(args.output), {"p": str(args.to[-1])})
        reading.write(description, args.output, found.warnings)
    if args.json:
        print_json(_document(found))
    else:
        print_blocks(_blocks(found))
    return 0


def _recorded(args: argparse.Namespace, words: list[str], ranks: int) -> Path:
    """Record the program on so many ranks; return the run file."""
    path = Path(f"{Path(words[0]).name}-{ranks}.jsonl")
    check_output(path, force=args.force)
    command = [MPIEXEC, "-n", str(ranks), *words]
    built = tuned.probe_of(command[0], args.mpicc, args.probe)
    code = recorded.record(command, built, path, args.environ)
    if code or not path.exists():
        raise MeasurementError(f"'{words[0]}' was not recorded on {ranks} ranks (exit code {code})")
    return path


class _Row(msgspec.Struct):
    ranks: int
    seconds: float
    low: float
    high: float


class _Scaled(msgspec.Struct):
    """A program predicted on more ranks than it was recorded on."""

    recorded: list[int]
    predictions: list[_Row]
    held_out_error: float | None
    omitted: float
    warnings: list[str]


DOCUMENTS = {"scale": _Scaled}


def _document(found: Scaling) -> _Scaled:
    rows = [_Row(one.ranks, one.seconds, one.low, one.high) for one in found.predictions]
    return _Scaled(found.recorded, rows, found.held_out, found.omitted, found.warnings)


def _blocks(found: Scaling) -> list[Block]:
    rows = tuple(
        Row((str(one.ranks), format_seconds(one.seconds),
             f"{format_seconds(one.low)} to {format_seconds(one.high)}"))
        for one in found.predictions
    )  # fmt: skip
    title = f"Predicted from recordings on {', '.join(map(str, found.recorded))} ranks"
    if found.held_out is not None:
        title += (
            f"; from the others, {found.recorded[-1]} ranks are predicted {found.held_out:+.1%} off"
        )
    columns = (Column("ranks", right=True), Column("time", right=True), Column("95 %", right=True))
    blocks: list[Block] = [Table(title, columns, rows)]
    return [*blocks, Warnings(tuple(found.warnings))] if found.warnings else blocks
