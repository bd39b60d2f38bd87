"""Repeated launches of a user's program, with additional environment variables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic

from isochrone.base.errors import InputError, MeasurementError
from isochrone.measure import discovery, job, recorded, tuned
from isochrone.measure.launcher import Environ
from isochrone.measure.probe import Probe
from isochrone.runfile.file import read
from isochrone.runfile.run import Run


@dataclass(frozen=True)
class Program:
    """What the user typed, and what the ranks load.

    Attributes
    ----------
    command
        Launcher, program and arguments, as tokens.
    environ
        All variables of the user.
    probe
        For its MPI.
    before
        A command that is run before each start; empty: none.
    records
        What a recording is of: ``io``, collective I/O, or ``record``, calls of MPI.
    """

    command: Sequence[str]
    environ: Environ
    probe: Probe
    before: Sequence[str] = ()
    records: str = "io"

    @cached_property
    def library(self) -> Path:
        """The library that records; compiled if need be."""
        return discovery.library(self.probe, self.records)

    @cached_property
    def says(self) -> str:
        """Version text of the MPI library."""
        return self.probe.library

    def run(self, recording: Path | None, variables: Environ, log: Path, limit: float) -> float:
        """Run it to its end; return the seconds that took.

        Parameters
        ----------
        recording
            Run file that its rank 0 writes; None: nothing is recorded.
        variables
            For the ranks.
        log
            Gets what it prints.
        limit
            Seconds after which it is ended.

        Raises
        ------
        InputError
            If it cannot be started.
        MeasurementError
            If it, or the command before it, fails or does not end in time.
        Interrupted
            If a signal came.
        """
        with log.open("w", encoding="utf-8") as stream:

            def hear(line: str) -> None:
                stream.write(f"{line}\n")

            if self.before:
                try:
                    job.run(self.before, timeout=limit, hear=hear, environ=self.environ)
                except MeasurementError as error:
                    raise MeasurementError(
                        error.what, where="--before", details=error.details
                    ) from error
            ours = dict(variables)
            if recording is not None:
                files = recorded.settings(self.library, recording, self.environ, self.records)
                ours = files | ours
            tokens, environ = tuned.with_settings(self.command, self.says, ours, self.environ)
            began = monotonic()
            job.run(tokens, timeout=limit, hear=hear, environ=environ)
            return monotonic() - began

    def record(
        self, recording: Path, variables: Environ, log: Path, limit: float
    ) -> tuple[Run, float]:
        """Run it as `run` does; return what was recorded, and the seconds.

        Raises
        ------
        InputError
            Also if nothing was recorded, since it is no program of this MPI.
        """
        recording.unlink(missing_ok=True)  # the library does not overwrite files
        seconds = self.run(recording, variables, log, limit)
        if not recorded.is_there(recording):
            raise InputError(
                "nothing was recorded",
                where=f"'{' '.join(self.command)}'",
                hint="the program must be linked dynamically with this MPI, and call "
                "MPI_Finalize; see --mpicc",
            )
        return read(recording), seconds


def launcher_words(command: Sequence[str], command_line: str) -> list[str] | None:
    """Return the words of a command that are not those of the program that its ranks became.

    Parameters
    ----------
    command
        As the user typed it.
    command_line
        The command line of rank 0, as the kernel knew it: words with blanks between them. A
        script has its interpreter before it.

    Returns
    -------
    list[str] | None
        None if the program is not found in the command, or there are several (``:``).
    """
    if ":" in command:
        return None
    for index in range(1, len(command)):
        tail = " ".join(command[index:])
        name = re.escape(Path(command[index]).name)
        arguments = " ".join(["", *command[index + 1 :]])
        if command_line.endswith(tail) or re.search(
            rf"(^|[/ ]){name}{re.escape(arguments)}$", command_line
        ):
            of_script = _name(command[index - 1]) == _name(command_line.split()[0])
            return list(command[: index - 1 if of_script and index > 1 else index])
    return None


def _name(program: str) -> str:
    """Return the name of a program without its version: python3.11 is called by python."""
    return Path(program).name.rstrip("0123456789.")
