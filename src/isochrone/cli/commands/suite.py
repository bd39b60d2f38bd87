"""Run several experiments within a time budget.

If the time is too short, the suite measures fewer repetitions, then fewer points (such as message
sizes). If you repeat the command, it measures only what is missing.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic

from rich.table import Table

from isochrone.base.errors import InputError
from isochrone.base.text import (
    command_line,
    printable_path,
    shell_word,
    warn,
    whole_number,
)
from isochrone.cli import congestion
from isochrone.cli.launches import make_folder, measure_in, run_count
from isochrone.cli.long_work import add_yes, agree, duration
from isochrone.console.measuring import add_setup, setup_of
from isochrone.console.options import add_expert, add_flag, add_option, hide, read_time
from isochrone.console.output import print_path
from isochrone.measure import presets
from isochrone.measure.estimate import Cost, Expected, share_out
from isochrone.measure.presets import Suite
from isochrone.measure.setup import Setup
from isochrone.measure.suites import Planned, estimates, runs_of
from isochrone.pages import page, terminal
from isochrone.pages.html.render import write_report
from isochrone.runfile.file import read
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, Point, curves, is_sweep

_SIZES = (1024, 65536, 1048576)
"""Bytes that all benchmarks have, of columns of the table."""

EXAMPLES = (
    ("an overview of this machine, in two minutes", "isochrone suite quick"),
    ("what a prediction for 4,096 ranks needs", "isochrone suite --for 'allreduce at 4096'"),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone suite``."""
    suites = presets.SUITES
    add_option(
        parser,
        "suite",
        "SUITE",
        str,
        "; ".join(f"{suite.name}: {suite.summary}" for suite in suites.values())
        + f"; {congestion.NAME}: how congestion delays others, five minutes",
        choices=[*suites, congestion.NAME],
        nargs="?",
    )
    add_option(
        parser,
        "--for",
        "QUESTION",
        str,
        "instead of SUITE, measure what is needed to predict QUESTION, such as 'allreduce at 4096' "
        "(ranks)",
        dest="question",
    )
    add_option(
        parser,
        "-n --ranks",
        "LIST",
        _rank_counts,
        "numbers of ranks, such as 2,4,8 (default: all available)",
    )
    add_option(
        parser,
        "--budget",
        "TIME",
        read_time,
        "time for all measurements, such as 5m (default: that of SUITE)",
    )
    add_option(
        parser,
        "-o --output",
        "FOLDER",
        Path,
        "folder for the run files (default: the name of the suite)",
    )
    add_expert(
        parser,
        "--like",
        "FOLDER",
        Path,
        "use the message sizes of an earlier suite in FOLDER, for a comparison (default: none)",
    )
    add_option(
        parser,
        "--launches",
        "N",
        run_count,
        "number of launches, each with a folder FOLDER/launch-1 …; for isochrone compare, use 5 "
        "or more (default: 1)",
        default=1,
    )
    add_yes(parser)
    add_flag(parser, "--quiet", "print no progress")
    add_setup(parser)
    hide(parser, "--mpicc", "--launcher", "--platform", "--quiet")


def run(args: Namespace) -> int:
    """Run the suite as often as was asked for."""
    if (args.suite is None) == (args.question is None):
        raise InputError("neither a suite nor a question is given", hint="isochrone suite quick")
    setup = setup_of(args)
    if args.suite == congestion.NAME:
        _congestion(args, setup)
        return 0
    if args.question is None:
        suite = presets.SUITES[args.suite]
    else:
        suite, question_ranks = presets.for_question(args.question)
        args.ranks = args.ranks or _ranks_for(question_ranks, setup.default_ranks())
    folder = args.output or Path(suite.name)
    if args.launches == 1:
        _suite(args, suite, setup, folder, args.like)
        return 0
    if not args.dry_run:
        make_folder(folder)
    first = folder / "launch-1"
    for k in range(1, 2 if args.dry_run else args.launches + 1):
        like = args.like if k == 1 else first
        _suite(args, suite, setup, folder / f"launch-{k}", like, args.launches if k == 1 else 0)
    return 0


def _congestion(args: Namespace, setup: Setup) -> None:
    """Measure victims beside congestors on the largest number of ranks, and say the impact."""
    folder = args.output or Path(congestion.NAME)
    ranks = max(args.ranks or [setup.default_ranks()])
    max_time = args.budget or congestion.CONGESTION_BUDGET
    if not args.dry_run:
        agree(Expected(max_time, "at most"), args)
        make_folder(folder)
    paths = congestion.files(folder, ranks)
    congestion.measure(setup, ranks, paths, max_time, dry_run=args.dry_run, quiet=args.quiet)
    if not args.dry_run:
        terminal.print_blocks([congestion.impact(paths.values())])


def _ranks_for(asked: int, available: int) -> tuple[int, ...]:
    """Return numbers of ranks from which a time on so many can be predicted.

    Raises
    ------
    InputError
        If there are too few processors for several numbers of ranks.
    """
    ranks = presets.ranks_of_all_classes(min(asked, available))
    if len(ranks) < 2 and asked > available:
        raise InputError(
            f"{available} ranks are too few to predict {asked}: several numbers are needed",
            hint="start it in a larger job, with --platform, or with -n 2,4,8 if ranks may share "
            "processors",
        )
    return ranks


