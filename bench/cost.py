"""What a command costs: its seconds and its memory."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

ISOCHRONE = Path(sysconfig.get_path("scripts")) / "isochrone"


def cost(argv: Sequence[str | Path], output: Path | None = None) -> tuple[float, float]:
    """Run a command; return its seconds and its peak memory in MiB."""
    with Path(output or os.devnull).open("wb") as stream:
        started = time.perf_counter()
        process = subprocess.Popen(argv, stdout=stream)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv)
    return seconds, usage.ru_maxrss / 1024
