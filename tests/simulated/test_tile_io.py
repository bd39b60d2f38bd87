"""The exchange of collective I/O against truths: the sum over each node's link, on paper."""

from __future__ import annotations

import numpy as np
import pytest

from beds.simulation import Simulation
from isochrone.measure.platforms import MPI_HEADER, parse

SIDE, ELEMENT = 1024, 8
TILE = SIDE * SIDE * ELEMENT
OPTIONS = (
    "--phase",
    "exchange",
    "--tiles",
    "4x4",
    "--tile",
    f"{SIDE}x{SIDE}",
    "--element",
    str(ELEMENT),
)


def seconds(simulation: Simulation, line: str, *options: str) -> np.ndarray:
    """Times of all samples, write and read, which are the same here."""
    run = simulation.measure("tile-io", parse(line), *OPTIONS, "--repeats", "2", *options)
    assert run.complete
    return run.tables["sample"]["seconds"]


def test_rows_that_stay_on_their_node_cost_no_network(simulation: Simulation) -> None:
    """Four ranks a node, a row of tiles a node, a part of the file a row: all is local."""
    machine = parse("nodes:4 cores:4")
    found = seconds(simulation, machine.description)
    assert found == pytest.approx(machine.one_way(0, 0, TILE), rel=0.02)


@pytest.mark.few(1)
@pytest.mark.parametrize("rounds", [1, 4])
def test_every_byte_passes_the_links_when_each_node_serves_the_next(
    simulation: Simulation, rounds: int
) -> None:
    """Four messages leave each node and four arrive, and its link takes them in turn."""
    machine = parse("nodes:4 cores:4")
    options = ("--aggregators", "4,8,12,0", "--cb-buffer", str(4 * TILE // rounds))
    found = seconds(simulation, machine.description, *options)
    link = machine.links["node-0-link"]
    message = TILE / rounds + MPI_HEADER
    expected = rounds * (2 * link.latency + 8 * message / link.bandwidth)
    assert found == pytest.approx(expected, rel=0.02)


def test_a_single_aggregator_takes_all_through_one_link(simulation: Simulation) -> None:
    machine = parse("nodes:16")
    found = seconds(simulation, machine.description, "--aggregators", "5", "--cb-buffer", "1GiB")
    link = machine.links["node-5-link"]
    expected = 2 * link.latency + 15 * (TILE + MPI_HEADER) / link.bandwidth
    assert found == pytest.approx(expected, rel=0.02)


def test_a_simulator_has_no_files(simulation: Simulation) -> None:
    """Rather than times of files that are not there."""
    with pytest.raises(AssertionError, match="no files"):
        simulation.measure("tile-io", parse("nodes:4"), "--file", "/tmp/never")
