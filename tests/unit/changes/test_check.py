"""The nightly verdict on machines whose truth is known: right hosts, no innocent, no false good.

The rates are of few machines, so that the test is quick; `bench/verdicts.py` counts many.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import norm

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.table import Table
from isochrone.changes.baseline import Reference
from isochrone.changes.check import Check, Earlier, Memory, check, slower_pairs, together
from isochrone.changes.effects import quantities
from isochrone.changes.thresholds import LATEST
from isochrone.changes.waivers import parse_rule
from isochrone.latency_map.map_health import MapHealth
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Run
from made_up import nights
from made_up.hotspots import hotspot, tile_io
from made_up.latency_maps import (
    Matrix,
    block,
    confirmed,
    flat,
    latency_map,
    leaving,
    map_of,
    noisy,
    one_slow_host,
    torus,
    tree,
    with_retests,
)
from made_up.launches import launches
from made_up.nights import Chance, Cluster, Machine, Truth, launch, link_truth, shape
from made_up.sweeps import collective

SHAPES = [
    "flat",
    "one rank a node",
    "few nodes",
    "switches",
    "two switches",
    "three levels",
    "dragonfly",
    "uneven",
]


@functools.cache
def season(name: str, seed: int = 1) -> tuple[Machine, list[Run]]:
    """Five launches of a machine on which nothing is slow."""
    dice = np.random.default_rng(seed)
    machine = shape(name, dice)
    return machine, [launch(machine, dice) for _ in range(5)]


def tonight(name: str, truth: str, by: float, seed: int = 7) -> tuple[Check, Truth]:
    """Judge one more launch, on which something is slow."""
    machine, earlier = season(name)
    dice = np.random.default_rng(seed)
    what = getattr(nights, truth)(machine, dice, by)
    return check(launch(machine, dice, what), Earlier("nights", earlier)), what


def measured_twice(times: Matrix, hosts: list[str]) -> Run:
    """Make a map of which what looks slow was measured again, alone."""
    return confirmed(map_of(times, hosts), lambda: times)


# ---- a map by itself ---------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize("by", [1.0, 1.25])
@pytest.mark.parametrize("name", SHAPES)
def test_exactly_the_slow_host_is_in_the_list(name: str, by: float) -> None:
    dice = np.random.default_rng([11, int(100 * by), SHAPES.index(name)])
    machine = shape(name, dice)
    truth = nights.node(machine, dice, by) if by > 1 else nights.nothing(machine, dice)
    found = check(launch(machine, dice, truth))
    assert set(found.bad_hosts) == truth.bad
    assert found.verdict == ("slow" if truth.bad else "good")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SHAPES)
def test_the_ends_of_a_slow_pair_are_suspects_and_in_no_list(name: str) -> None:
    dice = np.random.default_rng([12, SHAPES.index(name)])
    machine = shape(name, dice)
    truth = nights.pair(machine, dice, 2.5)
    found = check(launch(machine, dice, truth))
    assert found.verdict == "slow"
    assert found.bad_hosts == []
    ends = {f"n{k:02d}" for k in np.flatnonzero(truth.factor.max(axis=0) > 1)}
    assert set(found.suspects) == ends


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("by", [10.0, 30.0])
@pytest.mark.parametrize("dimensions", [(4, 4), (3, 3, 3), (16,)])
def test_a_torus_with_a_slow_link_is_never_good_and_no_host_is_bad(
    dimensions: tuple[int, ...], by: float
) -> None:
    machine = Machine("torus", torus(dimensions), 1.0, np.arange(int(np.prod(dimensions))))
    dice = np.random.default_rng([2, int(by)])
    found = check(launch(machine, dice, link_truth(dimensions, dice, by, 2.0, 1.0)))
    assert found.verdict in ("slow", "not known")
    assert found.bad_hosts == []


@pytest.mark.few(2)
@pytest.mark.parametrize("noise", [0.02, 0.08])
@pytest.mark.parametrize("base", [0.0, 2.0])
@pytest.mark.parametrize("dimensions", [(4, 4), (5, 5), (4, 4, 2), (12,)])
def test_a_healthy_torus_is_good(dimensions: tuple[int, ...], base: float, noise: float) -> None:
    """Its longest ways have twice the hops of the middle one, or fewer."""
    matrix = noisy(torus(dimensions, base), noise, seed=3)
    found = check(map_of(matrix, block(len(matrix))))
    assert found.verdict == "good", found.doubts


def test_the_nodes_behind_a_slow_switch_are_suspects() -> None:
    names = block(16, 2)
    members = np.arange(32) // 8 == 1
    matrix = tree([2, 4, 4], [1, 3, 5]) + 3 * leaving(members, names)
    found = check(measured_twice(noisy(matrix, 0.02, seed=6), names))
    assert found.verdict == "slow"
    assert found.bad_hosts == []
    assert found.suspects == ["n4", "n5", "n6", "n7"]


def test_a_slow_rank_proves_its_host_bad() -> None:
    matrix = tree([4, 8], [1, 3]) + 3 * leaving(np.arange(32) == 5)
    found = check(measured_twice(noisy(matrix, 0.02, seed=4), block(8, 4)))
    assert found.bad_hosts == ["n1"]


@pytest.mark.slow
def test_what_was_not_measured_again_is_a_suspect_and_nothing_is_called_slow() -> None:
    """Of each kind of component; what `show` names as suspected is what `check` does not judge."""
    names, members = block(16, 2), np.arange(32)
    machine = tree([2, 4, 4], [1, 3, 5])
    slow = {
        "node": 3 * leaving(members // 2 == 5, names),
        "rank": 3 * leaving(members == 5),
        "switch": 3 * leaving(members // 8 == 1, names),
        "pair": 9 * (leaving(members == 3) * leaving(members == 20) * 1.0),
    }
    slow["pair"][np.ix_(members != 3, members != 20)] = 0
    slow["pair"] = np.maximum(slow["pair"], slow["pair"].T)
    for kind, added in slow.items():
        times = noisy(machine + added, 0.02, seed=6)
        run = map_of(times, names)
        found = check(run)
        assert {one.verdict for one in found.findings} == {"possibly slow"}, kind
        assert (found.verdict, found.bad_hosts) == ("not known", []), kind
        assert set(found.suspects) >= set(found.findings[0].hosts), kind
        assert check(confirmed(run, lambda times=times: times)).verdict == "slow", kind


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spread", "by", "verdict"),
    [(0.03, 1.13, "not known"), (0.03, 1.25, "slow"), (0.0, 1.13, "slow"), (0.0, 1.0, "good")],
)
def test_a_node_is_slow_if_it_is_unlike_its_peers(spread: float, by: float, verdict: str) -> None:
    """Healthy nodes differ for good; earlier nights settle what a map alone leaves open."""
    own = spread * norm.ppf((np.random.default_rng(4).permutation(24) + 0.5) / 24)
    own[5] = np.log(by)
    factor = np.exp(own[:, None] + own).repeat(2, axis=0).repeat(2, axis=1)
    times = [noisy(tree([2, 8, 3], [1, 3, 5]) * factor, 0.01, seed=seed) for seed in range(5)]
    runs = [confirmed(map_of(one, block(24, 2)), lambda one=one: one) for one in times]
    found = check(runs[0])
    assert found.verdict == verdict
    assert found.bad_hosts == ["n5"] * (verdict == "slow")
    if verdict == "not known":
        assert check(runs[0], Earlier("nights", runs[1:])).verdict == "good"


@pytest.mark.parametrize(("ratio", "verdict"), [(2.9, "good"), (3.1, "not known")])
def test_a_pair_that_is_slow_now_and_then_is_never_good(ratio: float, verdict: str) -> None:
    """Its median was usual when it was measured again, and its interval holds long times."""
    run = with_retests(map_of(noisy(flat(8), 0.01, seed=1), block(8)), [(1, 2)], 1.0)
    pairs = run.tables["pair"]
    usual = float(np.median(pairs["median"]))
    high = np.where(pairs.flag("retest"), ratio * usual, pairs["median"])
    run.tables["pair"] = Table(pairs.columns | {"low": pairs["median"], "high": high})
    assert check(run).verdict == verdict


def test_few_nodes_are_not_known_and_it_says_what_to_do(golden: Golden) -> None:
    found = check(map_of(noisy(tree([4, 2], [1, 3]), 0.02, seed=1), block(2, 4)))
    assert found.verdict == "not known"
    golden(found.doubts[0])


def test_a_partial_map_is_not_known_unless_something_is_slow() -> None:
    run = one_slow_host(0)
    run.end = None
    assert check(run).verdict == "not known"
    slow = one_slow_host()
    slow.end = None
    assert check(slow).verdict == "slow"


def test_what_is_allowed_is_listed_and_no_failure() -> None:
    run = one_slow_host()
    found = check(run, rules=[parse_rule("host=n2")])
    assert found.verdict == "good"
    assert found.bad_hosts == []
    assert [one.allowed for one in found.findings] == ["host=n2"]
    assert check(run, rules=[parse_rule("host=n2:30%")]).verdict == "slow"
    assert check(run, rules=[parse_rule("host=n3")]).verdict == "slow"


def test_what_the_user_calls_too_little_is_noted_and_good() -> None:
    run = one_slow_host(0.6)
    found = check(run, threshold=0.5)
    assert found.verdict == "good"
    assert any("node n2 is" in text for text in found.judged)


def test_one_node_is_not_several_and_no_percentage_is_the_threshold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Protects the sentences of a check: 1 node, and 9.9 % where the threshold is 10 %."""
    run = map_of(flat(8), ["a"] * 8)
    (part,) = analyse(one_slow_host()).slow
    health = MapHealth({}, [], [(replace(part, ratio=1.0996), 64)], [], np.inf, False, {}, 0)
    monkeypatch.setattr("isochrone.changes.check.map_health", lambda *_: health)
    compared, minor = check(run).judged
    assert " 1 node " in compared
    assert " 9.9 % " in minor


