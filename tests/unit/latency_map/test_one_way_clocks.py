"""Directions of a map whose clocks were synchronised: what their errors explain is not slow."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from isochrone.base.table import Table
from isochrone.latency_map.topology import analyse
from isochrone.runfile.clocks import clock_errors, clocks
from isochrone.runfile.run import Rank, Run

NODES = 8
MESSAGE = 10e-6
BOUND = 6e-6
SYNC = {
    "at": 0.0,
    "residual_median": 0.0,
    "residual_max": 0.0,
    "bound_max": BOUND,
    "drift_max": 0.0,
    "drift_error": 0.0,
}


def one_way_map(ahead: np.ndarray, slow: dict[tuple[int, int], float], **sync: float) -> Run:
    """Messages of 10 µs, some of them slower by some seconds, and clocks that are ahead."""
    i, j = np.array([*combinations(range(NODES), 2)]).T
    times = np.full((NODES, NODES), MESSAGE)
    for ends, seconds in slow.items():
        times[ends] += seconds
    columns = {
        "i": i,
        "j": j,
        "bytes": np.full(len(i), 64),
        "median": times[i, j] + times[j, i],
        "forward": times[i, j] + ahead[j] - ahead[i],
        "reverse": times[j, i] + ahead[i] - ahead[j],
    }
    header = {"experiment": "latency-map", "kind": "latency-map", "ranks": NODES}
    ranks = [Rank(k, f"n{k}", node=k) for k in range(NODES)]
    record = {key: np.array([value]) for key, value in {**SYNC, **sync}.items()}
    tables = {"pair": Table(columns), "sync": Table(record)}
    return Run(header, ranks, tables, end={"complete": True, "seconds": 2.0})


def directions(run: Run) -> list[tuple[str, tuple[int, ...]]]:
    return [(part.kind, part.ranks) for part in analyse(run).slow]


AHEAD = 4e-6 * np.eye(NODES)[3]


def test_a_clock_that_is_off_by_less_than_its_error_makes_no_node_slow() -> None:
    """The same times make node 3 a slow receiver where the clocks are known ten times better."""
    assert directions(one_way_map(AHEAD, {})) == []
    assert directions(one_way_map(AHEAD, {}, bound_max=BOUND / 10)) == [("receiver", (3,))]


def test_a_slow_direction_is_named_though_the_clock_hides_it() -> None:
    """An exchange over a link halves its asymmetry: then all other links of the node have it."""
    run = one_way_map(np.where(np.arange(NODES) == 3, -5e-6, 0), {(2, 3): 10e-6})
    pairs = run.pairs()
    hidden = (pairs["i"] == 2) & (pairs["j"] == 3)
    assert pairs["forward"][hidden] == pytest.approx(pairs["reverse"][hidden])
    assert directions(run) == [("direction", (2, 3))]


def test_the_drift_since_the_synchronisation_is_taken_from_each_link() -> None:
    """In the 2 s of the run, 2.5 ppm may make 1.96 * 5 µs."""
    slow = {(2, 3): 10e-6}
    assert directions(one_way_map(np.zeros(NODES), slow)) == [("direction", (2, 3))]
    run = one_way_map(np.zeros(NODES), slow, drift_error=2.5e-6)
    assert clock_errors(run) == pytest.approx((BOUND, 9.8e-6), rel=1e-3)
    assert clocks(run).error == pytest.approx(15.8e-6, rel=1e-3)
    assert directions(run) == [("pair", (2, 3))], "the round trip is longer for sure"


def test_ranks_with_few_pairs_are_not_judged() -> None:
    """With fewer than three pairs, a slow direction and a clock offset look the same."""
    run = one_way_map(np.zeros(NODES), {(6, 7): 30e-6})
    table = run.pairs()
    run.tables["pair"] = table.where((table["j"] < 7) | (table["i"] > 3))
    assert directions(run) == [("direction", (6, 7))]
    run.tables["pair"] = table.where((table["j"] < 7) | (table["i"] > 4))
    assert directions(run) == [("pair", (6, 7))]


def test_errors_that_are_not_recorded_are_not_known() -> None:
    """Then no direction is called slow."""
    run = one_way_map(AHEAD, {(2, 3): 30e-6})
    run.tables["sync"] = Table({"residual_max": np.zeros(1)})
    assert clock_errors(run) == (np.inf, np.inf)
