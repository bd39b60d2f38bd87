"""Maps are matched by place, and what changed is named as the part of the machine it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.changes.compare import compare
from isochrone.runfile.run import Run
from made_up.latency_maps import Matrix, block, cyclic, map_of, noisy, tree

FACTORS = (1.0, 1.06, 0.95, 1.02, 0.97)
"""What launches of a map differ by, as a whole."""


def machine(slow: Sequence[tuple[object, float]] = ()) -> Matrix:
    """Two switches of 3 nodes of 4 ranks; ``slow`` are masks of pairs with their factors."""
    times = tree([4, 3, 2], [1, 4, 12])
    for mask, factor in slow:
        times = np.where(mask, times * factor, times)
    return times


def of_ranks(*ranks: int) -> np.ndarray:
    return np.isin(np.arange(24), ranks)


def leaving(*ranks: int) -> np.ndarray:
    """Pairs with one end among these ranks."""
    member = of_ranks(*ranks)
    return member[:, None] != member


def runs(times: Matrix, hosts: Sequence[str], seed: int, noise: float = 0.05) -> list[Run]:
    return [map_of(noisy(f * times, noise, seed + k), hosts) for k, f in enumerate(FACTORS)]


def parts(before: Sequence[Run], after: Sequence[Run]) -> list[tuple[str, str, int]]:
    found = compare(before, after).parts
    return [(part.kind, part.who, len(part.points)) for part in found]


def dealt(times: Matrix) -> Matrix:
    """Renumber the ranks of a block placement as a cyclic one has them."""
    order = np.arange(24).reshape(6, 4).T.ravel()
    return times[np.ix_(order, order)]


NODE = leaving(8, 9, 10, 11)


def test_block_against_cyclic_is_the_same_machine(golden: Golden) -> None:
    """Once "244 slower": rank 1 was beside rank 0 before, and on another node after."""
    before = runs(machine(), block(6, 4), 1)
    after = runs(dealt(machine()), cyclic(6, 4), 20)
    found = compare(before, after)
    assert found.parts == []
    golden(found.notes[0])
    assert found.points[0].key["places"] == ["n0:0", "n0:1"]
    assert {point.verdict for point in found.points} <= {"same", "not known"}


def test_a_slow_node_is_one_part_also_where_the_ranks_moved() -> None:
    before = runs(machine(), block(6, 4), 1)
    assert parts(before, runs(machine([(NODE, 3)]), block(6, 4), 20)) == [("node", "n2", 80)]
    moved = runs(dealt(machine([(NODE, 3)])), cyclic(6, 4), 20)
    ((kind, who, number),) = parts(before, moved)
    assert (kind, who, number) == ("node", "n2", 80)


def test_a_port_that_adds_a_time_is_a_node_near_and_far() -> None:
    """20 µs more are 6x within the switch and 2.7x beyond: unlike factors, the same added time."""
    times = machine()
    before, after = runs(times, block(6, 4), 1), runs(times + 20 * NODE, block(6, 4), 20)
    (part,) = compare(before, after).parts
    assert (part.kind, part.who, len(part.points)) == ("node", "n2", 80)
    assert part.added == pytest.approx(20e-6, rel=0.1)


@pytest.mark.slow
def test_each_part_is_named_for_what_it_is() -> None:
    before = runs(machine(), block(6, 4), 1)
    across = leaving(*range(12))
    inside = np.zeros((24, 24), bool)
    inside[8:12, 8:12] = True
    pair = np.zeros((24, 24), bool)
    pair[1, 9] = pair[9, 1] = True
    node, switch = np.arange(24) // 4, np.arange(24) // 12
    within_switch = (switch == 0)[:, None] & (switch == 0) & (node[:, None] != node)
    between_nodes = of_ranks(4, 5, 6, 7)[:, None] & of_ranks(16, 17, 18, 19)
    between_nodes |= between_nodes.T
    wanted = {
        "all": ([(np.ones((24, 24), bool), 1.5)], ("all", "all 276 pairs", 276)),
        "level": ([(across, 1.5)], ("level", "level 2 (network)", 144)),
        "inside": ([(inside, 2)], ("node", "inside of n2", 6)),
        "rank": ([(leaving(5), 2)], ("rank", "rank 5", 23)),
        "pair": ([(pair, 3)], ("pair", "", 1)),
        "switch": (
            [(leaving(*range(12)) | within_switch, 2)],
            ("switch", "switch of n0 … n2 (3 nodes)", 192),
        ),
        "inside of a switch": (
            [(within_switch, 2)],
            ("switch", "inside of the switch of n0 … n2 (3 nodes)", 48),
        ),
        "nodes": ([(between_nodes, 3)], ("pair", "n1 – n4", 16)),
    }
    for slow, part in wanted.values():
        assert parts(before, runs(machine(slow), block(6, 4), 20)) == [part]


def test_the_uplink_of_one_of_three_switches_is_a_switch(golden: Golden) -> None:
    times = tree([2, 3, 3], [1, 4, 6])
    member = np.arange(18) < 6
    slow = np.where(member[:, None] != member, times * 3, times)
    before, after = (runs(t, block(9, 2), seed) for t, seed in ((times, 1), (slow, 30)))
    golden(parts(before, after))


def test_two_changes_are_two_parts_and_two_slow_nodes_no_level() -> None:
    before = runs(machine(), block(6, 4), 1)
    slow = machine([(leaving(0, 1, 2, 3) | leaving(20, 21, 22, 23), 3)])
    assert sorted(parts(before, runs(slow, block(6, 4), 20)))[:2] == [
        ("node", "n0", 80),
        ("node", "n5", 80),
    ]


def test_one_map_a_side_names_nothing() -> None:
    before, after = (
        runs(machine(slow), block(6, 4), 1 + 20 * bool(slow))[:1] for slow in ([], [(NODE, 3)])
    )
    found = compare(before, after)
    assert found.parts == []
    assert {point.verdict for point in found.points} == {"not known"}


def test_hosts_that_are_not_known_are_said_and_ranks_matched_by_number(golden: Golden) -> None:
    sides = [runs(machine(), block(6, 4), seed) for seed in (1, 20)]
    for run in (*sides[0], *sides[1]):
        run.ranks = []
    found = compare(*sides)
    golden(found.notes)
    assert "places" not in found.points[0].key


def test_a_host_of_one_side_only_is_left_out_and_named(golden: Golden) -> None:
    before = runs(machine(), block(6, 4), 1)
    hosts = [name.replace("n5", "n9") for name in block(6, 4)]
    found = compare(before, runs(machine(), hosts, 20))
    assert len(found.points) == 20 * 19 // 2
    assert "skipped: n5, n9" in found.notes[0]
    elsewhere = compare(before, runs(machine(), block(6, 4, "m{}"), 20))
    assert len(elsewhere.points) == 276
    golden(elsewhere.notes[0])
