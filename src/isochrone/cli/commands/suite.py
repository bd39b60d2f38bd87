"""Measure a named set of experiments within a given time, into one folder.

The time is planned before anything is measured, and the plan is printed. When time runs short,
repetitions are reduced before points are left out. If run again, it measures only what is missing.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from rich.table import Table

from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.text import (
    command_line,
    printable,
    printable_path,
    shell_word,
    whole_number,
)
from isochrone.cli.launches import run_count, sizes_of
from isochrone.cli.long_work import add_yes, agree, duration
from isochrone.console.measuring import add_setup, follow, seconds_above_zero, setup_of
from isochrone.latency_map.confirm import see_again
from isochrone.measure import presets
from isochrone.measure.budget import Cost, Share, Trial, estimate, share_out
from isochrone.measure.expectation import Expected
from isochrone.measure.presets import Preset, Suite
from isochrone.measure.setup import Setup
from isochrone.pages import terminal
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

__all__ = ["EXAMPLES", "add_arguments", "run"]

EXAMPLES: Final = (
    ("an overview of this machine, in two minutes", "isochrone suite quick"),
    ("everything, three times, within two hours each",
     "isochrone suite full -n 2,8,32 --runs 3 --max-time 2h -o machine"),
    ("what would be started", "isochrone suite quick --dry-run"),
)  # fmt: skip

TRIAL_SIZES: Final = (8, 262144)
GRACE: Final = 60.0
"""Seconds beyond its time after which a run that does not end is ended."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone suite``."""
    suites = presets.SUITES
    parser.add_argument(
        "suite", metavar="SUITE", choices=list(suites),
        help="; ".join(f"{suite.name}: {suite.summary}" for suite in suites.values()),
    )  # fmt: skip
    parser.add_argument(
        "-n", "--ranks", type=_rank_counts, metavar="N,...",
        help="numbers of ranks, e.g. 2,4,8 (default: all available ranks)",
    )  # fmt: skip
    parser.add_argument(
        "--max-time", type=seconds_above_zero, metavar="TIME",
        help="time limit of the whole suite, e.g. 90 or 10min (default: set by the suite); with "
        "--runs, of each time it runs",
    )  # fmt: skip
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder for the run files (default: the name of the suite)",
    )
    parser.add_argument(
        "--like", type=Path, metavar="FOLDER",
        help="measure the message sizes that the suite in FOLDER chose by itself, so that all of "
        "them can be compared",
    )  # fmt: skip
    parser.add_argument(
        "--runs", type=run_count, default=1, metavar="N",
        help="run it N times, into FOLDER/launch-1 …, all with the sizes of the first; `compare` "
        "needs three or more to tell a change from what launches differ by (default: 1)",
    )  # fmt: skip
    add_yes(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_setup(parser)


def run(args: argparse.Namespace) -> int:
    """Run the suite as often as was asked for."""
    suite, setup = presets.SUITES[args.suite], setup_of(args)
    folder = args.output or Path(suite.name)
    if args.runs == 1:
        return _suite(args, suite, setup, folder, args.like)
    if not args.dry_run:
        _make_folder(folder)
    first = folder / "launch-1"
    for k in range(1, 2 if args.dry_run else args.runs + 1):
        like = args.like if k == 1 else first
        _suite(args, suite, setup, folder / f"launch-{k}", like, args.runs if k == 1 else 0)
    return 0


def _suite(
    args: argparse.Namespace, suite: Suite, setup: Setup, folder: Path, like: Path | None,
    times: int = 1,
) -> int:  # fmt: skip
    """Plan, say the plan, measure. It is agreed to for so many ``times``; 0: it was."""
    began = time.monotonic()
    ranks = args.ranks or (setup.default_ranks(),)
    sweeps = setup.sweeps() if suite.other_sweeps else {}
    runs = [Planned(preset, n, folder) for preset, n in presets.plan(suite, ranks, sweeps)]
    if like is not None:
        runs = _like(runs, like)
    for one in runs:
        setup.check(one.preset.experiment, one.options, one.ranks)
    if args.dry_run:
        for one in runs:
            print(command_line(one.tokens(setup, ())))
        return 0
    _make_folder(folder)
    missing = [one for one in runs if not one.is_complete()]
    if len(missing) < len(runs):
        done = len(runs) - len(missing)
        print(f"{done} of {len(runs)} runs are in {printable_path(folder)}/ already")
    if not missing:
        return 0
    max_time = args.max_time or suite.max_time
    costs = _estimate(setup, missing)
    needed = sum(cost.startup + cost.full for cost in costs)
    left = max_time - (time.monotonic() - began)
    _print_plan(suite, folder, missing, costs, needed, left, max_time)
    agree(Expected(needed * times).limited(max_time * times), args)
    for k, one in enumerate(missing):
        left = max_time - (time.monotonic() - began)
        share = _shares(left, costs[k:])[0]
        _measure(setup, one, share, quiet=args.quiet)
    spent = time.monotonic() - began
    there = f"{shell_word(str(folder))}/*.jsonl"
    print(f"\nDone in {duration(spent)}. Next: isochrone report {there} -o report.html")
    return 0


@dataclass(frozen=True)
class Planned:
    """One run of a suite, and the file it is kept in."""

    preset: Preset
    ranks: int
    folder: Path
    sizes: str = ""
    """Sizes that an earlier suite chose, as ``--bytes`` takes them; empty: as the preset says."""

    @property
    def path(self) -> Path:
        """Where its run file is."""
        return self.folder / f"{self.preset.name}-{self.ranks}.jsonl"

    @property
    def options(self) -> tuple[str, ...]:
        """What the probe is told; of two ``--bytes`` the later one counts."""
        return (*self.preset.options, *(("--bytes", self.sizes) if self.sizes else ()))

    def tokens(self, setup: Setup, more: Sequence[str]) -> list[str]:
        """Return the command that measures it."""
        notes = {"preset": self.preset.name, "arguments": shlex.join(self.preset.options)}
        options = [*self.options, *more]
        return setup.tokens(self.preset.experiment, options, self.ranks, self.path, notes=notes)

    def is_complete(self) -> bool:
        """Whether it was measured to its end before; a part of a run is put aside.

        Raises
        ------
        InputError
            If its file holds something else.
        """
        if not self.path.exists():
            return False
        found = read(self.path)
        if found.notes.get("arguments") != shlex.join(self.preset.options):
            raise InputError(
                f"it is not of preset {self.preset.name} as it is now", where=str(self.path),
                hint="give another folder with -o",
            )  # fmt: skip
        if not found.complete:
            aside = _unused_name(self.path)
            self.path.rename(aside)
            told = f"{self.path} is not complete: kept as {aside.name}, measured again"
            print(printable_path(told))
            return False
        return True


def _like(runs: Sequence[Planned], folder: Path) -> list[Planned]:
    """Let runs keep the sizes that those of an earlier suite chose.

    Raises
    ------
    InputError
        If the folder holds none of these runs.
    """
    earlier = {one: folder / one.path.name for one in runs}
    if not any(path.is_file() for path in earlier.values()):
        raise InputError(
            "it holds no run of this suite with these numbers of ranks", where=str(folder),
            hint="--like takes the folder that an earlier suite was written to",
        )  # fmt: skip
    return [
        replace(one, sizes=sizes_of(read(path))) if path.is_file() else one
        for one, path in earlier.items()
    ]


def _unused_name(path: Path) -> Path:
    """Return a name beside ``path`` for what was measured of it before."""
    names = (path.with_suffix(f".part{k}.jsonl") for k in itertools.count(1))
    return next(name for name in names if not name.exists())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make this folder: {error.strerror}", where=str(folder), hint="give another -o"
        ) from error


