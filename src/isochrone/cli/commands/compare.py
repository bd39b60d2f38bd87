"""Compare two measurements, with statistics over launches.

Usually, A and B are files that you measured before, with `isochrone measure --launches 5`. With
--measure, both are measured now. `before.jsonl` also means before-1.jsonl, before-2.jsonl …. A and
B may also be folders, or output of OSU, IMB or nccl-tests. A ratio above 1 means that B is slower.
A verdict needs at least two launches of A and of B. --fail-on needs three of each.
"""

import sys
from argparse import ArgumentParser, Namespace
from math import inf
from pathlib import Path
from re import sub

from msgspec import Struct

from isochrone.base.documents import Inline, Schema, Value, record
from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.base.text import printable, warn
from isochrone.changes.comparability import check_comparable
from isochrone.changes.compare import Comparison, compare
from isochrone.changes.components import Part
from isochrone.changes.gate import Gate, Limit, judge
from isochrone.changes.pages.comparison import blocks, complaint, passed
from isochrone.changes.pages.comparison_page import Compared, comparison_page
from isochrone.cli.launches import launched, make_folder, read_command, run_count
from isochrone.cli.long_work import add_yes, agree_to
from isochrone.console.as_json import add_json, print_json
from isochrone.console.input import tell_partial
from isochrone.console.options import (
    add_flag,
    add_force,
    add_journal,
    add_models,
    add_option,
    hide,
    read_percent,
)
from isochrone.console.output import check_output
from isochrone.formats.comparison_sides import Pairing, paired, runs_of
from isochrone.formats.foreign_results import Reading, add_reading
from isochrone.pages.terminal import print_blocks
from isochrone.runfile.run import Run

EXAMPLES = (
    ("did the update slow us down?", "isochrone compare before.jsonl after.jsonl"),
    ("the same as a page to share", "isochrone compare before.jsonl after.jsonl -o ab.html"),
    (
        "exit with 1 if something is more than 5 % slower",
        "isochrone compare before.jsonl after.jsonl --fail-on slower:5%",
    ),
    (
        "measure both now, in turns, so that drift of the machine cancels",
        "isochrone compare --measure 'collective -n 4' 'collective -n 4 --root rotating'",
    ),
)

Sides = tuple[list[Run], list[Run]]
"""The runs of A, and those of B."""

USUAL_RUNS = 5


class _Judged(Struct):
    """A comparison of two measurements.

    Attributes
    ----------
    failed, failed_parts
        Points and parts that --fail-on means.
    cannot_judge
        Why --fail-on cannot be judged.
    """

    failed_parts: list[Part]
    cannot_judge: list[str]
    comparison: Inline[Comparison]
    failed: list[dict[str, Value]]


class _Several(Struct):
    """Comparisons by the name of what was measured."""

    comparisons: dict[str, _Judged]


def _of_prediction() -> Schema:
    from isochrone.applications.cli.with_prediction import Predicted

    return record(Predicted)


