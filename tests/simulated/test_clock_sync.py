"""The common clock where there is one clock, and where it was bent and nothing else disturbs."""

from __future__ import annotations

import numpy as np
import pytest

from beds.simulation import Simulation
from isochrone.measure.platforms import parse

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


@pytest.mark.few(2)
@pytest.mark.parametrize("machine", ["nodes:2", "nodes:3", "nodes:5", MACHINE, "nodes:2 cores:14"])
def test_bent_clocks_are_found_through_the_whole_tree(simulation: Simulation, machine: str) -> None:
    """Odd numbers of ranks, leaders two levels deep, and ranks that hang on them, one or two levels
    deep: drift and offset are what was bent, and the drift is followed between synchronisations.

    Exchanges are symmetric here, so that the offset is known to far below a round trip.
    """
    options = ("--seconds", "60", "--skew", str(SKEW), "--offset", str(OFFSET))
    run = simulation.measure("clock-sync", parse(machine), *options)
    last = {row["rank"]: row for row in run.tables["clock"].rows()}
    assert last.keys() == set(range(run.size))
    assert last[0]["offset"] == last[0]["drift"] == 0
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


def test_signs_of_a_comparison_follow_the_order_of_its_ranks(simulation: Simulation) -> None:
    """With synchronisation too seldom the faster clock runs ahead, whoever asks."""
    options = ("--seconds", "30", "--skew", "1000", "--clock-tolerance", "1", "--sync-age", "60")
    run = simulation.measure("clock-sync", parse("nodes:2"), *options)
    assert len(run.tables["sync"]) == 1
    rows = [row for row in run.tables["offset"].rows() if row["age"] > 0.5]
    assert {row["i"] for row in rows} == {0, 1}
    for row in rows:
        # Rank 1 loses 1000 us a second.
        ahead = 1e-3 * row["age"] * (1 if row["i"] == 0 else -1)
        assert row["seconds"] == pytest.approx(ahead, rel=0.01)


def test_clocks_are_synchronised_again_when_they_have_aged(simulation: Simulation) -> None:
    options = ("--seconds", "3", "--skew", str(SKEW), "--sync-age", "0.2", "--clock-tolerance", "1")
    run = simulation.measure("clock-sync", parse("nodes:3"), *options)
    at = run.tables["sync"]["at"]
    assert len(at) >= 10
    assert np.all(np.diff(at) > 0.2), "not before its time"
    assert len(run.tables["clock"]) == 3 * len(at)


def test_a_drift_that_becomes_known_lets_synchronisations_become_seldom(
    simulation: Simulation,
) -> None:
    """At first a drift may be 20 ppm; a comparison later it is known much better."""
    tolerance = 10e-6
    options = ("--seconds", "60", "--skew", "1e-3", "--clock-tolerance", str(tolerance))
    run = simulation.measure("clock-sync", parse("nodes:2"), *options)
    sync = run.tables["sync"]
    error = sync["drift_error"]
    assert len(sync) >= 3
    assert error[0] == pytest.approx(20e-6, rel=0.001)
    assert np.all(np.diff(error) < 0)
    due = np.minimum(tolerance / error, 10)  # --sync-age
    assert np.all(np.diff(sync["at"]) >= due[:-1] * (1 - 1e-6)), "not before it is necessary"
    print(sync["at"], error)
