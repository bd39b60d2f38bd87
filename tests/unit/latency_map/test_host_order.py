"""Groups of nodes with consecutive names, where few pairs were measured."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.base.table import Table
from isochrone.latency_map.host_order import name_order, ways_in_order
from isochrone.latency_map.retests import to_measure_again
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run

NODES = 60


def sample(group: np.ndarray, slow: dict[int, float], rounds: int = 3, seed: int = 0) -> Run:
    """Each node with those next to it, those after the next, and a few others."""
    random = np.random.default_rng(seed)
    pairs = {(a, a + d) for d in (1, 2) for a in range(NODES - d)}
    for _ in range(rounds):
        mixed = random.permutation(NODES)
        pairs |= {
            (min(p), max(p)) for p in zip(mixed[::2].tolist(), mixed[1::2].tolist(), strict=True)
        }
    i, j = np.array(sorted(pairs)).T
    cost = np.zeros(NODES)
    cost[list(slow)] = list(slow.values())
    seconds = 1e-6 * (np.where(group[i] == group[j], 2.0, 4.0) + cost[i] + cost[j])
    seconds *= np.exp(0.03 * random.standard_normal(len(i)))
    table = Table({"i": i, "j": j, "bytes": np.full(len(i), 64), "median": seconds})
    # ranks are on nodes in any order
    ranks = [Rank(k, f"rack-n{k}", 0) for k in range(NODES)]
    header = {
        "experiment": "latency-map",
        "kind": "latency-map",
        "ranks": NODES,
        "options": {"bytes": [64], "sample": "12%"},
    }
    return Run(header, ranks, {"pair": table}, end={"complete": True})


def test_numbers_in_names_are_compared_as_numbers() -> None:
    names = ["n10", "n9", "rack2-n1", "n1", "rack10-n0", "n", "10"]
    assert [names[k] for k in np.argsort(name_order(names))] == [
        "10",
        "n",
        "n1",
        "n9",
        "n10",
        "rack2-n1",
        "rack10-n0",
    ]


def test_names_from_damaged_files_have_an_order_too() -> None:
    """Digits that are no number to Python, and numbers longer than it converts."""
    names = ["9" * 5000, "\u00b2", "1\u00b22", "1" + "0" * 5000]
    assert sorted(name_order(names)) == [0, 1, 2, 3]
    assert name_order(names)[0] < name_order(names)[3]


def test_groups_of_consecutive_names_are_cheap_to_write_down() -> None:
    place, root = np.arange(12), np.zeros(12, dtype=int)
    assert ways_in_order(place // 4, root, place) == pytest.approx(np.log(12)), "of one size"
    uneven = np.repeat(range(4), [2, 5, 4, 1])
    assert ways_in_order(uneven, root, place) == pytest.approx(np.log(165) + np.log(12))
    assert ways_in_order(place % 4, root, place) == np.inf


def test_groups_and_a_slow_node_are_read_out_of_neighbours() -> None:
    """With a tenth of the pairs; the slow node is at the end of a group."""
    group = np.repeat(np.arange(7), [10, 8, 9, 3, 10, 12, 8])
    found = analyse(sample(group, {17: 3.0}))
    assert [len(level.groups) for level in found.levels] == [NODES, 7, 1][-2:]
    assert found.levels[-2].groups == [np.flatnonzero(group == k).tolist() for k in range(7)]
    assert [part.who for part in found.slow] == ["rack-n17"]
    assert "few-pairs" not in {w["code"] for w in found.warnings}


def test_groups_of_scattered_names_are_not_known() -> None:
    group = np.random.default_rng(5).permutation(NODES) // 10
    found = analyse(sample(group, {}))
    assert not found.slow
    assert "few-pairs" in {w["code"] for w in found.warnings}


def test_slow_nodes_that_never_met_are_to_meet() -> None:
    """They may share a slow way; then the pair of them is fast."""
    run = sample(np.zeros(NODES, dtype=int), {5: 2.0, 40: 2.0}, seed=2)
    found = analyse(run)
    assert not found.slow and len(found.doubtful) == 2
    chosen = to_measure_again(run, found)
    assert (5, 40) in chosen.suspected


def test_unmeasured_pairs_are_estimated_with_an_interval() -> None:
    """Nine of ten true times are in the 95 % intervals, and few estimates are off by 5 %."""
    group = np.repeat(np.arange(6), 10)
    found = analyse(sample(group, {17: 3.0}, rounds=6))
    i, j = np.triu_indices(NODES, 1)
    seconds, half = found.estimator.of(i, j)
    true = 1e-6 * (np.where(group[i] == group[j], 2.0, 4.0) + 3.0 * ((i == 17) | (j == 17)))
    assert np.mean(np.abs(seconds - true) <= half) > 0.9
    assert np.quantile(np.abs(seconds / true - 1), 0.95) < 0.05


def test_a_picture_tells_estimates_from_measurements() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    from isochrone.latency_map.figures.heatmap import VIEW
    from isochrone.views.view import Options

    figure = VIEW.draw([sample(np.repeat(np.arange(6), 10), {})], Options())
    picture = next(image for axes in figure.axes for image in axes.images).get_array()
    alpha = picture[..., 3]
    pairs = 2 * len(sample(np.repeat(np.arange(6), 10), {}).pairs())
    assert np.count_nonzero(alpha == 255) == pairs
    assert np.count_nonzero((alpha > 0) & (alpha < 255)) == NODES * (NODES - 1) - pairs
    assert matplotlib.__version__


def with_options(run: Run, **options: object) -> Run:
    header = {**run.header, "options": {**run.header["options"], **options}}
    return Run(header, run.ranks, run.tables, end=run.end)


def test_auto_adds_pairs_until_levels_and_costs_are_known() -> None:
    """Scattered groups need a third of the pairs; a share of the sample is fixed."""
    group = np.random.default_rng(5).permutation(NODES) // 10
    run = sample(group, {})
    assert not to_measure_again(run, analyse(run)).pairs
    run = with_options(run, sample="auto")
    for _ in range(3):
        found = analyse(run)
        chosen = to_measure_again(run, found)
        if not chosen.suspected:
            break
        i, j = np.array(chosen.suspected).T
        old = run.tables["pair"]
        known = set(zip(old["i"].tolist(), old["j"].tolist(), strict=True))
        assert not known & set(chosen.suspected) and np.all(i < j)
        seconds = 1e-6 * np.where(group[i] == group[j], 2.0, 4.0)
        seconds *= np.exp(0.03 * np.random.default_rng(1).standard_normal(len(i)))
        more = {"i": i, "j": j, "median": seconds, "bytes": np.full(len(i), 64)}
        table = Table({key: np.append(old[key], more[key]) for key in more})
        run = Run(run.header, run.ranks, {"pair": table}, end=run.end)
    assert sum(len(own) >= 9 for own in found.levels[-2].groups) == 6
    assert "few-pairs" not in {w["code"] for w in found.warnings}


def test_auto_adds_pairs_until_a_small_cost_of_a_node_would_show() -> None:
    """The precision asked for, with each node about as often; at most a thousand at once."""
    run = sample(np.zeros(NODES, dtype=int), {})
    few = to_measure_again(with_options(run, sample="auto", precision=0.08), analyse(run)).suspected
    many = to_measure_again(
        with_options(run, sample="auto", precision=0.05), analyse(run)
    ).suspected
    assert 0 <= len(few) < len(many) <= 1000
    ends = np.bincount(np.array(many).ravel(), minlength=NODES)
    assert ends.max() - ends.min() <= 6


def whole(seconds: np.ndarray) -> Run:
    """A complete map of nodes."""
    i, j = np.triu_indices(len(seconds), 1)
    noise = np.exp(0.02 * np.random.default_rng(4).standard_normal(len(i)))
    median = 1e-6 * seconds[i, j] * noise
    table = Table({"i": i, "j": j, "bytes": np.full(len(i), 64), "median": median})
    ranks = [Rank(k, f"n{k}", 0) for k in range(len(seconds))]
    header = {
        "experiment": "latency-map",
        "kind": "latency-map",
        "ranks": len(seconds),
        "options": {"bytes": [64]},
    }
    return Run(header, ranks, {"pair": table}, end={"complete": True})


def test_a_small_group_next_to_a_slow_one_has_two_explanations() -> None:
    """Nodes whose switch is as slow as the network look like nodes of no group."""
    seconds = np.full((12, 12), 4.0)
    seconds[:4, :4] = 2.0
    found = analyse(whole(seconds))
    both = [w["text"] for w in found.warnings if w["code"] == "no-group"]
    assert both and "n4" in both[0]
    assert not any("n0" in text for text in both)
    regular = np.where(np.arange(12)[:, None] // 4 == np.arange(12) // 4, 2.0, 4.0)
    assert "no-group" not in {w["code"] for w in analyse(whole(regular)).warnings}


def test_a_slow_switch_may_be_no_switch() -> None:
    group = np.arange(24) // 6
    seconds = np.where(group[:, None] == group, 2.0, 4.0)
    for added, ambiguous in ((1.9, True), (0.8, False)):
        slow = seconds + added * ((group[:, None] == 1) & (group == 1))
        found = analyse(whole(slow))
        two = any(part.instead for part in found.slow)
        two |= "no-group" in {w["code"] for w in found.warnings}
        assert two == ambiguous
