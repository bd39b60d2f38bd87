"""Find MPI-IO hints that make a program faster.

The command records the collective I/O of the program, chooses hints with a model of the machine,
and launches the program in turns with and without these hints. It keeps only what makes the program
faster. The program runs many times, and writes its files each time (see --before).
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from isochrone import models
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.record import Members
from isochrone.base.text import command_line, printable, shell_word
from isochrone.cli.program import add_before, add_program, before_of, command_of
from isochrone.collective_io.cli.placing import outcome, reporter
from isochrone.collective_io.orders.setting import HINTS_FILE, hints_text
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.program.chooser import Chooser
from isochrone.collective_io.program.trials import (
    ROMIO_HINTS,
    Proposal,
    Trials,
    hints_of_user,
)
from isochrone.collective_io.program.tuning import Tuned, Wish, tune
from isochrone.console.as_json import add_json, json_text
from isochrone.console.decision_page import add_page, check_page_file, tell_decision
from isochrone.console.options import (
    add_expert,
    add_flag,
    add_force,
    add_option,
    hide,
    read_count,
    read_percent,
    read_time,
)
from isochrone.console.output import check_output
from isochrone.measure import tuned
from isochrone.measure.program import Program
from isochrone.runfile import any_file

EXAMPLES = (
    (
        "do MPI-IO hints make ./app faster?",
        "isochrone tune collective-io -o tuned -- mpiexec -n 16 ./app out.h5",
    ),
    (
        "delete the output before each launch",
        "isochrone tune collective-io --before 'rm -f out.h5' -- mpiexec -n 16 ./app out.h5",
    ),
)

USUAL = Path("io-tuning")
REPORT = "report.json"
VARIABLES = "environment.sh"
PORTABLE = "-portable"
"""Ends the names of files with the setting whose gain may last on another file system."""


DOCUMENTS = {"tune-collective-io": Tuned}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone tune collective-io``."""
    add_option(
        parser,
        "-o --output",
        "FOLDER",
        Path,
        f"folder for results (default: {USUAL})",
        default=USUAL,
    )
    add_option(
        parser,
        "--hints",
        "FILE",
        Path,
        f"hints file to write if there is a gain (default: {HINTS_FILE} in FOLDER)",
    )
    add_force(parser)
    add_option(
        parser,
        "--from",
        "FILE",
        Path,
        "recording or log of Darshan to choose the settings by (default: a first launch is "
        "recorded)",
        dest="earlier",
    )
    machine = parser.add_argument_group("model of the machine")
    add_option(
        machine,
        "--model",
        "FILE",
        Path,
        "hot-spot model (from fit -o; default: that in FOLDER, else it is measured in 3 minutes)",
    )
    add_flag(
        machine, "--no-measure", "use no model: choose by the recorded calls alone", expert=True
    )
    add_flag(
        parser,
        "--override",
        f"also replace hints of the file in ${ROMIO_HINTS} (default: keep them)",
        expert=True,
    )
    trials = parser.add_argument_group("launches of the program")
    add_option(
        trials,
        "--launches",
        "N",
        _several,
        "launches with the hints, and as many without (default: 5; more if the result is unclear)",
        default=5,
    )
    add_before(trials)
    add_expert(
        trials,
        "--kill-after",
        "TIME",
        read_time,
        "end a launch after TIME (default: first 1h, then 4 times the first launch + 30s)",
    )
    add_expert(
        trials,
        "--min-io-share",
        "PERCENT",
        read_percent,
        "stop if collective I/O takes less of the run time than this (default: 3%%)",
        default=0.03,
    )
    add_page(parser, "the verdict, times before and after, and all settings that were tried")
    add_json(parser)
    add_program(parser)
    hide(parser, "--mpicc")


def _several(text: str) -> int:
    """Read a number of at least 2: one pair proves nothing."""
    count = read_count(text)
    if count < 2:
        raise InputError("a single launch proves nothing: give 2 or more")
    return count


