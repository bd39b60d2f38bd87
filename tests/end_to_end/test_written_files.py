"""Every file that a command writes: where that fails, one line, and what was there before stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from beds.mpis import MPIS, PATIENCE, find_mpi, missing
from beds.written import HOWS

TESTS = Path(__file__).parents[1]


def own_mounts() -> list[str]:
    """Return what starts a program that may mount; skip the test where nobody may."""
    argv = ["unshare", "--mount"]
    if subprocess.run([*argv, "true"], capture_output=True, check=False).returncode:
        missing("cluster", "there can be no mount namespace: this needs root")
    return argv


@pytest.mark.few(2)
@pytest.mark.parametrize("how", list(HOWS))
def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path, how: str) -> None:
    """A full disk, one without leave to write, and folders, pipes and devices of that name."""
    find_mpi("mpich-wheel")
    within = own_mounts() if how in ("full", "read-only") else []
    path = os.pathsep.join([str(TESTS), *sys.path])
    answer = subprocess.run(
        [*within, sys.executable, "-m", "beds.written", how, tmp_path],
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "MPICC": str(MPIS["mpich-wheel"])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert answer.returncode == 0, answer.stderr
    tried = [json.loads(line) for line in answer.stdout.splitlines()]
    assert len(tried) >= 18
    for one in tried:
        if one["words"].startswith("baseline add") and how not in ("full", "read-only"):
            continue  # it takes a folder
        if one["words"].startswith("place nodes") and how == "folder":
            continue  # likewise
        assert one["code"] in (2, 3), one
        assert "Traceback" not in one["said"], one
        assert len([x for x in one["said"].splitlines() if x.startswith("isochrone: ")]) == 1, one
        assert one["same"], one