# ---- against earlier launches ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("by", [1.1, 3.0])
@pytest.mark.parametrize("name", ["few nodes", "switches", "torus", "uneven"])
def test_a_node_that_became_slow_is_found(name: str, by: float) -> None:
    found, truth = tonight(name, "node", by)
    assert set(found.bad_hosts) == truth.bad
    assert found.verdict in ("slow", "slower")


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["flat", "switches", "two switches"])
def test_a_level_that_became_slow_is_found_and_no_host_is_bad(name: str) -> None:
    found, _ = tonight(name, "level", 1.3)
    assert found.verdict == "slower"
    assert {one.kind for one in found.findings} == {"level"}
    assert found.bad_hosts == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["few nodes", "switches", "torus"])
def test_a_pair_that_became_slow_is_found_and_its_ends_are_suspects(name: str) -> None:
    found, truth = tonight(name, "pair", 1.3)
    assert found.verdict in ("slow", "slower")
    assert found.bad_hosts == []
    ends = {f"n{k:02d}" for k in np.flatnonzero(truth.factor.max(axis=0) > 1)}
    assert set(found.suspects) == ends


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["flat", "few nodes", "switches", "torus", "uneven"])
def test_nothing_is_worse_where_nothing_changed(name: str) -> None:
    alarms = [tonight(name, "nothing", 1.0, seed)[0].findings for seed in range(2)]
    assert sum(map(bool, alarms)) <= 1


