"""Check the MPI, launcher and compiler of this machine.

It exits with 1 if measurements cannot run. With -n it also starts ranks, and checks their binding
and clock.
"""

import os
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

import msgspec

from isochrone import __version__
from isochrone.base.errors import IsochroneError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.console.as_json import add_json, print_json
from isochrone.console.measuring import add_setup, setup_of
from isochrone.console.options import add_option, hide, read_count
from isochrone.measure import machine
from isochrone.measure.library import library_file
from isochrone.measure.machine import Check
from isochrone.measure.setup import Setup, follow
from isochrone.pages.page import Row, Sentence, Table, Tone, columns_of
from isochrone.pages.terminal import print_blocks
from isochrone.runfile.file import read
from isochrone.runfile.header import library_name

EXAMPLES = (
    ("can I measure on this machine?", "isochrone doctor"),
    ("can another MPI start two ranks?", "isochrone doctor -n 2 --mpicc /opt/openmpi/bin/mpicc"),
)

RANKS_TIMEOUT = 60.0
"""Seconds after which the ranks of ``-n`` are ended."""

STYLES: dict[str, Tone] = {"ok": "", "advice": "strong", "problem": "bad", "unknown": ""}


class _Health(msgspec.Struct):
    """What is used to measure, and what to change first."""

    version: str
    checks: list[Check]


DOCUMENTS = {"doctor": _Health}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of ``isochrone doctor``."""
    add_option(
        parser,
        "-n --ranks",
        "N",
        read_count,
        "also start N ranks, for a short latency map (default: none)",
    )
    add_setup(parser)
    hide(parser, "--platform", "--dry-run", "--launcher")
    add_json(parser)


def run(args: Namespace) -> int:
    """Look, and say what was found."""
    mpi_checks = _of_mpi(args)
    document = _Health(__version__, [*mpi_checks, *machine.checks()])
    if args.json:
        print_json(document)
    else:
        _print(document.checks)
    return int(any(check.verdict == "problem" for check in document.checks))


def _of_mpi(args: Namespace) -> list[Check]:
    """Look at MPI, launcher and compiler, and at ranks if any are asked for."""
    try:
        setup = setup_of(args)
    except IsochroneError as error:
        return [Check("MPI", "problem", error.what, error.hint or "load an MPI, or give --mpicc")]
    built = setup.built
    library = library_file(built.path)
    where = f" ({library.resolve()})" if library else ""
    named = library_name(built.library) or setup.name
    checks = [
        Check("MPI", "ok", f"{named}{where}"),
        Check("probe", "ok", f"{built.path} ({built.origin})"),
        _compiler(built.mpicc),
        Check("launcher", "ok", setup.name),
    ]
    return [*checks, *(_of_ranks(setup, args.ranks) if args.ranks else [])]


def _compiler(mpicc: Path) -> Check:
    if os.access(mpicc, os.X_OK):
        return Check("compiler", "ok", str(mpicc))
    return Check(
        "compiler",
        "advice",
        "there is none",
        "maps and sweeps work without; `isochrone record` and `exec` may have to compile libraries",
    )


def _of_ranks(setup: Setup, ranks: int) -> list[Check]:
    """Start ranks, and say where they ran and what their clock is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doctor.jsonl"
        tokens = setup.tokens("latency-map", ("--repeats", "20", "--retest", "0"), ranks, path)
        try:
            follow(tokens, path, timeout=RANKS_TIMEOUT)
        except IsochroneError as error:
            return [Check("ranks", "problem", error.what, error.hint or " ".join(tokens))]
        run = read(path)
    summary = f"{run.size} ranks on {len(set(run.hosts))} hosts"
    bound = run.notes.get("binding")
    shared = run.shared_processors
    clock = run.header.get("clock", {})
    granularity = float(clock.get("granularity", 0.0))
    aware = run.about.mpi.gpu_aware
    takes = [driver for driver, answer in aware.items() if answer == "yes"]
    says = ", ".join(f"{driver} {answer}" for driver, answer in aware.items())
    return [
        Check(
            "ranks",
            "advice",
            f"{summary}, several of them on one processor",
            "their times will be those of the scheduler: start fewer ranks, or bind them",
        )
        if shared
        else Check("ranks", "ok", f"{summary}, each on a processor of its own"),
        Check("binding", "ok", f"to a {bound}")
        if bound
        else Check("binding", "unknown", "left to the launcher and its options"),
        Check("clock of MPI", "ok", f"{clock.get('source', '')}, {format_seconds(granularity)}"),
        Check("GPU memory", "ok", f"MPI takes pointers to it: {says}")
        if takes
        else Check("GPU memory", "unknown", f"MPI is not known to be GPU-aware: {says}"),
    ]


def _print(checks: list[Check]) -> None:
    rows = [
        Row((check.name, check.verdict, printable(check.found, 400)), STYLES[check.verdict])
        for check in checks
    ]
    titles = columns_of("check", "verdict", "found")
    advice = [
        Sentence(f"{check.name}: {printable(check.advice, 400)}", "strong")
        for check in checks
        if check.advice
    ]
    end = Sentence("" if advice else "Nothing to change before measuring.")
    print_blocks([Table("", titles, tuple(rows)), Sentence(""), *advice, end])
