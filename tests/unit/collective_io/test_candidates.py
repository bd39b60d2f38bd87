"""Orders to compare: distinct, the same each time, no more than there are."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.collective_io.orders.ordered import choose


def sizes(order: Sequence[int]) -> tuple[int, ...]:
    """Nodes 0 and 1 are alike."""
    return tuple((2, 2, 1, 4)[k] for k in order)


def test_orders_that_are_the_same_are_one_with_all_its_names() -> None:
    named = [("best found", [3, 0, 1, 2]), ("given", [0, 1, 2, 3]), ("worst found", [1, 0, 2, 3])]
    found = choose(named, sizes, limit=5)
    assert [one.names for one in found] == [["best found"], ["given", "worst found"]]


def test_random_orders_are_distinct_and_the_same_each_time() -> None:
    named = [("given", range(4))]
    found = choose(named, sizes, limit=8, random=4, seed=3)
    assert found == choose(named, sizes, limit=8, random=4, seed=3)
    assert found != choose(named, sizes, limit=8, random=4, seed=4)
    assert len({sizes(one.order) for one in found}) == 8
    assert [one.names[0] for one in found[1:]] == [f"random {k}" for k in range(1, 8)]


def test_there_are_no_more_than_there_are() -> None:
    """Of 2, 2, 1 and 4 ranks there are 12 orders."""
    assert len(choose([("given", range(4))], sizes, limit=50, random=4)) == 12
    assert len(choose([("given", range(4)), ("best", [3, 1, 0, 2])], sizes, limit=1)) == 1
