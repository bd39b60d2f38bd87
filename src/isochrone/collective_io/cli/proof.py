"""Options of the verification jobs of `place`: positions of ranks, and the measured gain."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.inference import Speedup, speedup
from isochrone.collective_io import proof
from isochrone.collective_io.cli.workload import chosen_pattern
from isochrone.collective_io.proof import JobRunner, Launch
from isochrone.collective_io.workload.call import Call
from isochrone.console.measuring import add_launcher_arg, setup_of
from isochrone.console.options import add_flag, add_mpi, add_option, read_count
from isochrone.measure import placement as placements
from isochrone.measure.arrangement import Arrangement
from isochrone.measure.placement import LaunchPlan


def add_start(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of the verification jobs."""
    group = parser.add_argument_group("verification on the machine")
    add_flag(group, "--measure",
        f"replay the exchange alternately in the given and the proposed {what}")  # fmt: skip
    _add_jobs(group, "--measure: ", "arrangement")


def add_launches(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of the jobs of a command that always measures."""
    _add_jobs(parser.add_argument_group("launches"), "", what)


def _add_jobs(group: argparse._ArgumentGroup, when: str, what: str) -> None:
    add_option(group, "--file", "FILE", Path,
        f"{when}write this file with the MPI library instead of replaying",
        expert=True)  # fmt: skip
    add_option(group, "--launches", "N", read_count,
        f"{when}launches of each {what} (default: 5)", default=5)  # fmt: skip
    add_option(group, "--repeats", "N", read_count,
        f"{when}repetitions in each launch (default: 5)", default=5,
        expert=True)  # fmt: skip
    add_option(group, "--keep", "FOLDER", Path,
        f"{when}keep the run files in this folder (default: they are deleted)",
        expert=True)  # fmt: skip
    add_mpi(group)
    add_option(group, "--launcher", "L", str,
        "launcher (default: by batch system and MPI)",
        expert=True)  # fmt: skip
    add_launcher_arg(group)


def starter(args: argparse.Namespace, ranks: int) -> JobRunner:
    """Return a starter of this many ranks, as the options say."""
    return JobRunner(setup_of(args), ranks)


def launch_plan(jobs: JobRunner, arranged: Arrangement, file: Path) -> LaunchPlan | None:
    """Write a file that sets the launcher's node order; None if the launcher has no such file."""
    formats = (placements.load(name) for name in placements.names())
    fitting = [f for f in formats if f.start(file, 1).launcher == jobs.setup.name]
    if not fitting:
        return None
    file.write_text(fitting[0].text(arranged))
    return fitting[0].start(file, arranged.given.ranks)


def tile_options(args: argparse.Namespace, call: Call, aggregators: Sequence[int]) -> list[str]:
    """Return the options of the experiment ``tile-io`` that repeat a call's pattern.

    Raises
    ------
    InputError
        If the experiment cannot repeat it.
    """
    tiles = chosen_pattern(args).as_tiles(call.pattern)
    if tiles is None:
        raise InputError("only tiles can be measured", where="--measure", hint="give --tiles")
    return proof.tile_options(
        tiles, call, aggregators, element=args.element, repeats=args.repeats, file=args.file
    )


def compare_in_turn(
    args: argparse.Namespace, start: JobRunner, given: Launch, proposed: Launch
) -> Speedup:
    """Launch two arrangements in turn and compare their times."""
    sides = {"given": given, "proposed": proposed}
    found = proof.launch_in_turns(start, sides, launches=args.launches, op=args.op, runs=args.keep)
    return replace(speedup(found.times["given"], found.times["proposed"]), origin=found.origin)
