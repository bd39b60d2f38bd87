"""Proposals, and starts of a program with one, whose collective accesses are recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from isochrone.base.errors import InputError, MeasurementError, failing
from isochrone.base.files import write_text
from isochrone.base.record import Record
from isochrone.base.text import whole_number
from isochrone.base.units import format_bytes
from isochrone.collective_io.orders.setting import hints_text
from isochrone.collective_io.results import io_recording, io_times
from isochrone.measure.elimination import GIVEN, Timed
from isochrone.measure.program import Program
from isochrone.runfile.run import Run

RECORDING = "recording.jsonl"

FIRST_LIMIT = 3600.0
"""Default time limit of the first start, in seconds."""

LAUNCH_PATIENCE = 4.0
"""A start may take so many times as long as the first one, and `SLACK` seconds."""

SLACK = 30.0

LOSER = 2.0
"""Who takes so many times as long as the first start, and `BIT` seconds, has lost."""

BIT = 5.0


Pairs = Mapping[str, str]
"""Hints or variables of the environment, by name."""


class Trials(Struct):
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
    earlier
        A recording to choose by in place of that of a first start.
    ways
        The proposals by name.
    failures
        Why a proposal failed, by name.
    transferred
        Bytes of each launch with the given settings.
    """

    program: Program
    folder: Path
    limit: float | None
    base: Pairs
    report: Callable[[str], None]
    earlier: Run | None = None
    lost: float = FIRST_LIMIT
    ways: dict[str, Proposal] = {}
    failures: dict[str, str] = {}
    times: dict[str, list[Timed]] = {}
    transferred: list[int] = []

    @property
    def started(self) -> int:
        """How often the program was started and came to its end, the first time not counted."""
        return sum(len(timed) for timed in self.times.values())

    @property
    def recording(self) -> Path:
        """The recording that settings are chosen by."""
        return self.earlier.path if self.earlier and self.earlier.path else self.folder / RECORDING

    def first(self) -> tuple[Run, float]:
        """Return an earlier recording, or that of the program as it is, and the seconds it took.

        Raises
        ------
        InputError
            If it cannot be started, or is no program of this MPI.
        MeasurementError
            If it fails.
        """
        if self.earlier is not None:
            run, wall_seconds = self.earlier, float((self.earlier.end or {}).get("seconds", 0.0))
            if not wall_seconds > 0:
                raise InputError("the seconds of the program are missing", where=run.where)
        else:
            limit = self.limit or FIRST_LIMIT
            run, wall_seconds = self._run({}, self.recording.with_suffix(""), limit)
            self.transferred = [io_times.transferred(run)]
        self.limit = self.limit or LAUNCH_PATIENCE * wall_seconds + SLACK
        self.lost = min(self.limit, LOSER * wall_seconds + BIT)
        return run, wall_seconds

    def start(self, name: str) -> Timed | None:
        """Run the program with the proposal of this name; None: it failed, see `failures`.

        Raises
        ------
        MeasurementError
            If it fails with the given settings.
        """
        launch_number = len(self.times.setdefault(name, [])) + 1
        runs = self.folder / "runs"
        runs.mkdir(exist_ok=True)
        limit = self.lost if name != GIVEN and launch_number == 1 else self.limit or FIRST_LIMIT
        try:
            run, wall_seconds = self._run(
                self.variables(name), runs / f"{name}-{launch_number}", limit
            )
        except MeasurementError as error:
            if name == GIVEN:
                raise
            self.failures[name] = error.what
            return None
        found = io_times.account(run)
        timed = Timed(found.seconds if found else wall_seconds, wall_seconds)
        wrong = self._otherwise(name, run)
        if wrong:
            self.failures[name] = wrong
            return None
        if name != GIVEN and launch_number == 1:
            missed = not_in_force(
                self.ways[name].hints, [file.hints for file in io_recording.files(run)]
            )
            if missed:
                self.failures[name] = f"{', '.join(missed)} had no effect"
                return None
        self.times[name].append(timed)
        label = name if name == GIVEN else f"{name} ({self.ways[name].setting})"
        self.report(f"{label}: {timed.calls:.3g} s in MPI-IO, {wall_seconds:.3g} s in total")
        return timed

    def _otherwise(self, name: str, run: Run) -> str:
        """Say if a launch did not transfer what launches with the given settings do.

        It is no result, however fast: a library may not have what was set, and open no file.
        """
        moved = io_times.transferred(run)
        if name == GIVEN:
            self.transferred.append(moved)
        lowest, highest = min(self.transferred), max(self.transferred)
        if lowest <= moved <= highest:
            return ""
        expected = format_bytes(lowest if moved < lowest else highest)
        return f"it transferred {format_bytes(moved)} instead of {expected}"

    def variables(self, name: str) -> dict[str, str]:
        """Return the variables of a proposal; writes its hints file."""
        if name == GIVEN:
            return {}
        way = self.ways[name]
        if not way.hints:
            return dict(way.environ)
        path = self.folder / "runs" / f"{name}.hints"
        write_text(path, hints_text({**self.base, **way.hints}))
        return {**way.environ, ROMIO_HINTS: str(path.absolute())}

    def _run(self, variables: Pairs, stem: Path, limit: float) -> tuple[Run, float]:
        return self.program.record(
            stem.with_suffix(".jsonl"), variables, stem.with_suffix(".log"), limit
        )


