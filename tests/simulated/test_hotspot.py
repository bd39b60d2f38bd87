"""The hot spot against truths: machines whose links say on paper what a point must take."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from beds.golden import Golden
from beds.simulation import Simulation, duplex_star
from isochrone.measure.platforms import MPI_HEADER, Platform, parse
from isochrone.runfile.run import Run

BYTES = 4 << 20
MESSAGE = BYTES + MPI_HEADER


def points(run: Run) -> list[tuple[int, int, int, float]]:
    """Messages of the hot node and time of each sample: intra, in, out, seconds."""
    table = run.tables["sample"]
    columns = (table[key].tolist() for key in ("intra", "in", "out", "seconds"))
    return list(zip(*columns, strict=True))


def shared_link(machine: Platform, incoming: int, outgoing: int) -> float:
    """Time in which a node's link passes messages both ways, one after the other.

    SimGrid shares a link equally among all messages under way; they are equally long, so all end
    when the last one would if they took turns: their sum over the bandwidth.
    """
    if incoming + outgoing == 0:
        return 0.0
    bandwidth = machine.links["node-0-link"].bandwidth
    return 2 * machine.links["node-0-link"].latency + (incoming + outgoing) * MESSAGE / bandwidth


def inside(machine: Platform, messages: int) -> float:
    """Time of messages inside a node, whose loopback is not shared."""
    return machine.one_way(0, 0, BYTES) if messages else 0.0


@pytest.mark.few(1)
@pytest.mark.parametrize("post", ["intra-first", "inter-first"])
def test_each_point_takes_the_time_known_on_paper(simulation: Simulation, post: str) -> None:
    """Every number of incoming and outgoing messages apart: what the models are fitted to."""
    machine = parse("nodes:5 cores:3")
    options = ("--balance", "free", "--max-intra", "2", "--max-inter", "4", "--post", post)
    run = simulation.measure("hotspot", machine, *options)
    assert run.complete
    found = {}
    for intra, incoming, outgoing, seconds in points(run):
        expected = max(inside(machine, intra), shared_link(machine, incoming, outgoing))
        assert seconds == pytest.approx(expected, rel=0.005), (intra, incoming, outgoing)
        found[intra // 2, incoming, outgoing] = seconds
    grid = set(itertools.product(range(3), range(5), range(5))) - {(0, 0, 0)}
    assert found.keys() == grid
    assert set(run.tables["sample"]["order"]) == {post}


def test_pa_and_pe_are_half_the_messages_of_the_hot_node(simulation: Simulation) -> None:
    """As in Table II of cFireworks: a pair is a message there and one back."""
    run = simulation.measure("hotspot", parse("nodes:4 cores:4"), "--hot", "2")
    table = run.tables["sample"]
    assert np.array_equal(table["pa"], table["intra"] / 2)
    assert np.array_equal(table["pe"], (table["in"] + table["out"]) / 2)
    pairs = set(zip(table["pa"].tolist(), table["pe"].tolist(), strict=True))
    # Two hot processes with up to 1 partner each inside, and up to 12 // 2 elsewhere.
    assert pairs == set(itertools.product((0, 2), range(0, 13, 2))) - {(0, 0)}
    assert set(table["hot"]) == {2}


def test_several_hot_processes_share_the_link_of_their_node(simulation: Simulation) -> None:
    """The second version of cFireworks: the stars of a node run at once, not in turn."""
    machine = parse("nodes:7 cores:3")
    for hot in (1, 3):
        options = ("--hot", str(hot), "--max-intra", "0", "--max-inter", "2")
        run = simulation.measure("hotspot", machine, *options)
        for _, incoming, outgoing, seconds in points(run):
            assert incoming == outgoing
            assert incoming % hot == 0
            expected = shared_link(machine, incoming, outgoing)
            assert seconds == pytest.approx(expected, rel=0.005), (hot, incoming)


def test_on_a_full_duplex_link_the_larger_direction_decides(simulation: Simulation) -> None:
    """Balanced points alone cannot tell such a machine from one with a shared link; these can."""
    bandwidth, latency = 1.25e9, 1e-6
    hosts = "".join(f"node-{n}\n" for n in range(6))
    options = ("--balance", "free", "--max-intra", "0", "--max-inter", "5")
    run = simulation.measure_file("hotspot", duplex_star(6, bandwidth, latency), hosts, *options)
    seen = set()
    for _, incoming, outgoing, seconds in points(run):
        expected = 2 * latency + max(incoming, outgoing) * MESSAGE / bandwidth
        assert seconds == pytest.approx(expected, rel=0.005), (incoming, outgoing)
        seen.add((incoming, outgoing))
    assert len(seen) == 35


def test_a_slow_partner_slows_the_point_and_not_those_without_it(simulation: Simulation) -> None:
    """The time of a point is the maximum over all ranks, and only those who take part count."""
    machine = parse("nodes:4")
    machine.links["node-3-link"].bandwidth /= 10
    run = simulation.measure("hotspot", machine, "--max-intra", "0", "--max-inter", "3")
    for _, incoming, _, seconds in points(run):
        expected = shared_link(machine, incoming, incoming)
        if incoming == 3:  # the partners are met node by node: this one is the last
            expected = 1e-6 + 2 * MESSAGE / machine.links["node-3-link"].bandwidth
        assert seconds == pytest.approx(expected, rel=0.01), incoming


def test_what_cannot_be_reached_is_said(simulation: Simulation, golden: Golden) -> None:
    run = simulation.measure(
        "hotspot", parse("nodes:2 cores:2"), "--max-intra", "2", "--max-inter", "3"
    )
    missed = run.tables["unreachable"]
    found = set(zip(missed["intra"].tolist(), missed["inter"].tolist(), strict=True))
    grid = set(itertools.product(range(3), range(4)))
    assert found == {(x, y) for x, y in grid if x > 1 or y > 2}
    golden(sorted(set(missed["why"])))
    table = run.tables["sample"]
    measured = set(zip(table["pa"].tolist(), table["pe"].tolist(), strict=True))
    assert measured == grid - found - {(0, 0)}
    codes = {warning["code"] for warning in run.warnings}
    assert {"unreachable", "partners-share-nodes"} <= codes


def test_a_time_limit_keeps_what_was_measured(simulation: Simulation) -> None:
    """Time is simulated, so that the same samples come first, and half of the time is enough for
    half of them, however busy this machine is.
    """
    options = ("--max-intra", "0", "--max-inter", "3", "--repeats", "24")
    whole = simulation.measure("hotspot", parse("nodes:4"), *options)
    assert whole.end is not None
    half = str(whole.end["seconds"] / 2)
    run = simulation.measure("hotspot", parse("nodes:4"), *options, "--time-limit", half)
    assert not run.complete
    assert "cut-short" in {warning["code"] for warning in run.warnings}
    kept, every = points(run), points(whole)
    assert len(every) / 3 < len(kept) < 2 * len(every) / 3
    assert kept == every[: len(kept)]
