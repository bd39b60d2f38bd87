"""What a short command says."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Final

from isochrone.base.errors import MeasurementError

__all__ = ["answer"]

_TIMEOUT: Final = 60.0


def answer(argv: Sequence[str], timeout: float = _TIMEOUT) -> subprocess.CompletedProcess[str]:
    """Run a short command to its end and return what it printed.

    Raises
    ------
    MeasurementError
        If it cannot be started, or does not end within ``timeout`` seconds.
    """
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeasurementError(f"cannot run '{argv[0]}': {error}") from error
