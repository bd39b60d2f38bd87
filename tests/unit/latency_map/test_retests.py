"""Which pairs are measured again: those of what would be named, and healthy ones beside them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from isochrone.latency_map.retests import Retests, to_measure_again
from isochrone.latency_map.slow_part import Slow
from isochrone.latency_map.thresholds import MAX_SUSPECTED, SAMPLE
from isochrone.latency_map.topology import Topology, analyse
from isochrone.runfile.run import Run
from made_up.latency_maps import block, latency_map, map_of, tree, with_retests


def slow(kind: str, ranks: Sequence[int], level: int, *, retested: bool = False) -> Slow:
    return Slow(
        kind, "", 2.0, tuple(ranks), (), level, 2e-6, 1e-6, 8, 1e-6, 1e-6, 1e-6, retested=retested
    )


def naming(run: Run, *parts: Slow) -> Topology:
    """Return the reading of a healthy map, with parts named that are none."""
    found = analyse(run)
    return replace(found, slow=list(parts), warnings=[])


def two_switches() -> Run:
    """Make 8 nodes of 2 ranks behind two switches: 0-7 and 8-15."""
    return map_of(tree([2, 4, 2], [1, 5, 20]), block(8, 2))


def test_nothing_is_measured_again_if_nothing_would_be_named() -> None:
    run = two_switches()
    assert to_measure_again(run, naming(run)) == Retests()
    seen = naming(run, slow("rank", [3], 1, retested=True))
    assert to_measure_again(run, seen) == Retests()


def test_a_pair_is_measured_again_itself() -> None:
    run = two_switches()
    chosen = to_measure_again(run, naming(run, slow("pair", (2, 5), 1)))
    assert chosen.suspected == ((2, 5),)
    assert len(chosen.controls) == 1


@pytest.mark.parametrize(("kind", "ranks"), [("rank", [3]), ("node", [2, 3])])
def test_a_rank_or_a_node_is_measured_again_with_several_others(
    kind: str, ranks: list[int]
) -> None:
    """On the level it was judged on, and with as many different partners as there are."""
    run = two_switches()
    chosen = to_measure_again(run, naming(run, slow(kind, ranks, 1)))
    assert len(chosen.suspected) >= 6
    partners = set()
    for i, j in chosen.suspected:
        (other,) = {i, j} - set(ranks)
        assert other // 2 != ranks[0] // 2
        assert other < 8, "behind the same switch"
        partners.add(other)
    assert len(partners) >= 4


def test_a_switch_is_measured_again_inside_and_an_uplink_across() -> None:
    run = two_switches()
    inside = to_measure_again(run, naming(run, slow("switch", range(8), 1)))
    assert len(inside.suspected) == SAMPLE
    assert all(j < 8 and i // 2 != j // 2 for i, j in inside.suspected)
    assert len({rank for pair in inside.suspected for rank in pair}) >= 6
    across = to_measure_again(run, naming(run, slow("uplink", range(8), 2)))
    assert len(across.suspected) == SAMPLE
    assert all(i < 8 <= j for i, j in across.suspected)
    assert len({j for _, j in across.suspected}) >= 4


def test_the_link_of_two_nodes_is_measured_again_by_pairs_across_it() -> None:
    run = two_switches()
    chosen = to_measure_again(run, naming(run, slow("pair", [0, 1, 6, 7], 1)))
    assert set(chosen.suspected) == set(itertools.product((0, 1), (6, 7)))


def test_a_rank_that_is_slow_inside_its_node_only_is_measured_again_there() -> None:
    run = map_of(tree([8, 2], [1, 5]), block(2, 8))
    chosen = to_measure_again(run, naming(run, slow("rank", [3], 0)))
    assert len(chosen.suspected) == 7
    assert all(j < 8 for _, j in chosen.suspected)


def test_the_controls_are_healthy_pairs_of_the_same_level_and_in_between() -> None:
    run = two_switches()
    chosen = to_measure_again(run, naming(run, slow("node", [2, 3], 1)))
    assert len(chosen.controls) == min(len(chosen.suspected), SAMPLE)
    for i, j in chosen.controls:
        assert not {i, j} & {2, 3}
        assert i // 8 == j // 8
        assert i // 2 != j // 2
    mixed = chosen.pairs
    assert sorted(mixed) == sorted([*chosen.suspected, *chosen.controls])
    assert len(set(mixed)) == len(mixed)
    first = [pair in chosen.controls for pair in mixed[: len(mixed) // 2]]
    assert 0 < sum(first) < len(chosen.controls), "neither all first nor all last"


def test_what_was_measured_again_is_not_chosen_once_more_and_gaps_are_never() -> None:
    times = tree([2, 4, 2], [1, 5, 20])
    times[3, 5] = times[5, 3] = np.nan
    run = with_retests(map_of(times, block(8, 2)), [(2, 5), (3, 4)])
    chosen = to_measure_again(run, naming(run, slow("node", [2, 3], 1)))
    assert not {(2, 5), (3, 4), (3, 5)} & set(chosen.pairs)


def test_very_many_suspects_are_bounded() -> None:
    run = map_of(tree([2, 20], [1, 5]), block(20, 2))
    parts = [slow("node", [2 * k, 2 * k + 1], 1) for k in range(20)]
    chosen = to_measure_again(run, naming(run, *parts))
    assert len(chosen.suspected) == MAX_SUSPECTED
    assert chosen.controls == (), "no healthy rank is left"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "broken",
    [{"slow_hosts": {"n3": 2.4}}, {"slow_ranks": {5: 2.0}}, {"slow_ranks": {5: 3.0, 17: 2.0}}],
)
def test_what_is_chosen_once_is_enough_to_name_it(broken: dict[str, dict[object, float]]) -> None:
    """The reading after it counts the part as measured again, so that the list is stable."""
    run = latency_map(block(8, 4), noise=0.02, **broken)  # type: ignore[arg-type]
    chosen = to_measure_again(run, analyse(run))
    again = with_retests(run, chosen.pairs, factor=1.0)
    assert to_measure_again(again, analyse(again)) == Retests()
