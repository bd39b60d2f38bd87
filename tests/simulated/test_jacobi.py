"""Jacobi, real, emulated and predicted, on a simulated machine: they agree."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.mpis import PATIENCE, ROOT
from beds.simulation import Simulation
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Collective, Compute
from isochrone.applications.description.reading import read

EXAMPLE = ROOT / "examples/jacobi"


@pytest.mark.parametrize(("n", "p"), [(512, 2), (1000, 16), (7, 3)])
def test_the_descriptions_are_the_equations_of_the_paper(n: int, p: int) -> None:
    """Equations 1 and 2, with as many rows or columns as the rank with the most has."""
    lines = math.ceil(n / p)
    expected = {
        "row": (2 * lines * n * 0.5e-9, [("allgather", 8 * lines)]),
        "column": (2 * lines * (n - 1) * 0.5e-9, [("reduce", 8 * n), ("bcast", 8 * n)]),
    }
    for name, (seconds, operations) in expected.items():
        asked = {"n": str(n), "t_op": "0.5ns", "p": str(p)}
        made = program(read(EXAMPLE / f"{name}.yaml", asked))
        (app,) = made.applications
        assert app.ranks == p
        for steps in app.steps:
            compute, *collectives = steps
            assert isinstance(compute, Compute)
            assert made.values[compute.time] == pytest.approx((seconds,))
            assert [
                (step.op, made.values[step.size])
                for step in collectives
                if isinstance(step, Collective)
            ] == [(op, (nbytes,)) for op, nbytes in operations]


def test_real_emulated_and_predicted_agree(
    simulation: Simulation, isochrone: Command, tmp_path: Path
) -> None:
    """On 8 ranks with and without two phases: emulated within 1 %, predicted within 5 %.

    Computing and communication are of the same size, so that neither hides an error of the other.
    """
    platform = tmp_path / "P.xml"
    assert isochrone("platform", "nodes:4 cores:2", "-o", platform).returncode == 0
    argv = [
        sys.executable,
        EXAMPLE / "compare.py",
        "-n",
        "8",
        "--n",
        "256",
        "--iterations",
        "5",
        "--rounds",
        "1",
        "--grid",
        "2x4",
        "--platform",
        platform,
        "--folder",
        tmp_path / "study",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert "row, library" in done.stdout
    found = json.loads((tmp_path / "study/result.json").read_text())
    assert [(case["variant"], case["grid"]) for case in found["cases"]] == [
        ("row", ""),
        ("column", ""),
        ("row", "2x4"),
        ("column", "2x4"),
    ]
    for case in found["cases"]:
        (real,), (emulated,), (predicted,) = (
            case[way] for way in ("real", "emulated", "predicted")
        )
        computing = case["phases"]["real"]["compute"][0]
        assert 0.05 < 1 - computing / real < 0.9
        assert emulated == pytest.approx(real, rel=0.01)
        assert predicted == pytest.approx(real, rel=0.05)