def run(args: Namespace) -> int:
    """Record, choose, prove, and write what is to be kept."""
    check_page_file(args, [args.model] if args.model else [])
    program = _program(args)
    base = hints_of_user(args.environ)
    if args.model is not None:
        NodeCost(models.read(args.model))  # what is wrong with it is said before anything starts
    earlier = None if args.earlier is None else any_file.read(args.earlier)
    folder, hints = _prepared(args)
    trials = Trials(program, folder, args.kill_after, base, reporter(quiet=args.json), earlier)
    chooser = Chooser(trials, args.model, measure=not args.no_measure, override=args.override)
    document: Members = plain(Tuned(list(program.command), args.launches))
    try:
        proposal = tune(trials, Wish(args.launches, args.min_io_share), chooser.choose, document)
        if proposal is not None:
            _keep(proposal, base, folder, hints, document, document)
        portable = document["portable"]
        if portable and not portable["why"]:
            _keep(trials.ways[portable["name"]], base, folder, hints, document, portable, PORTABLE)
        document["complete"] = True
    finally:
        write_text(folder / REPORT, json_text(document, indent=1))
    title = f"Hints for {printable(Path(program.command[-1]).name, 60)}"
    tell_decision(args, document, title, outcome(document, folder), command_line(program.command))
    return 0


def _program(args: Namespace) -> Program:
    """Return what is to be started."""
    command = command_of(args, "isochrone tune collective-io -- mpiexec -n 4 ./app")
    if any(ROMIO_HINTS in word for word in command):
        raise InputError(
            f"the command sets {ROMIO_HINTS}",
            where=" ".join(command),
            hint=f"export {ROMIO_HINTS} before; its hints are kept",
        )
    built = tuned.probe_of(command[0], args.mpicc, args.probe)
    program = Program(command, args.environ, built, before_of(args))
    _ = program.library  # compiled before launches are timed
    return program


def _prepared(args: Namespace) -> tuple[Path, Path]:
    """Return the folder, made if need be, and the hints file to write."""
    folder: Path = args.output
    if folder.exists() and not folder.is_dir():
        raise InputError("it is not a folder", where=folder, hint="choose another -o")
    if not folder.parent.is_dir():
        raise InputError("the folder does not exist", where=folder)
    folder.mkdir(exist_ok=True)
    hints = args.hints or folder / HINTS_FILE
    mine = [hints, hints.with_name(hints.name + PORTABLE)]
    for path in [*mine, *([folder / REPORT] if _is_whole(folder / REPORT) else [])]:
        check_output(path, force=args.force, inputs=[args.model] if args.model else [])
    if args.force:  # what is there from an earlier time is not to be taken for the result of this
        for path in (folder / REPORT, *mine, folder / VARIABLES, folder / (VARIABLES + PORTABLE)):
            path.unlink(missing_ok=True)
    return folder, hints


def _is_whole(report: Path) -> bool:
    """Tell whether a report is of a tuning that came to its end."""
    try:
        return bool(json.loads(report.read_bytes())["complete"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _keep(
    proposal: Proposal,
    base: Mapping[str, str],
    folder: Path,
    hints: Path,
    document: Members,
    result: Members,
    suffix: str = "",
) -> None:
    """Write what was found to be faster; ``result`` says where it is and how it is used."""
    variables = dict(proposal.environ)
    result["kept"] = None
    if proposal.hints:
        path = hints.with_name(hints.name + suffix)
        filesystems = ", ".join(document["filesystems"]) or "an unknown file system"
        comment = f"measured with files on {filesystems}"
        if document["portable"] and not proposal.portable:
            comment += ", which explains the gain"
        write_text(path, hints_text({**base, **proposal.hints}, comment))
        variables[ROMIO_HINTS] = str(path.absolute())
        result["kept"] = str(path)
    lines = [f"export {key}={shell_word(value)}" for key, value in variables.items()]
    if proposal.environ:
        path = folder / (VARIABLES + suffix)
        write_text(path, "".join(f"{line}\n" for line in lines))
        result["kept"] = result["kept"] or str(path)
        if "OMPI_MCA_io" in proposal.environ:
            document["warnings"].append(
                "ROMIO has hints of its own: tune once more with OMPI_MCA_io exported"
            )
    result["use"] = lines
