"""The common clock where there is one clock, and where it was bent and nothing else disturbs."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.measure.platforms import parse
from simulation import Simulation

MACHINE = "nodes:5 cores:3"
SKEW, OFFSET = 50.0, 0.5


def test_a_simulator_has_one_clock(simulation: Simulation) -> None:
    """All offsets are 0 exactly, and nothing is sent to find that out."""
    run = simulation.measure("clock-sync", parse(MACHINE), "--seconds", "30")
    assert run.complete
    sync, offset, clock = (run.tables[name] for name in ("sync", "offset", "clock"))
    assert len(sync) == 1, "it never ages"
    for key in ("residual_median", "residual_max", "drift_max"):
        assert sync[key][0] == 0
    assert len(offset) > 100
    assert not offset["seconds"].any()
    assert not clock["offset"].any()
    assert not clock["drift"].any()


@pytest.mark.parametrize("machine", [MACHINE, "nodes:2 cores:14"])
def test_bent_clocks_are_found_through_the_whole_tree(simulation: Simulation, machine: str) -> None:
    """Leaders two levels deep, and ranks that hang on them, one or two levels deep.

    Exchanges are symmetric here, so that the offset is known to far below a round trip.
    """
    options = ("--seconds", "60", "--skew", str(SKEW), "--offset", str(OFFSET))
    run = simulation.measure("clock-sync", parse(machine), *options)
    last = {row["rank"]: row for row in run.tables["clock"].rows()}
    assert len(last) == run.size
    for rank, clock in last.items():
        f = (-1) ** rank * rank / (run.size - 1)
        assert clock["drift"] == pytest.approx(1 / (1 + f * SKEW * 1e-6) - 1, abs=2e-8)
        expected = -f * (OFFSET + SKEW * 1e-6 * clock["at"])
        assert clock["offset"] == pytest.approx(expected, abs=2e-7)
    sync, offset = run.tables["sync"], run.tables["offset"]
    assert sync["residual_max"].max() < sync["bound_max"].max()
    late = offset["at"] > sync["at"][-1] - 20
    assert offset["age"][late].max() > 5
    assert np.abs(offset["seconds"][late]).max() < 2e-7, "the drift is followed in between"
