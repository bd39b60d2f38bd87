"""Clusters come and go without a trace, and do not meet each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from cluster import folders, lifetime
from cluster.plan import Plan
from cluster.remote_shell import parse
from cluster.running import Cluster
from cluster.waiting import PATIENCE, wait_for


def command(*words: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run ``python -m tests.cluster``."""
    return subprocess.run(
        [*before, sys.executable, "-m", "tests.cluster", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def machine() -> list[list[str]]:
    """What a cluster must not change on the machine: interfaces, mounts, settings of TCP."""
    tcp = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
    links = sorted(link.name for link in Path("/sys/class/net").iterdir())
    mounts = sorted(Path("/proc/self/mounts").read_text().splitlines())
    return [links, mounts, [tcp.read_text(), Path("/etc/hosts").read_text()]]


def processes(name: str) -> list[str]:
    """Processes with a cluster's name in their arguments, as its nodes have it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(name in word for word in words):
            found.append(" ".join(words))
    return found


def test_the_command_makes_a_cluster_runs_in_it_and_leaves_nothing(
    namespaces: None, golden: Golden
) -> None:
    """The whole way by hand, as docs/developers/test-beds.md shows it."""
    before, name = machine(), f"test-{os.getpid()}"
    named = ("--name", name)
    made = command("up", *named, "--nodes", "2", "--ranks", "3,1", "--rate", "200mbit")
    assert made.returncode == 0, made.stderr
    try:
        assert "n1 (3 ranks, 200mbit), n2 (1 rank, 200mbit)" in made.stdout
        golden.measured(command("up", *named).stderr)
        assert name in command("status").stdout
        assert command("run", *named, "--on", "n2", "--", "hostname").stdout == "n2\n"
        remote = command("run", *named, "--", "ssh", "root@n1", "hostname;", "id -u")
        assert remote.stdout == "n1\n0\n"
        absent = command("run", *named, "--on", "n9", "--", "id")
        golden.measured(absent.stderr)
        assert command("shape", *named, "n2", "50mbit").returncode == 0
        queue = command("run", *named, "--on", "n2", "--", "tc", "qdisc", "show", "dev", "eth0")
        assert "tbf" in queue.stdout
        assert "rate 50Mbit" in queue.stdout
    finally:
        ended = [command("down", *named) for _ in range(2)]
    assert [answer.returncode for answer in ended] == [0, 0], "a second time is no mistake"
    assert not processes(name)
    assert not (folders.CLUSTERS / name).exists()
    assert machine() == before


OWNER = """
import sys, time
sys.path.insert(0, "tests")
from cluster import folders, lifetime
from cluster.plan import Plan
made = lifetime.make(Plan((1, 1), name=sys.argv[1]))
made.start("sh", "-c", "sleep 600; true", made.plan.name, on="n2", log=made.folder / "log")
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("tidied_by", ["down", "up"])
def test_killing_the_owner_ends_its_cluster_and_the_rest_is_tidied_up(
    cluster: Callable[..., Cluster], tidied_by: str
) -> None:
    """A test run that crashes must not leave hosts, links or ranks behind."""
    before, name = machine(), f"killed-{os.getpid()}"
    folder = folders.CLUSTERS / name
    argv = [sys.executable, "-c", OWNER, name]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"ready\n"
        assert len(processes(name)) > 3
        owner.send_signal(signal.SIGKILL)
    # Nobody had to do anything for this: the kernel ends all when the head ends.
    wait_for(lambda: not folders.is_alive(folder), f"the end of {name}")
    assert not processes(name)
    if tidied_by == "up":
        cluster((1,))
    else:
        assert command("down", "--name", name).returncode == 0
    assert not folder.exists()
    assert machine() == before


def test_clusters_and_nodes_share_neither_memory_nor_network(
    cluster: Callable[..., Cluster],
) -> None:
    """Ranks that could meet in /dev/shm would be timed as neighbours, not as hosts."""
    one, other = cluster((1, 1)), cluster((1, 1, 1))
    assert one.run("touch", "/dev/shm/mine", on="n1").returncode == 0
    assert one.run("ls", "/dev/shm", on="n1").stdout == "mine\n"
    for on, host in ((one, "n2"), (one, "head"), (other, "n1")):
        assert on.run("ls", "/dev/shm", on=host).stdout == ""
    namespaces = set()
    for on in (one, other):
        for host in ("head", *on.plan.nodes):
            assert on.run("hostname", on=host).stdout == f"{host}\n"
            namespaces.add(on.run("readlink", "/proc/self/ns/net", on=host).stdout)
    assert len(namespaces) == 7


def test_a_cluster_that_cannot_be_made_says_why_and_leaves_nothing(namespaces: None) -> None:
    """A rate that tc refuses is found out late, when half of the cluster is there."""
    plan = Plan((1,), rate="0bit")
    with pytest.raises(folders.ClusterError, match="tc"):
        lifetime.make(plan)
    assert not processes(plan.name)
    assert not (folders.CLUSTERS / plan.name).exists()


def test_without_the_right_to_make_networks_the_command_says_so(
    namespaces: None, golden: Golden
) -> None:
    answer = command("up", before=("setpriv", "--bounding-set", "-net_admin"))
    assert answer.returncode == 2
    golden.measured(answer.stderr)


@pytest.mark.parametrize(
    ("words", "host", "rest"),
    [
        (["-x", "n2", "hydra_pmi_proxy", "--port"], "n2", ["hydra_pmi_proxy", "--port"]),
        (["-o", "BatchMode=yes", "-l", "me", "n1", "A=b;", "prted"], "n1", ["A=b;", "prted"]),
        (["root@n3", "true"], "n3", ["true"]),
    ],
)
def test_the_remote_shell_reads_its_words_as_ssh_does(
    words: list[str], host: str, rest: list[str]
) -> None:
    assert parse(words) == (host, rest)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"ranks": ()}, "nodes"),
        ({"ranks": (2, 0)}, "each with a rank"),
        ({"ranks": (2,), "rate": "fast"}, "'fast' is not a rate"),
        ({"ranks": (2,), "rates": {"n2": "1gbit"}}, "no node n2"),
        ({"ranks": (2,), "name": "../etc"}, "not a name"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Plan(**values)  # type: ignore[arg-type]
