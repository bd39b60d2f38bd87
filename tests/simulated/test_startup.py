"""Start-up of a simulated machine, whose MPI_Init takes a given time."""

from __future__ import annotations

import pytest

from beds.simulation import Simulation
from isochrone.measure.platforms import parse
from isochrone.sweep.curves import curves


@pytest.mark.parametrize("seconds", [0.25, 0.5])
def test_init_takes_what_the_simulator_says(simulation: Simulation, seconds: float) -> None:
    """The launch and MPI_Finalize are outside of its time, and have no samples."""
    run = simulation.measure(
        "startup", parse("nodes:4 cores:1"), launcher=(f"--launcher-arg=--cfg=smpi/init:{seconds}",)
    )
    by_name = {(curve.name, curve.p): curve.points[0].median for curve in curves(run)}
    assert by_name["init", 4] == pytest.approx(seconds, rel=1e-6)
    assert {name for name, _ in by_name} == {
        "init",
        "comm_split",
        "comm_dup",
        "comm_create",
        "comm_create_group",
    }
    assert all(by_name[op, 4] > by_name[op, 2] for op in ("comm_split", "comm_dup"))
