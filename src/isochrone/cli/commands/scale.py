"""Predict the time of a program on many ranks from recordings on a few.

With -n, the unmodified program is recorded first. Without --model, its messages and collectives are
measured, to fit models. As a test, the recording on the most ranks is predicted from the others:
the larger the error of this test, the wider the interval of the prediction. The command fails if
the calls do not depend on the number of ranks in a regular way.
"""

import re
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from isochrone import models
from isochrone.applications.description import reading
from isochrone.applications.pages.positions import listing
from isochrone.applications.predict.levels import Levels, MappedMachine
from isochrone.applications.predict.needed import MAP, sweeps
from isochrone.applications.predict.scaling import Scaling, scale
from isochrone.applications.results.listing import Position, positions
from isochrone.applications.results.recorded_calls import sites
from isochrone.applications.results.recording import trace
from isochrone.applications.traces.generalizing import generalized
from isochrone.applications.traces.structure import structure
from isochrone.applications.traces.trace import Trace
from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import command_line, printable, warn
from isochrone.base.units import format_seconds
from isochrone.cli.launches import make_folder, measure_in
from isochrone.cli.long_work import duration
from isochrone.cli.program import for_ranks
from isochrone.console.as_json import add_json, print_json
from isochrone.console.decision_page import VERDICT, add_page, check_page_file, tell_decision
from isochrone.console.measuring import add_setup, setup_of
from isochrone.console.options import (
    add_expert,
    add_flag,
    add_models,
    add_option,
    hide,
    read_count,
    read_time,
    values_of,
)
from isochrone.console.output import add_output, check_output
from isochrone.measure import recorded
from isochrone.measure.estimate import Cost
from isochrone.measure.setup import Setup
from isochrone.measure.source_lines import source_lines
from isochrone.measure.suites import Planned, estimates
from isochrone.models import Model
from isochrone.models.pages.model import sections_of
from isochrone.pages.page import Later, Row, Section, Sentence, Table, Warnings, columns_of
from isochrone.pages.terminal import print_blocks
from isochrone.pages.words import plural
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

