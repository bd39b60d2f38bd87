"""The common clock on real MPIs, with clocks that are bent so that it is known what must be found.

No test looks at the machine's own time: what is found is compared with what was bent, within the
bounds that the exchanges themselves prove.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone.runfile.run import Run
from mpis import Mpi

SKEW, OFFSET = 100.0, 0.25
BENT = ("--skew", str(SKEW), "--offset", str(OFFSET))
QUICK = ("--seconds", "1.5", "--interval", "0.01")


def bend(rank: int, size: int) -> float:
    """The factor f of clock_sync.c."""
    return (-1) ** rank * rank / (size - 1)


def last_clocks(run: Run) -> dict[int, dict[str, float]]:
    """What was known of each rank's clock after the last synchronisation."""
    return {row["rank"]: row for row in run.tables["clock"].rows()}


def drift_error(run: Run, rank: int) -> float:
    """Difference of the drift that was found and the one that was bent."""
    true_drift = 1 / (1 + bend(rank, run.size) * SKEW * 1e-6) - 1
    return abs(last_clocks(run)[rank]["drift"] - true_drift)


def test_clocks_that_are_set_wrong_agree_within_what_the_exchanges_prove(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    """Offsets of 0.25 s must be gone; Open MPI's clocks differ by themselves, too."""
    options = ("--offset", str(OFFSET), *QUICK)
    run = every_mpi.run("clock-sync", *options, ranks=4, out=tmp_path / "clocks.jsonl")
    assert run.complete
    offset = run.tables["offset"]
    fresh = offset["age"] < 0.2
    assert fresh.any()
    # A comparison can be wrong by its bound, and so can each of the two lines that it compares.
    largest = offset["bound"].max() + 2 * run.tables["sync"]["bound_max"].max()
    drifted = 60e-6 * 0.2  # three deviations of what a drift may be before it is known
    assert np.all(np.abs(offset["seconds"][fresh]) < 2 * largest + drifted)
    assert np.median(np.abs(offset["seconds"])) < OFFSET / 1000


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_the_drift_that_was_bent_is_found(mpich: Mpi, tmp_path: Path, ranks: int) -> None:
    """Two points further apart know the slope better; odd numbers of ranks are checked, too."""
    out = tmp_path / "clocks.jsonl"
    options = (*BENT, "--seconds", "4", "--interval", "0.05", "--sync-age", "0.5")
    run = mpich.run("clock-sync", *options, ranks=ranks, out=out)
    assert last_clocks(run).keys() == set(range(ranks))
    sync = run.tables["sync"]
    base = sync["at"][-1] - sync["at"][0]
    assert len(sync) >= 3
    assert base > 1
    # The slope between two ends that are each wrong by a bound, and what the prior takes off it:
    # with deviation s of a point, about (s / (base * 20e-6))^2 of the slope.
    bound = max(sync["bound_max"].max(), run.tables["offset"]["bound"].max())
    allowed = 4 * bound / base + SKEW * 1e-6 * (bound / (base * 20e-6)) ** 2
    for rank in range(ranks):
        assert drift_error(run, rank) < allowed + 1e-9, f"rank {rank}"
    assert last_clocks(run)[0]["offset"] == last_clocks(run)[0]["drift"] == 0


def test_a_drift_is_followed_between_synchronisations(mpich: Mpi, tmp_path: Path) -> None:
    """An offset alone would be wrong by 100 us a second of age; the line is not."""
    out = tmp_path / "clocks.jsonl"
    options = (*BENT, "--seconds", "4", "--interval", "0.02", "--clock-tolerance", "20e-6")
    run = mpich.run("clock-sync", *options, ranks=2, out=out)
    offset, sync = run.tables["offset"], run.tables["sync"]
    last = sync["at"][-1] if len(sync) > 2 else sync["at"][1]
    late = (offset["at"] > last) & (offset["age"] > 0.3)
    assert late.sum() > 5
    without = SKEW * 1e-6 * offset["age"][late]
    assert np.median(np.abs(offset["seconds"][late]) / without) < 0.3


def test_the_recorded_offset_is_the_bend(mpich: Mpi, tmp_path: Path) -> None:
    """MPICH's ranks on one machine share a clock, so the whole offset is what was bent."""
    run = mpich.run("clock-sync", *BENT, *QUICK, ranks=4, out=tmp_path / "clocks.jsonl")
    largest = run.tables["sync"]["bound_max"].max()
    for clock in run.tables["clock"].rows():
        f = bend(clock["rank"], 4)
        expected = -f * (OFFSET + SKEW * 1e-6 * clock["at"])
        # The line may lag by what a drift does that is not known yet.
        allowed = 4 * largest + 2 * abs(f) * SKEW * 1e-6 * 0.3
        assert clock["offset"] == pytest.approx(expected, abs=allowed), clock


def test_signs_of_a_comparison_follow_the_order_of_its_ranks(mpich: Mpi, tmp_path: Path) -> None:
    """With synchronisation too seldom the faster clock runs ahead, whoever asks."""
    out = tmp_path / "clocks.jsonl"
    options = ("--skew", "1000", *QUICK, "--clock-tolerance", "1", "--sync-age", "60")
    run = mpich.run("clock-sync", *options, ranks=2, out=out)
    assert len(run.tables["sync"]) == 1
    rows = [row for row in run.tables["offset"].rows() if row["age"] > 0.5]
    assert {row["i"] for row in rows} == {0, 1}
    for row in rows:
        # Rank 1 loses 1000 us a second.
        ahead = 1e-3 * row["age"] * (1 if row["i"] == 0 else -1)
        assert row["seconds"] == pytest.approx(ahead, rel=0.2, abs=2 * row["bound"])


def test_clocks_are_synchronised_again_when_they_have_aged(mpich: Mpi, tmp_path: Path) -> None:
    options = (*QUICK, "--sync-age", "0.2", "--clock-tolerance", "1")
    run = mpich.run("clock-sync", *options, ranks=3, out=tmp_path / "clocks.jsonl")
    at = run.tables["sync"]["at"]
    assert len(at) >= 3
    assert np.all(np.diff(at) > 0.2), "not before its time"
    assert len(run.tables["clock"]) == 3 * len(at)


def test_a_drift_that_becomes_known_lets_synchronisations_become_seldom(
    mpich: Mpi, tmp_path: Path
) -> None:
    """At first a drift may be 20 ppm; a comparison later it is known much better."""
    tolerance = 10e-6
    options = ("--seconds", "5", "--interval", "0.05", "--clock-tolerance", str(tolerance))
    run = mpich.run("clock-sync", *options, ranks=2, out=tmp_path / "clocks.jsonl")
    sync = run.tables["sync"]
    error = sync["drift_error"]
    assert len(sync) >= 2
    assert error[0] == pytest.approx(20e-6, rel=0.001)
    assert np.all(np.diff(error) < 0)
    due = np.minimum(tolerance / error, 10)  # --sync-age
    assert np.all(np.diff(sync["at"]) >= due[:-1] * (1 - 1e-6)), "not before it is necessary"
