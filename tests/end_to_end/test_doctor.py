"""`isochrone doctor`: what is used here, whether ranks start, and what is wrong without an MPI."""

from __future__ import annotations

import json
from pathlib import Path

from beds.command_line import run_here
from beds.mpis import CROWDED, Mpi


def test_the_mpi_and_its_ranks_are_checked(mpich: Mpi) -> None:
    answer = run_here("doctor", "-n", 2, "--mpicc", mpich.probe.mpicc, "--json", **CROWDED)
    assert answer.returncode == 0, answer.stderr
    found = {one["name"].split()[0]: one for one in json.loads(answer.stdout)["checks"]}
    assert "MPICH" in found["MPI"]["found"]
    assert found["launcher"]["found"] == "mpiexec-mpich"
    assert found["compiler"]["found"] == str(mpich.probe.mpicc)
    assert found["ranks"]["verdict"] in ("ok", "advice")
    assert found["clock"]["verdict"] in ("ok", "unknown")
    assert found["GPU"]["verdict"] == "unknown"
    assert "cuda no, rocm no, level-zero no" in found["GPU"]["found"]


def test_without_an_mpi_nothing_can_be_measured(tmp_path: Path) -> None:
    answer = run_here("doctor", "--mpicc", tmp_path / "mpicc", "--json")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["checks"][0]["verdict"] == "problem"