def _estimate(setup: Setup, runs: Sequence[Planned]) -> list[Cost]:
    """Estimate each run from one short trial of each experiment with the most ranks it gets."""
    most: dict[str, Planned] = {}
    for planned in runs:
        before = most.setdefault(planned.preset.experiment, planned)
        most[planned.preset.experiment] = max(planned, before, key=lambda one: one.ranks)
    trials = {name: _try(setup, planned) for name, planned in most.items()}
    return [
        estimate(replace(r.preset, options=r.options), r.ranks, trials[r.preset.experiment])
        for r in runs
    ]


def _try(setup: Setup, planned: Planned) -> Trial:
    """Measure two sizes a few times, and see how long it takes to start."""
    experiment, ranks = planned.preset.experiment, planned.ranks
    path = planned.folder / f".trial-{experiment}.jsonl"
    sizes = ",".join(map(str, TRIAL_SIZES))
    options = ["--bytes", sizes, "--repeats", "4", "--warmup", "2", *planned.preset.trial]
    tokens = setup.tokens(experiment, options, ranks, path, force=True)
    began = time.monotonic()
    try:
        follow(tokens, path, title="trial", timeout=GRACE, quiet=True)
        wall = time.monotonic() - began
        return _judge_trial(read(path), wall)
    finally:
        path.unlink(missing_ok=True)


