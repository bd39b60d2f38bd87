"""Find collective algorithms that make a program faster.

The command records the program, measures its collectives with other algorithms, and launches the
program in turns with and without the fastest ones. It keeps only what makes the program faster.
The program runs many times, and writes its files each time (see --before).
"""

import argparse
from pathlib import Path

from isochrone.applications.results import recording
from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.text import command_line, printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.cli.launches import make_folder
from isochrone.cli.program import add_before, add_program, before_of, command_of
from isochrone.collective_io.cli.placing import gained, reporter
from isochrone.collectives.cli.tuning import table
from isochrone.collectives.tune.program import TunedProgram, Wish, tune, used
from isochrone.console.as_json import add_json, json_text
from isochrone.console.decision_page import (
    VERDICT,
    add_page,
    check_page_file,
    in_use,
    tell_decision,
)
from isochrone.console.options import (
    add_force,
    add_option,
    count_of,
    hide,
    read_percent,
    read_time,
)
from isochrone.console.output import check_output
from isochrone.measure import tuned
from isochrone.measure.program import Program, launcher_words
from isochrone.pages.page import Block, Section, Sentence, Warnings
from isochrone.runfile.run import Run

EXAMPLES = (
    (
        "do other collectives make ./app faster?",
        "isochrone tune program -o tuned -- mpiexec -n 16 ./app",
    ),
    (
        "delete the output before each launch; measure for ten minutes",
        "isochrone tune program --before 'rm -f out.dat' --budget 10m -- srun -n 64 ./app",
    ),
)

USUAL = Path("tuned-program")
REPORT = "report.json"
FIRST_LIMIT = 3600.0

DOCUMENTS = {"tune-program": TunedProgram}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone tune program``."""
    add_option(
        parser,
        "-o --output",
        "FOLDER",
        Path,
        f"folder for results (default: {USUAL})",
        default=USUAL,
    )
    add_force(parser)
    add_option(
        parser,
        "--launches",
        "N",
        count_of("launches of at least 3", 99),
        "launches of each measurement, and of the program (default: 5)",
        default=5,
    )
    add_option(
        parser,
        "--budget",
        "TIME",
        read_time,
        "time for all measurements (default: 3m)",
        default=180.0,
    )
    add_option(
        parser,
        "--min-gain",
        "PERCENT",
        read_percent,
        "replace a default only if at least this share of its time is saved (default: 5%%)",
        default=0.05,
    )
    add_before(parser)
    add_page(parser, "the verdict, times before and after, and what was tried")
    add_json(parser)
    add_program(parser)
    hide(parser, "--mpicc", "--min-gain")


def run(args: argparse.Namespace) -> int:
    """Record, measure, choose, prove, and say what is kept."""
    command = command_of(args, "isochrone tune program -- mpiexec -n 4 ./app")
    check_page_file(args)
    built = tuned.probe_of(command[0], args.mpicc, args.probe)
    program = Program(command, args.environ, built, before_of(args), "record")
    folder: Path = args.output
    make_folder(folder)
    check_output(folder / REPORT, force=args.force, inputs=[])
    make_folder(folder / "runs")
    tell = reporter(quiet=args.json)
    recorded_run, document, start_tokens = _recorded(program, folder)
    try:
        wish = Wish(args.launches, args.budget, args.min_gain)
        tune(program, start_tokens, recorded_run, folder, wish, document, tell)
    finally:
        write_text(folder / REPORT, json_text(document, indent=1))
    title = f"Collectives of {printable(Path(start_tokens[0]).name, 60)}"
    tell_decision(args, document, title, sections(document, folder), command_line(command))
    return 0


def _recorded(program: Program, folder: Path) -> tuple[Run, TunedProgram, list[str]]:
    """Launch the program once; return what it calls, and the words that start its ranks."""
    path = folder / "recording.jsonl"
    recorded_run, seconds = program.record(path, {}, path.with_suffix(".log"), FIRST_LIMIT)
    start_tokens = launcher_words(program.command, recorded_run.notes.get("command", ""))
    if start_tokens is None:
        raise InputError(
            "no launcher was found in the command",
            where=" ".join(program.command),
            hint="write for example: -- mpiexec -n 4 ./app",
        )
    calls = [
        (operation.op, operation.bytes, operation.members, operation.calls, operation.seconds)
        for operation in recording.operations(recorded_run)
    ]
    operations, others = used(calls, recorded_run.size)
    busy = (
        sum(rank_time.seconds for rank_time in recording.rank_times(recorded_run))
        / recorded_run.size
    )
    share = sum(usage.seconds for usage in operations) / busy if busy > 0 else 0.0
    document = TunedProgram(
        list(program.command), recorded_run.size, seconds, share, operations, others
    )
    return recorded_run, document, start_tokens


def sections(document: TunedProgram, folder: Path) -> list[Section]:
    """Return what the program calls, what was tried, what is kept."""
    calls = [
        Sentence(
            f"{document.ranks} ranks, {format_seconds(document.seconds)}: "
            f"{100 * document.share:.0f} % in collective operations"
        )
    ]
    calls += [
        Sentence(
            f"  {printable(usage.op, 40)}, {format_bytes(usage.bytes)}: {usage.calls} calls, "
            f"{format_seconds(usage.seconds)}"
        )
        for usage in document.operations[:8]
    ]
    verdict: list[Block] = []
    for way in document.ways:
        title = "Tuning file of the library" if way.name == "library" else "Table of grids"
        if way.gain is not None:
            verdict.append(Sentence(gained(way.gain, f"{title}, whole program")))
        elif way.why:
            verdict.append(Sentence(f"{title}: {printable(way.why, 400)}"))
    for way in document.ways:
        if way.name == document.kept:
            verdict += in_use(way.use)
    if document.kept is None:
        verdict.append(Sentence(f"No gain: keep the current settings ({document.why})."))
    tried = [saving for way in document.ways for saving in way.savings]
    where = f"The report and all measurements are in {printable(folder, 400)}"
    return [
        Section("Collective operations of the program", tuple(calls)),
        Section(VERDICT, (*verdict, Warnings(tuple(document.warnings)), Sentence(where))),
        *([Section("What was tried", (table(tried),), only="report")] if tried else []),
    ]
