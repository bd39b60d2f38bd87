"""Machines with levels: what a latency map says of messages and collective operations."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.applications.description.program import Collective, Recv, Send
from isochrone.applications.predict.applications import Prediction, predict
from isochrone.applications.predict.collective_levels import slowdown
from isochrone.applications.predict.levels import Levels, MappedMachine
from isochrone.applications.predict.message_times import Cost
from isochrone.base.errors import InputError
from made_up.applications import collectives, message, messages, program
from made_up.latency_maps import block, map_of, torus, tree

NEAR, FAR = 2e-6, 6e-6
SIZE = 1000.0
ALONE = Cost(NEAR + 1e-6, 1e-6, 1e-6, waits=False, both=1.0)


def switches(count: int, below: int) -> Levels:
    """Return levels with 2 µs behind a switch and 6 µs between switches, from a map."""
    return Levels.of_map(map_of(tree([below, count], [4, 12]), block(count * below)))


def far(levels: Levels, a: int, b: int) -> int:
    return int(levels.between(np.array([a]), np.array([b]))[0])


# --- levels of a map ------------------------------------------------------------------------------


def test_a_map_shows_between_which_nodes_messages_are_slower() -> None:
    levels = switches(4, 8)
    assert [far(levels, 0, other) for other in (1, 7, 8, 31)] == [0, 0, 1, 1]
    np.testing.assert_allclose(levels.seconds[:, 0], [NEAR, FAR])


def test_ranks_of_a_node_are_one_node_of_the_map() -> None:
    """Two ranks on each of 16 nodes, eight of which are behind a switch."""
    levels = Levels.of_map(map_of(tree([2, 8, 2], [1, 4, 12]), block(16, 2)))
    assert levels.nodes == 16
    assert [far(levels, 0, other) for other in (1, 7, 8)] == [0, 0, 1]
    np.testing.assert_allclose(levels.seconds[:, 0], [NEAR, FAR])


def test_on_a_torus_each_hop_is_a_level() -> None:
    """One to three hops on a ring of seven, of 3, 4 and 5 µs there and back."""
    levels = Levels.of_map(map_of(torus([7, 3]), block(21)))
    np.testing.assert_allclose(levels.seconds[:, 0], np.array([3, 4, 5, 6]) / 2 * 1e-6)
    assert [far(levels, 0, 3 * k) for k in (1, 2, 3, 4, 5, 6)] == [0, 1, 2, 2, 1, 0]


def test_a_map_of_one_node_shows_no_levels() -> None:
    with pytest.raises(InputError) as error:
        Levels.of_map(map_of(tree([4], [1]), block(1, 4)))
    assert error.value.hint


# --- messages -------------------------------------------------------------------------------------


def test_a_message_takes_the_latency_of_its_level_more() -> None:
    levels = switches(4, 8)
    assert levels.cost(ALONE, 0, SIZE, "seconds") == ALONE
    found = levels.cost(ALONE, 1, SIZE, "seconds")
    assert found.alone == pytest.approx(ALONE.alone + FAR - NEAR)
    assert found.gap == pytest.approx(ALONE.gap)


def test_a_larger_message_shows_what_bytes_take_on_each_level() -> None:
    """Between switches a byte takes 1 ns more: 1000 bytes add 1 µs to latency and gap."""
    levels = Levels(
        np.array([[0, 1], [1, 0]]),
        np.array([0.0, 2000.0]),
        np.array([[NEAR, NEAR + 2e-6], [FAR, FAR + 4e-6]]),
    )
    levels.measured = 0  # of other nodes
    found = levels.cost(ALONE, 1, SIZE, "seconds")
    assert found.alone == pytest.approx(ALONE.alone + FAR - NEAR + 1e-6)
    assert found.gap == pytest.approx(ALONE.gap + 1e-6)
    assert found.wire == pytest.approx(ALONE.wire + 1e-6)


def test_nodes_that_the_map_lacks_may_be_a_level_further_away() -> None:
    """Three switches instead of one: at most three times the largest latency."""
    levels = switches(4, 8)
    unknown = far(levels, 0, 32)
    assert far(levels, 40, 41) == unknown == 2
    likely, most = (levels.cost(ALONE, unknown, SIZE, side) for side in ("seconds", "high"))
    assert likely.alone == pytest.approx(ALONE.alone + FAR - NEAR)
    assert most.alone == pytest.approx(ALONE.alone + 3 * FAR - NEAR)


# --- collective operations ------------------------------------------------------------------------

BLOCKS = [*range(128)]
STRIDED = [*range(0, 128, 16)]


@pytest.mark.parametrize(
    ("op", "seconds", "latency", "factor"),
    [
        ("alltoall", NEAR, NEAR, 3.0),  # all at once: one latency, the largest
        ("alltoall", 11 * NEAR, NEAR, 13 / 11),  # 10 of the 11 are of bytes
        ("allreduce", 7 * NEAR, 7 * NEAR, (4 + 3 * 3) / 7),  # of 7 rounds 3 leave the switch
        ("allgather", 127 * NEAR, 127 * NEAR, 3.0),  # each round has a pair that leaves it
    ],
)
def test_an_operation_on_eight_switches_is_slower_than_on_one(
    op: str, seconds: float, latency: float, factor: float
) -> None:
    levels = switches(8, 16)
    found = slowdown(op, BLOCKS, BLOCKS, 16, levels, seconds, latency, "seconds")
    assert found == pytest.approx(factor)


def test_what_was_measured_on_the_same_nodes_is_not_slower() -> None:
    found = slowdown("allreduce", BLOCKS, BLOCKS, 128, switches(8, 16), 1e-5, 1e-5, "seconds")
    assert found == pytest.approx(1.0)


def test_members_behind_different_switches_are_slower_than_as_many_neighbours() -> None:
    """Eight ranks, one on each switch, against the first eight; ends are of other algorithms."""
    levels, usual = switches(8, 16), [*range(8)]
    found = slowdown("allreduce", STRIDED, usual, 8, levels, 1e-5, 1e-5, "seconds")
    assert found == pytest.approx(3.0)
    ends = [
        slowdown("allreduce", BLOCKS, BLOCKS, 16, levels, 1e-5, 1e-5, side)
        for side in ("low", "high")
    ]
    assert ends == pytest.approx([13 / 7, 3.0])


# --- applications ---------------------------------------------------------------------------------


def predicted(pairs: list[tuple[int, int]], ranks: int, levels: Levels) -> Prediction:
    """Predict one message between each pair."""
    steps = [
        [
            *[Send(0, b, 0) for a, b in pairs if a == rank],
            *[Recv(0, a, 0) for a, b in pairs if b == rank],
        ]
        for rank in range(ranks)
    ]
    asked = program(steps, [SIZE], iterations=1)
    (found,) = predict(asked, (messages(),), MappedMachine(ranks, 1, levels=levels))
    return found


def test_the_slowest_message_of_an_application_is_between_switches() -> None:
    levels = switches(2, 8)
    assert predicted([(0, 1)], 16, levels).seconds == pytest.approx(message(SIZE))
    assert predicted([(0, 8)], 16, levels).seconds == pytest.approx(message(SIZE) + FAR - NEAR)


def test_more_nodes_than_the_map_has_widen_the_interval_and_are_said() -> None:
    levels = switches(2, 8)
    inside, beyond = (predicted([(0, other)], 32, levels) for other in (8, 31))
    assert inside.high == pytest.approx(inside.seconds)
    assert beyond.high == pytest.approx(beyond.seconds + 2 * FAR)
    assert len(beyond.warnings) == len(predicted([(0, 1)], 16, levels).warnings) + 1


def test_without_a_map_no_pair_is_known_to_be_near() -> None:
    found = predicted([(0, 1)], 2, Levels.unknown([messages()]))
    assert found.seconds == pytest.approx(message(SIZE))
    assert found.high == pytest.approx(message(SIZE) + 2 * NEAR)


def test_an_operation_of_an_application_is_slower_between_switches() -> None:
    """Every member on its own switch: three times the latency, which is all that it takes."""
    op = Collective(0, "allreduce", 0, among=tuple(STRIDED))
    steps = [[op] if rank in STRIDED else [] for rank in range(128)]
    models = (collectives(allreduce=[1e-5, 0.0]),)
    asked = program(steps, [8.0], iterations=1)
    times = [
        predict(asked, models, MappedMachine(128, 1, levels=switches(*shape)))[0].seconds
        for shape in ((1, 128), (8, 16))
    ]
    assert times == pytest.approx([1e-5, 3e-5])
