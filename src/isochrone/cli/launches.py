"""A measurement as its command line says it, launched as often as is wanted."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from isochrone.base.errors import InputError, MeasurementError, failing
from isochrone.base.text import Tell, printable, printable_path, warn
from isochrone.cli.long_work import duration
from isochrone.cli.parser import Parser
from isochrone.console import defaults
from isochrone.console.measuring import add_setup, follow, setup_of
from isochrone.console.options import add_expert, add_option, count_of, read_time, values_of
from isochrone.measure.sources import experiments

if TYPE_CHECKING:
    from isochrone.latency_map.confirm import Further
    from isochrone.measure.estimate import Cost
    from isochrone.measure.launchable import Launchable
    from isochrone.measure.setup import Setup
    from isochrone.measure.suites import Planned
    from isochrone.runfile.run import Run


def add_measurement(parser: argparse.ArgumentParser) -> None:
    """Add what says what is measured, and how: the experiment, its ranks, MPI and launcher."""
    add_option(
        parser, "experiment", "EXPERIMENT", str, "what to measure, see above", choices=experiments()
    )
    add_option(
        parser,
        "-n --ranks",
        "LIST",
        values_of("ranks"),
        "number of ranks; a list such as 2,4,8 writes a run file for each (default: all of the "
        "job or machine)",
    )
    add_option(
        parser,
        "--preset",
        "NAME",
        str,
        "predefined options of the experiment, see isochrone measure EXPERIMENT --help",
    )
    add_expert(
        parser, "--kill-after", "TIME", read_time, "end a launch after TIME (default: never)"
    )
    add_expert(
        parser,
        "--algorithm",
        "OP=NAME,…",
        str,
        "collective: make the MPI library use these algorithms, e.g. bcast=binomial; list: print "
        "their names (default: its own choice)",
    )
    add_setup(parser)


run_count = count_of("launches of at least 1", 9999)
"""Reads a number of launches."""


def launchables(args: argparse.Namespace) -> list[Launchable]:
    """Check what the options ask for; return it for each number of ranks."""
    from isochrone.cli.intentions import everywhere
    from isochrone.measure.launchable import Launchable

    return Launchable.of(
        setup_of(args),
        args.experiment,
        args.rest,
        args.ranks,
        preset=args.preset,
        algorithm=args.algorithm,
        timeout=args.kill_after,
        flags={
            name: option.help or "" for name, option in args.parser._option_string_actions.items()
        },
        elsewhere=everywhere,
    )


def read_command(text: str, where: str) -> Launchable:
    """Read what a user would type after ``isochrone measure``; no shell sees it.

    Raises
    ------
    InputError
        If its quotes do not match, or it says where to write, which the caller does.
    """
    try:
        tokens = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{str(error).lower()}: {text}", where=where) from error
    parser = Parser(prog=f"isochrone compare --measure: {where}")
    add_measurement(parser)
    if (trouble := defaults.apply(parser, "measure")) is not None:
        raise trouble
    args, remaining = parser.parse_known_args(tokens)
    args.rest, args.parser = remaining, parser
    reserved = [
        token for token in remaining if token.split("=")[0] in ("-o", "--output", "--launches")
    ]
    if reserved or args.dry_run:
        raise InputError(
            f"{(reserved or ['--dry-run'])[0]} is an option of compare",
            where=where,
            hint="write it after A and B",
        )
    if args.ranks and len(args.ranks) > 1:
        raise InputError("-n takes one number of ranks here", where=f"side {where}")
    return launchables(args)[0]


def ranks_file(path: Path, ranks: int, several: bool) -> Path:
    """Name the file of a number of ranks: ``run-n4.jsonl`` for ``run.jsonl`` if there are several.

    ``run-4.jsonl`` would be the fourth launch of one number of ranks.
    """
    return path.with_name(f"{path.stem}-n{ranks}{path.suffix}") if several else path


def launch_files(path: Path, runs: int) -> list[Path]:
    """Name the file of each launch: ``run-1.jsonl`` … for ``run.jsonl``; itself if it is one."""
    if runs == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{k}{path.suffix}") for k in range(1, runs + 1)]


def launched(
    job: Launchable,
    path: Path,
    k: int,
    runs: int,
    *,
    force: bool,
    quiet: bool,
    further: Further = lambda _: (),
) -> Run:
    """Launch for the k-th time of so many, from 1 on; return what was measured."""
    from isochrone.latency_map.confirm import measured

    launch = f"{k}/{runs}" if runs > 1 else ""
    title = f"{job.experiment} {launch}" if launch else job.experiment
    return measured(
        job,
        path,
        follow=partial(follow, quiet=quiet),
        tell=warn,
        title=title,
        launch=launch,
        force=force,
        further=further,
    )


def measure_in(
    setup: Setup,
    runs: Sequence[Planned],
    costs: Sequence[Cost],
    end: float,
    tell: Tell,
    *,
    quiet: bool,
    all_needed: bool,
) -> None:
    """Measure planned runs until a time of the monotonic clock, which they share.

    Parameters
    ----------
    tell
        Receives a line on each.
    all_needed
        Whether all are needed. Else one that fails, and those of the same name after it, are left
        out, and so is what the time is not enough for.

    Raises
    ------
    MeasurementError
        If one fails that is needed, or the first.
    """
    from isochrone.latency_map.confirm import measured
    from isochrone.measure.estimate import share_out

    failed: set[str] = set()
    exceeded: list[float] = []  # by how much each took longer than it was given
    for k, planned in enumerate(runs):
        began = time.monotonic()
        if not all_needed and k and (planned.preset.name in failed or began > end):
            failed.add(planned.preset.name)
            tell(f"{printable_path(planned.path)}: left out")
            continue
        reserved = fmean(exceeded or [0.0]) * (len(runs) - k)
        share = share_out(end - began - reserved, costs[k:])[0]
        try:
            measured_run = measured(
                planned.within(setup, share.seconds),
                planned.path,
                title=planned.preset.name,
                follow=partial(follow, quiet=quiet),
                tell=warn,
            )
        except MeasurementError as error:
            if all_needed or not k:
                raise
            failed.add(planned.preset.name)
            tell(f"{printable_path(planned.path)}: {error}")
            continue
        wall = time.monotonic() - began
        exceeded.append(max(0.0, wall - costs[k].startup - share.seconds))
        if not quiet:
            tell(f"{printable_path(planned.path)}: {duration(wall)}")
        for warning in measured_run.warnings:
            if warning.get("code") in ("cut-short", "repeats-lowered"):
                tell(f"  {printable(warning.get('text'), 200)}")


def make_folder(folder: Path, *, parents: bool = False) -> None:
    """Make a folder unless it is there; with ``parents`` those above it, too.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    with failing("the folder cannot be created", folder, "choose another -o"):
        folder.mkdir(parents=parents, exist_ok=True)


def default_name(experiment: str) -> Path:
    """Name a run file after the experiment and the time."""
    return Path(f"{experiment}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
