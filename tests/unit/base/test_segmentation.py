"""Cuts are where the data change, nowhere else, and the same that another library finds."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base import segmentation
from isochrone.base.errors import InputError
from isochrone.base.segmentation import Break, segment, sigma_of_interval

SIZES = 2.0 ** np.arange(21)
LINES = [(3e-6, 4.5e-10), (9e-6, 3e-10), (2.5e-5, 1.6e-10), (1.2e-4, 1e-10)]
"""Start-up in seconds and seconds a byte of protocols, as MPI libraries have them."""


def time_of(size: np.ndarray, switches: list[float]) -> np.ndarray:
    kind = np.searchsorted(switches, size, side="left")
    start, per_byte = np.array(LINES).T
    return start[kind] + per_byte[kind] * size


@pytest.mark.few(2)
@pytest.mark.parametrize("switches", [[], [4096], [512, 32768], [128, 4096, 131072]])
def test_the_number_of_protocols_is_right_at_two_percent_noise(switches: list[float]) -> None:
    """Of 200 trials 95 % find as many breaks as there are, within one step of the sizes."""
    generator = np.random.default_rng(20)
    size = np.repeat(SIZES, 10)
    right = near = 0
    for _ in range(200):
        noise = 1 + 0.02 * generator.standard_normal(len(size))
        found = segment(size, time_of(size, switches) * noise).breaks
        right += len(found) == len(switches)
        near += len(found) == len(switches) and all(
            found.below / 2 <= truth <= 2 * found.below
            for found, truth in zip(found, switches, strict=True)
        )
    assert right >= 190
    assert near >= 190


@pytest.mark.parametrize("switches", [[], [4096], [512, 32768], [128, 4096, 131072]])
def test_medians_with_intervals_are_enough(switches: list[float]) -> None:
    generator = np.random.default_rng(21)
    right = 0
    for _ in range(100):
        median = time_of(SIZES, switches) * (1 + 0.01 * generator.standard_normal(len(SIZES)))
        sigma = sigma_of_interval(median * (1 - 1.96e-2), median * (1 + 1.96e-2))
        right += len(segment(SIZES, median, sigma=sigma).breaks) == len(switches)
    assert right >= 95


def test_a_break_in_p_with_terms_of_p_and_b() -> None:
    """LAM MPI broadcasts linearly up to 4 ranks and in a tree beyond: two columns, cut along p."""
    p, b = (
        a.ravel().astype(float)
        for a in np.meshgrid([2, 3, 4, 6, 8, 12, 16, 32], np.arange(1, 11) * 5e4)
    )
    p, b = np.repeat(p, 5), np.repeat(b, 5)
    basis = np.column_stack([b, p * b])
    truth = np.where(p <= 4, (2e-8 + 9e-8 * p) * b, (4e-7 + 4e-8 * p) * b)
    generator = np.random.default_rng(22)
    right = 0
    for _ in range(200):
        measured = truth * (1 + 0.02 * generator.standard_normal(len(p)))
        right += segment(p, measured, basis).breaks == [Break(4, 6)]
    assert right >= 190


@pytest.mark.parametrize("most", [2, 3, 4])
def test_it_is_the_optimum_that_ruptures_finds(most: int) -> None:
    """The cuts are those of an independent exact implementation for as many segments."""
    ruptures = pytest.importorskip("ruptures", reason="there is none for Python 3.14 yet")
    generator = np.random.default_rng(23)
    for _ in range(20):
        size = np.sort(2 ** generator.uniform(0, 20, 60))
        measured = time_of(size, [1e3, 1e5]) * (1 + 0.02 * generator.standard_normal(60))
        rows = np.column_stack([np.ones(60), np.ones(60) / measured, size / measured])
        ours = segment(size, measured, max_segments=most, min_values=3).breaks
        assert 0 < len(ours) < most
        theirs = ruptures.Dynp("linear", min_size=3, jump=1).fit(rows).predict(len(ours))
        assert [found.above for found in ours] == [size[cut] for cut in theirs[:-1]]


def test_coefficients_of_segments_without_noise_are_exact() -> None:
    found = segment(SIZES, time_of(SIZES, [512, 32768]))
    assert found.breaks == [Break(512, 1024), Break(32768, 65536)]
    for part, line in zip(found.segments, LINES, strict=False):
        assert part.coefficients == pytest.approx(line, rel=1e-9)


def test_order_and_repetitions_of_a_value_do_not_matter() -> None:
    generator = np.random.default_rng(24)
    size = generator.permutation(np.repeat(SIZES, 3))
    assert segment(size, time_of(size, [4096])).breaks == [Break(4096, 8192)]


def test_a_segment_has_the_fewest_values_asked_for() -> None:
    lone = time_of(SIZES, [128, 8192])
    lone[-1] *= 1.2  # a segment of its own would fit it best
    found = segment(SIZES, lone, min_values=6).segments
    assert len(found) > 1
    for part in found:
        assert np.sum((part.low <= SIZES) & (part.high >= SIZES)) >= 6


def test_the_segment_of_a_value_within_a_break_is_the_nearer_one() -> None:
    found = segment(SIZES, time_of(SIZES, [4096]))
    assert found.index([1, 4096, 5000, 6000, 8192, 1e9]).tolist() == [0, 0, 0, 1, 1, 1]


def test_ten_thousand_values_are_cut_in_places_enough() -> None:
    size = np.linspace(1, 1e6, 10_000)
    (found,) = segment(size, time_of(size, [5e5])).breaks
    assert found.below <= 5.1e5
    assert found.above >= 4.9e5


def test_breaks_between_the_places_that_are_tried_first_are_not_cut_out_as_segments() -> None:
    """Of 400 values 24 places are tried: breaks lie between them, of formulas that bend as well."""
    for seed in range(12):
        dice = np.random.default_rng(seed)
        size = np.sort(np.exp(dice.uniform(np.log(8), np.log(2**20), 400)))
        switches = np.exp([dice.uniform(5, 8), dice.uniform(9.5, 12)])
        start, rate = np.array([(2e-6, 4e-10), (6e-6, 3e-10), (4e-5, 9e-10)])[
            np.searchsorted(switches, size)
        ].T
        time = (start + rate * size) * dice.lognormal(0, 0.02, len(size))
        found = segment(
            size,
            time,
            np.column_stack([np.ones_like(size), size, np.sqrt(size), np.log(size)]),
            forms=[(0, 1), (0, 2), (0, 3), (0, 1, 2)],
            sigma=0.02 * time,
            min_ratio=2.0,
            max_candidates=24,
        )
        assert len(found.breaks) == 2
        steps = np.searchsorted(size, [one.above for one in found.breaks])
        assert np.abs(steps - np.searchsorted(size, switches)).max() <= 4


def test_too_few_values_and_terms_that_depend_are_refused(golden: Golden) -> None:
    with golden.refusal():
        segment([1, 2], [1e-6, 2e-6])
    with pytest.raises(InputError, match="collinear"):
        segment(SIZES, time_of(SIZES, []), np.column_stack([SIZES, 2 * SIZES]))
    with pytest.raises(InputError, match="above zero"):
        segment(SIZES, -SIZES)


def test_the_example_in_its_documentation_is_true() -> None:
    assert doctest.testmod(segmentation).failed == 0
