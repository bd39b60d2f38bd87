"""Where a library is taken to switch between two measured sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from isochrone.base.segmentation import Break
from isochrone.models.selection.splits import likely_switch

KIB = 1024


@pytest.mark.parametrize(
    ("below", "above", "switch"),
    [
        (7000, 9000, 8 * KIB),  # a power of two
        (10_000, 14_000, 12 * KIB),  # none between: one and a half
        (50_000, 100_000, 64 * KIB),
        (4 * KIB, 16 * KIB, 8 * KIB),
        (360_000, 380_000, 368 * KIB),  # 23 times 16 KiB: no multiple of 32 KiB is between
        (5, 6, 5),  # nothing between
        (0, 1, 0),
    ],
)
def test_it_is_the_roundest_binary_number_between(
    below: float, above: float, switch: float
) -> None:
    assert likely_switch(Break(below, above)) == switch


def test_of_equally_round_numbers_it_is_the_one_nearest_to_the_middle_of_the_ratio() -> None:
    """Of 32 and 48 KiB, both multiples of 16 KiB, the former is nearer to 39 KiB."""
    assert likely_switch(Break(31 * KIB, 50 * KIB)) == 32 * KIB
    assert likely_switch(Break(17, 31)) == 24
    assert likely_switch(Break(8 * KIB, 32 * KIB - 1)) == 16 * KIB


def test_a_switch_that_the_library_is_known_to_have_comes_before_a_round_number() -> None:
    gap = Break(300_000, 500_000)
    assert likely_switch(gap, [2048, 370_728]) == 370_728
    assert likely_switch(gap, [2048, 600_000]) == likely_switch(gap)


def test_a_known_switch_is_the_last_size_below_and_so_may_be_the_measured_one() -> None:
    """`MPIR_CVAR_*` count the last size of the old algorithm; the first of the new is above."""
    assert likely_switch(Break(2048, 4096), [2048]) == 2048
    assert likely_switch(Break(1024, 2048), [2048]) != 2048


@pytest.mark.parametrize("seed", range(5))
def test_it_belongs_to_the_gap_whatever_the_measured_sizes(seed: int) -> None:
    """The largest size below keeps its segment, the smallest above, too."""
    dice = np.random.default_rng(seed)
    for low, high in np.sort(2 ** dice.uniform(0, 30, (200, 2)), axis=1):
        assert low <= likely_switch(Break(low, high)) < high


def test_products_of_variables_that_are_no_whole_numbers_have_a_middle() -> None:
    """As of `1/p*b` below 1: no binary number of bytes is between."""
    gap = Break(0.25, 0.5)
    assert gap.below <= likely_switch(gap) < gap.above
    assert math.isfinite(likely_switch(Break(0.0, 0.5)))