DOCUMENTS = {"compare": _Judged | _Several, "compare-with-prediction": _of_prediction}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone compare``."""
    parser.usage = "%(prog)s [options] A B"
    add_option(
        parser,
        "before",
        "A",
        str,
        "file, folder, or FILE,FILE,… (with --measure: arguments of isochrone measure, in quotes)",
    )
    add_option(parser, "after", "B", str, "measurement to compare with A", nargs="*")
    add_option(
        parser,
        "--fail-on",
        "WHAT:PERCENT",
        _limit,
        "exit with 1 if any result of B is over 5%% slower (slower:5%%) or faster (faster:5%%), "
        "or if there are too few launches",
        action="append",
        default=[],
    )
    add_option(
        parser,
        "--margin",
        "PERCENT",
        read_percent,
        "ignore differences below this margin (default: 5%%, or the value of --fail-on if that is "
        "smaller)",
    )
    add_flag(
        parser,
        "--one-launch",
        "judge a single launch of A and of B by the ratio alone (often wrong: launches differ by 5 "
        "to 30 %%)",
        expert=True,
    )
    add_option(
        parser,
        "-o --output",
        "FILE",
        Path,
        "HTML page to write; with --measure: that, or the folder for the run files (default: "
        "compare-runs)",
    )
    add_force(parser)
    add_json(parser)
    group = parser.add_argument_group("to measure A and B now")
    add_flag(
        group, "--measure", "measure A and B now, in turns (quoted commands of isochrone measure)"
    )
    add_option(
        group, "--launches", "N", run_count, f"launches of A, and of B (default: {USUAL_RUNS})"
    )
    add_flag(group, "--quiet", "print no progress", expert=True)
    add_yes(group)
    add_journal(group)
    add_reading(parser, op=True)
    hide(parser, "--map-columns", "--ranks")
    group = parser.add_argument_group("emulated applications compared with models")
    add_flag(
        group,
        "--with-prediction",
        "A is a run of isochrone emulate: compare the time of each application with models",
    )
    add_models(group, required=False)
    hide(parser, "--with-prediction", "--model")


def run(args: Namespace) -> int:
    """Compare, print what changed, and fail if that was asked for."""
    if args.with_prediction:  # models take long to import
        from isochrone.applications.cli.with_prediction import compare_with_prediction

        return compare_with_prediction(args)
    _check(args)
    if args.measure:
        before, after = _measured(args)
    else:
        reading = Reading.of(args)
        before, after = (runs_of(side, reading=reading) for side in (args.before, args.after))
        read_as = (run.header.get("imported", {}).get("read_as") for run in before + after)
        for line in filter(None, dict.fromkeys(read_as)):
            warn(line)
    pairings, unpaired = paired(before, after)
    if unpaired:
        warn(f"not compared, because measured on one side only: {', '.join(unpaired)}", 518)
    documents, compared = {}, []
    good = not (unpaired and args.fail_on)  # what is on one side only cannot be judged
    for pairing in pairings:
        comparison, gate = _compared(pairing, args)
        keys = [comparison.changes.key(k) for failure in gate.failed for k in failure.points]
        compared.append(Compared(pairing.name, comparison, pairing.before, pairing.after))
        documents[pairing.name] = _Judged(gate.failed, gate.doubts, comparison, keys)
        if not args.json:
            if pairing.name:
                print(f"{printable(pairing.name)}:")
            print_blocks(blocks(comparison))
        _tell(pairing.name, comparison, gate, args)
        good &= gate.passed
    if _is_page(args.output):
        from isochrone.pages.html.render import write_page

        write_page(comparison_page(compared), args.output)
        warn(f"wrote the page {args.output}")
    if args.json:
        single = documents.get("")
        print_json(single if single is not None else _Several(documents))
    return 0 if good else 1


def _check(args: Namespace) -> None:
    """Refuse options that exclude each other, and make A and B of all that is given."""
    if not args.after:
        raise InputError(
            "B is missing", hint="to compare with models: --with-prediction --model FILE"
        )
    names = [args.before, *args.after]
    args.before, args.after = names if len(names) == 2 else _two_sides(names)
    if args.model:
        raise InputError("this option needs --with-prediction", where="--model")
    if args.launches is not None and not args.measure:
        raise InputError("this option needs --measure", where="--launches")
    if _is_page(args.output):
        check_output(args.output, force=args.force)
    elif args.output is not None and not args.measure:
        raise InputError(
            "the page is an HTML file, such as ab.html",
            where=args.output,
            hint="a folder needs --measure",
        )


def _is_page(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() in (".html", ".htm")


def _two_sides(names: list[str]) -> list[str]:
    """Return A and B, which may be given by the names of all launches, as a shell lists them."""
    sides = grouped((sub(r"-\d+(?=\.\w+$)", "", name), name) for name in names)
    if len(sides) != 2:
        raise InputError(
            "compare takes two: before.jsonl after.jsonl (all launches of each), or FILE,FILE,…",
            where=names[2],
        )
    warn(f"A and B are the launches of {' and '.join(sides)}")
    return [",".join(files) for files in sides.values()]


def _compared(pairing: Pairing, args: Namespace) -> tuple[Comparison, Gate]:
    """Compare two sides; say which of their runs did not come to their end."""
    for run in (*pairing.before, *pairing.after):
        if not run.complete:
            tell_partial(run.where)
    comparison = compare(
        pairing.before,
        pairing.after,
        margin=args.margin,
        at_most=min((limit.by for limit in args.fail_on), default=inf),
        as_they_are=args.one_launch,
    )
    return comparison, judge(comparison, args.fail_on)


def _tell(name: str, comparison: Comparison, gate: Gate, args: Namespace) -> None:
    """Say in a line each what failed and what cannot be judged, or that nothing did."""
    if not args.fail_on:
        return
    lines = [complaint(failure, comparison) for failure in gate.failed]
    lines += [f"cannot judge: {doubt}" for doubt in gate.doubts]
    for line in lines or [passed(comparison, args.fail_on)]:
        text = printable(f"{name}: {line}" if name else line, 2000)
        print(text, file=sys.stderr if args.json else sys.stdout)


def _measured(args: Namespace) -> Sides:
    """Launch both commands in turns; A B B A, so that a drift of the machine hits both alike."""
    commands = [read_command(text, name) for text, name in ((args.before, "A"), (args.after, "B"))]
    if commands[0].experiment != commands[1].experiment:
        raise InputError(
            f"A measures {commands[0].experiment}, B {commands[1].experiment}", where="B"
        )
    runs = args.launches or USUAL_RUNS
    folder = Path("compare-runs") if _is_page(args.output) else args.output or Path("compare-runs")
    make_folder(folder, parents=True)
    files = [[folder / f"{name}-{k}.jsonl" for k in range(1, runs + 1)] for name in "ab"]
    for path in (*files[0], *files[1]):
        check_output(path, force=args.force)
    agree_to([(command, runs) for command in commands], folder, args)
    sides: Sides = ([], [])
    for k in range(1, runs + 1):
        for side in (0, 1) if k % 2 else (1, 0):
            launched_run = launched(
                commands[side], files[side][k - 1], k, runs, force=args.force, quiet=args.quiet
            )
            sides[side].append(launched_run)
            if k == 1:  # sizes that were chosen are those of all launches to come
                commands = [*commands[:side], *(c.like(launched_run) for c in commands[side:])]
        check_comparable([sides[0][0], sides[1][0]])
    return sides


def _limit(text: str) -> Limit:
    """Read ``slower:5%``."""
    direction, _, percent = text.partition(":")
    try:
        by = read_percent(percent or "none")
    except InputError:
        by = -1.0
    if direction not in ("slower", "faster") or by < 0:
        raise InputError(f"'{text}' is neither slower:PERCENT nor faster:PERCENT")
    return Limit(direction, by)