# --- proposals -----------------------------------------------------------------------------------

# Proposals: hints for the MPI library of a program, set from outside.
#
# ROMIO reads a file of hints that ``ROMIO_HINTS`` names; hints set by the application override it.
# Open MPI's OMPIO reads no file; its parameters are environment variables.

ROMIO_HINTS = "ROMIO_HINTS"

SYSTEM_HINTS = Path("/etc/romio-hints")
"""Read by ROMIO where the variable is not set."""


class Proposal(Record):
    """A proposed way to run the program.

    Attributes
    ----------
    words
        What it changes.
    hints
        For ROMIO, by key.
    environ
        Variables for the ranks, other than that of the hints file.
    expected
        Seconds of the collective calls by the model; None: not predicted.
    """

    words: str
    hints: Mapping[str, str] = {}
    environ: Annotated[Mapping[str, str], "as environment"] = {}
    expected: Annotated[float | None, "as expected_seconds"] = None

    @property
    def setting(self) -> str:
        """Its hints and variables."""
        return ", ".join(f"{key} {value}" for key, value in {**self.hints, **self.environ}.items())

    @property
    def portable(self) -> bool:
        """Whether its gain may last on another file system.

        Many small accesses of all ranks are fast where memory or a disk of one host takes them.
        """
        independent = any(
            value == "disable" and key.startswith(("romio_cb_", "romio_ds_"))
            for key, value in self.hints.items()
        )
        return not independent and self.environ.get("OMPI_MCA_fcoll") != "individual"


def without_given(
    proposals: Sequence[Proposal],
    program_hints: Pairs,
    user: Pairs | None = None,
) -> tuple[list[Proposal], list[str]]:
    """Remove hints that must not change; proposals without remaining changes are omitted.

    Parameters
    ----------
    proposals
        Proposals, best first.
    program_hints, user
        Hints set by the application, and those of the user's file that must stay.

    Returns
    -------
    left, warnings
        Proposals that are left; and warnings of conflicting hints.
    """
    fixed = {**(user or {}), **program_hints}
    left: list[Proposal] = []
    blocked: dict[str, str] = {}
    for proposal in proposals:
        hints = {key: value for key, value in proposal.hints.items() if key not in fixed}
        lost = [key for key in proposal.hints if key in fixed and fixed[key] != proposal.hints[key]]
        for key in lost:
            blocked.setdefault(key, proposal.hints[key])
        description = f"{proposal.words} (without {', '.join(lost)})" if lost else proposal.words
        tried = Proposal(description, hints, proposal.environ, None if lost else proposal.expected)
        duplicate = any(
            (earlier.hints, earlier.environ) == (hints, proposal.environ) for earlier in left
        )
        if (hints or proposal.environ) and not duplicate:
            left.append(tried)
    warnings = [
        f"the program sets {key}={program_hints[key]} itself, which overrides hints files; to try "
        f"others, remove that MPI_Info_set from the program"
        if key in program_hints
        else f"{key}={fixed[key]} of your hints file is unchanged; --override tries {value}"
        for key, value in sorted(blocked.items())
        if key in fixed
    ]
    return left, warnings


def hints_of_user(environ: Pairs) -> dict[str, str]:
    """Return the hints that the program gets from a file already; ours are added to them.

    Raises
    ------
    InputError
        If ``ROMIO_HINTS`` names a file that cannot be read.
    """
    named = environ.get(ROMIO_HINTS)
    if named is None and not os.access(SYSTEM_HINTS, os.R_OK):
        return {}
    path = Path(named) if named else SYSTEM_HINTS
    with failing("the file cannot be read", f"{ROMIO_HINTS}={path}"):
        lines = path.read_text("utf-8", errors="replace").splitlines()
    pairs = (line.split(None, 1) for line in lines if not line.startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def not_in_force(wanted: Pairs, active: Sequence[Pairs]) -> list[str]:
    """List the hints that had an effect on no file.

    Parameters
    ----------
    wanted
        Hints that were given.
    active
        Active hints of each file. Keys that a library does not report are ignored.
    """
    return [
        key
        for key, value in wanted.items()
        if (seen := [hints[key] for hints in active if key in hints])
        and not any(_same(value, active_value) for active_value in seen)
    ]


def _same(wanted: str, reported: str) -> bool:
    """Whether a library accepted a value: ``cb_nodes`` is capped by the available ranks."""
    accepted, requested = whole_number(reported), whole_number(wanted)
    if accepted is not None and requested is not None:
        return accepted <= requested
    return wanted.split() == reported.split()
