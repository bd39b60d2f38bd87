"""Collective operations as they are played: who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from isochrone.applications.description.program import Collective
from isochrone.applications.simulate.collectives import Meetings, Unfolding
from isochrone.applications.simulate.events import Clock, Run

TIME = 3.0  # of a binomial tree of eight members: three steps of a second

TREE = (-1, 0, 0, 2, 0, 4, 4, 6)
"""Parents without the lowest bit: 4 gets the data in the first step, then 2 and 6, then the odd."""

BELOW = tuple(tuple(k for k in range(8) if TREE[k] == member) for member in range(8))


def left(op: str, of: Unfolding, came: Sequence[float], root: int = 0) -> list[float]:
    """Return when members leave an operation to which they come at some moments."""
    clock, found = Clock(), [-1.0] * len(came)
    meetings = Meetings(clock, lambda *_: of, len(came))

    def member(rank: int) -> Run:
        yield came[rank]
        yield meetings.join(rank, Collective(0, op, 0, root), 8.0)
        found[rank] = clock.now

    for rank in range(len(came)):
        clock.start(member(rank))
    assert not clock.run(lambda: False)
    return found


def test_an_operation_of_equals_begins_when_the_last_one_has_come() -> None:
    assert left("allgather", Unfolding(TIME), [0, 1, 5, 2]) == [8.0] * 4


def test_members_of_a_broadcast_leave_as_they_were_seen_to() -> None:
    parts = (0.0, 1.0, 2 / 3, 1.0, 1 / 3, 1.0, 2 / 3, 1.0)
    of = Unfolding(TIME, parts, 1.0, TREE, BELOW)
    assert left("bcast", of, [0.0] * 8) == pytest.approx([0, 3, 2, 3, 1, 3, 2, 3])
    shifted = left("bcast", of, [0.0] * 8, root=3)
    assert shifted == pytest.approx([3, 2, 3, 0, 3, 2, 3, 1])


def test_the_root_of_a_broadcast_goes_on_and_who_comes_late_delays_only_those_below() -> None:
    """Member 2 is ten seconds late: it gets the data a step after it comes, and 3 after it."""
    parts = (0.0, 1.0, 2 / 3, 1.0, 1 / 3, 1.0, 2 / 3, 1.0)
    of = Unfolding(TIME, parts, 1.0, TREE, BELOW)
    found = left("bcast", of, [0, 0, 10, 0, 0, 0, 0, 0])
    assert found == pytest.approx([0, 3, 11, 12, 1, 3, 2, 3])


def test_a_root_whose_sends_wait_does_not_leave_before_its_receivers_have_come() -> None:
    parts = (1.0, 1 / 3, 2 / 3, 1.0)
    of = Unfolding(3.0, parts, 1.0, (-1, 0, 0, 0), ((1, 2, 3), (), (), ()), waits=True)
    assert left("scatter", of, [0, 0, 0, 10])[0] == pytest.approx(11)


def test_members_of_a_reduce_wait_for_those_below_them_only() -> None:
    """The leaves go on at once; the root needs all; a late leaf delays its way up only."""
    parts = (1.0, 0.0, 1 / 3, 0.0, 2 / 3, 0.0, 1 / 3, 0.0)
    of = Unfolding(TIME, parts, 1.0, TREE, BELOW)
    assert left("reduce", of, [0.0] * 8) == pytest.approx([3, 0, 1, 0, 2, 0, 1, 0])
    late = left("reduce", of, [0, 0, 0, 10, 0, 0, 0, 0])
    assert late == pytest.approx([12, 0, 11, 10, 2, 0, 1, 0])


def test_a_root_that_takes_one_after_the_other_takes_them_as_they_come() -> None:
    """Seven services of a second: those that came early are over when the last one comes."""
    parts = (1.0, *([0.0] * 7))
    of = Unfolding(7.0, parts, 1.0, (-1, *([0] * 7)), (tuple(range(1, 8)), *([()] * 7)), True)
    assert left("gather", of, [0.0] * 8)[0] == pytest.approx(7)
    assert left("gather", of, [0, *range(1, 8)])[0] == pytest.approx(8)
    assert left("gather", of, [20, *([0] * 7)])[0] == pytest.approx(27)


def test_data_of_a_root_that_runs_ahead_wait_for_its_port() -> None:
    """Three scatters one after the other: the root leaves at once, the data follow each other."""
    of = Unfolding(4.0, (0.0, 1.0, 1.0), 2.0, (-1, 0, 0), ((1, 2), (), ()), True, busy=3.0)
    clock, found = Clock(), [0.0] * 3
    meetings = Meetings(clock, lambda *_: of, 3)

    def rank(number: int) -> Run:
        for _ in range(3):
            yield meetings.join(number, Collective(0, "scatter", 0), 8.0)
        found[number] = clock.now

    for number in range(3):
        clock.start(rank(number))
    clock.run(lambda: False)
    assert found == pytest.approx([0.0, 10.0, 10.0])


def test_calls_of_ranks_that_ran_ahead_are_kept_apart() -> None:
    """A root does its second broadcast before the other has come to the first one."""
    of = Unfolding(1.0, (0.0, 1.0), 1.0, (-1, 0), ((1,), ()))
    clock, found = Clock(), list[float]()
    meetings = Meetings(clock, lambda *_: of, 2)

    def rank(number: int, before: float) -> Run:
        for _ in range(2):
            yield before
            yield meetings.join(number, Collective(0, "bcast", 0), 8.0)
        found.append(clock.now)

    clock.start(rank(0, 0.5))
    clock.start(rank(1, 10.0))
    clock.run(lambda: False)
    assert found == pytest.approx([1.0, 22.0])
