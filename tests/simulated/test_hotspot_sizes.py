"""Hot spots of several sizes: which points are measured, and what a model of them is worth."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from beds.simulation import Simulation, duplex_star
from isochrone import models
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import NodeCost, predict
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import layout_of
from isochrone.measure.platforms import MPI_HEADER
from isochrone.runfile.run import Run

BANDWIDTH, LATENCY = 1.25e9, 1e-6


def hosts_of(ranks: tuple[int, ...]) -> list[str]:
    """Name the host of each rank."""
    return [f"node-{node}" for node, count in enumerate(ranks) for _ in range(count)]


def measure(
    simulation: Simulation,
    ranks: tuple[int, ...],
    *options: str,
    experiment: str = "hotspot",
    platform: str = "",
) -> Run:
    """Measure on nodes with so many ranks, at the ends of full-duplex links or of others."""
    xml = platform or duplex_star(len(ranks), BANDWIDTH, LATENCY)
    hosts = "".join(f"{host}\n" for host in hosts_of(ranks))
    return simulation.measure_file(experiment, xml, hosts, *options)


def points(run: Run, shape: str) -> set[tuple[int, int, int]]:
    """Partners within the hot node, messages into it and out of it."""
    table = run.tables["sample"]
    mine = table["shape"] == shape
    columns = (table[key][mine].tolist() for key in ("pa", "in", "out"))
    return set(zip(*columns, strict=True))


def test_several_sizes_take_few_points_in_turns(simulation: Simulation) -> None:
    """Corners, the diagonal and unbalanced ones, of every size."""
    run = measure(simulation, (3, 2, 1, 1, 1), "--bytes", "64,16KiB")
    assert run.complete
    assert (run.options["points"], run.options["balance"]) == ("coarse", "free")
    few = set(itertools.product((0,), (0, 1, 3, 5), (0, 1, 3, 5))) - {(0, 0, 0)}
    inside = {(1, 0, 0), (2, 0, 0), (2, 0, 1), (2, 1, 0), (2, 1, 1), (2, 3, 3), (2, 5, 5)}
    assert points(run, "star") == few | inside | {(2, 5, 0), (2, 0, 5)}
    sizes = run.tables["sample"]["bytes"].tolist()
    assert sizes.count(64) == sizes.count(16384)
    assert [size for size, _ in itertools.groupby(sizes)][:4] == [64, 16384, 64, 16384]


@pytest.mark.parametrize("ranks", [(3, 2, 1, 1, 1), (2, 2, 1, 1)])
def test_all_nodes_exchange_at_once(simulation: Simulation, ranks: tuple[int, ...]) -> None:
    """As many messages each way on every node; or more one way, on every other node. Of an odd
    number the last has fewer then. On full-duplex links that takes what it takes one node.
    """
    run = measure(simulation, ranks, "--bytes", "1MiB,2MiB", "--max-intra", "0")
    count = len(ranks)
    numbers = sorted({1, count // 2, count - 1})
    assert points(run, "ring") == {(0, i, o) for i in numbers for o in (0, *numbers) if o <= i}
    table = run.tables["sample"]
    names = ("shape", "in", "out", "busy", "bytes", "seconds")
    for shape, into, out, busy, size, seconds in zip(
        *(table[name].tolist() for name in names), strict=True
    ):
        most, least = max(into, out), min(into, out)
        if shape == "ring":
            last = least if count % 2 else most
            assert busy == pytest.approx((most * (count - 1) + last) / (most * count), rel=1e-5)
        expected = 2 * LATENCY + most * (size + MPI_HEADER) / BANDWIDTH
        assert seconds == pytest.approx(expected, rel=0.02), (shape, into, out)


def test_how_busy_a_star_makes_its_partners(simulation: Simulation) -> None:
    """Four partners on two other nodes: these have two messages each, the hot one has four."""
    run = measure(simulation, (2, 2, 2), "--bytes", "64,1KiB")
    table = run.tables["sample"]
    mine = (table["shape"] == "star") & (table["in"] == 4) & (table["out"] == 0)
    assert np.allclose(table["busy"][mine], (4 + 2 + 2) / (4 * 3), rtol=1e-5)
    alone = (table["in"] == 0) & (table["out"] == 0)
    assert np.all(table["busy"][alone] == 0)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("options", "grid", "balance"),
    [
        (("--bytes", "64"), "full", "equal"),
        (("--bytes", "64", "--points", "coarse"), "coarse", "free"),
        (("--bytes", "64,128", "--points", "full"), "full", "equal"),
        (("--bytes", "64,128", "--balance", "equal"), "coarse", "equal"),
    ],
)
def test_only_several_sizes_make_the_grid_coarse(
    simulation: Simulation, options: tuple[str, ...], grid: str, balance: str
) -> None:
    """Unless the user says so: one size is measured as it was."""
    run = measure(simulation, (2, 1, 1), *options, "--max-intra", "1", "--max-inter", "2")
    assert (run.options["points"], run.options["balance"]) == (grid, balance)
    table = run.tables["sample"]
    assert ("ring" in set(table["shape"])) == (grid == "coarse")
    assert bool((table["in"] != table["out"]).any()) == (balance == "free")


def test_with_several_hot_processes_one_node_is_hot(simulation: Simulation) -> None:
    """A node with fewer ranks could not have as many messages."""
    run = measure(simulation, (4, 2, 1, 1), "--bytes", "64,128", "--hot", "2")
    assert set(run.tables["sample"]["shape"]) == {"star"}


def machine(dice: random.Random, nodes: int) -> str:
    """Draw a network: its bandwidth, its latency, and whether its links are full duplex.

    It is slower than messages within a node, which take their time beside it: formulas add them.
    """
    bandwidth, latency = 10 ** dice.uniform(7.5, 9), 10 ** dice.uniform(-6.3, -4.3)
    xml = duplex_star(nodes, bandwidth, latency)
    if dice.random() < 0.5:
        return xml
    for word in (' sharing_policy="SPLITDUPLEX"', ' direction="UP"', ' direction="DOWN"'):
        xml = xml.replace(word, "")
    return xml


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(2))
def test_exchanges_of_other_sizes_are_predicted(simulation: Simulation, seed: int) -> None:
    """On a machine drawn at random, for orders of nodes, tiles, aggregators and buffers of which
    no message is as large as those that were measured.
    """
    dice = random.Random(seed)
    ranks = [3, 2, 1, 1, 1]
    xml = machine(dice, len(ranks))
    hot = measure(simulation, tuple(ranks), "--bytes", "16KiB,128KiB,512KiB", platform=xml)
    model = NodeCost(models.fit(hot))
    assert model.of_bytes
    assert model.sizes == [16384, 131072, 524288]
    off = []
    for rows, nodes, buffer in ((48, 5, 1 << 30), (144, 3, 1 << 30), (144, 2, 1 << 18)):
        dice.shuffle(ranks)
        hosts = hosts_of(tuple(ranks))
        servers = aggregators(hosts, nodes=nodes)
        run = measure(
            simulation,
            tuple(ranks),
            "--phase",
            "exchange",
            "--tiles",
            "4x2",
            "--tile",
            f"1024x{rows}",
            "--element",
            "4",
            "--cb-buffer",
            str(buffer),
            "--repeats",
            "2",
            "--aggregators",
            ",".join(map(str, servers)),
            experiment="tile-io",
            platform=xml,
        )
        table = run.tables["sample"]
        exact = float(np.median(table["seconds"][table["op"] == "write"]))
        layout = layout_of(hosts)
        kinds = Call(tile_io(4, 2, (1024, rows), 4), buffer=buffer).round_kinds(len(servers))
        off.append(predict(kinds, layout, servers, model).seconds / exact - 1)
    assert np.mean(np.abs(off)) < 0.06, off
    assert np.max(np.abs(off)) < 0.15, off
