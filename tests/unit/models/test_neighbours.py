"""Predictions go through measured times where no formula describes these, and stay between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from isochrone import models
from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.models.file import document, from_document
from isochrone.models.model import Model
from isochrone.models.neighbours import ByFormula, Neighbours, left_out

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


def constant(value: float, spread: float = 1.0) -> ByFormula:
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
    seconds, _, high = neighbours.predict(at([4.0, 4.0], [512.0, 1e6]), constant(500.0, 2.0))
    assert seconds == pytest.approx([2.0 + 18.0 * 448 / 4032, 500.0])
    assert high[0] == pytest.approx(20 * np.exp(0.7))
    within, _, _ = neighbours.predict(at([4.0], [512.0]), constant(21.0))
    assert within == pytest.approx([21.0])


def test_between_sizes_a_time_is_linear_in_bytes_and_between_ranks_its_logarithm_in_log_p() -> None:
    times = table(lambda p, b: p * (3 + b))
    neighbours = Neighbours({}, P, B, times, times)
    seconds, _, _ = neighbours.predict(at([4.0, np.sqrt(32)], [1000.0, 64.0]), constant(1.0))
    assert seconds == pytest.approx([4 * 1003, np.sqrt(32) * 67])


def test_beyond_the_measured_sizes_the_time_follows_the_formula() -> None:
    """The formula doubles from the largest size to twice that, and halves to one rank."""

    def formula(points: Mapping[str, Floats]) -> tuple[Floats, Floats, Floats]:
        times = points["p"] * points["b"]
        return times, times / 3, times * 3

    times = table(lambda p, b: 5.0 + 0 * p)
    neighbours = Neighbours({}, P, B, times, times)
    seconds, _, high = neighbours.predict(at([4.0, 1.0], [8192.0, 64.0]), formula)
    assert seconds == pytest.approx([10.0, 2.5])
    assert high / seconds == pytest.approx([3.0, 3.0])


def test_power_laws_and_trends_have_their_weights_beyond_the_data() -> None:
    """The formula gives 1 s; t = p, and its trend, 64 s at 64 ranks: 4 to the third is 64."""
    times = table(lambda p, b: p)
    neighbours = Neighbours({}, P, B, times, times, power_law=0.25, trend=0.25)
    seconds, low, high = neighbours.predict(at([64.0], [64.0]), constant(1.0))
    assert seconds == pytest.approx([8.0])
    assert (low, high) == (pytest.approx(8.0 * np.exp(-1.3)), pytest.approx(8.0 * np.exp(1.3)))


def test_a_trend_is_that_of_the_last_two_doublings() -> None:
    """Constant up to 4 ranks, then in proportion to them."""
    times = table(lambda p, b: np.maximum(p, 4.0), [1.0, 2.0, 4.0, 8.0, 16.0])
    neighbours = Neighbours({}, [1.0, 2.0, 4.0, 8.0, 16.0], B, times, times, trend=1.0)
    assert neighbours.predict(at([64.0], [64.0]), constant(1.0))[0] == pytest.approx([64.0])


def test_the_residual_of_the_largest_ranks_fades_over_four_doublings() -> None:
    measured, by_formula = table(lambda p, b: 2 * p), table(lambda p, b: p)
    neighbours = Neighbours({}, P, B, measured, by_formula)
    seconds, _, _ = neighbours.predict(at([256.0], [64.0]), constant(100.0))
    assert seconds == pytest.approx([100.0 * 2 ** np.exp(-1)])


def test_a_formula_that_was_not_tried_beyond_has_a_wide_interval_there() -> None:
    times = table(lambda p, b: p)
    neighbours = Neighbours({}, P, B, times, times, rising=["p", "b"], trusted=True)
    tried = neighbours.predict(at([32.0], [64.0]), constant(32.0, 1.1))
    assert tried[2] == pytest.approx([32.0 * 1.1])
    neighbours.tested = False
    untried = neighbours.predict(at([32.0, 256.0], [64.0, 64.0]), constant(32.0, 1.1))
    assert untried[2] / untried[0] == pytest.approx(np.exp([1.3, 1.3 * np.sqrt(2)]))


def test_times_that_rise_do_not_fall_beyond_the_data() -> None:
    """A formula of 1 s is below what was measured at 16 ranks, and power laws are of each size."""
    times = table(lambda p, b: p * (1.0 if b > 64 else np.sqrt(p)))
    neighbours = Neighbours({}, P, B, times, times, rising=["p", "b"])
    at_16 = times[0][-1]
    assert neighbours.predict(at([32.0], [64.0]), constant(1.0))[0] == pytest.approx([at_16])
    neighbours.power_law = 1.0
    small, large = neighbours.predict(at([64.0, 64.0], B), constant(1.0))[0]
    assert large >= small > at_16
    neighbours.rising, neighbours.power_law = [], 0.0
    assert neighbours.predict(at([32.0], [64.0]), constant(1.0))[0] < at_16


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


def test_a_file_keeps_them_and_refuses_damaged_ones() -> None:
    content = document(fitted())
    again = from_document(content)
    assert again.neighbours == fitted().neighbours
    for key, value in (("p", [1.0]), ("seconds", [[1.0]]), ("b", [2.0, 1.0])):
        damaged = {k: v for k, v in content.items() if k != "sha256"}
        damaged["neighbours"] = [{**content["neighbours"][0], key: value}]
        with pytest.raises(InputError, match="neighbours"):
            from_document(damaged)
