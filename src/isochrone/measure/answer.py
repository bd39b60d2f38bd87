"""What a short command says."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

from isochrone.base.errors import MeasurementError, check_exhausted
from isochrone.base.units import format_seconds

__all__ = ["answer"]

_TIMEOUT: Final = 60.0


def answer(argv: Sequence[str], timeout: float = _TIMEOUT) -> subprocess.CompletedProcess[str]:
    """Run a short command to its end and return what it printed.

    Raises
    ------
    MeasurementError
        If it cannot be started, or does not end within ``timeout`` seconds: then it is ended, and
        what it has started.
    ExhaustedError
        If the system has no room for another process.
    """
    try:
        started = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # so that all of it can be ended
        )
    except OSError as error:
        check_exhausted(error.errno)
        raise MeasurementError(f"cannot run '{argv[0]}': {error.strerror}") from error
    with started as process:
        try:
            said, complained = process.communicate(timeout=timeout)
        except BaseException as error:  # a signal to us, too
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                limit = format_seconds(timeout)
                raise MeasurementError(f"'{argv[0]}' did not end within {limit}") from error
            raise
    return subprocess.CompletedProcess(argv, process.returncode, said, complained)
