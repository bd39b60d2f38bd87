"""A named set of measurements in one folder: its runs, and their estimated time.

`isochrone.measure.estimate` divides the time budget among them.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import Tell
from isochrone.measure import presets
from isochrone.measure.estimate import (
    MIN_REPEATS,
    WARMUP,
    Cost,
    Trial,
    Work,
    counted_defaults,
    tried,
)
from isochrone.measure.launchable import Launchable, sizes_of
from isochrone.measure.presets import Preset, Suite
from isochrone.measure.setup import Setup
from isochrone.runfile.file import read

TRIAL_SIZES = (8, 262144)
_TRIAL_OPTIONS = {"collective": ("--op", "allreduce"), "latency-map": ("--retest", "0")}
"""By experiment: more options of the short trial from which a run is estimated."""

RUN_GRACE = 60.0
"""Seconds beyond its time after which a run that does not end is ended."""


@dataclass(frozen=True)
class Planned:
    """One run of a suite, and its file."""

    preset: Preset
    ranks: int
    folder: Path
    sizes: str = ""
    """Sizes that an earlier suite chose, for ``--bytes``; empty: those of the preset."""

    @property
    def path(self) -> Path:
        """Where its run file is."""
        return self.folder / f"{self.preset.name}-{self.ranks}.jsonl"

    @property
    def options(self) -> tuple[str, ...]:
        """Options of the probe; of two ``--bytes`` the later one applies."""
        return (*self.preset.options, *(("--bytes", self.sizes) if self.sizes else ()))

    @property
    def arguments(self) -> str:
        """Options of the preset as the run file notes them; smpirun cannot pass blanks."""
        return ",".join(self.preset.options)

    def within(self, setup: Setup, seconds: float) -> Launchable:
        """Return the measurement, which is to end within a time."""
        seconds = max(seconds, 0.1)
        launchable = self.launchable(setup).with_options("--time-limit", f"{seconds:.3g}")
        return replace(launchable, timeout=2 * seconds + RUN_GRACE)

    def launchable(self, setup: Setup) -> Launchable:
        """Return the measurement."""
        notes = {"preset": self.preset.name, "arguments": self.arguments}
        return Launchable(setup, self.preset.experiment, self.options, self.ranks, notes)

    def is_complete(self, tell: Tell) -> bool:
        """Whether it was measured completely before; a partial run is renamed, with a message.

        Raises
        ------
        InputError
            If its file holds something else.
        """
        if not self.path.exists():
            return False
        run = read(self.path)
        if run.notes.get("arguments") != self.arguments:
            raise InputError(
                f"the file exists, with other settings than those of the preset {self.preset.name}",
                where=self.path,
                hint="choose another folder",
            )
        if not run.complete:
            aside = _unused_name(self.path)
            self.path.rename(aside)
            tell(f"{self.path} is not complete: renamed to {aside.name}, measured again")
            return False
        return True


def runs_of(
    suite: Suite,
    setup: Setup,
    ranks: Sequence[int],
    folder: Path,
    like: Path | None = None,
    tell: Tell = lambda _: None,
) -> list[Planned]:
    """Return the runs of a suite, which the probe has checked.

    Parameters
    ----------
    suite, setup, ranks
        What is measured, how, and with which numbers of ranks.
    folder
        Where the run files will be.
    like
        Folder of an earlier suite, whose automatically chosen sizes are used.
    tell
        Receives why runs of an optional suite are left out.

    Raises
    ------
    InputError
        If ``like`` holds none of these runs, or the probe refuses the options of a suite that is
        not optional.
    """
    sweeps = setup.sweeps() if suite.other_sweeps else {}
    runs = [
        Planned(preset, n, folder)
        for preset, n in presets.plan(suite, tuple(ranks or [setup.default_ranks()]), sweeps)
    ]
    if like is not None:
        runs = _like(runs, like)
    accepted = []
    for planned in runs:
        try:
            setup.check(planned.preset.experiment, planned.options, planned.ranks)
        except InputError as error:
            if not suite.optional:
                raise
            tell(f"{planned.preset.name}: left out: {error.what}")
        else:
            accepted.append(planned)
    return accepted


def _like(runs: Sequence[Planned], folder: Path) -> list[Planned]:
    """Let runs use the sizes that those of an earlier suite chose.

    Raises
    ------
    InputError
        If the folder holds none of these runs.
    """
    earlier = {planned: folder / planned.path.name for planned in runs}
    if not any(path.is_file() for path in earlier.values()):
        raise InputError(
            "the folder has no run of this suite with these numbers of ranks",
            where=folder,
            hint="give the folder of an earlier suite with --like",
        )
    return [
        replace(planned, sizes=sizes_of(read(path))) if path.is_file() else planned
        for planned, path in earlier.items()
    ]


def _unused_name(path: Path) -> Path:
    """Return a new name next to ``path`` for a partial run."""
    names = (path.with_suffix(f".part{k}.jsonl") for k in itertools.count(1))
    return next(name for name in names if not name.exists())


def estimates(setup: Setup, runs: Sequence[Planned]) -> list[Cost]:
    """Estimate each run from one short trial of each experiment with the most ranks it gets."""
    largest = {
        planned.preset.experiment: planned
        for planned in sorted(runs, key=lambda planned: planned.ranks)
    }
    names = dict.fromkeys(planned.preset.experiment for planned in runs)
    trials = {name: _try(setup, largest[name]) for name in names}
    costs = []
    for planned in runs:
        name = planned.preset.experiment
        defaults = itertools.chain.from_iterable(counted_defaults(setup, name).items())
        work = Work(name, (*defaults, *planned.options), planned.ranks)
        once = work.once(trials[name])
        shortest = once * (MIN_REPEATS + WARMUP)
        costs.append(Cost(trials[name].startup, once * work.repeats, shortest))
    return costs


def _try(setup: Setup, planned: Planned) -> Trial:
    """Measure two sizes a few times, and see how long it takes to start."""
    experiment = planned.preset.experiment
    options = ["--repeats", "4", "--warmup", "2", *_TRIAL_OPTIONS.get(experiment, ())]
    if any(option.flag == "--bytes" for option in setup.built.options_of(experiment)):
        options += ["--bytes", ",".join(map(str, TRIAL_SIZES))]
    launchable = replace(planned.launchable(setup), timeout=RUN_GRACE)
    return Trial.of(*tried(launchable, options, planned.folder))
