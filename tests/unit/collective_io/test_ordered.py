"""Best and worst orders, compared with all orders where they are few; several kinds of rounds."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.collective_io.orders.ordered import Nodes, out_of_step
from isochrone.collective_io.orders.search import climb
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.call import Call
from isochrone.measure.allocation import Allocation, from_numbers
from made_up.jobs import directional, tachyon

SMALL = st.lists(st.integers(1, 4), min_size=2, max_size=5)
BUFFERS = st.sampled_from([None, 3, 7, 16])


def job(cores: list[int], buffer: int | None, flavour: int = 0) -> Nodes:
    """Tiles on a few nodes; a small buffer makes several rounds, which are not all alike."""
    ranks = sum(cores)
    across = next(n for n in (4, 3, 2, 1) if ranks % n == 0)
    pattern = tile_io(across, ranks // across, tile=(4, 5), element=1)
    call = Call(pattern, reading=flavour == 1, buffer=buffer)
    model = directional() if flavour else tachyon()
    given = Allocation(tuple(f"h{k}" for k in range(len(cores))), tuple(cores), "a hostfile")
    return Nodes(given, call, model)


def all_costs(some: Nodes) -> list[float]:
    """Predict every order by itself: another way than that of the searches."""
    orders = permutations(range(len(some.given.hosts)))
    distinct = {some.alike(order): order for order in orders}
    return [some.predict(order).cost for order in distinct.values()]


@settings(max_examples=25, deadline=None)
@given(SMALL, BUFFERS, st.integers(0, 2))
def test_the_best_and_the_worst_order_of_nodes_are_those_of_all(
    cores: list[int], buffer: int | None, flavour: int
) -> None:
    some = job(cores, buffer, flavour)
    costs = all_costs(some)
    assert some.predict(some.best()).cost == pytest.approx(min(costs), rel=1e-6)
    assert some.predict(some.worst()).cost == pytest.approx(max(costs), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=6), st.sampled_from([3, 7]))
def test_swaps_reach_the_worst_of_all_where_orders_are_not_tried_one_by_one(
    cores: list[int], buffer: int
) -> None:
    """What a large job gets; with several kinds of rounds, whose dearest nodes differ."""
    some = job(cores, buffer)
    assume(len(some.kinds) > 1)
    total, dice = some.positions.total, np.random.default_rng(1)
    starts = out_of_step(np.array(cores))
    found = [climb(start, total, time.monotonic() + 5, dice) for start in starts]
    reached = max(float(total(order)) for order in found)
    every = total(np.array(sorted(set(permutations(cores)))))
    assert reached == pytest.approx(float(every.max()), rel=1e-6)


@pytest.mark.full
def test_a_large_job_has_a_worst_order_within_seconds() -> None:
    """512 nodes: nothing is tried one by one; it is no better than any sorted or random order."""
    dice = np.random.default_rng(2)
    cores = dice.integers(1, 17, 512)
    cores[0] += -int(cores.sum()) % 16
    ranks = int(cores.sum())
    call = Call(tile_io(16, ranks // 16), buffer=2**24)
    hosts = tuple(f"h{k}" for k in range(512))
    some = Nodes(Allocation(hosts, tuple(cores.tolist()), "a hostfile"), call, tachyon())
    others: list[Ints] = [np.sort(cores), np.sort(cores)[::-1], dice.permutation(cores)]
    worst = float(some.positions.total(cores[some.worst()]))
    assert worst >= max(float(some.positions.total(order)) for order in others)


def test_an_order_is_read_as_ranks_or_as_names() -> None:
    nodes = job([2, 1, 1], None)
    assert nodes.read("1,2,1") == [1, 0, 2]
    assert nodes.read("1(x2),2") == [1, 2, 0]
    assert nodes.read("h2,h0,h1") == [2, 0, 1]


@pytest.mark.parametrize("text", ["2,1", "h0,h1", "h0,h0,h1", "4", "n1,2,1", "", "=", "1;2;1"])
def test_what_is_no_order_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(InputError, match="--orders"):
        job([2, 1, 1], None).read(text)


def test_nodes_with_equally_many_ranks_may_change_places() -> None:
    given = from_numbers("2,1,1")
    call = Call(tile_io(2, 2))
    nodes = Nodes(given, call, tachyon())
    assert nodes.alike([0, 1, 2]) == nodes.alike([0, 2, 1]) != nodes.alike([1, 0, 2])
