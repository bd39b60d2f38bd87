"""The common clock on real MPIs, with clocks that are set wrong so that it is known what must be
found.

No test looks at the machine's own time: what is found is compared with what was set, within the
bounds that the exchanges themselves prove. Drifts are tested where time is simulated and, between
hosts, on the cluster.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.mpis import Mpi

OFFSET = 100.0


def test_a_pause_that_is_asked_for_is_no_silence(mpich: Mpi, tmp_path: Path) -> None:
    """A drift that is looked at overnight, once in a quarter of an hour, is no rank that hangs."""
    options = ("--seconds", "1", "--interval", "15", "--stall-timeout", "10")
    assert mpich.run("clock-sync", *options, ranks=2, out=tmp_path / "clocks.jsonl").complete


@pytest.mark.few(2)
def test_clocks_that_are_set_wrong_agree_within_what_the_exchanges_prove(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    """Offsets of 100 s must be gone; Open MPI's clocks differ by themselves, too."""
    options = ("--offset", str(OFFSET), "--seconds", "0.5", "--interval", "0.01")
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
