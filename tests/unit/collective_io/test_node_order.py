"""The order of nodes: compared with all orders where they are few, and with bounds elsewhere."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from isochrone import models
from isochrone.collective_io.orders.exact import enumerate_orders, layered_search, relaxed_bound
from isochrone.collective_io.orders.positions import Positions, best_order, in_step, spread
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import NodeCost, predict
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.grid import Grid
from made_up.jobs import UNEVEN, block_layout, directional, positions, random_job, tachyon

JOBS = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.sampled_from(["even", "lustre", "read", "directional"]),
)


def job(cores: list[int], kind: str) -> tuple[Positions, Call]:
    """A small job whose tiles fit its ranks, in one of several flavours."""
    ranks = sum(cores)
    x = next(n for n in (4, 3, 2, 1) if ranks % n == 0)
    grid: Grid = tile_io(x, ranks // x, tile=(4, 5), element=1)
    driver = "lustre" if kind == "lustre" else "even"
    call = Call(grid, driver, kind == "read", stripe=11)
    model = directional() if kind in ("read", "directional") else tachyon()
    return Positions(call.round_kinds(len(cores)), np.array(cores), model), call


def all_costs(at: Positions, cores: list[int]) -> dict[tuple[int, ...], float]:
    orders = sorted(set(permutations(cores)))
    return dict(zip(orders, at.total(np.array(orders)).tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(JOBS)
def test_the_cost_by_position_is_that_of_the_whole_prediction(drawn) -> None:  # type: ignore[no-untyped-def]
    """All searches rest on a node's cost not depending on the order of the others."""
    cores, kind = drawn
    at, call = job(*drawn)
    layout = block_layout(cores)
    model = directional() if kind in ("read", "directional") else tachyon()
    kinds = call.round_kinds(len(cores))
    whole = predict(kinds, layout, layout.first, model)
    assert float(at.total(np.array(cores))) == pytest.approx(whole.cost, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(JOBS)
def test_it_finds_the_best_of_all_orders_and_bounds_lie_below(drawn) -> None:  # type: ignore[no-untyped-def]
    cores, _ = drawn
    at, _ = job(*drawn)
    best = min(all_costs(at, cores).values())
    assert at.bound() <= best * (1 + 1e-12)
    found = best_order(cores, at, seconds=5)
    assert found.cost == pytest.approx(best, rel=1e-6)
    assert sorted(found.order) == list(range(len(cores)))
    assert found.gap == 0
    assert found.cost == pytest.approx(float(at.total(np.array([cores[k] for k in found.order]))))


@settings(max_examples=40, deadline=None)
@given(JOBS.filter(lambda drawn: drawn[1] != "lustre"))
def test_the_search_by_layers_is_exact_and_the_relaxed_bound_a_bound(drawn) -> None:  # type: ignore[no-untyped-def]
    cores, _ = drawn
    at, _ = job(*drawn)
    costs = all_costs(at, cores)
    end, worst = time.monotonic() + 60, max(costs.values()) * 1.01
    order, complete = layered_search(at, worst, end)
    assert complete
    assert order is not None
    assert costs[tuple(order.tolist())] == pytest.approx(min(costs.values()))
    assert layered_search(at, min(costs.values()), end) == (None, True)
    assert relaxed_bound(at, 0.0, worst, end) <= min(costs.values()) * (1 + 1e-12)
    other, all_tried = enumerate_orders(at, worst)
    assert all_tried
    assert costs[tuple(other.tolist())] == pytest.approx(min(costs.values()))


@pytest.mark.parametrize(("order", "best"), [("intra-first", 0.030574), ("inter-first", 0.030658)])
def test_of_the_420_orders_of_table_2_the_best_is_found_and_proven(order: str, best: float) -> None:
    at = positions(UNEVEN, 4, 4, tachyon(order))
    found = best_order(UNEVEN, at)
    costs = all_costs(at, list(UNEVEN))
    assert len(costs) == 420
    assert found.cost == pytest.approx(min(costs.values())) == pytest.approx(best, abs=5e-7)
    assert (found.gap, found.lower_bound) == (0, found.cost)
    assert max(costs.values()) == found.given_cost == found.starts["ascending"]


def test_a_lustre_file_has_another_best_order() -> None:
    """With stripes dealt out, ranks of a row of tiles on one node are what costs."""
    even, lustre = (positions(UNEVEN, 4, 4, driver=driver) for driver in ("even", "lustre"))
    chosen = best_order(UNEVEN, even)
    other = best_order(UNEVEN, lustre)
    sizes = np.array([UNEVEN[k] for k in chosen.order])
    assert other.cost < float(lustre.total(sizes))
    assert other.gap == 0


def test_heuristics_spread_the_big_nodes() -> None:
    cores = np.array([8, 8, 1, 1, 1, 1, 1, 1])
    for found in (spread(cores), in_step(cores)):
        assert sorted(found) == sorted(cores)
        assert np.diff(np.flatnonzero(found == 8)).item() >= 3
    assert spread(np.array([2, 2, 2])).tolist() == [2, 2, 2]


def test_equal_nodes_and_a_single_node_need_no_search() -> None:
    for cores, x, y in (((4, 4, 4, 4), 4, 4), ((16,), 4, 4)):
        found = best_order(cores, positions(cores, x, y))
        assert (found.gap, found.cost) == (0, found.given_cost)
        assert found.order == list(range(len(cores)))


@pytest.mark.few(1)
@pytest.mark.parametrize(("across", "seed"), [(256, 3), (32, 3), (64, 11)])
def test_a_thousand_nodes_come_within_a_few_per_cent_of_the_bound(across: int, seed: int) -> None:
    """What was reached is asserted by a wide margin; `make bench` has the numbers."""
    cores, x, y = random_job(1024, 64, across, seed)
    found = best_order(cores, positions(cores, x, y), seconds=120)
    assert sorted(found.order) == list(range(1024))
    assert found.lower_bound <= found.cost < 0.9 * found.given_cost
    assert found.gap < 0.06


def test_a_model_of_something_else_is_refused(golden: Golden) -> None:
    with golden.refusal():
        NodeCost(models.Model([models.Segment("hockney", ["1", "b"], [1e-6, 1e-9])]))


def test_fewer_aggregators_than_nodes_leave_the_last_nodes_without_a_domain() -> None:
    cores = (4, 4, 2, 2, 1, 1, 1, 1)
    call = Call(tile_io(4, 4))
    at = Positions(call.round_kinds(3), np.array(cores), tachyon())
    layout = block_layout(cores)
    whole = predict(call.round_kinds(3), layout, layout.first[:3], tachyon())
    assert float(at.total(np.array(cores))) == pytest.approx(whole.cost)
    assert whole.counts.into[3:].sum() == 0
