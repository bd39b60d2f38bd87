"""Assignments by their dearest pairs, of one table and of several, against all permutations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from isochrone.collective_io.orders.exact import balanced, cheapest, least_maximum


def tables(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Costs of up to four kinds of rounds and six hosts, many of them equal, and weights."""
    dice = np.random.default_rng(seed)
    kinds, n = dice.integers(1, 5), dice.integers(1, 7)
    costs = dice.integers(0, 6, (kinds, n, n)).astype(float)
    if seed % 2:
        costs = dice.random((kinds, n, n))
    weights = dice.random(kinds) + 0.1
    return costs, weights / weights.sum()


def best_of_all(costs: np.ndarray, weights: np.ndarray) -> float:
    n = costs.shape[1]
    orders = np.array(list(permutations(range(n))))
    return float((weights @ costs[:, orders, np.arange(n)].max(axis=2)).min())


def test_the_least_weighted_sum_of_dearest_pairs_is_found_and_proven(
    subtests: pytest.Subtests,
) -> None:
    for seed in range(60):
        with subtests.test(str(seed)):
            costs, weights = tables(seed)
            best = best_of_all(costs, weights)
            found = cheapest(costs, weights, known_cost=best * 1.2 + 1)
            assert found.order is not None
            assert sorted(found.order) == list(range(costs.shape[1]))
            reached = weights @ costs[:, found.order, np.arange(costs.shape[1])].max(axis=1)
            assert reached == pytest.approx(best)
            assert found.bound == pytest.approx(best)


def test_what_is_best_already_is_confirmed_and_a_search_cut_short_gives_a_bound(
    subtests: pytest.Subtests,
) -> None:
    for seed in range(40):
        with subtests.test(str(seed)):
            costs, weights = tables(seed)
            best = best_of_all(costs, weights)
            assert cheapest(costs, weights, known_cost=best) == (None, best)
            for tries in (0, 1, 3):
                assert cheapest(
                    costs, weights, known_cost=best * 2 + 1, tries=tries
                ).bound <= best * (1 + 1e-9)


def test_one_table_is_solved_by_matchings(subtests: pytest.Subtests) -> None:
    for seed in range(20):
        with subtests.test(str(seed)):
            costs = tables(seed)[0][0]
            n = len(costs)
            best = best_of_all(costs[None], np.ones(1))
            assert least_maximum(costs) == best
            assert costs[balanced(costs), np.arange(n)].max() == best
