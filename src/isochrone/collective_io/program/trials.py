"""Starts a program with a proposal, and records its collective reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.files import write_text
from isochrone.collective_io.aggregators import romio_hints
from isochrone.collective_io.program.proposals import (
    ROMIO_HINTS,
    Proposal,
    not_in_force,
)
from isochrone.collective_io.results import io_recording
from isochrone.measure.program import Program
from isochrone.measure.race import GIVEN, Timed
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

FIRST_LIMIT: Final = 3600.0
"""Default time limit of the first start, in seconds."""

PATIENCE: Final = 4.0
"""A start may take so many times as long as the first one, and `SLACK` seconds."""

SLACK: Final = 30.0

LOSER: Final = 2.0
"""Who takes so many times as long as the first start, and `BIT` seconds, has lost."""

BIT: Final = 5.0


@dataclass
class Trials:
    """Starts of one program.

    Attributes
    ----------
    program
        What is started.
    folder
        Holds recordings, output of the program, and hints files.
    limit
        Time limit of a start in seconds; None: derived from the first.
    lost
        The same for a trial, which then counts as slower.
    base
        Hints that the program already gets from a file.
    report
        Called after each start.
    ways
        The proposals by name.
    failures
        Why a proposal failed, by name.
    """

    program: Program
    folder: Path
    limit: float | None
    base: Mapping[str, str]
    report: Callable[[str], None]
    lost: float = FIRST_LIMIT
    ways: dict[str, Proposal] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    times: dict[str, list[Timed]] = field(default_factory=dict)

    @property
    def started(self) -> int:
        """How often the program was started and came to its end, the first time not counted."""
        return sum(len(some) for some in self.times.values())

    def first(self) -> tuple[Run, float]:
        """Run the program as it is; return what was recorded, and the seconds it took.

        Raises
        ------
        InputError
            If it cannot be started, or is no program of this MPI.
        MeasurementError
            If it fails.
        """
        limit = self.limit or FIRST_LIMIT
        run, whole = self._run({}, self.folder / "recording", limit)
        self.limit = self.limit or PATIENCE * whole + SLACK
        self.lost = min(self.limit, LOSER * whole + BIT)
        return run, whole

    def start(self, name: str) -> Timed | None:
        """Run the program with the proposal of this name; None: it failed, see `failures`.

        Raises
        ------
        MeasurementError
            If it fails with the given settings.
        """
        number = len(self.times.setdefault(name, [])) + 1
        runs = self.folder / "runs"
        runs.mkdir(exist_ok=True)
        limit = self.lost if name != GIVEN and number == 1 else self.limit or FIRST_LIMIT
        try:
            run, whole = self._run(self.variables(name), runs / f"{name}-{number}", limit)
        except MeasurementError as error:
            if name == GIVEN:
                raise
            self.failures[name] = error.what
            return None
        calls = sum(call.seconds for call in io_recording.calls(run))
        if name != GIVEN and number == 1:
            missed = not_in_force(
                self.ways[name].hints, [one.hints for one in io_recording.files(run)]
            )
            if missed:
                self.failures[name] = f"{', '.join(missed)} had no effect"
                return None
        timed = Timed(calls, whole)
        self.times[name].append(timed)
        self.report(f"{name}: {calls:.3g} s in collective calls, {whole:.3g} s in all")
        return timed

    def variables(self, name: str) -> dict[str, str]:
        """Return the variables of a proposal; writes its hints file."""
        if name == GIVEN:
            return {}
        way = self.ways[name]
        if not way.hints:
            return dict(way.environ)
        path = self.folder / "runs" / f"{name}.hints"
        write_text(path, romio_hints.text({**self.base, **way.hints}))
        return {**way.environ, ROMIO_HINTS: str(path.absolute())}

    def _run(self, variables: Mapping[str, str], stem: Path, limit: float) -> tuple[Run, float]:
        path, log = stem.with_suffix(".jsonl"), stem.with_suffix(".log")
        path.unlink(missing_ok=True)  # the library does not overwrite files
        whole = self.program.run(path, variables, log, limit)
        if not path.is_file() or not path.stat().st_size:
            path.unlink(missing_ok=True)
            raise InputError(
                "nothing was recorded: is the program built with this MPI?",
                where=" ".join(self.program.command),
                hint="it must call MPI_Finalize and load the MPI library of the launcher "
                "dynamically; see --mpicc",
            )  # fmt: skip
        return read(path), whole