def _judge_trial(found: Run, wall: float) -> Trial:
    """Read start-up, and time by size, out of a trial."""
    table = found.tables["pair" if "pair" in found.tables else "sample"]
    seconds = table["median" if "pair" in found.tables else "seconds"]
    if "pair" in found.tables:
        seconds = seconds / 2
    small, large = (float(np.mean(seconds[table["bytes"] == size])) for size in TRIAL_SIZES)
    per_byte = max(0.0, (large - small) / (TRIAL_SIZES[1] - TRIAL_SIZES[0]))
    simulated = found.clock.simulated
    inside = 0.0 if simulated else float(found.end["seconds"]) if found.end else 0.0
    return Trial(max(0.0, wall - inside), small, per_byte)


def _shares(seconds: float, costs: Sequence[Cost]) -> list[Share]:
    return share_out(seconds, costs)


def _print_plan(
    suite: Suite, folder: Path, runs: Sequence[Planned], costs: Sequence[Cost], needed: float,
    left: float, max_time: float,
) -> None:  # fmt: skip
    """Say what will be measured, how long it will take, and what there is no time for."""
    shares = _shares(left, costs)
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
            planned.preset.name, str(planned.ranks), duration(cost.startup + cost.full),
            duration(cost.startup + share.seconds), planned.preset.summary,
        )  # fmt: skip
    terminal.console().print(table)
    if any(share.points_omitted for share in shares):
        print("Not enough time: repetitions are reduced to the minimum and points are left out.")
    elif any(share.repeats_reduced for share in shares):
        print("Not enough time for all repetitions: their number is reduced.")
    print(flush=True)


def _measure(setup: Setup, planned: Planned, share: Share, *, quiet: bool) -> None:
    """Measure one run within its share of the time, and say what came of it in a line."""
    seconds = max(share.seconds, 0.1)
    limit = ("--time-limit", f"{seconds:.3g}")
    tokens = planned.tokens(setup, limit)
    began = time.monotonic()
    try:
        follow(
            tokens, planned.path, title=planned.preset.name, timeout=2 * seconds + GRACE,
            quiet=quiet,
        )  # fmt: skip
    except MeasurementError as error:
        with contextlib.suppress(InputError):
            if planned.path.exists() and not read(planned.path).complete:
                error.hint += "; run the suite again to go on"
        raise
    see_again(
        setup, planned.preset.experiment, [*planned.options, *limit], planned.ranks, planned.path,
        timeout=2 * seconds + GRACE, quiet=quiet,
    )  # fmt: skip
    found = read(planned.path)
    said = [w for w in found.warnings if w.get("code") in ("cut-short", "repeats-lowered")]
    print(f"{printable_path(planned.path)}: {duration(time.monotonic() - began)}", flush=True)
    for warning in said:
        print(f"  {printable(warning.get('text'), 200)}")


def _rank_counts(text: str) -> tuple[int, ...]:
    """Read numbers of ranks for argparse."""
    numbers = {whole_number(word) or 0 for word in text.split(",")}
    if min(numbers) < 2:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a list of numbers of ranks of at least 2"
        )
    return tuple(sorted(numbers))
