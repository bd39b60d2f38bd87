"""The check in contrib/reframe under the real ReFrame: it passes, fails, and says why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beds.mpis import PATIENCE, ROOT, SCRIPTS, Mpi

RECIPE = ROOT / "contrib" / "reframe"
PYTHON = Path(sys.executable).parent
MADE_UP = "synthetic --shape 4,4,2 --noise 0.02"
"""A machine of 32 ranks, exactly known: what the verdict is does not depend on this one."""


def reframe(folder: Path, *settings: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run the check with mpiexec of the MPI that every functional test may use."""
    program = shutil.which("reframe", path=str(PYTHON))
    assert program, "ReFrame is not installed beside this Python: make venv"
    argv = [program, "-C", RECIPE / "site.py", "-c", RECIPE / "latency_map.py", "-r"]
    argv += ["--prefix", folder, "--system", "here"]
    for setting in settings:
        argv += ["-S", f"LatencyMap.{setting}"]
    environ = {**os.environ, "PATH": path, "HOME": str(folder), "TMPDIR": str(folder)}
    return subprocess.run(
        argv,
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.fixture(scope="module")
def path(mpich: Mpi) -> str:
    """A PATH with both commands and mpiexec."""
    return f"{mpich.probe.path.parent}:{SCRIPTS}:{os.environ['PATH']}"


def test_a_map_of_two_ranks_is_measured_and_not_known(tmp_path: Path, path: str) -> None:
    """What cannot be judged does not pass."""
    answer = reframe(tmp_path, "num_tasks=2", "nearest_us=1e9", "farthest_us=1e9", path=path)
    assert answer.returncode == 1, answer.stdout
    assert "Ran 1/1 test case(s)" in answer.stdout
    assert "not known" in answer.stdout


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("experiment", "settings", "said"),
    [
        (f"{MADE_UP} --slow-node 2", [], ["slow: node n2: ", "bad hosts: n2"]),
        (MADE_UP, ["nearest_us=1"], ["performance", "nearest"]),
        (
            MADE_UP,
            ["baseline=/nowhere/nights"],
            ["isochrone check ended with status 2", "/nowhere/nights"],
        ),
    ],
    ids=["slow", "above its reference", "no earlier nights"],
)
def test_what_fails_says_why(
    tmp_path: Path, path: str, experiment: str, settings: list[str], said: list[str]
) -> None:
    """Whoever reads the mail of the night knows which node to drain.

    Wrong use ends with 2, which is neither a pass nor something slow.
    """
    answer = reframe(tmp_path, "num_tasks=1", f"experiment={experiment}", *settings, path=path)
    assert answer.returncode == 1
    for words in said:
        assert words in answer.stdout


def test_times_below_their_reference_pass(tmp_path: Path, path: str) -> None:
    made_up = f"experiment={MADE_UP}"
    answer = reframe(tmp_path, "num_tasks=1", made_up, "nearest_us=2.1", path=path)  # 2 and noise
    assert answer.returncode == 0, answer.stdout
    assert list(tmp_path.rglob("output/**/map.jsonl"))


def test_a_command_that_is_not_there_is_the_reason_and_no_json_error(
    tmp_path: Path, mpich: Mpi
) -> None:
    """It said only "jsondecode error"."""
    tools = tmp_path / "bin"
    tools.mkdir()
    starter = tools / "mpiexec"
    starter.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    starter.chmod(0o755)
    bare = f"{tools}:/usr/bin:/bin"
    answer = reframe(tmp_path, "num_tasks=1", path=bare)
    assert answer.returncode == 1
    assert "isochrone-probe ended" in answer.stdout
    assert "json" not in answer.stdout.lower().partition("isochrone-probe ended")[2][:300]
    (tools / "isochrone-probe").symlink_to(mpich.probe.path)
    answer = reframe(tmp_path, "num_tasks=1", f"experiment={MADE_UP}", path=bare)
    assert answer.returncode == 1
    assert "status 127" in answer.stdout
    assert "not found" in answer.stdout
