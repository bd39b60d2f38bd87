"""The latency map against truths: simulated machines whose every time is known on paper.

Each machine is a line that `isochrone platform` understands. The probe is the one that runs on
real machines, compiled with smpicc.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.simulation import Simulation
from isochrone.base.documents import plain
from isochrone.latency_map import topology
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.run import Run


def fixtures(name: str, columns: int) -> list[list[str]]:
    """Lines of platforms/NAME.txt; the last column is the machine."""
    lines = (Path(__file__).parent / "platforms" / f"{name}.txt").read_text().splitlines()
    return [line.split(maxsplit=columns - 1) for line in lines if not line.startswith("#")]


HEALTHY = dict(fixtures("healthy", columns=2))


def truth(machine: Platform, nbytes: int) -> np.ndarray:
    """Round trips on paper, in seconds; NaN on the diagonal."""
    nodes = machine.node_of_rank()
    times = np.array([[2 * machine.one_way(a, b, nbytes) for b in nodes] for a in nodes])
    np.fill_diagonal(times, np.nan)
    return times


def true_levels(machine: Platform) -> list[list[list[int]]]:
    """The groups of ranks at each level of the machine."""
    nodes = machine.node_of_rank()
    labels: list[list[int]] = []
    if machine.cores > 1 and machine.nodes > 1:
        labels.append(nodes)
    labels += [[group[node] for node in nodes] for group in machine.groups]
    labels.append([0] * len(nodes))
    return [
        sorted([r for r, x in enumerate(label) if x == g] for g in set(label)) for label in labels
    ]


def found_levels(run: Run) -> list[list[list[int]]]:
    return [sorted(level.groups) for level in topology.analyse(run).levels]


@pytest.fixture(scope="module")
def healthy(simulation: Simulation) -> Callable[[str], Run]:
    """Each healthy machine is measured once for this file."""
    return functools.cache(lambda name: simulation.map(parse(HEALTHY[name])))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", HEALTHY)
def test_every_pair_takes_the_time_known_on_paper(healthy: Callable[[str], Run], name: str) -> None:
    machine = parse(HEALTHY[name])
    run = healthy(name)
    assert run.complete
    error = np.abs(run.matrix() / truth(machine, 64) - 1)
    assert np.nanmax(error) < 0.01
    assert np.isfinite(error).sum() == run.size * (run.size - 1)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", HEALTHY)
def test_the_hierarchy_that_is_found_is_the_true_one(
    healthy: Callable[[str], Run], name: str
) -> None:
    """Equal groups at every level: an adjusted Rand index of 1. A torus has no groups."""
    machine = parse(HEALTHY[name])
    run = healthy(name)
    assert found_levels(run) == true_levels(machine)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_called_slow_on_a_healthy_machine(
    healthy: Callable[[str], Run], name: str
) -> None:
    run = healthy(name)
    assert topology.analyse(run).slow == []


@pytest.mark.parametrize("placement", ["block", "cyclic", "irregular"])
def test_the_placement_of_the_scheduler_is_recognised(
    healthy: Callable[[str], Run], placement: str
) -> None:
    suffix = "" if placement == "block" else f"-{placement}"
    name = f"two-switches{suffix}"
    run = healthy(name)
    found = plain(topology.analyse(run).placement)
    assert found == {"kind": placement, "ranks_per_node": [4] * 16}


SLOW = [
    (machine, kind, [int(node) for node in nodes.split(",")])
    for kind, nodes, machine in fixtures("slow", columns=3)
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("line", "kind", "nodes"), SLOW, ids=[line for line, _, _ in SLOW])
def test_what_was_made_slow_is_named_and_nothing_else(
    simulation: Simulation, line: str, kind: str, nodes: list[int]
) -> None:
    machine = parse(line)
    run = simulation.map(machine)
    found = topology.analyse(run)
    node_of_rank = machine.node_of_rank()
    named = {part.kind: sorted({node_of_rank[r] for r in part.ranks}) for part in found.slow}
    assert named == {kind: nodes}
    assert len(found.slow) == 1
    assert found.slow[0].ratio > 1.2
    assert found.slow[0].retested
    assert [sorted(level.groups) for level in found.levels] == true_levels(machine)


def test_what_is_to_be_named_is_measured_again_until_nothing_is_suspected(
    simulation: Simulation,
) -> None:
    """The slowest pair is one to the other switch, by which the node is not judged."""
    machine = parse("nodes:16 cores:4 switches:2 slow-node:9*4")
    run = simulation.map(machine, "--retest", "1", "--repeats", "5")
    assert run.complete
    table = run.pairs()
    again = np.flatnonzero(table.flag("retest"))
    launches = run.tables["launch"]["pairs"]
    assert len(table) - len(again) == run.size * (run.size - 1) // 2
    assert 1 <= len(launches) <= 4
    assert launches.sum() < len(again) < 80
    assert all(part.retested for part in topology.analyse(run).slow)
    assert topology.analyse(run).slow


def test_nothing_is_measured_again_on_a_healthy_machine(healthy: Callable[[str], Run]) -> None:
    assert "launch" not in healthy("two-switches").tables


def test_orders_agree_where_nothing_is_shared(simulation: Simulation) -> None:
    """Latency of small messages is not shared, so all three orders must see the same machine."""
    machine = parse("nodes:4 cores:2 switches:2")
    expected = truth(machine, 64)
    for order in ("serial", "rounds", "isolated"):
        times = simulation.map(machine, "--schedule", order).matrix()
        assert np.nanmax(np.abs(times / expected - 1)) < 0.01, order


def test_quiet_is_undisturbed_where_rounds_share_ports(simulation: Simulation) -> None:
    """At 1 MiB the pairs of a round share a node's port; isolated pairs never do."""
    machine = parse("nodes:4 cores:4")
    expected = truth(machine, 1 << 20)
    for order in ("serial", "isolated"):
        times = simulation.map(machine, "--schedule", order, "--bytes", "1MiB").matrix()
        assert np.nanmax(np.abs(times / expected - 1)) < 0.01, order
    loaded = simulation.map(machine, "--schedule", "rounds", "--bytes", "1MiB").matrix()
    assert np.nanmax(loaded / expected) > 1.5


