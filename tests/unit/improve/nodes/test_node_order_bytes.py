"""The order of nodes where the sizes of messages differ: compared with all orders."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone import models
from isochrone.improve.nodes import kind_costs
from isochrone.improve.nodes.exact import (
    arrangements,
    enumerate_orders,
    how_many,
    layered_search,
    relaxed_bound,
)
from isochrone.improve.nodes.node_order import best_order
from isochrone.improve.nodes.positions import Positions
from isochrone.predict.collective_io import predict
from isochrone.predict.node_cost import NodeCost
from isochrone.workloads.accesses import Accesses, made
from isochrone.workloads.call import Call
from isochrone.workloads.grid import Grid
from isochrone.workloads.node_messages import block_layout
from isochrone.workloads.patterns.tiles import tile_io
from made_up.jobs import UNEVEN, random_job

TERMS = ["pa", "ba", "max(bi,bo)", "min(bi,bo)", "in", "out", "1"]


def of_bytes(*coefficients: float, **limits: tuple[float | None, float | None]) -> models.Regime:
    return models.Regime("hotspot-bytes", TERMS, list(coefficients), range=limits)


MODELS = {
    "plain": [of_bytes(0.3, 0.01, 0.1, 0.02, 0.5, 0.4, 1.0)],
    "bytes alone": [of_bytes(0.0, 0.002, 0.1, 0.01, 0.0, 0.0, 1.0)],
    "local is dear": [of_bytes(2.0, 0.5, 0.1, 0.0, 0.0, 0.0, 1.0)],
    "falling": [of_bytes(-0.2, 0.01, 0.1, -0.03, 0.5, -0.1, 9.0)],
    "small messages": [
        of_bytes(0.1, 0.001, 0.02, 0.0, 1.5, 1.5, 1.0, b=(None, 6.0)),
        of_bytes(0.3, 0.01, 0.4, 0.02, 0.0, 0.0, 2.0, b=(6.0, None)),
    ],
    "saturated": [
        of_bytes(0.1, 0.001, 0.1, 0.0, 0.5, 0.5, 1.0, pa=(None, 1.0)),
        of_bytes(0.9, 0.01, 0.1, 0.02, 0.1, 0.0, 2.0, pa=(2.0, None)),
    ],
    "of sizes": [
        models.Regime("sizes", ["b*in", "b*out", "pa", "sqrt(b)*pe", "1"], [0.1, 0.2, 0.3, 0.1, 1])
    ],
}


def model_of(name: str) -> NodeCost:
    return NodeCost(models.Model(MODELS[name]))


@st.composite
def patterns(draw: st.DrawFn, ranks: int) -> Grid | Accesses:
    """Tiles whose parts are uneven, or any rows at all, also of some ranks only."""
    if draw(st.booleans()):
        x = next(n for n in (4, 3, 2, 1) if ranks % n == 0)
        return tile_io(x, ranks // x, tile=(4, 5), element=1)
    rows = draw(st.lists(
        st.tuples(st.integers(0, ranks - 1), st.integers(0, 60), st.integers(1, 9),
                  st.integers(1, 3), st.integers(9, 20)),
        min_size=1, max_size=12,
    ))  # fmt: skip
    return made(*np.array(rows, np.int64).T, ranks=ranks)


@st.composite
def jobs(draw: st.DrawFn) -> tuple[list[int], Call, str]:
    cores = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    pattern = draw(patterns(sum(cores)))
    call = Call(
        pattern, draw(st.sampled_from(["even", "lustre"])), draw(st.booleans()),
        draw(st.sampled_from([None, 7, 16])), stripe=11,
    )  # fmt: skip
    return cores, call, draw(st.sampled_from(list(MODELS)))


def positions(cores: list[int], call: Call, model: str) -> Positions:
    kinds = call.round_kinds(len(cores))
    return Positions(kinds, np.array(cores), model_of(model), reading=call.reading)


def all_costs(at: Positions, cores: list[int]) -> dict[tuple[int, ...], float]:
    orders = sorted(set(permutations(cores)))
    return dict(zip(orders, at.total(np.array(orders)).tolist(), strict=True))


@settings(max_examples=80, deadline=None)
@given(jobs())
def test_the_cost_by_position_is_that_of_the_bytes_of_each_message(
    job: tuple[list[int], Call, str],
) -> None:
    """Formerly every message was taken to have the mean size."""
    cores, call, model = job
    layout = block_layout(cores)
    kinds = call.round_kinds(len(cores))
    names = [str(k) for k in range(len(cores))]
    whole = predict(kinds, layout, layout.first, names, model_of(model), reading=call.reading)
    found = float(positions(*job).total(np.array(cores)))
    assert found == pytest.approx(whole.cost, rel=1e-9)


@settings(max_examples=150, deadline=None)
@given(jobs())
def test_the_best_of_all_orders_is_found_and_bounds_lie_below(
    job: tuple[list[int], Call, str],
) -> None:
    cores, _, _ = job
    at = positions(*job)
    costs = all_costs(at, cores)
    best = min(costs.values())
    assert at.bound() <= best * (1 + 1e-9)
    found = best_order(cores, at, seconds=5)
    assert found.cost == pytest.approx(best, rel=1e-6)
    assert sorted(found.order) == list(range(len(cores)))
    assert found.gap == 0


@pytest.mark.parametrize("steps", [0, 30])
@settings(max_examples=80, deadline=None)
@given(jobs())
def test_a_bound_from_boxes_is_a_bound(steps: int, job: tuple[list[int], Call, str]) -> None:
    """As in large jobs, where not every number of ranks before can be tried."""
    cores, _, _ = job
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind_costs, "_MAX_STEPS", steps)
        for name, few in (("_RECEIVERS", 2), ("_SENDERS", 2), ("_OVERLAPS", 3)):
            patch.setattr(kind_costs, name, few)
        at = positions(*job)
        bound = at.bound()
    assert bound <= min(all_costs(at, cores).values()) * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(jobs().filter(lambda job: job[1].driver == "even" and job[1].buffer is None))
def test_searches_of_one_kind_of_round_are_exact_with_bytes(
    job: tuple[list[int], Call, str],
) -> None:
    cores, _, _ = job
    at = positions(*job)
    costs = all_costs(at, cores)
    end, worst = time.monotonic() + 60, max(costs.values()) * 1.01
    order, complete = layered_search(at, worst, end)
    assert complete
    assert order is not None
    assert costs[tuple(order.tolist())] == pytest.approx(min(costs.values()))
    assert relaxed_bound(at, 0.0, worst, end) <= min(costs.values()) * (1 + 1e-9)
    other, _ = enumerate_orders(at, worst)
    assert costs[tuple(other.tolist())] == pytest.approx(min(costs.values()))


def test_lookups_without_a_table_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call(tile_io(4, 4, tile=(5, 7), element=1), buffer=50)
    costs = []
    for entries in (10**7, 0):
        monkeypatch.setattr("isochrone.improve.nodes.overlaps.MAX_ENTRIES", entries)
        costs.append(all_costs(positions(list(UNEVEN), call, "plain"), list(UNEVEN)))
    assert costs[0] == pytest.approx(costs[1], rel=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize(("across", "seed"), [(256, 3), (64, 11)])
def test_a_thousand_nodes_come_within_a_few_per_cent_with_bytes(across: int, seed: int) -> None:
    """What was reached is asserted by a wide margin; `make bench` has the numbers."""
    cores, x, y = random_job(1024, 64, across, seed)
    coefficients = (2e-4, 1e-11, 4e-8, 4e-9, 1e-4, 1e-4, 1e-3)
    model = NodeCost(models.Model([of_bytes(*coefficients)]))
    kinds = Call(tile_io(x, y)).round_kinds(1024)
    found = best_order(cores, Positions(kinds, np.array(cores), model), seconds=120)
    assert sorted(found.order) == list(range(1024))
    assert found.lower_bound <= found.cost < 0.9 * found.given_cost
    assert found.gap < 0.06


def of_busy(more: float, **limits: tuple[float | None, float | None]) -> models.Regime:
    coefficients = [0.3, 0.01, 0.1, 0.02, 0.5, 0.4, 1.0, more]
    return models.Regime(
        "hotspot-bytes", [*TERMS, "busy*busy*max(bi,bo)"], coefficients, range=limits
    )


BUSY = [
    [of_busy(0.08)],
    [of_busy(-0.05)],
    [of_busy(0.01, pa=(None, 1.0)), of_busy(0.2, pa=(2.0, None))],
]


@settings(max_examples=120, deadline=None)
@given(jobs(), st.sampled_from(BUSY))
def test_the_cost_that_is_reported_is_that_among_busy_nodes(
    job: tuple[list[int], Call, str], regimes: list[models.Regime]
) -> None:
    """And what is called proven is the best of all orders."""
    cores, call, _ = job
    model = NodeCost(models.Model(regimes))
    kinds = call.round_kinds(len(cores))
    at = Positions(kinds, np.array(cores), model, reading=call.reading)
    found = best_order(cores, at, seconds=5)
    names = ["n"] * len(cores)

    def whole(order: list[int]) -> float:
        filled = block_layout(order)
        return predict(kinds, filled, filled.first, names, model, reading=call.reading).cost

    assert found.given_cost == pytest.approx(whole(cores), rel=1e-9)
    assert found.cost == pytest.approx(whole([cores[k] for k in found.order]), rel=1e-9)
    assert found.cost <= found.given_cost * (1 + 1e-9)
    assert found.lower_bound <= found.cost * (1 + 1e-9)
    if how_many(at.counts) <= 200:
        orders = arrangements(at.sizes, at.counts)
        costs = [whole(order.tolist()) for order in orders]
        assert found.gap == 0
        assert found.cost == pytest.approx(min(costs), rel=1e-9)