EXAMPLES = (
    (
        "how long will ./app take on 128 and on 512 ranks?",
        "isochrone scale -n 4,8,16 --to 128,512 -o app.yaml -- ./app",
    ),
    (
        "a program whose arguments depend on the number of ranks",
        "isochrone scale -n 8,27,64 --to 125 -- ./stencil3d {grid3}",
    ),
    ("what was recorded, position by position", "isochrone scale --list r16.jsonl"),
    (
        "the same from three recordings and fitted models",
        "isochrone scale r4.jsonl r8.jsonl r16.jsonl --to 512 --model messages.json allreduce.json",
    ),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone scale``."""
    parser.usage = "%(prog)s [options] --to N,... {-n N,... -- PROGRAM | RECORDING ...}"
    add_option(parser, "--to", "N,...", values_of("ranks"), "numbers of ranks to predict")
    add_option(
        parser,
        "-n --ranks",
        "N,...",
        values_of("ranks"),
        "numbers of ranks to record PROGRAM on, such as 4,8,16",
    )
    add_flag(
        parser, "--list", "print the recorded program: calls, partners, time and lines of code"
    )
    add_models(parser, required=False)
    add_option(
        parser,
        "--budget",
        "TIME",
        read_time,
        "time for all measurements (default: 5m)",
        default=300.0,
    )
    add_option(parser, "--ppn", "N", read_count, "ranks on each node (default: as measured)")
    add_option(
        parser,
        "--map",
        "FILE",
        Path,
        "latency map of the nodes that the prediction is for, in the order in which ranks are "
        "dealt out to them (default: measured)",
    )
    add_expert(
        parser,
        "--folder",
        "DIR",
        Path,
        "folder of recordings, measurements and models (default: isochrone-scale, in the folder "
        "of -o)",
    )
    add_output(
        parser,
        "application description to write, for isochrone emulate and isochrone predict "
        "app (default: none)",
    )
    add_page(parser, "the times, the test, the recorded calls and the models")
    add_json(parser)
    add_flag(parser, "--quiet", "print no progress")
    add_setup(parser)
    hide(parser, "--mpicc", "--launcher", "--ppn", "--quiet", "--dry-run")
    add_option(
        parser,
        "words",
        "RECORDING",
        str,
        "run files of isochrone record, one for each number of ranks; in the arguments of PROGRAM, "
        "{ranks} is the number of ranks, {grid2}, {grid3} or {grid4} the sides of a grid of them",
        nargs="+",
    )


def run(args: Namespace) -> int:
    """Record if asked for, generalize, predict, and print."""
    arguments: list[str] = args.words
    if not args.to and not args.list:
        raise InputError("the numbers of ranks to predict are missing", hint="--to 64,128")
    if args.to and args.list and args.json:
        raise InputError("--list --json prints no predictions", where="--to")
    if args.output is not None:
        check_output(args.output, force=args.force)
    check_page_file(args)
    args.folder = args.folder or (args.output or Path("x")).with_name("isochrone-scale")
    starts = args.ranks is not None or (args.to and not args.model)
    setup = setup_of(args) if starts else None
    if setup is not None and args.ranks is not None:
        if args.dry_run:
            for ranks in args.ranks:
                print(command_line(setup.program(for_ranks(arguments, ranks), ranks)))
            return 0
        runs = [_recorded(args, setup, arguments, ranks) for ranks in args.ranks]
    else:
        runs = [read(Path(argument)) for argument in arguments]
    if args.list:
        largest = max(runs, key=lambda recording: recording.size)
        if args.json:
            code = source_lines(sites(largest), largest.about.started)
            print_json(Positions(positions(largest)[0], code))
        else:
            print_blocks(listing(largest))
    return _predict(args, setup, runs) if args.to else 0


def _predict(args: Namespace, setup: Setup | None, runs: Sequence[Run]) -> int:
    """Generalize, measure if there are no models, predict, and print."""
    largest = max(runs, key=lambda recording: recording.size)
    traces = [trace(recording) for recording in runs]
    try:  # before anything is measured
        generalized([structure(recorded_trace) for recorded_trace in traces], traces[-1].name)
    except InputError:
        if not (args.json or args.list):
            print_blocks(listing(largest))
        raise
    hosts = largest.hosts
    fitted = [models.read(path) for path in args.model]
    levels = Levels.of_map(read(args.map)) if args.map else None
    ppn = args.ppn
    if setup is not None and not fitted:
        if setup.launcher.stands_alone and any(
            recording.origin == "simulated" for recording in runs
        ):
            raise InputError(
                "the recordings are simulated", hint="give their --platform, or models with --model"
            )
        fitted, measured_map = _measured(args, setup, traces, hosts)
        levels = Levels.of_map(read(measured_map)) if measured_map else levels
        if ppn is None and len(set(hosts)) > 1:
            ppn = max(Counter(hosts).values())
    machine = MappedMachine(
        -(-max(args.to) // ppn) if ppn else 0, ppn or 0, levels=levels or Levels.unknown(fitted)
    )
    scaling = scale(traces, args.to, fitted, machine)
    if args.output is not None:
        description = reading.parse(scaling.described, str(args.output))
        reading.write(description, args.output, _counted(scaling.warnings))
    name = printable(traces[-1].name, 60)
    most = scaling.predictions[-1]
    tell_decision(
        args,
        scaling,
        f"{name} on {most.ranks} ranks: {format_seconds(most.seconds)}",
        _sections(scaling, largest, fitted),
        f"recorded on {_listed_ranks(scaling)} ranks",
    )
    return 0


def _recorded(args: Namespace, setup: Setup, arguments: list[str], ranks: int) -> Run:
    """Record the program on so many ranks."""
    make_folder(args.folder, parents=True)
    path = args.folder / f"{Path(arguments[0]).name}-{ranks}.jsonl"
    if path.exists() and not args.force:
        warn(f"{path} was recorded before and is used again; --force records anew")
        return read(path)
    if "/" in arguments[0] and not Path(arguments[0]).exists():
        raise InputError(f"there is no program '{arguments[0]}'")
    program = setup.program(for_ranks(arguments, ranks), ranks)
    code = recorded.record(program, setup.built, path, args.environ)
    if code or not path.exists():
        raise MeasurementError(
            f"'{arguments[0]}' was not recorded on {ranks} ranks (exit code {code})",
            hint=setup.launcher.compiler and f"compile it with {setup.launcher.compiler}",
        )
    return read(path)


def _measured(
    args: Namespace, setup: Setup, traces: Sequence[Trace], hosts: Sequence[str]
) -> tuple[list[Model], Path | None]:
    """Measure what the program calls, and fit it; return models, and the file of the map."""
    folder = args.folder / f"{traces[0].name}-models"
    make_folder(folder, parents=True)
    began = time.monotonic()
    max_ranks = min(max(args.to), setup.launcher.ranks(setup.options) or 0)
    planned = [
        Planned(preset, ranks, folder)
        for preset, ranks in sweeps(
            traces,
            hosts,
            max(len(hosts), max_ranks),
            max(args.to),
            simulated=not setup.launcher.stands_alone,
            mapped=args.map is not None,
        )
    ]
    planned.sort(key=lambda plan: plan.ranks)  # if the time is not enough, the smallest are there
    missing = [plan for plan in planned if not plan.is_complete(warn)]
    if missing:
        if not args.quiet:
            limit = duration(args.budget)
            warn(f"{len(missing)} measurements follow, in {folder}/ (at most {limit})")
        missing, costs = _estimated(setup, missing)
        end = began + args.budget
        measure_in(setup, missing, costs, end, warn, quiet=args.quiet, all_needed=False)
    fitted = []
    files_of = grouped((plan.preset.name, plan.path) for plan in planned if plan.path.exists())
    measured_map = files_of.pop(MAP, [None])[0]
    for name, files in files_of.items():
        model = _fitted(name, files)
        if model is not None:
            models.write(model, folder / f"{name}.json")
            fitted.append(model)
    return fitted, measured_map


def _fitted(name: str, files: Sequence[Path]) -> Model | None:
    """Return the best model of what was measured; a tree where none is good, with its errors."""
    for family in ("auto", "tree"):
        try:
            return models.fit(models.load(files), family)
        except InputError as error:  # predictions say what they need and do not have
            warn(f"{name}: {error}")
    return None


def _estimated(setup: Setup, runs: list[Planned]) -> tuple[list[Planned], list[Cost]]:
    """Return the measurements whose time can be estimated, with fewer ranks if need be."""
    while True:
        try:
            return runs, estimates(setup, runs)
        except MeasurementError as error:
            max_ranks = max(plan.ranks for plan in runs)
            fewer = [plan for plan in runs if plan.ranks < max_ranks]
            if not fewer:
                raise
            warn(f"nothing is measured on {max_ranks} ranks: {error}")
            runs = fewer


class Positions(Record):
    """A program as it was recorded.

    Attributes
    ----------
    positions
        In their order.
    sites
        Lines of the code, by their numbers in `positions`.
    """

    positions: list[Position]
    sites: list[str]


DOCUMENTS = {"scale": Scaling, "scale-list": Positions}


_AT_A_POSITION = re.compile(r"position (?P<position>[\d.]+) (?P<what>.*)")


def _counted(warnings: Sequence[str]) -> list[str]:
    """Return warnings, those that differ only in position and numbers once, with how often."""
    alike: dict[str, list[str]] = {}
    for text in warnings:
        at = _AT_A_POSITION.fullmatch(text)
        alike.setdefault(re.sub(r"[\d.]+", "#", at["what"]) if at else text, []).append(text)
    return [
        first + (f" (likewise at {plural(len(similar), 'more position')})" if similar else "")
        for first, *similar in alike.values()
    ]


def _listed_ranks(found: Scaling) -> str:
    return ", ".join(map(str, found.recorded))


def _sections(found: Scaling, largest: Run, fitted: Sequence[Model]) -> list[Section]:
    """Return the times and the test; for the page also what they are made of."""
    rows = tuple(
        Row(
            (
                str(prediction.ranks),
                format_seconds(prediction.seconds),
                f"{format_seconds(prediction.low)} to {format_seconds(prediction.high)}",
            )
        )
        for prediction in found.predictions
    )
    error = found.held_out_error
    test = (
        []
        if error is None
        else [
            Sentence(
                f"Test: predicted from the smaller recordings, the time on {found.recorded[-1]} "
                f"ranks is {abs(error):.1%} too {'long' if error > 0 else 'short'}"
            )
        ]
    )
    columns = columns_of(">ranks", ">time", ">95 % interval")
    title = f"Predicted from recordings on {_listed_ranks(found)} ranks"
    closing = tuple(
        Row((str(ranks), f"{100 * error:+.1f} %"))
        for ranks, error in zip(found.recorded, found.closing_errors, strict=True)
    )
    checked = Table(
        "Recorded programs, predicted from their description",
        columns_of(">ranks", ">error"),
        closing,
    )
    warnings = Warnings(tuple(_counted(found.warnings)))
    return [
        Section(VERDICT, (*test, Table(title, columns, rows), warnings)),
        Section("Recorded calls", (Later(lambda: [*listing(largest), checked]),)),
        *sections_of(fitted),
    ]
