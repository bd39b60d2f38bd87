"""Model options and output of ``isochrone tune collectives``."""

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import msgspec

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collectives.grid_collectives import LIBRARY, OPERATIONS
from isochrone.collectives.predicted_grids import Machine
from isochrone.collectives.tune.proof import Seen
from isochrone.collectives.tune.times import Place, TuningTimes
from isochrone.collectives.tune.tuning import Saving, modelled_savings
from isochrone.collectives.tuning_file import LibraryRule
from isochrone.collectives.tuning_table import Rule
from isochrone.console.decision_page import VERDICT, in_use
from isochrone.console.options import add_option, hide
from isochrone.models.cli.predictions import add_values
from isochrone.pages.page import Block, Row, Section, Sentence, Table, Warnings, columns_of


def add_modelled(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of a model where nothing was measured."""
    group = parser.add_argument_group("choices without a measurement")
    add_option(
        group,
        "--model",
        "FILE",
        Path,
        "model file (from fit -o), used where nothing was measured (default: none)",
    )
    add_values(
        group,
        ranks="numbers of ranks, such as 64,128; with --model",
        ppn="ranks on each node; with --model",
        bytes="block of a rank, such as 1KiB:1MiB:x4; with --model",
    )
    hide(parser, "--model", "--ranks", "--ppn", "--bytes")


def modelled(
    args: argparse.Namespace, times: TuningTimes
) -> tuple[list[Saving], dict[Place, list[int]], str]:
    """Return the choices of a model for unmeasured numbers of ranks.

    Returns
    -------
    found, sizes, origin
        Choices, requested sizes by place, and the origin of the model.
    """
    if args.model is None:
        if args.ranks or args.bytes or args.ppn:
            raise InputError("--ranks, --ppn and --bytes need --model")
        return [], {}, ""
    if not args.ranks or not args.bytes or not args.ppn:
        raise InputError("this option needs --ranks, --ppn and --bytes", where="--model")
    model = models.read(args.model)
    model_ops = [str(op) for op in model.selectors.get("op", ())] or [str(model.constant.get("op"))]
    savings = []
    sizes = {}
    ops = [op for op in model_ops if op in OPERATIONS]
    for op, ranks, ppn in product(ops, args.ranks, args.ppn):
        machine = Machine(-(-ranks // ppn), min(ppn, ranks))
        op_place = Place(op, ranks, machine.nodes)
        if op_place not in times.times:
            sizes[op_place] = sorted(set(args.bytes))
            savings += modelled_savings(model, op, ranks, sizes[op_place], machine, args.min_gain)
    return savings, sizes, f"model of {model.origin} times" if model.origin else "model"


class Tuned(msgspec.Struct):
    """Chosen grids or algorithms."""

    mpi: str
    origin: str
    savings: list[Saving]
    warnings: list[str]
    rules: Sequence[Rule | LibraryRule] = ()
    files: list[Path] = []
    use: list[str] = []
    verified: list[Seen] = []


def sections(document: Tuned, min_gain: float) -> list[Section]:
    """Say what was chosen, what it saves, and how to use it."""
    wanted, library = f"{100 * min_gain:g} %", printable(document.mpi.rstrip("."), 80)
    verdict: list[Block] = []
    if not document.savings:
        verdict.append(
            Sentence(
                f"{library}: no rule. No measured algorithm saves more than {wanted} with 95 % "
                f"confidence.",
            )
        )
    else:
        count = len(document.rules)
        rules = "1 rule that saves" if count == 1 else f"{count} rules that save"
        numbers = " or ".join(map(str, sorted({saving.algorithms for saving in document.savings})))
        against = f"the best of its default and {numbers} of its algorithms"
        if numbers == "0":
            against = "the library's default, the only reference"
        verdict.append(
            Sentence(
                f"{library}: {rules} more than {wanted} of the time of {against} "
                f"({document.origin} times)",
                "strong",
            )
        )
        verdict.append(table(document.savings))
    verdict += [Sentence(f"Written: {printable(file, 400)}") for file in document.files]
    if document.rules and document.use:
        verdict += in_use(document.use)
    verdict += [
        Sentence(
            printable(
                f"{proof.op} on {proof.ranks} ranks, {format_bytes(proof.bytes)}, "
                f"{proof.choice}: {proof.verdict}: {proof.why}",
                400,
            )
        )
        for proof in document.verified
    ]
    verdict.append(Warnings(tuple(printable(text, 400) for text in document.warnings)))
    return [Section(VERDICT, tuple(verdict))]


def table(savings: Sequence[Saving]) -> Table:
    """Tabulate the default, the choice and what it saves, by operation and size."""
    columns = columns_of(
        "operation",
        ">ranks",
        ">nodes",
        ">size",
        ">library",
        ">compared with",
        "choice",
        ">time",
        ">saves",
        ">95 % interval",
    )
    rows = (
        Row(
            (
                printable(saving.place.op, 40),
                str(saving.place.ranks),
                str(saving.place.nodes),
                format_bytes(saving.bytes),
                format_seconds(saving.gain.library),
                "default" if str(saving.against) == LIBRARY else printable(saving.against, 40),
                printable(saving.choice.name, 40),
                format_seconds(saving.gain.chosen),
                f"{100 * saving.gain.part:.0f} %",
                f"{100 * saving.gain.low:.0f} … {100 * saving.gain.high:.0f} %",
            )
        )
        for saving in savings
    )
    return Table("", columns, tuple(rows))
