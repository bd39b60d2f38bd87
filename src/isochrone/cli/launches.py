"""A measurement as its command line says it, launched as often as is wanted."""

from __future__ import annotations

import argparse
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.suggestion import did_you_mean
from isochrone.changes.alike import LAUNCH
from isochrone.cli.experiments import options_of
from isochrone.cli.parser import Parser
from isochrone.console import defaults
from isochrone.console.measuring import add_setup, follow, seconds_above_zero, setup_of
from isochrone.console.options import values_of
from isochrone.latency_map.confirm import see_again
from isochrone.measure import algorithm as algorithms
from isochrone.measure import presets, probe
from isochrone.measure.algorithm import Forced
from isochrone.measure.setup import Setup
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

__all__ = [
    "Launchable", "add_measurement", "default_name", "launch_files", "launched", "ranks_file",
    "read_command", "run_count", "sizes_of", "with_sizes",
]  # fmt: skip

AUTOMATIC: Final = "auto"

_UNKNOWN: Final = re.compile("there is no option '(--[^']*)'")
_LISTED: Final = re.compile(r"operations, or all: ([\w, ]+)")
_NO_OPERATION: Final = re.compile("there is no operation '([^']*)'")
"""What the probe says."""


def add_measurement(parser: argparse.ArgumentParser) -> None:
    """Add what says what is measured, and how: the experiment, its ranks, MPI and launcher."""
    names = probe.experiments()
    parser.add_argument(
        "experiment", metavar="EXPERIMENT", choices=names, help=f"one of: {', '.join(names)}"
    )
    parser.add_argument(
        "-n", "--ranks", type=values_of("ranks"), metavar="N",
        help="number of ranks; several are measured one after the other, into a file each: "
        "2,4,8,16 or 2:64:x2 (default: those of the Slurm job, or one for each processor)",
    )  # fmt: skip
    parser.add_argument(
        "--preset", metavar="NAME",
        help="named set of options, e.g. --preset longnb; options given as well override it",
    )  # fmt: skip
    parser.add_argument(
        "--timeout",
        type=seconds_above_zero,
        metavar="SECONDS",
        help="end the ranks of a launch after this time",
    )
    parser.add_argument(
        "--algorithm", metavar="OP=NAME,…",
        help="of collective: force algorithms of the MPI library, by its own names, for example "
        "bcast=binomial,allgather=ring; list: print those there are",
    )  # fmt: skip
    add_setup(parser)


