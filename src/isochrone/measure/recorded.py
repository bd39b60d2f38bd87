"""A program started as the user starts it, with its MPI calls recorded."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from isochrone.base.errors import InputError, Interrupted, check_exhausted
from isochrone.base.signals import taken_by
from isochrone.measure import discovery, tuned
from isochrone.measure.launcher import Environ
from isochrone.measure.probe import Probe

_KILLED = 128
"""Added to the number of a signal, as shells do."""


_FILES = {"record": "ISOCHRONE_RECORD", "io": "ISOCHRONE_IO_RECORD"}
"""Variables with the path of the run file, by library."""


def settings(library: Path, path: Path, environ: Environ, kind: str = "record") -> dict[str, str]:
    """Return the variables that the ranks need, in addition to ``environ``.

    ``kind`` is the name of the library: ``record`` records calls, ``io`` collective I/O.

    Raises
    ------
    InputError
        If the dynamic linker cannot load a library of this path.
    """
    return tuned.preloaded(library, environ) | {_FILES[kind]: str(path.absolute())}


def record(
    command: Sequence[str],
    built: Probe,
    path: Path,
    environ: Environ,
    kind: str = "record",
) -> int:
    """Run a command with what it calls recorded in ``path``; return its exit code, as `start`."""
    variables = settings(discovery.library(built, kind), path, os.environ, kind)
    tokens, environ = tuned.with_settings(command, built.library, variables, environ)
    path.unlink(missing_ok=True)  # the library does not overwrite files
    sys.stdout.flush()
    return start(tokens, environ)


def is_there(path: Path) -> bool:
    """Whether something was recorded; an empty file, of a rank 0 that was killed, is removed."""
    if path.is_file() and path.stat().st_size:
        return True
    path.unlink(missing_ok=True)
    return False


def start(command: Sequence[str], environ: Environ) -> int:
    """Run a command to its end, on this terminal; return its exit code.

    Signals to this process go on to it. Ctrl-C reaches it by itself, since the terminal sends that
    to both.

    Raises
    ------
    InputError
        If it cannot be started.
    Interrupted
        If it failed after one of these signals has come.
    """
    try:
        process = subprocess.Popen(list(command), env=dict(environ))
    except OSError as error:
        check_exhausted(error.errno)
        raise InputError(f"cannot start '{command[0]}': {error.strerror}") from error
    came = []
    by_terminal = sys.stdin.isatty()

    def pass_on(signum: int, frame: FrameType | None) -> None:
        came.append(signum)
        if signum != signal.SIGINT or not by_terminal:
            process.send_signal(signum)

    with taken_by(pass_on):
        code = process.wait()
    if code and came:
        raise Interrupted(came[0])
    return code if code >= 0 else _KILLED - code
