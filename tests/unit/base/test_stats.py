"""The small statistics keep their promises: robustness, coverage, known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import median_abs_deviation

from isochrone.base.inference import (
    even_median_interval,
    grouped_median_interval,
    median_interval,
    quantile_interval,
    ratio_interval,
)
from isochrone.base.stats import mad, middles_by, order_by, outlier_limit, row_medians

finite = st.floats(-1e6, 1e6)
gaps = st.none() | finite


def test_mad_of_a_normal_sample_is_its_standard_deviation() -> None:
    assert mad(np.random.default_rng(1).normal(5, 2, 20_000)) == pytest.approx(2, rel=0.03)


@given(st.lists(finite, min_size=1, max_size=60))
def test_mad_is_that_of_scipy(values: list[float]) -> None:
    """Our own one only saves the import of scipy.stats; its factor has five digits."""
    assert mad(values) == pytest.approx(median_abs_deviation(values, scale="normal"), rel=2e-6)


def test_mad_is_not_moved_by_a_few_wild_values() -> None:
    assert mad([1, 2, 3, 4, 5, 1e9]) < 5


def test_mad_leaves_out_what_was_not_measured() -> None:
    assert mad([1, np.nan, 2, 3]) == mad([1, 2, 3])
    assert mad([]) == 0


def test_median_interval_is_the_tabulated_pair_of_order_statistics() -> None:
    """Le Boudec 2010, table A.1, 95 %: of 10 the 2nd and the 9th, of 100 the 40th and the 61st."""
    assert median_interval(range(1, 11)) == (2, 9)
    assert median_interval(range(1, 101)) == (40, 61)


@pytest.mark.parametrize("n", [1000, 400_000])
def test_median_interval_of_many_values_is_that_of_the_normal_approximation(n: int) -> None:
    """A level of a large map has hundreds of thousands of pairs."""
    low, high = median_interval(range(1, n + 1))
    assert low == pytest.approx(n / 2 - 1.96 * n**0.5 / 2, abs=1)
    assert high == n + 1 - low


@given(st.lists(st.tuples(finite, *[gaps] * 4), min_size=1, max_size=9))
def test_medians_of_rows_leave_out_what_was_not_measured(rows: list[tuple[float | None]]) -> None:
    values = np.array(rows, dtype=np.float64)
    np.testing.assert_array_equal(row_medians(values), np.nanmedian(values, axis=1))


def test_median_of_a_row_that_holds_nothing_is_not_a_number() -> None:
    assert np.isnan(row_medians(np.full((1, 3), np.nan))).all()


def test_median_interval_of_too_few_values_is_all_of_them() -> None:
    assert median_interval([3, 1, 2]) == (1, 3)
    assert np.isnan(median_interval([])).all()


@given(st.lists(finite, min_size=1, max_size=60))
def test_median_interval_holds_the_sample_median(values: list[float]) -> None:
    low, high = median_interval(values)
    assert low <= np.median(values) <= high


def test_median_interval_covers_the_true_median_as_often_as_promised() -> None:
    generator = np.random.default_rng(2)
    intervals = [median_interval(generator.lognormal(0, 1, 25)) for _ in range(400)]
    covered = np.mean([low <= 1 <= high for low, high in intervals])
    assert covered >= 0.93


def test_outlier_limit_grows_with_the_number_of_values_and_with_ignorance() -> None:
    assert outlier_limit(1, 1e9, rate=0.025) == pytest.approx(1.96, abs=0.001)
    assert outlier_limit(1000, 1e9) > outlier_limit(10, 1e9)
    assert outlier_limit(10, 3) > outlier_limit(10, 30)


def busy_machine(dice: np.random.Generator, passes: int, repetitions: int) -> np.ndarray:
    """Make repetitions as rows of passes: a median of 1, a correlation of 0.5, slow moments.

    One pass in five is slow, by a quarter, as are their repetitions; each pass has 3 % of its own.
    """
    noise = dice.normal(0, 0.05, (passes, repetitions))
    for k in range(1, repetitions):
        noise[:, k] = 0.5 * noise[:, k - 1] + np.sqrt(0.75) * noise[:, k]
    own = dice.normal(0, 0.03, (passes, 1)) + np.log(1.25) * (dice.random((passes, 1)) < 0.2)
    return np.exp(noise + own)


@pytest.mark.parametrize("passes", [6, 10, 30])
def test_an_interval_by_passes_holds_the_median_of_reruns(passes: int) -> None:
    """At least in 80 of 100 runs; that of the repetitions, taken as independent, in few."""
    dice = np.random.default_rng(3)
    runs = [busy_machine(dice, passes, 10) for _ in range(400)]
    pooled = np.median(runs)
    number = np.repeat(np.arange(passes), 10)

    def held(interval: tuple[float, float]) -> bool:
        return interval[0] <= pooled <= interval[1]

    assert np.mean([held(grouped_median_interval(run.ravel(), number)) for run in runs]) >= 0.8
    assert np.mean([held(median_interval(run.ravel())) for run in runs]) < 0.8


def test_an_interval_by_passes_is_that_of_their_medians() -> None:
    """Of ten medians the second and the ninth, in whatever order the repetitions come."""
    values = np.arange(10.0)[:, None] + np.array([-0.1, 0, 0.3])
    number = np.repeat(np.arange(10), 3)
    mixed = np.random.default_rng(1).permutation(30)
    assert grouped_median_interval(values.ravel()[mixed], number[mixed]) == (1, 8)


@pytest.mark.parametrize("n", [5, 6, 7, 8, 10, 13, 20])
@pytest.mark.parametrize("shape", ["normal", "exponential", "lognormal", "uniform", "cauchy"])
def test_an_even_interval_holds_the_median_in_19_of_20_samples(shape: str, n: int) -> None:
    """Neither less nor much more often, whatever the distribution; 93.75 % of five values."""
    dice = np.random.default_rng(n)
    samples, median = {
        "normal": (dice.normal(size=(2500, n)), 0.0),
        "exponential": (dice.exponential(size=(2500, n)), np.log(2.0)),
        "lognormal": (dice.lognormal(size=(2500, n)), 1.0),
        "uniform": (dice.uniform(size=(2500, n)), 0.5),
        "cauchy": (dice.standard_cauchy(size=(2500, n)), 0.0),
    }[shape]
    ends = np.array([even_median_interval(sample) for sample in samples])
    held = np.mean((ends[:, 0] <= median) & (median <= ends[:, 1]))
    assert 0.93 <= held <= 0.965


def test_an_even_interval_is_within_that_of_order_statistics_and_needs_five_values() -> None:
    values = [9.0, 1.0, 4.0, 2.0, 8.0, 7.0, 3.0, 6.0]
    low, high = even_median_interval(values)
    wide = median_interval(values)
    assert wide[0] < low < np.median(values) < high < wide[1]
    assert even_median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) == (1.0, 5.0)
    assert np.isnan(even_median_interval([1.0, 2.0, 3.0, 4.0])).all()
    assert np.isnan(even_median_interval([1.0, 2.0, 3.0, 4.0, np.nan])).all()


def test_an_interval_by_passes_holds_the_median_of_all_values() -> None:
    """A long pass may move the median beyond those of nearly all passes."""
    values = np.concatenate([np.full(50, 9.0), np.arange(1.0, 7.0)])
    number = np.concatenate([np.zeros(50), np.arange(1, 7)])
    low, high = grouped_median_interval(values, number)
    assert low <= np.median(values) <= high


def test_few_passes_give_no_interval() -> None:
    with pytest.raises(ValueError, match="too few"):
        grouped_median_interval(np.ones(50), np.repeat(np.arange(5), 10))


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-9, 9)), max_size=40))
def test_the_middles_of_values_by_key_are_those_of_each_key_alone(
    pairs: list[tuple[int, float]],
) -> None:
    key = np.array([k for k, _ in pairs], dtype=np.int64)
    values = np.array([v for _, v in pairs], dtype=np.float64)
    keys, lower, upper = middles_by(key, values)
    assert keys.tolist() == sorted(set(key.tolist()))
    medians = [float(np.median(values[key == k])) for k in keys]
    assert ((lower + upper) / 2).tolist() == pytest.approx(medians)


def test_the_interval_of_a_ratio_adds_the_distances_of_independent_errors() -> None:
    """Between that of the wider one of the two and that of the worst case."""
    low, high = ratio_interval((4.0, 3.6, 4.4), (2.0, 1.9, 2.2))
    assert 3.6 / 2.2 < low < 3.6 / 2.0
    assert 4.4 / 2.0 < high < 4.4 / 1.9
    assert ratio_interval((4.0, 4.0, 4.0), (2.0, 2.0, 2.0)) == (2.0, 2.0)


def test_the_interval_of_a_ratio_is_not_known_if_an_end_is_not() -> None:
    for below in ((2.0, float("nan"), 2.2), (0.0, 0.0, 0.0)):
        assert np.isnan(ratio_interval((4.0, 3.6, 4.4), below)).all()


@pytest.mark.parametrize(("part", "least"), [(0.95, 72), (0.99, 368), (0.5, 6)])
def test_a_quantile_is_enclosed_from_the_first_number_of_values_that_can(
    part: float, least: int
) -> None:
    """The largest of n values is below a quantile with a chance of part^n: at most 2.5 %."""
    assert quantile_interval(np.arange(least - 1.0), part) is None
    ends = quantile_interval(np.arange(least), part)
    assert ends is not None
    assert ends[1] == least - 1
    assert part**least <= 0.025 < part ** (least - 1)


def test_the_interval_of_the_half_quantile_is_that_of_the_median() -> None:
    for n in (6, 7, 25, 100, 1000):
        values = np.random.default_rng(n).lognormal(0, 1, n)
        assert quantile_interval(values, 0.5) == median_interval(values)


@pytest.mark.parametrize(("part", "n"), [(0.95, 72), (0.95, 300), (0.99, 368), (0.99, 1500)])
def test_the_interval_of_a_quantile_holds_it_as_often_as_promised(part: float, n: int) -> None:
    """Of any distribution: in at least 95 of 100 samples, and not in all."""
    dice, held = np.random.default_rng(3), 0
    for _ in range(1500):
        ends = quantile_interval(dice.exponential(1.0, n), part)
        assert ends is not None
        held += ends[0] <= -np.log(1 - part) <= ends[1]
    assert 0.94 < held / 1500 < 0.995


@given(
    st.lists(st.tuples(st.integers(-3, 70_000), st.sampled_from([0.5, 1.0, 2.0])), max_size=60),
    st.sampled_from([1, 1000]),
)
def test_the_order_by_key_and_value_is_that_of_numpy(
    rows: list[tuple[int, float]], divisor: int
) -> None:
    """With keys that fit in 16 bits, and those that do not."""
    key = np.array([row[0] // divisor for row in rows], dtype=np.int64)
    values = np.array([row[1] for row in rows])
    order, known = order_by(key, values), np.lexsort((values, key))
    assert key[order].tolist() == key[known].tolist()
    assert values[order].tolist() == values[known].tolist()


def test_outlier_limits_are_quantiles_of_students_t() -> None:
    for freedom in (1, 1.5, 2.5, 3, 5.5, 20, 1000):
        for tests in (1, 100, 10**6):
            expected = stdtrit(freedom, 1 - 0.01 / tests)
            assert outlier_limit(tests, freedom) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("most", [10, 2**16 + 5, 2**40])
@pytest.mark.parametrize("equal", [True, False])
def test_middles_by_any_key(most: int, equal: bool) -> None:
    """As the medians one by one, whether the digits of keys are sorted, and groups are as large."""
    random = np.random.default_rng(most)
    names = (
        random.choice(most, 10, replace=False) if most < 2**20 else random.integers(most, size=9)
    )
    key = random.permutation(np.repeat(names, 6))[: None if equal else -2]
    values = random.random(len(key))
    keys, lower, upper = middles_by(key, values)
    assert keys.tolist() == sorted(set(key.tolist()))
    expected = [np.median(values[key == k]) for k in keys]
    np.testing.assert_allclose((lower + upper) / 2, expected)
