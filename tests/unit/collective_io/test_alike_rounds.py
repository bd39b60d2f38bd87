"""Rounds that are put together: the time of a call is that of its rounds one by one, nearly."""

from __future__ import annotations

import numpy as np
import pytest

from isochrone import models
from isochrone.collective_io.patterns.tiles import tile_io
from isochrone.collective_io.predict.node_cost import CallCost, NodeCost, predict
from isochrone.collective_io.workload import FileWindows
from isochrone.collective_io.workload.accesses import Accesses, made
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import MAX_KINDS, RoundKind, round_kinds
from made_up.arrays import block_array
from made_up.jobs import block_layout

CORES = (4, 1, 3, 1, 2, 1)
RANKS = sum(CORES)

# small messages have a floor, and large ones cost by the byte
TERMS = ["ba", "max(bi,bo)", "min(bi,bo)", "pe", "1"]
SMALL = models.Segment(
    "x", TERMS, [0, 1.2e-8, 0, 4e-4, 2e-3], range={"max(bi,bo)": (None, 256 << 10)}
)
LARGE = models.Segment(
    "x", TERMS, [1e-10, 4e-8, 4e-9, 1e-4, 1e-3], range={"max(bi,bo)": (256 << 10, None)}
)
MODEL = NodeCost(models.Model([SMALL, LARGE]))


def unequal() -> Accesses:
    """Variables one after the other: in some each rank has little, in others much."""
    dice = np.random.default_rng(2)
    sizes = dice.integers(1, 1 << dice.integers(10, 20, (12, 1)), (12, RANKS))
    length = sizes.ravel()
    return made(np.tile(np.arange(RANKS), 12), np.cumsum(length) - length, length)


def scattered() -> Accesses:
    """Pieces of random ranks: no round is like another one."""
    dice = np.random.default_rng(4)
    length = dice.integers(1, 150_000, 300)
    return made(dice.integers(0, RANKS, 300), np.cumsum(length) - length, length, ranks=RANKS)


def priced(kinds: list[RoundKind]) -> CallCost:
    layout = block_layout(CORES)
    return predict(kinds, layout, layout.first, MODEL)


def one_by_one(call: Call) -> list[CallCost]:
    """Predict each round as if it was a call of its own."""
    windows = call.windows(len(CORES))
    found = []
    for number in range(windows.rounds):
        own = windows.round_index == number
        alone = FileWindows(
            windows.domain[own],
            np.zeros(own.sum(), np.int64),
            windows.start[own],
            windows.end[own],
            windows.domains,
        )
        found += [priced(round_kinds(call.pattern, alone))]
    return found


@pytest.mark.parametrize(
    ("pattern", "off", "exactly_off"),
    [
        (tile_io(3, 4, tile=(300, 200), element=7), 0.002, 0.001),
        (block_array((1, RANKS, 1), (25, 70, 500)), 0.01, 0.001),
        (unequal(), 0.01, 0.001),
        (scattered(), 0.08, 1e-9),
    ],
    ids=["tiles", "blocks", "unequal", "scattered"],
)
def test_the_time_of_a_call_is_that_of_its_rounds(
    pattern: Accesses, off: float, exactly_off: float
) -> None:
    """Formerly the sizes of rounds with the same messages were averaged, and more than 64 kinds
    were one: that was up to 60 % off.
    """
    size = pattern.extent[1] - pattern.extent[0]
    call = Call(pattern, buffer=size // len(CORES) // 100)
    rounds = one_by_one(call)
    seconds = sum(one.seconds for one in rounds)
    assert len(rounds) > MAX_KINDS
    for kinds, most in (
        (call.round_kinds(len(CORES)), off),
        (call.round_kinds(len(CORES), exactly=True), exactly_off),
    ):
        found = priced(kinds)
        assert found.rounds == len(rounds)
        assert found.seconds == pytest.approx(seconds, rel=most)
        parts = sum(np.array(one.counts) for one in rounds)
        assert np.array(found.counts) == pytest.approx(parts, abs=1e-3), "no byte is lost"
    assert len(call.round_kinds(len(CORES))) <= MAX_KINDS


def test_identical_rounds_are_one_kind() -> None:
    call = Call(tile_io(4, 3, tile=(64, 64), element=1), buffer=64 * 4 * 8)
    assert [(kind.times, kind.spread) for kind in call.round_kinds(6)] == [(4, 1)]