def run_count(text: str) -> int:
    """Read a number of launches for argparse."""
    if not (text.isascii() and text.isdigit() and 1 <= len(text) <= 4 and int(text)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of launches of at least 1")
    return int(text)


@dataclass(frozen=True)
class Launchable:
    """One measuring command, checked, that can be launched again and again.

    Attributes
    ----------
    setup
        The MPI and the launcher.
    experiment, options, ranks
        What is measured.
    notes
        For the run file.
    timeout
        Seconds after which the ranks of a launch are ended; None: never.
    forced
        What forces algorithms of the MPI library.
    """

    setup: Setup
    experiment: str
    options: tuple[str, ...]
    ranks: int
    notes: Mapping[str, str]
    timeout: float | None
    forced: Forced = field(default_factory=Forced)

    @classmethod
    def of(cls, args: argparse.Namespace) -> list[Launchable]:
        """Check what the options ask for; return it for each number of ranks.

        Raises
        ------
        InputError
            If there is no MPI or launcher, or the probe refuses the options.
        """
        options, notes = tuple(args.rest), {}
        if args.preset is not None:
            options = (*presets.find(args.preset, args.experiment).options, *options)
            notes["preset"] = args.preset
        setup = setup_of(args)
        counts = sorted(set(args.ranks or [setup.default_ranks()]))
        for ranks in counts:
            _check(setup, args, options, ranks)
        forced = Forced()
        if args.algorithm is not None:
            forced = _forced(args, setup)
            notes[algorithms.NOTE] = args.algorithm
        return [
            cls(setup, args.experiment, options, ranks, notes, args.timeout, forced)
            for ranks in counts
        ]

    def tokens(self, path: Path, *, force: bool = False, launch: str = "") -> list[str]:
        """Return the command of one launch; ``launch`` says which it is: ``2 of 5``."""
        notes = {**self.notes, LAUNCH: launch} if launch else self.notes
        tokens = self.setup.tokens(
            self.experiment, self.options, self.ranks, path, force=force, notes=notes,
            extra=self.forced.options,
        )  # fmt: skip
        variables = [f"{key}={value}" for key, value in self.forced.environ.items()]
        return ["env", *variables, *tokens] if variables else tokens


def _check(setup: Setup, args: argparse.Namespace, options: Sequence[str], ranks: int) -> None:
    """Let the probe refuse options; say which one was probably meant by one that is unknown."""
    try:
        setup.check(args.experiment, options, ranks)
    except InputError as error:
        unknown = _UNKNOWN.search(error.what)
        parser = getattr(args, "parser", None)
        if unknown and isinstance(parser, Parser):
            own = [option.name for option in options_of(setup.built, args.experiment)]
            error.hint = parser.option_meant(unknown[1], own)
        if unknown := _NO_OPERATION.search(error.what):
            listed = _LISTED.search(" ".join(setup.built.options_help(args.experiment).split()))
            error.hint = did_you_mean(unknown[1], listed[1].split(", ") if listed else [], then="")
        if error.hint:
            error.what = error.what.removesuffix(" (--help lists them)")
        raise


def _forced(args: argparse.Namespace, setup: Setup) -> Forced:
    """Return what forces the algorithms that the user named; its warnings go to the screen."""
    if args.experiment != "collective":
        raise InputError("only collective has algorithms", where="--algorithm")
    forced = setup.force(args.algorithm)
    for text in forced.warnings:
        setup.warn(text)
    return forced


def read_command(text: str, where: str) -> Launchable:
    """Read what a user would type after ``isochrone measure``; no shell sees it.

    Raises
    ------
    InputError
        If its quotes do not match, or it says where to write, which the caller does.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{str(error).lower()}: {text}", where=where) from error
    parser = Parser(prog=f"isochrone compare --measure: {where}")
    add_measurement(parser)
    if (trouble := defaults.apply(parser, "measure")) is not None:
        raise trouble
    args, rest = parser.parse_known_args(words)
    args.rest = rest
    taken = [word for word in rest if word.split("=")[0] in ("-o", "--output", "--runs")]
    if taken or args.dry_run:
        raise InputError(
            f"{(taken or ['--dry-run'])[0]} belongs to compare", where=where,
            hint="give it after the two commands",
        )  # fmt: skip
    if args.ranks and len(args.ranks) > 1:
        raise InputError("compare measures one number of ranks", where=where, hint="see -n")
    return Launchable.of(args)[0]


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


def launched(what: Launchable, path: Path, k: int, runs: int, *, force: bool, quiet: bool) -> Run:
    """Launch for the k-th time of so many, from 1 on; return what was measured.

    What a map would call slow is measured again, alone, before it is returned.
    """
    launch = f"{k} of {runs}" if runs > 1 else ""
    title = f"{what.experiment} {launch}" if launch else what.experiment
    tokens = what.tokens(path, force=force, launch=launch)
    before = time.monotonic()
    try:
        follow(tokens, path, title=title, timeout=what.timeout, quiet=quiet)
    except MeasurementError as error:
        refusal = what.forced.refusal
        if not (refusal and any(refusal in line for line in error.details)):
            raise
        raise MeasurementError(
            f"an algorithm of {what.notes[algorithms.NOTE]} cannot be used for this number of "
            "ranks, of ranks on a node or of nodes, or for these sizes", where="--algorithm",
        ) from error  # fmt: skip
    left = what.timeout and max(1.0, what.timeout - (time.monotonic() - before))
    see_again(
        what.setup, what.experiment, what.options, what.ranks, path, timeout=left, quiet=quiet
    )
    return read(path)


def with_sizes(what: Launchable, first: Run) -> Launchable:
    """Let later launches measure the sizes that ``--bytes auto`` chose in the first one."""
    sizes = sizes_of(first)
    return replace(what, options=(*what.options, "--bytes", sizes)) if sizes else what


def sizes_of(run: Run) -> str:
    """Return the sizes a run chose by itself, as ``--bytes`` takes them; else an empty text."""
    asked = run.options.get("bytes")
    table = run.tables.get("sample")
    if not (isinstance(asked, str) and asked.startswith(AUTOMATIC)) or table is None:
        return ""
    return ",".join(map(str, sorted(set(table["bytes"].tolist()))))


def default_name(experiment: str) -> Path:
    """Name a run file after the experiment and the time."""
    return Path(f"{experiment}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
