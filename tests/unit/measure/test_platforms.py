"""Machines in a line: their times follow from the line, and nonsense is refused in one."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.measure.platforms import parse

MACHINES = [
    "nodes:6 cores:2",
    "nodes:8 switches:2",
    "nodes:16 switches:8 pods:2",
    "torus:3x4x2",
    "dragonfly:3x2x2",
]


def test_times_are_latencies_plus_size_over_bandwidth() -> None:
    line = "nodes:4 switches:2 latency:1us trunk:3us bandwidth:1GB loopback:0.1us"
    machine = parse(line)
    assert machine.one_way(0, 0, 0) == pytest.approx(0.1e-6 + 16 / 4e9)
    assert machine.one_way(0, 1, 984) == pytest.approx(2e-6 + 1000 / 1e9)
    assert machine.one_way(3, 0, 984) == pytest.approx(1e-6 + 3e-6 + 3e-6 + 1e-6 + 1000 / 1e9)


def test_nodes_may_differ_in_speed() -> None:
    """The speeds are given to the nodes in turn; what is no speed is refused."""
    hosts = ElementTree.fromstring(parse("nodes:4 speed:2,0.5").xml()).iter("host")
    assert [host.get("speed") for host in hosts] == ["2Gf", "0.5Gf"] * 2
    for text in ("0", "1,", "-1", "1,x", "nan"):
        with pytest.raises(InputError, match="speed"):
            parse(f"nodes:2 speed:{text}")


def test_a_torus_goes_the_shorter_way_round() -> None:
    machine = parse("torus:5x5 latency:1us bandwidth:1000GB")
    hops = [round(machine.one_way(0, node, 0) / 1e-6) for node in range(1, 25)]
    assert hops == [1, 2, 2, 1, 1, 2, 3, 3, 2, 2, 3, 4, 4, 3, 2, 3, 4, 4, 3, 1, 2, 3, 3, 2]


def test_a_fat_tree_has_three_levels_beyond_a_node() -> None:
    machine = parse("nodes:16 switches:8 pods:2")
    times = {machine.one_way(0, node, 0) for node in range(1, 16)}
    assert len(times) == 3
    assert [len(set(group)) for group in machine.groups] == [8, 2]


@pytest.mark.parametrize("line", MACHINES)
def test_slow_parts_touch_only_what_they_should(line: str) -> None:
    healthy = parse(line)
    for word, touched in (
        ("slow-node:3*10", lambda a, b: 3 in (a, b)),
        ("slow-pair:1-4*10", lambda a, b: {a, b} == {1, 4}),
    ):
        if "torus" in line and "node" in word:
            continue  # its hops carry the traffic of others, too
        slow = parse(f"{line} {word}")
        for a, b in healthy.routes:
            ratio = slow.one_way(a, b, 0) / healthy.one_way(a, b, 0)
            assert (ratio > 1.5) if touched(a, b) else ratio == pytest.approx(1)


def test_any_link_can_be_made_slow_by_its_name() -> None:
    line = "nodes:8 switches:4 pods:2"
    for name, pairs in {
        "trunk-1": [(2, 4), (0, 2)],
        "core-0": [(0, 4)],
        "node-6-link": [(6, 7)],
    }.items():
        healthy, slow = parse(line), parse(f"{line} slow-link:{name}*10")
        for a, b in healthy.routes:
            touched = name in healthy.routes[a, b]
            assert touched == (slow.one_way(a, b, 0) > 1.5 * healthy.one_way(a, b, 0))
        assert all(name in healthy.routes[pair] for pair in pairs)


@pytest.mark.parametrize("line", MACHINES)
def test_the_platform_file_holds_every_node_and_route(line: str) -> None:
    machine = parse(line)
    root = ElementTree.fromstring(machine.xml())
    hosts = [host.get("id") for host in root.iter("host")]
    assert hosts == [f"node-{node}" for node in range(machine.nodes)]
    links = {link.get("id") for link in root.iter("link")}
    routes = list(root.iter("route"))
    assert len(routes) == machine.nodes * (machine.nodes + 1) // 2
    assert {link.get("id") for route in routes for link in route} <= links


@pytest.mark.parametrize(
    ("placement", "order"),
    [("block", [0, 0, 1, 1, 2, 2]), ("cyclic", [0, 1, 2, 0, 1, 2])],
)
def test_ranks_are_dealt_out_as_asked(placement: str, order: list[int]) -> None:
    assert parse(f"nodes:3 cores:2 placement:{placement}").node_of_rank() == order


def test_an_irregular_placement_is_the_same_each_time() -> None:
    line = "nodes:8 cores:4 placement:irregular"
    assert parse(line).hosts() == parse(line).hosts()
    assert parse(line).hosts() != parse(f"{line} seed:2").hosts()
    assert sorted(parse(line).node_of_rank()) == sorted(list(range(8)) * 4)


CASES = [
    "",
    "cores:4",
    "nodes:0",
    "nodes:-4",
    "nodes:many",
    "nodes:9999",
    "nodes",
    "knots:4",
    "nodes:4 nodes:4",
    "nodes:5 switches:2",
    "nodes:8 switches:4 pods:3",
    "torus:4x",
    "torus:4x4 switches:2",
    "torus:64x64",
    "dragonfly:4x4",
    "nodes:4 slow-node:4*2",
    "nodes:4 slow-node:1-2",
    "nodes:4 slow-pair:1",
    "nodes:4 slow-pair:2-2*3",
    "nodes:4 slow-link:trunk-9",
    "nodes:4 slow-link",
    "nodes:4 slow-node:1*0.5",
    "nodes:4 slow-node:1*nan",
    "nodes:4 slow-switch:1",
    "nodes:4 latency:fast",
    "nodes:4 bandwidth:0",
    "nodes:4 placement:anywhere",
    "nodes:²",
]


def test_what_is_no_machine_is_said_in_one_line(subtests: pytest.Subtests) -> None:
    for line in CASES:
        with subtests.test(str(line)):
            with pytest.raises(InputError) as error:
                parse(line)
            assert "\n" not in str(error.value)


@given(st.text(alphabet="nodescrtuaflygxw-:*0123456789 .", max_size=40))
def test_any_line_is_a_machine_or_an_input_error(line: str) -> None:
    try:
        machine = parse(line)
    except InputError:
        return
    assert machine.nodes >= 1
