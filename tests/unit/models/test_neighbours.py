"""Predictions go through measured times where no formula describes these, and stay between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from isochrone import models
from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.models.data.load import samples_of
from isochrone.models.prediction.file import document, from_document
from isochrone.models.prediction.model import Model
from isochrone.models.prediction.neighbours import Neighbours, left_out, neighbours_of

SIZES = 4.0 ** np.arange(2, 11)
RANKS = np.array([2.0, 4, 8, 16, 32, 64, 128])


def irregular(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Times of a machine that switches algorithms, with 8 % that belong to each point."""
    steps = np.log2(p)
    smaller = np.where((p >= 12) & (b < 4096), 1.6, 1.0) * np.where(b > 30000, 0.7, 1.0)
    own = np.modf(np.abs(np.sin(12.9898 * p + 78.233 * np.log2(b))) * 43758.5453)[0] - 0.5
    return np.asarray((1e-6 * steps + 1e-9 * b * np.sqrt(steps)) * smaller * np.exp(0.28 * own))


def fitted(ranks: np.ndarray = RANKS) -> Model:
    p, b = (column.ravel() for column in np.meshgrid(ranks, SIZES))
    op = np.full(len(p), "bcast")
    return models.fit({"op": op, "p": p, "b": b, "seconds": irregular(p, b)})


def test_measured_times_are_nearly_predicted() -> None:
    """At a measured point, the line and the formula with its residual are the same."""
    model = fitted()
    (neighbours,) = model.neighbours
    assert not neighbours.trusted
    found = model.predict(p=[8.0, 32.0], b=[64.0, 4096.0], op="bcast").seconds
    truth = irregular(np.array([8.0, 32.0]), np.array([64.0, 4096.0]))
    assert found == pytest.approx(truth, rel=1e-6)


def test_between_ranks_the_error_is_not_above_that_of_a_line() -> None:
    model = fitted(RANKS[::2])
    p, b = (column.ravel() for column in np.meshgrid(RANKS[1::2], SIZES))
    truth = irregular(p, b)
    found = np.abs(np.log(model.predict(p=p, b=b, op="bcast").seconds / truth))
    logs = np.log(irregular(*np.meshgrid(RANKS[::2], SIZES)))
    line = np.concatenate([np.interp(np.log(RANKS[1::2]), np.log(RANKS[::2]), row) for row in logs])
    assert found.mean() <= 1.1 * np.abs(line - np.log(truth)).mean()


def test_intervals_hold_most_points_between_and_beyond() -> None:
    model = fitted(RANKS[:-1])
    p, b = (column.ravel() for column in np.meshgrid([6.0, 12.0, 24.0, 128.0], SIZES))
    found, truth = model.predict(p=p, b=b, op="bcast"), irregular(p, b)
    assert np.mean((found.low <= truth) & (truth <= found.high)) >= 0.9


def test_a_right_formula_is_not_changed() -> None:
    """Times of a tree: what is predicted is the formula, within and beyond the data."""
    p, b = (column.ravel() for column in np.meshgrid(RANKS, SIZES))
    seconds = np.ceil(np.log2(p)) * (1e-6 + 1e-9 * b)
    model = models.fit({"op": np.full(len(p), "bcast"), "p": p, "b": b, "seconds": seconds})
    found = model.predict(p=[6.0, 100.0, 512.0], b=[100.0, 1000.0, 4096.0], op="bcast")
    assert found.seconds == pytest.approx(found.by_formula, rel=1e-12)


P, B = [2.0, 4.0, 8.0, 16.0], [64.0, 4096.0]


def table(law: Callable[[Floats, Floats], Floats], p: Sequence[float] = P) -> list[list[float]]:
    """Times of each size at each number of ranks."""
    return [[float(law(np.array(ranks), np.array(size))) for ranks in p] for size in B]


Formula = Callable[[Mapping[str, Floats]], tuple[Floats, Floats, Floats]]
"""Times of points, and the ends of their intervals."""