def test_fewer_than_three_earlier_runs_are_not_known(golden: Golden) -> None:
    machine, earlier = season("flat")
    found = check(launch(machine, np.random.default_rng(5)), Earlier("nights", earlier[:2]))
    assert found.verdict == "not known"
    golden(found.doubts[0])
    assert "baseline add" in found.doubts[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["switches", "few nodes", "dragonfly"])
def test_runs_judged_together_are_judged_as_one_by_one(name: str) -> None:
    """What follows from a run is computed once for all: nothing else may differ."""
    machine, earlier = season(name)
    dice = np.random.default_rng(31)
    runs = [launch(machine, dice) for _ in range(3)]
    runs += [launch(machine, dice, nights.node(machine, dice, 0.3)), earlier[0]]
    other = launch(shape("flat", dice), dice)
    memory = Memory()
    for run in [*runs, other]:
        others = Earlier("nights", [one for one in [*earlier, other] if one is not run])
        alone, shared = check(run, others), check(run, others, memory=memory)
        assert shared.verdict == alone.verdict
        assert [(f.kind, f.who) for f in shared.findings] == [
            (f.kind, f.who) for f in alone.findings
        ]
        for one, same in zip(alone.findings, shared.findings, strict=True):
            assert same.ratio == pytest.approx(one.ratio, rel=1e-3)
        assert shared.visible == pytest.approx(alone.visible)
        assert shared.left_out == alone.left_out