def test_deterministic_time_needs_two_repeats(simulation: Simulation) -> None:
    machine = parse("nodes:2 cores:2")
    assert set(simulation.map(machine).pairs()["n"]) == {2}
    assert set(simulation.map(machine, "--repeats", "7").pairs()["n"]) == {7}


def test_a_simulated_run_says_so_and_of_what(simulation: Simulation) -> None:
    run = simulation.map(parse("nodes:2"))
    assert run.header["clock"]["simulated"] is True
    notes = run.header["notes"]
    assert notes["launcher"] == "simgrid"
    assert len(notes["platform-sha256"]) == 64
    assert "SMPI" in run.header["mpi"]["library"]


def test_calibrated_factors_are_simgrids_own(simulation: Simulation, tmp_path: Path) -> None:
    """Without the exact settings SimGrid multiplies latencies: about 2 for a small message."""
    machine = parse("nodes:2")
    exact = simulation.map(machine).matrix()[0, 1]
    calibrated = simulation.map(machine, launcher=("--smpi-calibrated",)).matrix()[0, 1]
    assert calibrated > 1.5 * exact


def test_a_simulation_says_nothing_of_the_machine_it_runs_on(healthy: Callable[[str], Run]) -> None:
    """Neither its kernel nor its settings have to do with times on paper."""
    run = healthy(next(iter(HEALTHY)))
    assert run.header.keys().isdisjoint({"settings", "memory", "machine"})
    codes = {warning["code"] for warning in run.warnings}
    assert codes.isdisjoint({"settings-differ", "nodes-differ"})