def predicted(
    neighbours: Neighbours, points: dict[str, Floats], formula: Formula, level: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Predict times for a formula that knows its intervals."""
    _, low, high = formula(points)
    return neighbours.predict(points, lambda asked: formula(asked)[0], (low, high), level)


def constant(value: float, spread: float = 1.0) -> Formula:
    """A formula that gives the same time everywhere, and an interval of a factor."""

    def seconds(points: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
        times = np.full(len(points["p"]), value)
        return times, times / spread, times * spread

    return seconds


def at(p: Sequence[float], b: Sequence[float]) -> dict[str, Floats]:
    return {"p": np.array(p), "b": np.array(b)}


def test_a_right_formula_that_leaves_its_neighbours_is_replaced_by_their_line() -> None:
    """4 ranks and 512 B are between 2 s and 20 s; 1 MB is beyond the measured sizes."""
    times = [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]
    neighbours = Neighbours(
        {}, [2.0, 4.0, 8.0], B, times, times, rising=["p", "b"], trusted=True, inside=0.1
    )
    seconds, _, high = predicted(neighbours, at([4.0, 4.0], [512.0, 1e6]), constant(500.0, 2.0))
    assert seconds == pytest.approx([2.0 + 18.0 * 448 / 4032, 500.0])
    assert high[0] == pytest.approx(20 * np.exp(0.7))
    within, _, _ = predicted(neighbours, at([4.0], [512.0]), constant(21.0))
    assert within == pytest.approx([21.0])


def test_between_sizes_a_time_is_linear_in_bytes_and_between_ranks_its_logarithm_in_log_p() -> None:
    times = table(lambda p, b: p * (3 + b))
    neighbours = Neighbours({}, P, B, times, times)
    seconds, _, _ = predicted(neighbours, at([4.0, np.sqrt(32)], [1000.0, 64.0]), constant(1.0))
    assert seconds == pytest.approx([4 * 1003, np.sqrt(32) * 67])


def test_beyond_the_measured_sizes_the_time_follows_the_formula() -> None:
    """The formula doubles from the largest size to twice that, and halves to one rank."""

    def formula(points: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
        times = points["p"] * points["b"]
        return times, times / 3, times * 3

    times = table(lambda p, b: 5.0 + 0 * p)
    neighbours = Neighbours({}, P, B, times, times)
    seconds, _, high = predicted(neighbours, at([4.0, 1.0], [8192.0, 64.0]), formula)
    assert seconds == pytest.approx([10.0, 2.5])
    assert high / seconds == pytest.approx([3.0, 3.0])


def test_power_laws_have_their_weight_beyond_the_data() -> None:
    """The formula gives 1 s; t = p is 64 s at 64 ranks: 16 to the half and 64 to the half."""
    times = table(lambda p, b: p)
    neighbours = Neighbours({}, P, B, times, times, power_law=0.5)
    seconds, low, high = predicted(neighbours, at([64.0], [64.0]), constant(1.0))
    assert seconds == pytest.approx([8.0])
    assert (low, high) == (pytest.approx(8.0 * np.exp(-1.3)), pytest.approx(8.0 * np.exp(1.3)))


def test_beyond_the_largest_ranks_the_formula_continues_from_the_last_time() -> None:
    """The times are twice those of the formula."""
    measured, by_formula = table(lambda p, b: 2 * p), table(lambda p, b: p)
    neighbours = Neighbours({}, P, B, measured, by_formula)
    seconds, _, _ = predicted(neighbours, at([256.0], [64.0]), constant(100.0))
    assert seconds == pytest.approx([200.0])


def test_a_formula_that_was_not_tried_beyond_has_a_wide_interval_there() -> None:
    times = table(lambda p, b: p)
    neighbours = Neighbours({}, P, B, times, times, rising=["p", "b"], trusted=True)
    tried = predicted(neighbours, at([32.0], [64.0]), constant(32.0, 1.1))
    assert tried[2] == pytest.approx([32.0 * 1.1])
    neighbours.tested = False
    untried = predicted(neighbours, at([32.0, 256.0], [64.0, 64.0]), constant(32.0, 1.1))
    assert untried[2] / untried[0] == pytest.approx(np.exp([1.3, 1.3 * np.sqrt(2)]))


def test_times_that_rise_do_not_fall_beyond_the_data() -> None:
    """A formula of 1 s is below what was measured at 16 ranks, and power laws are of each size."""
    times = table(lambda p, b: p * (1.0 if b > 64 else np.sqrt(p)))
    neighbours = Neighbours({}, P, B, times, times, rising=["p", "b"])
    at_16 = times[0][-1]
    assert predicted(neighbours, at([32.0], [64.0]), constant(1.0))[0] == pytest.approx([at_16])
    neighbours.power_law = 1.0
    small, large = predicted(neighbours, at([64.0, 64.0], B), constant(1.0))[0]
    assert large >= small > at_16
    neighbours.rising, neighbours.power_law = [], 0.0
    assert predicted(neighbours, at([32.0], [64.0]), constant(1.0))[0] < at_16


def test_what_was_predicted_best_from_fewer_ranks_weighs_most() -> None:
    """No family holds p**0.7: power laws are exact, and formulas miss it."""
    p, b = (column.ravel() for column in np.meshgrid(RANKS, SIZES))
    seconds = p**0.7 * (1e-6 + 1e-9 * b)
    model = models.fit({"op": ["bcast"] * len(p), "p": p, "b": b, "seconds": seconds})
    found = model.predict(p=512.0, b=1024.0, op="bcast").seconds
    assert found == pytest.approx(512**0.7 * (1e-6 + 1e-9 * 1024), rel=0.02)


def test_times_of_a_formula_without_sizes_still_follow_the_measured_ones() -> None:
    """Times hardly depend on sizes, so no formula holds b; at 8 ranks they are twice as long."""
    p, b = (column.ravel() for column in np.meshgrid(RANKS[:5], SIZES))
    seconds = np.where(p == 8, 8e-6, 1e-6 * np.log2(p)) * (1 + 1e-9 * b)
    model = models.fit({"op": ["bcast"] * len(p), "p": p, "b": b, "seconds": seconds})
    found = model.predict(p=[8.0, 64.0], b=1024.0, op="bcast")
    assert found.seconds[0] == pytest.approx(8e-6, rel=0.01)
    assert found.high[1] / found.low[1] > 10


def test_what_is_left_out_is_compared_with_a_line() -> None:
    values = np.log([2.0, 4.0, 8.0])
    assert left_out(values, np.array([[0.0], [1.5], [2.0]])) == pytest.approx(0.5)


@pytest.mark.slow
def test_a_file_keeps_them_and_refuses_damaged_ones() -> None:
    content = document(fitted())
    again = from_document(content)
    assert again.neighbours == fitted().neighbours
    for key, value in (("p", [1.0]), ("seconds", [[1.0]]), ("b", [2.0, 1.0])):
        damaged = {k: v for k, v in content.items() if k != "sha256"}
        damaged["neighbours"] = [{**content["neighbours"][0], key: value}]
        with pytest.raises(InputError, match="neighbours"):
            from_document(damaged)


# ---- what decides --------------------------------------------------------------------------------


def of_measured(
    seconds: Floats, misfit: float, tried: float | None, p: Sequence[float] = P, noise: float = 0
) -> Neighbours | None:
    """Neighbours of times of 64 B; the formula is off by ``misfit`` in log time."""
    repeats = np.exp(noise * np.array([-1.0, 0.0, 1.0])) if noise else np.ones(1)
    every = np.outer(seconds, repeats).ravel()
    columns = {
        "p": np.repeat(np.array(p), len(repeats)),
        "b": np.full(len(every), 64.0),
        "op": np.full(len(every), "bcast"),
        "seconds": every,
    }
    (observed,) = samples_of(columns).observations()
    order = np.argsort(observed.variables["p"])
    at, times = observed.variables["p"][order], observed.seconds[order] * np.exp(misfit)
    return neighbours_of(observed, lambda points: np.interp(points["p"], at, times), ["p"], tried)


POWERS = np.array(P) ** 0.5 * 1e-6


def trusted(found: Neighbours | None) -> bool:
    assert found is not None
    return found.trusted


@pytest.mark.parametrize(
    ("misfit", "tried", "right"),
    [
        (0.2, 0.2, True),
        (0.3, 0.1, False),
        (0.1, 0.3, False),
        (0.1, None, False),
    ],
)
def test_a_formula_that_is_off_by_less_than_a_quarter_of_the_line_is_kept(
    misfit: float, tried: float | None, right: bool
) -> None:
    """4 and 8 ranks are off the line by one in log time each."""
    seconds = POWERS * np.exp([0.0, 1.0, 0.0, -1.5])
    line = np.mean(np.abs(left_out(np.log(P), np.log(seconds)[:, None])))
    found = of_measured(seconds, misfit * line, None if tried is None else tried * line)
    assert trusted(found) == right
    assert found is not None
    assert not found.tested


def test_a_formula_is_right_within_two_per_mille_or_twice_the_noise() -> None:
    assert trusted(of_measured(POWERS, 0.0017, 0.0))
    assert not trusted(of_measured(POWERS, 0.0025, 0.1))
    (observed,) = samples_of(
        {
            "p": np.repeat(P, 3),
            "b": np.full(12, 64.0),
            "op": ["bcast"] * 12,
            "seconds": np.outer(POWERS, np.exp([-0.05, 0, 0.05])).ravel(),
        }
    ).observations()
    assert observed.noise
    for factor, right in ((1.7, True), (2.5, False)):
        found = of_measured(POWERS, factor * observed.noise, 1.0, noise=0.05)
        assert trusted(found) == right


def test_a_formula_is_tested_if_it_predicted_more_ranks_within_five_per_cent() -> None:
    for tried, tested in ((0.0, True), (0.04, True), (0.06, False), (None, False)):
        found = of_measured(POWERS, 0.001, tried)
        assert found is not None
        assert found.tested == tested


def test_an_interval_between_measured_times_is_at_least_a_third() -> None:
    """No size is off the line, so the least half width counts: 0.35 in log time, of 95 %."""
    found = of_measured(POWERS, 0.5, 0.5)
    assert found is not None
    times, low, high = predicted(found, at([3.0], [64.0]), constant(1.0))
    assert high / times == pytest.approx(np.exp([0.35]))
    assert times / low == pytest.approx(np.exp([0.35]))
    _, low, _ = predicted(found, at([3.0], [64.0]), constant(1.0), level=0.68)
    assert np.log(times / low) == pytest.approx(0.35 * 0.9945 / 1.96, rel=1e-3)


def test_what_was_right_beyond_fewer_ranks_is_predicted_from_alone() -> None:
    """Power laws are exact; for the others, a doubling is off the line by more than 5 per cent."""
    bent = np.exp(np.log(P) ** 2)
    for times, tried, weight in (
        (POWERS, 0.1, 1.0),
        (POWERS, None, 1.0),
        (bent, 0.04, 0.0),
        (bent, 0.06, 0.5),
        (bent, None, 0.5),
    ):
        found = of_measured(times, 0.5, tried)
        assert found is not None
        assert found.power_law == weight


def test_a_size_has_the_middle_slope_of_five() -> None:
    slopes = np.array([0.0, 1, 5, 2, 9, 3, 0.5]) / 2
    b = [2.0**k for k in range(len(slopes))]
    times = [(np.array(P) ** slope).tolist() for slope in slopes]
    found = Neighbours({}, P, b, times, times, power_law=1.0)
    at_64, _, _ = predicted(found, at([64.0, 128.0], [8.0, 8.0]), constant(1.0))
    assert np.log2(at_64[1] / at_64[0]) == pytest.approx(1.5)


def test_times_that_jump_do_not_grow_faster_than_the_messages_of_all_ranks() -> None:
    """4 ranks share the processors that 2 have for themselves: beyond, p² from the last time."""
    times = [[2e-6, 12e-3]] * 3
    found = Neighbours({}, [2.0, 4.0], [8.0, 64.0, 512.0], times, times, power_law=1.0)
    beyond, _, _ = predicted(found, at([8.0, 64.0], [64.0, 64.0]), constant(1.0))
    assert beyond == pytest.approx([4 * 12e-3, 256 * 12e-3])


def test_ranks_whose_times_are_in_another_unit_have_no_neighbours() -> None:
    for factor, usable in ((80.0, True), (130.0, False)):
        found = of_measured(POWERS * np.array([1, factor, 1, 1]), 0.0, 0.0)
        assert (found is not None) == usable


def test_two_numbers_of_ranks_have_a_line() -> None:
    assert of_measured(POWERS[:2], 0.5, None, P[:2]) is not None
    assert of_measured(POWERS[:1], 0.5, None, P[:1]) is None


@pytest.mark.parametrize("size", [{}, {"b": [8.0] * 2}], ids=["barrier", "one size"])
def test_two_times_are_interpolated_though_they_are_too_few_for_a_formula(size: dict) -> None:
    """Beyond them, the interval of 8 ranks holds a constant time and one that grows with p."""
    model = models.fit({"op": ["bcast"] * 2, "p": [2.0, 4.0], "seconds": [1e-6, 2e-6]} | size)
    found = model.predict(p=[2.0, 3.0, 4.0, 8.0], op="bcast")
    assert found.seconds[[0, 2]] == pytest.approx([1e-6, 2e-6])
    assert found.seconds[1] == pytest.approx(1e-6 * 2 ** np.log2(1.5))
    assert found.low[3] < 2e-6
    assert found.high[3] > 4e-6


def test_sizes_that_are_multiples_of_the_ranks_are_interpolated() -> None:
    """Each number of ranks has sizes of its own, as NCCL rounds them."""
    p, b = (column.ravel() for column in np.meshgrid(RANKS, SIZES))
    b = np.ceil(b / (3 * p)) * 3 * p
    p, b = np.unique(np.stack([p, b]), axis=1)
    model = models.fit({"op": ["bcast"] * len(p), "p": p, "b": b, "seconds": irregular(p, b)})
    (neighbours,) = model.neighbours
    assert len(neighbours.b) >= len(SIZES) / 2
    inside = (p > 2) & (p < 128) & (b >= neighbours.b[0]) & (b <= neighbours.b[-1])
    found = model.predict(p=p[inside], b=b[inside], op="bcast").seconds
    assert np.mean(np.abs(np.log(found / irregular(p, b)[inside]))) < 0.15


def test_ranks_that_share_few_sizes_have_no_neighbours() -> None:
    p, b = np.repeat([2.0, 4.0, 8.0], [9, 2, 2]), np.concatenate([SIZES, *[SIZES[[0, -1]]] * 2])
    model = models.fit({"op": ["bcast"] * 13, "p": p, "b": b, "seconds": 1e-6 * p + 1e-9 * b})
    assert model.neighbours == []


def test_a_time_that_is_missing_changes_no_other() -> None:
    """The largest size at most ranks: at fewer ranks, it is predicted as measured."""
    p, b = (column.ravel()[:-1] for column in np.meshgrid(RANKS, SIZES))
    model = models.fit({"op": ["bcast"] * len(p), "p": p, "b": b, "seconds": irregular(p, b)})
    found = model.predict(p=[8.0, 64.0], b=SIZES[-1], op="bcast").seconds
    assert found == pytest.approx(irregular(np.array([8.0, 64.0]), SIZES[-1:]), rel=1e-6)


def test_just_beyond_the_data_a_time_is_the_last_measured_one() -> None:
    """And its interval is no narrower than at a measured number of ranks."""
    model = fitted()
    last, next_ = (model.predict(p=p, b=SIZES, op="bcast") for p in (128.0, 129.0))
    assert next_.seconds == pytest.approx(last.seconds, rel=0.1)
    assert np.all(next_.high / next_.low >= 0.99 * last.high / last.low)
