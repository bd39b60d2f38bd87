"""A checked measurement, which can be launched any number of times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import did_you_mean, misplaced
from isochrone.measure import algorithm as algorithms
from isochrone.measure import presets
from isochrone.measure.algorithm import Forced
from isochrone.measure.setup import Setup
from isochrone.runfile.run import LAUNCH, Run

AUTOMATIC = "auto"


@dataclass(frozen=True)
class Launchable:
    """One measurement of one number of ranks.

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
    notes: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    forced: Forced = field(default_factory=Forced)

    @classmethod
    def of(
        cls,
        setup: Setup,
        experiment: str,
        options: Sequence[str],
        counts: Sequence[int] | None = None,
        *,
        preset: str | None = None,
        algorithm: str | None = None,
        timeout: float | None = None,
        flags: Mapping[str, str] | None = None,
        elsewhere: Callable[[], Mapping[str, str]] = dict,
    ) -> list[Launchable]:
        """Check what is asked for; return it for each number of ranks.

        Parameters
        ----------
        setup
            The MPI and the launcher.
        experiment, options, preset, algorithm
            What is measured.
        counts
            The numbers of ranks; None: as many as the launcher knows of.
        timeout
            Seconds after which the ranks of a launch are ended.
        flags
            Options of the command and their helps, suggested for unknown ones.
        elsewhere
            Returns names that other commands have, and where they are typed.

        Raises
        ------
        InputError
            If the probe refuses the options, or there is no such preset or algorithm.
        """
        notes = {}
        if preset is not None:
            options = (*presets.find(preset, experiment).options, *options)
            notes["preset"] = preset
        ranks = sorted(set(counts or [setup.default_ranks()]))
        for count in ranks:
            _check(setup, experiment, options, count, flags, elsewhere)
        forced = Forced()
        if algorithm is not None:
            if experiment != "collective":
                raise InputError(
                    "only the experiment collective has algorithms", where="--algorithm"
                )
            forced = setup.force(algorithm)
            for text in forced.warnings:
                setup.warn(text)
            notes[algorithms.NOTE] = algorithm
        return [
            cls(setup, experiment, tuple(options), count, notes, timeout, forced) for count in ranks
        ]

    def tokens(self, path: Path, *, force: bool = False, launch: str = "") -> list[str]:
        """Return the command of one launch, for example ``2/5``: smpirun passes no blanks."""
        notes = {**self.notes, LAUNCH: launch} if launch else self.notes
        tokens = self.setup.tokens(
            self.experiment,
            self.options,
            self.ranks,
            path,
            force=force,
            notes=notes,
            extra=self.forced.options,
        )
        variables = [f"{key}={value}" for key, value in self.forced.environ.items()]
        return ["env", *variables, *tokens] if variables else tokens

    def with_options(self, *overrides: str) -> Launchable:
        """Return it with options that override earlier ones."""
        return replace(self, options=(*self.options, *overrides))

    def like(self, first: Run) -> Launchable:
        """Let later launches measure the sizes that ``--bytes auto`` chose in the first one."""
        sizes = sizes_of(first)
        return self.with_options("--bytes", sizes) if sizes else self


def _check(
    setup: Setup,
    experiment: str,
    options: Sequence[str],
    ranks: int,
    flags: Mapping[str, str] | None,
    elsewhere: Callable[[], Mapping[str, str]],
) -> None:
    """Let the probe check options; suggest a similar name for an unknown one."""
    try:
        setup.check(experiment, options, ranks)
    except InputError as error:
        own = {option.flag: option for option in setup.built.options_of(experiment)}
        takes = dict.fromkeys(flags or (), ("", ())) | {
            flag: (option.value, option.choices) for flag, option in own.items()
        }
        names = {**(flags or {}), **{flag: option.help for flag, option in own.items()}}
        here = {word: f"{flag} {word}" for flag in own for word in own[flag].choices}
        tokens = [token for argument in options for token in argument.split("=", 1)]
        guess = partial(did_you_mean, suffix="", elsewhere=lambda: {**elsewhere(), **here})
        for flag, token in pairwise(["", *tokens]):
            refused = (f"no option '{token}", f"'{token}' is not an option")
            if flags and any(text in error.what for text in refused):
                place = "" if token[:1] == "-" else misplaced(token, tokens, takes)
                meant = f"did you mean '{place}'?" if place else guess(token, names)
                error.hint = meant or f"an option of the launcher: --launcher-arg={token}"
            for choice in token.split(","):
                if flag in own and f"'{choice}'" in error.what:
                    error.hint = guess(choice, own[flag].choices)
        if error.hint:
            error.what = error.what.partition(" (")[0]
        raise


def sizes_of(run: Run) -> str:
    """Return the sizes a run chose by itself, as ``--bytes`` takes them; else an empty text."""
    requested = run.options.get("bytes")
    table = run.tables.get("sample")
    if not (isinstance(requested, str) and requested.startswith(AUTOMATIC)) or table is None:
        return ""
    return ",".join(map(str, sorted(set(table["bytes"].tolist()))))