def test_a_time_limit_ends_a_pair_too(simulation: Simulation) -> None:
    """Not only what is begun after it is left out: a pair with many long repetitions would go on
    for several times the limit. Each size has samples nevertheless, and what is missing is said.
    Without retests, the map may take all the time.
    """
    machine, sizes, limit = parse("nodes:4"), (1 << 20, 1 << 24), 0.05
    words = ("--bytes", ",".join(map(str, sizes)), "--repeats", "1000", "--retest", "0")
    run = simulation.map(machine, *words, "--time-limit", str(limit))
    longest = sum(float(np.nanmax(truth(machine, size))) for size in sizes)
    assert run.end is not None
    assert limit / 2 < run.end["seconds"] < limit + 20 * longest  # the warm-up counts, too
    table = run.pairs()
    assert set(table["bytes"].tolist()) == set(sizes)
    assert table["n"].min() >= 1
    assert "repeats-lowered" in {warning["code"] for warning in run.warnings}
    assert not run.complete


def test_a_sample_of_a_large_machine_shows_its_levels_and_what_is_slow(
    simulation: Simulation,
) -> None:
    """128 ranks, 32 nodes, three levels, one slow node: 15 % of the pairs, a fifth of the time."""
    machine = parse("nodes:32 cores:4 switches:4 slow-node:9*3")
    whole = simulation.map(machine, "--retest", "0", "--repeats", "2", "--warmup", "1")
    some = simulation.map(
        machine, "--sample", "15%", "--retest", "0", "--repeats", "2", "--warmup", "1"
    )
    assert len(some.pairs()) < 0.2 * len(whole.pairs())
    assert whole.end and some.end
    assert some.end["seconds"] < 0.3 * whole.end["seconds"]
    assert found_levels(some) == true_levels(machine)
    found = topology.analyse(some)
    assert {(part.kind, part.hosts) for part in found.slow} == {("node", ("node-9",))}
    known = np.isfinite(some.matrix())
    np.testing.assert_allclose(some.matrix()[known], whole.matrix()[known], rtol=0.02)


@pytest.mark.full
def test_a_sample_of_a_thousand_ranks_shows_a_slow_node_and_a_slow_uplink(
    simulation: Simulation,
) -> None:
    """5 % of the pairs on three levels; other pairs are estimated within 2 %."""
    machine = parse("nodes:256 cores:4 switches:32 pods:4 slow-node:77*1.6 slow-link:trunk-9*2")
    run = simulation.map(machine, "--sample", "5%", "--repeats", "3", "--retest", "0")
    found = topology.analyse(run)
    assert [sorted(level.groups) for level in found.levels] == true_levels(machine)
    behind = tuple(f"node-{k}" for k in range(72, 80))
    assert {(part.kind, part.hosts) for part in found.slow} == {
        ("uplink", behind),
        ("node", ("node-77",)),
    }
    node = np.array(machine.node_of_rank())
    i, j = np.triu_indices(run.size, 1)
    other = node[i] != node[j]
    between = np.array(
        [
            [2 * machine.one_way(a, b, 64) if a != b else np.nan for b in range(machine.nodes)]
            for a in range(machine.nodes)
        ]
    )
    seconds, _ = found.estimator.of(i[other], j[other])
    assert np.max(np.abs(seconds / between[node[i[other]], node[j[other]]] - 1)) < 0.02


def test_a_time_limit_is_shared_by_all_pairs(simulation: Simulation) -> None:
    """The map is whole with fewer repetitions, and time is left to measure suspects again."""
    machine = parse("nodes:8 cores:1")
    options = ("--bytes", "64,1MiB", "--repeats", "1000")
    usual = simulation.map(machine, "--bytes", "64,1MiB", "--repeats", "10", "--retest", "0")
    assert usual.end is not None
    limit = 3 * usual.end["seconds"]
    run = simulation.map(machine, *options, "--time-limit", f"{limit:.6g}")
    assert run.end is not None
    assert run.complete
    assert run.end["seconds"] <= limit
    table = run.tables["pair"]
    first = ~table.flag("retest")
    assert np.sum(first) == 2 * 28
    large = table["bytes"] == 1 << 20
    repeats = table["n"][first & large]
    assert repeats.max() <= 3 * repeats.min()
    assert "repeats-lowered" in {warning["code"] for warning in run.warnings}
    assert run.end["seconds"] <= 0.9 * limit