@pytest.mark.slow
def test_no_more_than_the_latest_runs_are_compared_with() -> None:
    machine, earlier = season("few nodes")
    dice = np.random.default_rng(5)
    slow = [launch(machine, dice, nights.node(machine, dice, 0.5)) for _ in range(3)]
    many = [*slow, *(earlier * (LATEST // len(earlier)))]
    new = launch(machine, dice)
    found, latest = (check(new, Earlier("nights", some)) for some in (many, many[-LATEST:]))
    assert (found.earlier, latest.earlier) == (len(many), LATEST)
    assert found.visible == latest.visible


def test_earlier_runs_settle_what_few_nodes_leave_open() -> None:
    times = tree([4, 2], [1, 3])
    runs = [map_of(noisy(times, 0.02, seed=k), block(2, 4)) for k in range(6)]
    assert check(runs[0], Earlier("nights", runs[1:])).verdict == "good"


def test_launches_that_differ_by_half_prove_nothing(golden: Golden) -> None:
    dice = np.random.default_rng(8)
    machine = shape("flat", dice)
    wild = Chance(launch=0.5)
    runs = [launch(machine, dice, chance=wild) for _ in range(6)]
    for run in runs:  # the same in all levels, so that one is no measure of the other
        run.tables["pair"] = run.tables["pair"].where(
            np.array(
                [
                    run.hosts[i] != run.hosts[j]
                    for i, j in zip(run.tables["pair"]["i"], run.tables["pair"]["j"], strict=True)
                ]
            )
        )
    found = check(runs[0], Earlier("nights", runs[1:]))
    assert found.verdict == "not known"
    golden(found.doubts)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"settings": {"UCX_TLS": "tcp"}}, "setting UCX_TLS is tcp, not not set"),
        ({"options": {"bytes": [64], "schedule": "rounds"}}, "option schedule is rounds"),
        ({"memory": "cuda"}, "memory is cuda, not host"),
        ({"clock": {"simulated": True}}, "times is simulated, not measured"),
    ],
)
def test_runs_of_other_settings_are_left_out_and_it_is_said_why(
    change: dict[str, object], why: str
) -> None:
    run, other = (map_of(flat(8), block(8)) for _ in range(2))
    other.header.update(change)
    assert why in Memory().why_not(run, other)
    assert check(run, Earlier("nights", [other] * 5)).left_out[0][1] == Memory().why_not(run, other)


def test_how_much_was_measured_is_no_setting() -> None:
    run, other = (map_of(flat(8), block(8)) for _ in range(2))
    run.header["options"] = {"max-repeats": 10}
    other.header["options"] = {"max-repeats": 1000, "time-limit": 5.0}
    assert Memory().why_not(run, other) == ""


def test_other_hosts_are_another_place(golden: Golden) -> None:
    run = map_of(flat(4), ["a", "b", "c", "d"])
    assert Memory().why_not(run, map_of(flat(4), ["a", "b", "c", "x"])) == ""
    golden(Memory().why_not(run, map_of(flat(4), ["v", "w", "x", "y"])))


CLUSTER = Cluster.drawn(20, 2, np.random.default_rng(3))


def of_cluster(
    hosts: list[int], seed: int, slow: dict[int, float] | None = None, each: int = 2
) -> Run:
    dice = np.random.default_rng([seed, 4])
    return CLUSTER.launch(np.array(hosts), dice, slow, each=each, again=True)


def some_hosts(seed: int) -> list[int]:
    """Draw 12 of 20 hosts, the first among them."""
    drawn = np.random.default_rng(seed).choice(19, 11, replace=False) + 1
    return [0, *sorted(drawn.tolist())]


