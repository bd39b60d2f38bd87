"""Estimates how long measurements will take, and divides a limited time among them.

First the operations are counted with upper bounds of their times. Only if that is long, a trial of
some seconds is run with as many ranks, and its times are used.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np

from isochrone.base.errors import InputError, IsochroneError, MeasurementError
from isochrone.base.record import Record
from isochrone.base.units import Seconds, parse_percent, parse_seconds, parse_sizes
from isochrone.measure import launcher as launchers
from isochrone.measure.launchable import Launchable
from isochrone.measure.setup import Setup, follow
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

AUTOMATIC_POINTS = 30
"""Usual number of sizes of ``auto``: the first ones, and about ten for each protocol switch."""

DEFAULT_REPEATS = 100
MIN_REPEATS = 3
WARMUP = 5

MIN_RUN_SECONDS = 0.5
"""Minimum seconds of every run."""

_OPERATIONS = 10  # of --op all

TRIAL_LIMIT = 20.0
"""Seconds after which a trial ends."""

MOST_SHARED = 32
"""Ranks on one processor above which not even a trial is started: ranks and trial together take
more than 5 s then (64 ranks on 2 processors, MPICH 5.0: 6.9 s)."""

_TRIAL_REPEATS = 3
_TRIAL_WARMUP = 1

_TRIPS = {"point-to-point": 2, "bisection": 2, "collective": 1, "latency-map": 1}
"""Messages for each recorded time, of experiments whose operations can be counted; both directions
count, also where the one-way time is recorded."""

_BANDWIDTH_WINDOW = 64
"""Messages in flight of ``--mode bandwidth``, as in the probe."""

_ELEMENT_BYTES = 8
"""Of operations on one element."""

_SLOW_START = 2e-4
_SLOW_BYTE = 1e-8
"""Seconds of an operation between two ranks, and for each byte of it, on a slow machine."""

_RECORD = 1e-5
"""Seconds to write a sample."""

_MOST_REPEATS = 1000  # default of --max-repeats, with --precision
_SECOND = 1  # default of --max-time, with --precision
_COUNTED = ("--bytes", "--op")
_CUT = ("cut-short", "repeats-lowered")


class Expected(Record):
    """Seconds, and their qualifier: ``about``, ``at most`` or ``at least``."""

    seconds: Seconds
    how: str = "about"

    def __add__(self, other: Expected) -> Expected:
        how = self.how if self.how == other.how else "about"
        return Expected(self.seconds + other.seconds, how)

    def limited(self, seconds: Seconds | None) -> Expected:
        """Return it for work that is ended after this time."""
        if seconds is None or seconds >= self.seconds:
            return self
        return Expected(seconds, "at most")


class Trial(Record):
    """The result of a short trial of an experiment.

    Attributes
    ----------
    startup
        Seconds to start the ranks.
    start, per_byte
        A time is start + bytes * per_byte.
    recorded
        Seconds of all times together.
    hosts
        Host of each rank.
    """

    startup: Seconds
    start: Seconds
    per_byte: Seconds
    recorded: Seconds = 0.0
    hosts: Sequence[str] = ()

    @classmethod
    def of(cls, run: Run, wall: Seconds) -> Trial:
        """Return the result of a run that took ``wall`` seconds, its launcher included.

        Raises
        ------
        MeasurementError
            If it holds no times.
        """
        name, column = ("pair", "median") if "pair" in run.tables else ("sample", "seconds")
        table = run.tables.get(name, {column: np.zeros(0)})
        recorded = float(np.sum(table[column]))
        if not 0 < recorded < np.inf:
            raise MeasurementError("nothing was measured", where=run.where)
        sizes = np.unique(table["bytes"]).tolist()
        ends = [np.mean(table[column][table["bytes"] == sizes[k]]) for k in (0, -1)]
        per_byte = max(0.0, float(ends[1] - ends[0])) / max(1, sizes[-1] - sizes[0])
        inside = float(run.end["seconds"]) if run.end else wall
        startup = max(0.0, wall - (0.0 if run.clock.simulated else inside))
        return cls(startup, float(ends[0]) - sizes[0] * per_byte, per_byte, recorded, run.hosts)


class Work(Record):
    """The operations of one launch of an experiment.

    Attributes
    ----------
    experiment
        Its name.
    options
        Its options, including defaults.
    ranks
        How many.
    """

    experiment: str
    options: tuple[str, ...]
    ranks: int

    @property
    def sizes(self) -> list[int]:
        """Message sizes, in bytes; those that `auto` may choose."""
        if self._option("--mode", "") in ("fetch_and_op", "compare_and_swap"):
            return [_ELEMENT_BYTES]
        text = self._option("--bytes", "1MiB" if self._window > 1 else "64")
        if not text.startswith("auto"):
            return parse_sizes(text)
        _, _, ends = text.partition(":")
        low, high = (parse_sizes(end)[0] for end in (ends or "0:1MiB").split(":"))
        step = (high - low) / (AUTOMATIC_POINTS - 1)
        return [int(low + k * step) for k in range(AUTOMATIC_POINTS)]

    @property
    def repeats(self) -> int:
        """How often each point is measured, at most."""
        limit = (
            ("--max-repeats", _MOST_REPEATS) if self._precise else ("--repeats", DEFAULT_REPEATS)
        )
        return int(self._option(*limit)) + int(self._option("--warmup", WARMUP))

    def rounds(self, hosts: Sequence[str] = ()) -> int:
        """Count the sequential steps of a repetition; those of a map depend on its schedule."""
        if self.experiment != "latency-map":
            named = self._option("--op", "one")
            return _OPERATIONS if named == "all" else len(named.split(","))
        n, order = self.ranks, self._option("--schedule", "isolated")
        if order == "rounds":
            return n if n % 2 else n - 1
        if order == "serial" or not hosts:
            return n * (n - 1) // 2
        largest, nodes = max(Counter(hosts).values()), len(set(hosts))
        between = 0 if nodes == 1 else nodes - 1 + nodes % 2  # rounds of a tournament of nodes
        return between * largest**2 + largest * (largest - 1) // 2

    def bound(self) -> Seconds:
        """Return an upper bound of the seconds."""
        ranks = self.ranks if self.experiment == "collective" else 1
        per_round = sum(_SLOW_START + size * _SLOW_BYTE for size in self.sizes)
        return per_round * ranks * self.rounds() * self.repeats * self._messages()

    def trial_options(self) -> list[str]:
        """Return options of a short trial: smallest and largest size, a few times."""
        sizes = sorted({min(self.sizes), max(self.sizes)})
        few = [
            "--bytes",
            ",".join(map(str, sizes)),
            "--repeats",
            str(_TRIAL_REPEATS),
            "--warmup",
            str(_TRIAL_WARMUP),
            "--precision",
            "0",
            "--time-limit",
            f"{TRIAL_LIMIT:g}",
        ]
        if self.experiment == "latency-map":
            pairs = sorted({"0-1", f"0-{self.ranks - 1}"})
            return [*self.options, *few, "--retest", "0", "--pairs", ",".join(pairs)]
        return [*self.options, *few]

    def once(self, trial: Trial) -> Seconds:
        """Return the seconds of one repetition of all points, by a trial with as many ranks."""
        sizes = self.sizes
        per_round = sum(trial.start + size * trial.per_byte for size in sizes)
        writing = 0.0 if self.experiment == "latency-map" else len(sizes) * _RECORD
        return (per_round * self._messages() + writing) * self.rounds(trial.hosts[: self.ranks])

    def expected(self, run: Run, wall: Seconds) -> Expected:
        """Return the estimate from a run with `trial_options` that took so long.

        Raises
        ------
        MeasurementError
            If it has no times.
        """
        trial = Trial.of(run, wall)
        if not run.complete or any(warning.get("code") in _CUT for warning in run.warnings):
            recorded = trial.recorded / _TRIAL_REPEATS * self.repeats * self._messages()
            return Expected(trial.startup + recorded, "at least")
        seconds = trial.startup + self.once(trial) * self.repeats
        if not self._precise:
            return Expected(seconds)
        upper_bound = (
            parse_seconds(self._option("--max-time", _SECOND)) * len(self.sizes) * self.rounds()
        )
        return Expected(min(seconds, upper_bound), "at most")

    @property
    def _precise(self) -> bool:
        """Whether points are measured to a precision, not a number of times."""
        return bool(parse_percent(self._option("--precision", "0")))

    def _messages(self) -> int:
        """Count messages for each recorded time."""
        one_way = self._window > 1 or self._option("--mode", "blocking") != "blocking"
        return (2 if one_way else _TRIPS.get(self.experiment, 2)) * self._window

    @property
    def _window(self) -> int:
        """Messages in flight."""
        windowed = self._option("--mode", "") == "bandwidth"
        return int(self._option("--window", _BANDWIDTH_WINDOW if windowed else 1))

    def _option(self, name: str, default: object) -> str:
        """Return the value of an option, the last one if given twice."""
        return option(self.options, name) or str(default)


def work_of(
    experiment: str, options: Sequence[str], ranks: int, default_values: Mapping[str, str]
) -> Work | None:
    """Count the operations of an experiment; None if that is impossible.

    Parameters
    ----------
    experiment, options, ranks
        As the probe gets them.
    default_values
        Defaults of options, by name.
    """
    if experiment not in _TRIPS or ranks < 2:
        return None
    tokens = _words(options)
    defaults = [token for name, value in default_values.items() for token in (name, value)]
    work = Work(experiment, (*defaults, *tokens), ranks)
    try:
        work.bound()
    except (InputError, ValueError, IndexError):  # the probe reports the error
        return None
    return work


def counted_defaults(setup: Setup, experiment: str) -> dict[str, str]:
    """Return the defaults of the options that say how much is measured, by name."""
    return {
        declared.flag: declared.default
        for declared in setup.built.options_of(experiment)
        if declared.flag in _COUNTED and declared.default
    }


def time_limit(options: Sequence[str]) -> Seconds | None:
    """Return the time limit of the probe in seconds; None: there is none."""
    try:
        text = option(_words(options), "--time-limit")
        seconds = parse_seconds(text) if text else 0.0
    except (InputError, IndexError):
        return None
    return seconds or None


def _words(options: Sequence[str]) -> list[str]:
    """Return options with ``--bytes=64`` as two words."""
    return [
        token
        for argument in options
        for token in (argument.split("=", 1) if re.match(r"--[a-z-]+=", argument) else [argument])
    ]


def expected(
    plan: Sequence[tuple[Launchable, int]], folder: Path, limit: Seconds
) -> Expected | None:
    """Return how long launches will take in total; None if unknown or shorter than the limit.

    Parameters
    ----------
    plan
        What is launched, and how often.
    folder
        Where a trial may write.
    limit
        Seconds that are considered long.
    """
    first = plan[0][0]
    limits = [time_limit(first.options), first.timeout]  # after which a launch is ended
    launch_limit = min((seconds for seconds in limits if seconds is not None), default=None)
    launches = sum(runs for _, runs in plan)
    if not first.setup.launcher.stands_alone:  # virtual time is no wall time
        return None
    if launch_limit is not None and launch_limit * launches <= limit:
        return None
    at_most = None if launch_limit is None else Expected(launch_limit * launches, "at most")
    # experiment and probe are the same in the whole plan
    defaults = counted_defaults(first.setup, first.experiment)
    works = [
        work_of(launch.experiment, launch.options, launch.ranks, defaults) for launch, _ in plan
    ]
    counted = [work for work in works if work is not None]
    if len(counted) < len(works):
        return at_most
    processors = launchers.processors(os.environ)
    shared = 1.0 if processors is None else max(work.ranks for work in counted) / processors
    bound = sum(work.bound() * runs for work, (_, runs) in zip(counted, plan, strict=True))
    bound *= max(1.0, shared)  # ranks of one processor wait for each other
    if bound <= limit:
        return None
    if shared > MOST_SHARED:
        return Expected(bound).limited(None if launch_limit is None else launch_limit * launches)
    launch = replace(plan[-1][0], timeout=3 * TRIAL_LIMIT)
    try:
        trial, wall = tried(launch, counted[-1].trial_options(), folder)
        per_launch = [work.expected(trial, wall).limited(launch_limit) for work in counted]
    except IsochroneError:  # the measurement itself reports the error
        return at_most
    repeated = [
        Expected(estimate.seconds * runs, estimate.how)
        for estimate, (_, runs) in zip(per_launch, plan, strict=True)
    ]
    return reduce(add, repeated)


def tried(launch: Launchable, options: Sequence[str], folder: Path) -> tuple[Run, Seconds]:
    """Launch with other options in a temporary folder; return the run and how long it took."""
    with TemporaryDirectory(prefix=".trial-", dir=folder) as scratch:
        path = Path(scratch) / "trial.jsonl"
        began = monotonic()
        tokens = replace(launch, options=tuple(options), notes={}).tokens(path)
        follow(tokens, path, timeout=launch.timeout)
        wall = monotonic() - began
        return read(path), wall


class Cost(Record):
    """Seconds of a run: to start the ranks, with all repetitions, and with the fewest."""

    startup: float
    full: float
    least: float


class Share(Record):
    """The time of a run, and whether repetitions or even points must be left out for it."""

    seconds: float
    repeats_reduced: bool
    points_omitted: bool


def share_out(seconds: float, costs: Sequence[Cost]) -> list[Share]:
    """Divide the remaining time equally among the remaining runs; none gets more than it needs.

    If there is enough time, each run may also use an equal part of the spare time, as estimates
    may be too low. If not, the longest runs get fewer repetitions, and if even the minimum does not
    fit, points are left out. Called again before each run, so that unused time benefits the others.
    """
    free = max(0.0, seconds - sum(cost.startup for cost in costs))
    needs = [max(cost.full, MIN_RUN_SECONDS) for cost in costs]
    shares, left = [0.0] * len(needs), free
    shortest_first = sorted(range(len(needs)), key=needs.__getitem__)
    for done, k in enumerate(shortest_first):
        shares[k] = min(needs[k], left / (len(needs) - done))
        left -= shares[k]
    shares = [share + left / len(needs) for share in shares]
    return [
        Share(share, repeats_reduced=share < cost.full, points_omitted=share < cost.least)
        for share, cost in zip(shares, costs, strict=True)
    ]


def option(options: Sequence[str], name: str) -> str | None:
    """Return the value of an option, the last one if given twice."""
    positions = [k for k, token in enumerate(options) if token == name]
    return options[positions[-1] + 1] if positions else None