def _suite(
    args: Namespace,
    suite: Suite,
    setup: Setup,
    folder: Path,
    like: Path | None,
    times: int = 1,
) -> None:
    """Plan, say the plan, measure. It is agreed to for so many ``times``; 0: it was."""
    began = monotonic()
    runs = runs_of(suite, setup, args.ranks, folder, like, warn)
    if args.dry_run:
        for planned in runs:
            print(command_line(planned.launchable(setup).tokens(planned.path)))
        return
    make_folder(folder)
    missing = [
        planned
        for planned in runs
        if not planned.is_complete(lambda text: print(printable_path(text)))
    ]
    if len(missing) < len(runs):
        done = len(runs) - len(missing)
        print(f"{printable_path(folder)}/ already contains {done} of {len(runs)} runs")
    if not missing:
        return
    max_time = args.budget or suite.max_time
    costs = estimates(setup, missing)
    if not suite.optional:  # else the most important ones are first
        cheapest_first = sorted(range(len(costs)), key=lambda k: costs[k].full)
        missing, costs = [missing[k] for k in cheapest_first], [costs[k] for k in cheapest_first]
    needed = sum(cost.startup + cost.full for cost in costs)
    left = max_time - (monotonic() - began)
    _print_plan(suite, folder, missing, costs, needed, left, max_time)
    agree(Expected(needed * times).limited(max_time * times), args)
    tell = partial(print, flush=True)
    measure_in(
        setup,
        missing,
        costs,
        began + max_time,
        tell,
        quiet=args.quiet,
        all_needed=not suite.optional,
    )
    spent = monotonic() - began
    if suite.optional:
        _report(runs, folder)
        print(f"\nDone in {duration(spent)}.")
        return
    run_files = f"{shell_word(str(folder))}/*.jsonl"
    print(f"\nDone in {duration(spent)}. Next: isochrone report {run_files} -o report.html")


def _report(planned_runs: Sequence[Planned], folder: Path) -> None:
    """Print what OSU would, for the smallest and the largest size, and write the report."""
    runs, without = [], []
    for planned in planned_runs:
        run = read(planned.path) if planned.path.exists() else None
        if run is None or (is_sweep(run) and not run.tables.get("sample")):
            without.append(planned.preset.name)
        else:
            runs.append(run)
    if without:
        warn(
            f"no result, as the time was too short or MPI cannot do it: {', '.join(without)}", 4000
        )
    rows = [
        page.Row((run.notes["preset"], name, str(ranks), *values))
        for run in runs
        for name, ranks, values in _measured(run)
    ]
    sizes = (f">{size:,} B" for size in _SIZES)
    columns = page.columns_of("benchmark", "of", ">ranks", ">smallest size", *sizes, ">overlap")
    title = "As OSU prints it: means over repetitions and ranks; MB/s are 1,000,000 bytes"
    doubts = {
        str(warning["text"]): None
        for run in runs
        for warning in run.warnings
        if warning.get("code") == "oversubscribed"
    }
    blocks = (page.Warnings(tuple(doubts)), page.Table(title, columns, tuple(rows)))
    terminal.print_blocks(blocks)
    path = folder / "report.html"
    try:
        write_report(runs, path, before=[page.Section("OSU Micro-Benchmarks", blocks)])
    except InputError as error:  # the figures are optional
        warn(error)
    else:
        print_path(path)


def _measured(run: Run) -> Iterator[tuple[str, int, list[str]]]:
    """Yield name, ranks, and the values of a row, for each curve of a sweep."""
    if not is_sweep(run):
        yield run.experiment, run.size, ["see below", *("" for _ in _SIZES), ""]
        return
    for curve in curves(run):
        if not curve.of_ranks or curve.p == run.size:
            yield curve.name, curve.p, _values(curve, rated="--window" in run.notes["arguments"])


def _values(curve: Curve, *, rated: bool) -> list[str]:
    """Return times or (of a window) bandwidths of the smallest and other sizes, and overlap."""
    points = [point for point in curve.points if point.bytes or not rated]

    def value(point: Point) -> str:
        if rated and point.mean_bandwidth is not None:
            return f"{point.mean_bandwidth / 1e6:,.2f} MB/s"
        mean = point.mean if point.rank_mean is None else point.rank_mean
        return f"{mean * 1e6:,.2f} us"

    of_size = {point.bytes: value(point) for point in points}
    first = [f"{f'{size:,} B: ' if size else ''}{text}" for size, text in of_size.items()][:1]
    overlap = points[-1].overlap if points else None
    return [
        *(first or [""]),
        *(of_size.get(size, "") for size in _SIZES),
        "" if overlap is None else f"{overlap:.0%}",
    ]


def _print_plan(
    suite: Suite,
    folder: Path,
    runs: Sequence[Planned],
    costs: Sequence[Cost],
    needed: float,
    left: float,
    max_time: float,
) -> None:
    """Say what will be measured, how long it will take, and what there is no time for."""
    shares = share_out(left, costs)
    print(
        f"suite {suite.name}: {len(runs)} runs into {printable_path(folder)}/,"
        f" about {duration(needed)} of at most {duration(max_time)}"
    )
    table = Table(box=None, pad_edge=False, show_edge=False)
    for name in ("run", "ranks", "about", "at most"):
        table.add_column(name, justify="left" if name == "run" else "right")
    table.add_column("what")
    for planned, cost, share in zip(runs, costs, shares, strict=True):
        table.add_row(
            planned.preset.name,
            str(planned.ranks),
            duration(cost.startup + cost.full),
            duration(cost.startup + share.seconds),
            planned.preset.summary,
        )
    terminal.console().print(table)
    if any(share.points_omitted for share in shares):
        print("Not enough time: minimum repetitions, and some points are omitted.")
    elif any(share.repeats_reduced for share in shares):
        print("Not enough time: fewer repetitions.")
    print(flush=True)


def _rank_counts(text: str) -> tuple[int, ...]:
    """Read numbers of ranks."""
    numbers = {whole_number(word) or 0 for word in text.split(",")}
    if min(numbers) < 2:
        raise InputError(f"'{text}' is not a list of numbers of ranks from 2")
    return tuple(sorted(numbers))