@pytest.mark.slow
def test_a_node_is_judged_by_nights_on_other_hosts_one_of_which_it_was_slow_in() -> None:
    """Replaced hosts leave no night out; a bad night before hides nothing."""
    before = [of_cluster(some_hosts(k), k, {0: 2.0} if k == 3 else None) for k in range(7)]
    for by, verdict in ((1.0, "good"), (1.15, "slower")):
        run = of_cluster(some_hosts(20), 20, {0: by})
        found = check(run, Earlier("nights", before), threshold=0.5)
        assert (found.verdict, found.earlier, found.left_out) == (verdict, 7, []), by
        assert found.bad_hosts == (["c000"] if by > 1 else [])


@pytest.mark.slow
def test_a_new_host_is_judged_by_its_peers_and_named() -> None:
    hosts = [*range(1, 13)]
    before = [of_cluster(hosts, k) for k in range(4)]
    for by in (1.0, 2.0):
        found = Reference(before).judge(of_cluster([0, *hosts[1:]], 20, {0: by}))
        assert [one.what.who for one in found.worse] == (["c000"] if by > 1 else [])
        assert any("c000" in note for note in found.notes)
        assert all(one.runs == 0 for one in found.worse)


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [True, False])
def test_the_peers_of_a_new_host_have_its_model_of_processor(recorded: bool) -> None:
    """Half of the nodes are older: their round trips take 1.2 times as long, every night."""
    cluster = Cluster.drawn(24, 1, np.random.default_rng(3))
    older = dict.fromkeys(range(0, 24, 2), 1.2)

    def night(hosts: list[int], seed: int, slow: dict[int, float]) -> Run:
        run = cluster.launch(np.array(hosts), np.random.default_rng([seed, 4]), older | slow)
        models = ["old" if int(rank.host[1:]) in older else "new" for rank in run.ranks]
        run.ranks = [
            msgspec.structs.replace(rank, processor=model if recorded else "")
            for rank, model in zip(run.ranks, models, strict=True)
        ]
        return run

    hosts = [*range(2, 20)]
    before = [night(hosts, k, {}) for k in range(4)]
    for by in (1.0, 1.3):
        run = night([0, *hosts[1:]], 20, {0: 1.2 * by})
        worse = [one.what.who for one in Reference(before).judge(run).worse]
        assert worse == (["c000"] if recorded and by > 1 else [])


@pytest.mark.slow
def test_other_ranks_per_node_sizes_and_libraries_are_compared_as_far_as_they_can_be() -> None:
    """Nodes and pairs are, levels are not; what only tonight has is named."""
    hosts = [*range(12)]
    before = [of_cluster(hosts, k, each=1) for k in range(4)]
    found = Reference(before).judge(of_cluster(hosts, 20, {0: 1.3}))
    assert [one.what.who for one in found.worse] == ["c000"]
    assert "level" not in found.visible
    assert "per node" in found.notes[-1]

    run = of_cluster(hosts, 20, {0: 1.3}, each=1)
    run.header["mpi"] = {"library": "Open MPI 5"}
    run.header["options"] = {"bytes": [64, 4096]}
    for one in before:
        one.header["options"] = {"bytes": [64]}
    pairs = run.tables["pair"]
    table = {name: np.tile(pairs[name], 2) for name in ("i", "j", "bytes", "median")}
    table["bytes"][len(pairs) :] = 4096
    run.tables["pair"] = Table(table)
    checked = check(run, Earlier("nights", before), threshold=0.5)
    assert (checked.earlier, checked.bad_hosts) == (4, ["c000"])
    said = " ".join(checked.judged)
    assert "MPI library" in said
    assert "4 KiB" in said
    run.header["options"] = {"bytes": [4096]}
    assert "option bytes" in Memory().why_not(run, before[0])


