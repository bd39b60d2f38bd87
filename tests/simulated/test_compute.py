"""Computing on a simulated machine: as fast as its platform says, and it is said so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.simulation import Simulation
from isochrone.measure.platforms import parse
from isochrone.sweep.curves import curves

T_OP = 1e-9
"""Of cores of 1 Gf, which platforms of `isochrone platform` have."""


def test_an_operation_takes_what_the_platform_says(
    simulation: Simulation, isochrone: Command, tmp_path: Path
) -> None:
    """All ranks at once compute as fast as one, and a model of it says so for any size."""
    run = simulation.measure("compute", parse("nodes:2 cores:2"), "--bytes", "8,4KiB:16MiB:x8")
    assert [(curve.name, curve.p) for curve in curves(run)] == [
        ("dot", 1),
        ("dot", 4),
        ("axpy", 1),
        ("axpy", 4),
    ]
    for curve in curves(run):
        assert [point.t_op for point in curve.points] == pytest.approx(
            [T_OP] * len(curve.points), rel=1e-3
        )
    assert [warning["code"] for warning in run.warnings] == ["simulated-computation"]
    model = tmp_path / "model.json"
    assert isochrone("fit", run.path, "-o", model).returncode == 0
    answer = isochrone(
        "predict",
        "collective",
        "--model",
        model,
        "--op",
        "dot",
        "--ranks",
        4,
        "--bytes",
        "1MiB",
        "--json",
    )
    (found,) = json.loads(answer.stdout)["predictions"]
    assert found["seconds"] == pytest.approx(2 * 2**20 / 8 * T_OP, rel=0.01)
