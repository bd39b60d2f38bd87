"""The command as a user starts it, where what surrounds it fails."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from beds.mpis import PATIENCE, SCRIPTS

__all__ = ["ISOCHRONE", "Answer", "isochrone", "one_line", "start"]

ISOCHRONE = SCRIPTS / "isochrone"

Answer = subprocess.CompletedProcess[str]


def isochrone(
    *words: str | Path,
    cwd: Path,
    limits: str = "",
    environ: Mapping[str, str | None] = {},
    within: Sequence[str] = (),
) -> Answer:
    """Run the command, after what a shell says first, ``within`` another program if wanted."""
    variables = {**os.environ, **environ}
    argv = [*within, "bash", "-c", f'{limits} exec "$@"', "bash", ISOCHRONE, *words]
    return subprocess.run(
        argv,
        cwd=cwd,
        env={k: v for k, v in variables.items() if v is not None},
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def start(*words: str | Path, cwd: Path, environ: Mapping[str, str] = {}) -> subprocess.Popen[str]:
    """Start the command, and do not wait for it."""
    return subprocess.Popen(
        [ISOCHRONE, *words],
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def one_line(answer: Answer, code: int) -> str:
    """Check that it ended with a line and no traceback; return the line."""
    assert answer.returncode == code, answer.stderr
    assert "Traceback" not in answer.stderr
    said = [line for line in answer.stderr.splitlines() if line.startswith("isochrone: ")]
    said = [line for line in said if "running Open MPI as root" not in line]
    assert len(said) == 1, answer.stderr
    return said[0]
