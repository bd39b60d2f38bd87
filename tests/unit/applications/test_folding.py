"""Repetition in the calls of a rank is found, and gaps stay with their place in it."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.applications.traces.folding import Loop, Node, fold
from isochrone.applications.traces.ordering import in_order, with_sources
from isochrone.applications.traces.trace import Event


def shown(nodes: list[Node], calls: str) -> str:
    return " ".join(
        f"{n.count}({shown(n.body, calls)})" if isinstance(n, Loop) else calls[n.visits[0]]
        for n in nodes
    )


def visited(nodes: list[Node]) -> list[int]:
    return [v for n in nodes for v in (visited(n.body) if isinstance(n, Loop) else n.visits)]


@pytest.mark.parametrize(
    ("calls", "folded"),
    [
        ("i" + "abc" * 10 + "f", "i 10(a b c) f"),
        ("aab" * 7, "7(2(a) b)"),
        ("i" + "aababc" * 5, "i 5(2(a) b a b c)"),
        (("ab" * 3 + "c") * 4 + "d", "4(3(a b) c) d"),
        ("abcdefg", "a b c d e f g"),
        ("", ""),
    ],
)
def test_repetition_becomes_loops(calls: str, folded: str) -> None:
    """Loops in loops, and what is before and after them."""
    assert shown(fold(calls), calls) == folded


def test_nothing_is_lost_or_made_up() -> None:
    """Each of any sequence is at one place, with those that are alike."""
    dice = np.random.default_rng(4)
    for _ in range(50):
        calls = [str(dice.choice(list("abc"))) for _ in range(60)]
        nodes = fold(calls)
        assert sorted(visited(nodes)) == list(range(60))


def test_a_long_trace_without_repetition_is_folded_in_time() -> None:
    """Its cost grows with its length, not with the square of it."""
    dice = np.random.default_rng(1)
    calls = [int(dice.integers(8)) for _ in range(6000)]
    assert len(visited(fold(calls))) == 6000


def test_answers_are_put_in_the_order_of_those_who_ask() -> None:
    """As long as all ask as often; the times stay where they were."""
    asked = [3, 1, 2, 1, 2, 3]
    calls = [
        e
        for k, peer in enumerate(asked)
        for e in (Event("recv", peer, gap=float(k)), Event("send", peer))
    ]
    found = in_order(calls)
    assert [event.peer for event in found[::2]] == [1, 2, 3, 1, 2, 3]
    assert [event.gap for event in found[::2]] == [0, 1, 2, 3, 4, 5]


def test_a_server_that_is_not_asked_evenly_is_left_alone() -> None:
    """A rank that asks twice as often as another is no client of a request in each iteration."""
    calls = [e for peer in (1, 2, 1) for e in (Event("recv", peer), Event("send", peer))]
    assert in_order(calls) == calls


def test_a_receive_from_anyone_gets_its_source_from_who_sent() -> None:
    """If as many messages are left as there are such receives; else it stays open."""
    one = [[Event("irecv", -1), Event("irecv", -1), Event("wait"), Event("barrier")]]
    ranks = [*one, [Event("send", 0), Event("barrier")], [Event("send", 0), Event("barrier")]]
    assert [event.peer for event in with_sources(ranks)[0][:2]] == [1, 2]
    ranks[2] = [Event("barrier")]
    assert [event.peer for event in with_sources(ranks)[0][:2]] == [-1, -1]