def test_what_is_slower_than_before_and_was_not_measured_again_is_to_be() -> None:
    """Protects healthy nights from a burst of other traffic, which hardly hits a pair twice."""
    dice = np.random.default_rng(3)
    machine = Machine("flat", flat(8), 1.0, np.repeat(np.arange(8), 2))
    before = [launch(machine, dice) for _ in range(6)]
    assert slower_pairs(before[0], before[1:]) == []
    of_nodes = {(i, j) for i in (4, 5) for j in (10, 11)}
    factor = np.ones((8, 8))
    factor[2, 5] = factor[5, 2] = 1.5

    def once(truth: Truth) -> Run:
        run = launch(machine, dice, truth)
        run.tables["pair"] = run.tables["pair"].where(~run.tables["pair"].flag("retest"))
        return run

    slow = once(Truth("pair", factor))
    assert set(slower_pairs(slow, before)) == of_nodes
    assert set(slower_pairs(with_retests(slow, [(4, 10)]), before)) == of_nodes
    assert slower_pairs(with_retests(with_retests(slow, [(4, 10)]), [(4, 10)]), before) == []

    truth = nights.node(machine, dice, 1.15)
    (node,) = (int(host[1:]) for host in truth.bad)
    asked = slower_pairs(once(truth), before)
    assert len(asked) == 8
    assert all((i // 2 == node) != (j // 2 == node) for i, j in asked)


def test_the_chance_of_a_false_alarm_is_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of every night has one false alarm a year, another run one in 33."""
    spent: Counter[str] = Counter()
    usually = Reference._usually

    def spy(self: Reference, kind: str, before: Matrix, chance: float, *args: Any, **more: Any):  # type: ignore[no-untyped-def]
        spent[kind.split()[0]] += chance * before.shape[1]  # type: ignore[assignment]
        return usually(self, kind, before, chance, *args, **more)

    monkeypatch.setattr(Reference, "_usually", spy)
    *before, run = [*season("switches")[1], season("switches", 2)[1][0]]
    Reference(before).judge(run)
    judging = 0.9
    assert spent["level"] == pytest.approx(judging * 0.002)
    nodes = spent["node"] + spent["inside"] + spent["rank"]
    assert nodes == pytest.approx(judging * 0.0005)
    assert spent["pair"] == pytest.approx(judging * 0.0005)
    *before, run = launches(6, np.random.default_rng(1), between=0.02, within=0.02)
    Reference(before).judge(run)
    assert spent["curve"] == pytest.approx(judging * 0.015)
    assert spent["point"] == pytest.approx(judging * 0.015)


# ---- other kinds -------------------------------------------------------------------------------


def test_a_sweep_is_judged_by_earlier_ones_only() -> None:
    dice = np.random.default_rng(1)
    runs = launches(6, dice, between=0.02, within=0.02)
    alone = check(runs[0])
    assert alone.verdict == "not known"
    assert check(runs[0], Earlier("nights", runs[1:])).verdict == "good"
    (slow,) = launches(1, dice, between=0.02, within=0.02, factor=1.5)
    found = check(slow, Earlier("nights", runs[1:]))
    assert found.verdict == "slower"
    assert found.findings[0].kind == "curve"
    assert found.findings[0].ratio == pytest.approx(1.5, rel=0.1)


def test_one_size_that_became_slow_is_named() -> None:
    dice = np.random.default_rng(2)
    runs = launches(5, dice, between=0.02, within=0.02)
    factor = [1.0] * 8
    factor[5] = 1.6
    (slow,) = launches(1, dice, between=0.02, within=0.02, factor=factor)
    found = check(slow, Earlier("nights", runs))
    assert [one.kind for one in found.findings] == ["point"]
    assert "bytes 8192" in found.findings[0].who


@pytest.mark.parametrize("make", [hotspot, tile_io, lambda: collective(("bcast",), 8)])
def test_all_that_repeats_can_be_held_against_earlier_runs(make: object) -> None:
    runs = [make() for _ in range(5)]  # type: ignore[operator]
    found = check(runs[0], Earlier("nights", runs[1:]))
    assert found.verdict == "good", found.doubts


# ---- the document ------------------------------------------------------------------------------


def test_the_worst_verdict_counts_and_the_document_is_json() -> None:
    bad = one_slow_host()
    good = one_slow_host(0, seed=2)
    checks = [check(good), check(bad)]
    assert together(checks) == "slow"
    assert together(checks[:1]) == "good"
    document = plain(checks[1])
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["bad_hosts"] == ["n2"]


@pytest.mark.slow
def test_a_node_that_the_distances_of_a_ring_hide_is_not_known_and_named() -> None:
    machine = Machine("ring", torus((16,)), 1.0, np.arange(16))
    dice = np.random.default_rng(9)
    truth = nights.node(machine, dice, 1.25)
    found = check(launch(machine, dice, truth))
    assert found.verdict == "not known"
    assert f"node {next(iter(truth.bad))} " in found.doubts[0]
    earlier = [launch(machine, dice) for _ in range(5)]
    found = check(launch(machine, dice, truth), Earlier("nights", earlier))
    assert (found.verdict, set(found.bad_hosts)) == ("slower", set(truth.bad))


@pytest.mark.few(1)
@pytest.mark.parametrize("uplink", [True, False])
@pytest.mark.parametrize("name", ["switches", "three levels"])
def test_nodes_behind_a_switch_that_became_slow_are_suspects(name: str, uplink: bool) -> None:
    machine, runs = season(name)
    inside = np.arange(machine.nodes) // 4 == 1
    touched = inside[:, None] ^ inside if uplink else inside[:, None] | inside
    truth = Truth("switch", np.where(touched, 1.5, 1.0))
    found = check(launch(machine, np.random.default_rng(6), truth), Earlier("nights", runs))
    assert found.verdict in ("slow", "slower")
    assert found.bad_hosts == []
    assert set(found.suspects) == {"n04", "n05", "n06", "n07"}


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [(4, 4), (16,)])
def test_a_link_of_a_torus_that_became_slow_is_worse_and_no_host_is_bad(
    dimensions: tuple[int, ...],
) -> None:
    machine = Machine("torus", torus(dimensions), 1.0, np.arange(16))
    dice = np.random.default_rng(4)
    runs = [launch(machine, dice) for _ in range(5)]
    truth = link_truth(dimensions, dice, 3.0, 2.0, 1.0)
    found = check(launch(machine, dice, truth), Earlier("nights", runs))
    assert found.verdict in ("slow", "slower")
    assert found.bad_hosts == []


def test_a_finding_has_a_size_only_where_there_are_several() -> None:
    for sizes in ((64,), (64, 4096)):
        run = latency_map(block(8, 2), slow_hosts={"n3": 2.0}, nbytes=sizes)
        found = check(with_retests(run, [(0, 6), (1, 7), (2, 6), (3, 7)]))
        assert {one.nbytes in sizes for one in found.findings} == {len(sizes) > 1}


@pytest.mark.parametrize(("sizes", "curves"), [((8, 64), 0), ((8, 64, 512), 1)])
def test_a_curve_of_few_points_has_no_time_of_its_own(sizes: tuple[int, ...], curves: int) -> None:
    runs = launches(3, np.random.default_rng(1), sizes=sizes)
    kinds = [one.kind for one in quantities(runs, len(runs)).items]
    assert (kinds.count("curve"), kinds.count("point")) == (curves, len(sizes))


@pytest.mark.parametrize("slow_pairs", [2, 7])
def test_what_is_confirmed_at_one_size_needs_no_other(slow_pairs: int) -> None:
    """At a larger size the node, or two of its links, take three times as long, seen once."""
    run = latency_map(block(8), slow_hosts={"n3": 2.0}, nbytes=(64, 4096))
    once = run.tables["pair"]
    of_node = ((once["i"] == 3) | (once["j"] == 3)) & (once["bytes"] == 4096)
    factor = np.where(of_node, 0.5, 1.0)
    factor[np.flatnonzero(of_node)[:slow_pairs]] = 1.5
    table = with_retests(run, [(0, 3), (2, 3), (3, 5), (3, 7)]).tables["pair"]
    columns = dict(table.columns)
    columns["median"] = columns["median"] * np.pad(
        factor, (0, len(table) - len(once)), constant_values=1.0
    )
    kept = ~table.flag("retest") | (table["bytes"] == 64)
    run.tables["pair"] = Table({name: column[kept] for name, column in columns.items()})
    found = check(run)
    assert [(one.verdict, one.kind, one.nbytes) for one in found.findings] == [("slow", "node", 64)]
    assert (found.bad_hosts, found.suspects) == (["n3"], [])
