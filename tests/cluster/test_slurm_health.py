"""The health job and the node check of contrib/slurm, under real daemons."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from beds.mpis import ROOT, SCRIPTS, find_mpi, missing
from cluster import lifetime, slurm
from cluster.plan import Plan
from cluster.running import Cluster

CONTRIB = ROOT / "contrib" / "slurm"


@pytest.fixture
def sick_cluster(namespaces: None) -> Iterator[Cluster]:
    """Four nodes under Slurm; the link of n3 has a tenth of the rate of the others."""
    if why := slurm.obstacle():
        missing("slurm", why)
    with lifetime.cluster(Plan((1, 1, 1, 1), "100mbit", {"n3": "10mbit"})) as made:
        slurm.start(made)
        yield made


def environ(on: Cluster, **more: str) -> dict[str, str]:
    mpi = find_mpi("mpich-wheel")
    path = f"{SCRIPTS}:{on.environ()['PATH']}"
    return {"PATH": path, "MPICC": str(mpi.probe.mpicc), **more}


def health_job(on: Cluster, folder: Path, **settings: str) -> tuple[str, str]:
    """Submit the job and wait for it; return its number and its log."""
    shutil.copy(CONTRIB / "health-job.sbatch", folder)
    script = folder / "health-job.sbatch"
    variables = environ(on, HEALTH_OPTIONS="--bytes 128KiB --repeats 4", **settings)
    number = slurm.submit(on, folder, "--nodes=4", script, environ=variables)
    log = folder / f"health-{number}.log"
    slurm.finish(on, number, log)
    return number, log.read_text()


@pytest.mark.full
def test_the_health_job_names_the_bad_node_and_drains_it_only_if_asked(
    sick_cluster: Cluster, tmp_path: Path
) -> None:
    """Its state is FAILED, so that mail is sent; who did not ask finds all nodes in service."""
    number, log = health_job(sick_cluster, tmp_path)
    assert slurm.state(sick_cluster, "job", number) == "FAILED", log
    assert (tmp_path / f"health-{number}.hosts").read_text() == "n3\n", log
    assert "node n3" in log
    assert (tmp_path / f"health-{number}.xml").exists()
    assert "DRAIN" not in slurm.state(sick_cluster, "node", "n3")
    number, log = health_job(sick_cluster, tmp_path, HEALTH_DRAIN="yes")
    assert "drained n3" in log
    assert "DRAIN" in slurm.state(sick_cluster, "node", "n3")
    assert "DRAIN" not in slurm.state(sick_cluster, "node", "n2")
    answer = sick_cluster.run("scontrol", "show", "node", "n3")
    assert f"job {number}" in answer.stdout


@pytest.mark.full
def test_the_node_check_looks_at_one_node_without_a_job(
    sick_cluster: Cluster, tmp_path: Path
) -> None:
    """As slurmd runs it: no terminal, no variables of a job; two ranks have nothing to be slow."""
    settings = tmp_path / "settings"
    settings.write_text("HEALTH_RANKS=2\n")
    started = sick_cluster.run(
        CONTRIB / "node-health.sh", on="n2",
        environ=environ(sick_cluster, HEALTH_SETTINGS=str(settings)),
    )  # fmt: skip
    if len(os.sched_getaffinity(0)) > 1:
        assert started.stdout.startswith("isochrone: good"), started
    assert started.returncode == 0, started
    settings.write_text("HEALTH_RANKS=2\nPATH=/usr/bin:/bin\n")
    answer = sick_cluster.run(
        CONTRIB / "node-health.sh", on="n2",
        environ=environ(sick_cluster, HEALTH_SETTINGS=str(settings)),
    )  # fmt: skip
    if shutil.which("isochrone", path="/usr/bin:/bin") is None:
        assert answer.returncode == 3
        assert "cannot measure" in answer.stdout
