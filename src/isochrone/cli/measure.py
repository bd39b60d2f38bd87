"""Measure on this machine or in this allocation, and write a run file.

EXPERIMENT is what to measure; its own options follow, and
`isochrone measure EXPERIMENT --help` lists them.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from isochrone.cli._output import add_output, check_output
from isochrone.errors import InputError, IsochroneError, MeasurementError

if TYPE_CHECKING:
    from isochrone.launchers import Job
    from isochrone.probe import Probe

__all__ = ["add_arguments", "measure", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone measure``."""
    from isochrone import probe, registry

    names = probe.experiments()
    parser.add_argument(
        "experiment", metavar="EXPERIMENT", choices=names, help=f"one of: {', '.join(names)}"
    )
    parser.add_argument(
        "-n", "--ranks", type=_rank_count, metavar="N",
        help="number of ranks (default: those of the Slurm job, or one for each processor)",
    )  # fmt: skip
    parser.add_argument("--mpicc", metavar="X", help="compiler wrapper of your MPI")
    parser.add_argument(
        "--launcher", metavar="L", choices=registry.names("launchers"),
        help="how to start the ranks (default: found from the batch job and the MPI); one of: "
        + ", ".join(registry.names("launchers")),
    )  # fmt: skip
    parser.add_argument(
        "--launcher-arg", action="append", default=[], metavar="A",
        help="one more argument for the launcher; may be repeated (--launcher-arg=--exclusive)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="print the command, start nothing")
    parser.add_argument(
        "--timeout", type=_positive, metavar="SECONDS", help="end the ranks after this time"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")
    add_output(parser, "run file (default: EXPERIMENT-DATE-TIME.jsonl)")
    for name in registry.names("launchers"):
        launcher = registry.load("launchers", name)
        if hasattr(launcher, "add_arguments"):
            launcher.add_arguments(parser)
    parser.set_defaults(passes_options_on=True)
    parser.print_help = lambda file=None: _print_help(parser, file)  # type: ignore[method-assign]


def run(args: argparse.Namespace) -> int:
    """Measure, and show what was found."""
    from isochrone import launchers, registry

    args.launcher = args.launcher or launchers.asked_for(vars(args))
    launcher = registry.load("launchers", args.launcher) if args.launcher else None
    built = _build(args.mpicc, launcher)
    if launcher is None:
        args.launcher = launchers.choose(os.environ, built.library)
        launcher = registry.load("launchers", args.launcher)
    if args.ranks is None and hasattr(launcher, "ranks"):
        args.ranks = launcher.ranks(vars(args))
    args.ranks = args.ranks or _default_ranks()
    if getattr(launcher, "STANDS_ALONE", True):
        built.check(args.experiment, args.rest, args.ranks)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = args.output or Path(f"{args.experiment}-{stamp}.jsonl")
    check_output(path, force=args.force)
    job = _job(args, built, launcher, path)
    tokens = launcher.command(job)
    if args.dry_run:
        print(shlex.join(tokens))
        return 0
    for doubt in launcher.doubts(job) if hasattr(launcher, "doubts") else ():
        print(f"isochrone: {doubt}", file=sys.stderr)
    measure(tokens, path, title=args.experiment, timeout=args.timeout, quiet=args.quiet)
    if not args.quiet:
        from isochrone.cli import show

        show.print_file(path)
    return 0


def measure(
    tokens: list[str], path: Path, *, title: str, timeout: float | None, quiet: bool = False
) -> None:
    """Run the launcher; an error says what the run file still holds."""
    from isochrone import probe
    from isochrone.cli._progress import progress_bar

    before = path.stat().st_mtime_ns if path.exists() else 0
    try:
        with progress_bar(title, quiet=quiet) as advance:
            probe.run(tokens, timeout=timeout, progress=advance)
    except IsochroneError as error:
        if path.is_file() and path.stat().st_mtime_ns != before:
            error.hint = f"what was measured is kept in {path}"
        raise
    if not path.is_file():
        raise InputError(
            "the ranks ended without writing it", where=str(path),
            hint="is its folder visible on the node of rank 0?",
        )  # fmt: skip
    if not _has_end(path):
        raise MeasurementError(
            "the ranks ended before the measurement did",
            hint=f"what was measured is kept in {path}",
        )


def _has_end(path: Path) -> bool:
    """Tell whether the run file ends with its last record: a simulated deadlock exits with 0."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 200))
        return stream.read().rpartition(b'{"record":')[2].startswith(b'"end"')


def _build(mpicc: str | None, launcher: ModuleType | None) -> Probe:
    """Build the probe with the compiler wrapper that the user, or the launcher, wants."""
    from isochrone import probe

    if mpicc is None and launcher is not None and hasattr(launcher, "COMPILER"):
        return probe.build(probe.find_mpicc(launcher.COMPILER, hint=launcher.PACKAGE))
    return probe.build(probe.find_mpicc(mpicc))


def _job(args: argparse.Namespace, built: Probe, launcher: ModuleType, path: Path) -> Job:
    """Describe the ranks to start; the notes say how in the run file."""
    from isochrone import __version__, launchers

    program = [str(built.path), args.experiment, *args.rest, "--out", str(path), "--progress"]
    if args.force:
        program.append("--force")
    job = launchers.Job(
        ranks=args.ranks,
        program=tuple(program),
        extra=tuple(args.launcher_arg),
        mpicc=built.mpicc,
        processors=launchers.processors(os.environ),
        options=vars(args),
        library=built.library if getattr(launcher, "STANDS_ALONE", True) else "",
    )
    notes = {"isochrone": __version__, "launcher": args.launcher}
    if hasattr(launcher, "notes"):
        notes |= launcher.notes(job)
    told = [word for key, value in notes.items() for word in ("--note", f"{key}={value}")]
    return replace(job, program=(*job.program, *told))


def _rank_count(text: str) -> int:
    """Read a number of ranks for argparse, which wants its own kind of error."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of ranks")
    return int(text)


def _positive(text: str) -> float:
    """Read seconds for argparse."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds


def _default_ranks() -> int:
    """Take the ranks of the Slurm job, or one for each processor of this machine."""
    tasks = os.environ.get("SLURM_NTASKS", "")
    return int(tasks) if tasks.isdigit() else max(2, len(os.sched_getaffinity(0)))


def _print_help(parser: argparse.ArgumentParser, file: object) -> None:
    """Print our options, then those the probe knows for the experiment that was named."""
    from isochrone import probe

    print(parser.format_help(), end="")
    named = [word for word in sys.argv[1:] if word in probe.experiments()]
    if named:
        try:
            built = probe.build(probe.find_mpicc(None))
            print(f"\noptions of {named[0]}:\n{built.options_help(named[0])}")
        except IsochroneError as error:
            print(f"\nthe options of {named[0]} can be listed once its MPI is there: {error}")
