"""A program started as the user starts it, with its MPI calls recorded."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from isochrone.base.errors import InputError
from isochrone.measure import tuned

__all__ = ["settings", "start"]

_PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP)

_KILLED: Final = 128
"""Added to the number of a signal, as shells do."""


_FILES: Final = {"record": "ISOCHRONE_RECORD", "io": "ISOCHRONE_IO_RECORD"}
"""Variables that name the run file, by the library that is told."""


def settings(
    library: Path, path: Path, environ: Mapping[str, str], what: str = "record"
) -> dict[str, str]:
    """Return the variables that the ranks need, in addition to ``environ``.

    ``what`` is the name of the library: ``record`` records calls, ``io`` collective I/O.

    Raises
    ------
    InputError
        If the dynamic linker cannot load a library of this path.
    """
    return tuned.preloaded(library, environ) | {_FILES[what]: str(path.absolute())}


def start(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run a command to its end, on this terminal; return its exit code.

    Signals to this process go on to it. Ctrl-C reaches it by itself, since the terminal sends that
    to both.

    Raises
    ------
    InputError
        If it cannot be started.
    """
    try:
        process = subprocess.Popen(list(command), env=dict(environ))
    except OSError as error:
        raise InputError(f"cannot start '{command[0]}': {error.strerror}") from error
    own = signal.SIG_IGN if sys.stdin.isatty() else _sender(process)
    handlers = {signal.SIGINT: own, **dict.fromkeys(_PASSED_ON, _sender(process))}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else _KILLED - code


def _sender(process: subprocess.Popen[bytes]) -> Callable[[int, FrameType | None], None]:
    return lambda number, frame: process.send_signal(number)
