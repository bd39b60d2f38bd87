"""Advice for maps of a few pairs: who is suspect, and which pairs would decide."""

from __future__ import annotations

import numpy as np
import pytest

from beds.rates import at_least, at_most
from isochrone.latency_map.next_pairs import NextPairs, next_pairs
from isochrone.latency_map.pairs import Times

Seconds = dict[tuple[int, int], float]


def times(nodes: int, seconds: Seconds) -> Times:
    i, j = np.array(sorted(seconds)).T
    values = np.array([seconds[ends] for ends in sorted(seconds)])
    return Times(nodes, i, j, values, np.zeros(len(i)), np.zeros(nodes, dtype=np.int64))


def test_a_node_that_is_slow_with_two_healthy_ones_is_suspect() -> None:
    """644 is slow with 699 and 641; of 284 and 678 pairs with a third node decide."""
    seconds = {(0, 1): 21.2, (2, 3): 11.9, (4, 5): 21.3, (0, 3): 21.3, (1, 6): 12.1}
    assert next_pairs(times(7, seconds)) == NextPairs((0,), ((2, 4), (2, 5)))
    decided = seconds | {(2, 4): 12.0, (2, 5): 21.0}
    assert next_pairs(times(7, decided)) == NextPairs((0, 5), ())


SILENT = {
    "one kind": {(0, 1): 10.0, (1, 2): 11.0, (2, 3): 12.0, (3, 4): 14.0},
    "less than 1.5 apart": {(0, 1): 10.0, (1, 2): 10.0, (2, 3): 10.0, (3, 4): 14.5},
    "between healthy nodes": {(0, 1): 10.0, (2, 3): 10.0, (0, 2): 20.0, (4, 5): 10.0},
    "most nodes": {(0, 1): 10.0, (2, 3): 20.0, (4, 5): 20.0, (6, 7): 20.0},
}


@pytest.mark.parametrize("kind", SILENT)
def test_nothing_is_said_where_slow_nodes_do_not_explain_it(kind: str) -> None:
    """Scatter, other levels, slow links and two kinds of nodes accuse no node."""
    assert next_pairs(times(9, SILENT[kind])) is None


def test_pairs_1_6_times_apart_are_of_two_kinds() -> None:
    seconds = {(0, 1): 10.0, (1, 2): 10.0, (2, 3): 10.0, (3, 4): 16.0}
    assert next_pairs(times(5, seconds)) == NextPairs((), ((1, 4),))


def measured(slow: int, seed: int) -> tuple[NextPairs | None, set[int]]:
    """Follow the advice for 24 nodes and 30 random pairs; return what is said, and the truth."""
    chance = np.random.default_rng(seed)
    truth = {*chance.choice(24, slow, replace=False).tolist()}
    ends = [(a, b) for a in range(24) for b in range(a + 1, 24)]
    every = {
        (a, b): 3 * 1.8 ** len({a, b} & truth) * np.exp(0.03 * chance.standard_normal())
        for a, b in ends
    }
    known = {ends[k] for k in chance.choice(len(ends), 30, replace=False).tolist()}
    for _ in range(3):
        found = next_pairs(times(24, {one: every[one] for one in known}))
        known |= {*found.pairs} if found else set()
    return found, truth


def test_advice_finds_a_slow_node_and_accuses_no_other(trials: int) -> None:
    """A node that no pair shows cannot be found: of 30 pairs that is one of 20 nodes."""
    found = [measured(1, seed) for seed in range(trials)]
    at_least(sum(bool(said) and {*said.suspects} == truth for said, truth in found), trials, 0.88)
    at_most(
        sum(bool(said) and not {*said.suspects} <= truth for said, truth in found), trials, 0.01
    )
    healthy = [measured(0, seed)[0] for seed in range(trials)]
    at_most(sum(said is not None for said in healthy), trials, 0.01)
