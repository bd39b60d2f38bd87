"""Comparisons find what changed, call nothing else changed, and refuse unlike things."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.results.comparison import compare
from isochrone.runfile.run import Run
from made_up.latency_maps import block, latency_map, mmpi_example
from made_up.times import grid, noisy, run_of, times, truth

VARIABLES = grid("bcast-log")
EXACT = times(truth("bcast-log"), VARIABLES)


def measure(seed: int, factor: np.ndarray | float = 1.0, noise: float = 0.02, **header) -> Run:
    return run_of(noisy(EXACT * factor, VARIABLES, noise, 10, seed, op="bcast"), **header)


def test_equal_machines_are_called_equal() -> None:
    """Of 30 comparisons of 80 equal points, few have even one wrong verdict (1.5 are expected)."""
    wrong = 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        pair = [
            run_of(noisy(EXACT, VARIABLES, 0.02, 10, int(generator.integers(1 << 30)), op="bcast"))
            for _ in range(2)
        ]
        wrong += any(point.verdict != "same" for point in compare(pair[:1], pair[1:]).points)
    assert wrong <= 4


def test_what_became_slower_is_found_and_nothing_else() -> None:
    factor = np.ones(80)
    factor[5:9] = 1.1
    factor[20] = 0.8
    found = compare([measure(1)], [measure(2, factor)])
    changed = [point for point in found.points if point.verdict != "same"]
    assert len(changed) == 5
    for point in changed:
        k = int(np.flatnonzero((VARIABLES["p"] == point.key["p"])
                               & (VARIABLES["b"] == point.key["bytes"]))[0])  # fmt: skip
        assert point.verdict == ("slower" if factor[k] > 1 else "faster")
        assert point.ratio == pytest.approx(factor[k], rel=0.03)
        assert point.low < point.ratio < point.high


def test_the_interval_of_the_ratio_covers_the_truth() -> None:
    inside = []
    for seed in range(8):
        found = compare([measure(seed)], [measure(1000 + seed, 1.2)])
        inside += [point.low <= 1.2 <= point.high for point in found.points]
    assert np.mean(inside) >= 0.9


def test_launches_that_differ_are_not_proof() -> None:
    """Runs of one side differ by 10 %: the difference of two runs alone would be 'proved'."""
    lucky = [measure(k, factor) for k, factor in enumerate((1.0, 1.1, 0.95, 1.05))]
    other = [measure(10 + k, factor) for k, factor in enumerate((1.1, 1.0, 1.06, 0.96))]
    assert all(point.verdict == "same" for point in compare(lucky, other).points)
    assert any(point.verdict != "same" for point in compare(lucky[:1], lucky[1:2]).points)
    slower = [measure(20 + k, 1.5 * factor) for k, factor in enumerate((1.0, 1.01, 0.99, 1.02))]
    steady = [measure(30 + k, factor) for k, factor in enumerate((1.0, 1.01, 0.99, 1.02))]
    assert all(point.verdict == "slower" for point in compare(steady, slower).points)


def test_simulated_times_know_no_chance() -> None:
    clock = {"clock": {"simulated": True}}
    runs = [measure(1, 1.0, 0, **clock), measure(1, 1.001, 0, **clock)]
    assert all(point.verdict == "slower" for point in compare(runs[:1], runs[1:]).points)
    assert all(point.verdict == "same" for point in compare(runs[:1], runs[:1]).points)


def test_maps_are_compared_by_their_intervals() -> None:
    healthy, again = latency_map(block(4, 4)), latency_map(block(4, 4))
    slow = latency_map(block(4, 4), slow_hosts={"n2": 2.0})
    assert all(point.verdict == "same" for point in compare([healthy], [again]).points)
    changed = [p.key for p in compare([healthy], [slow]).points if p.verdict == "slower"]
    assert changed
    assert all({key["i"] // 4, key["j"] // 4} & {2} for key in changed)
    assert len(changed) == 4 * 12
    assert compare([mmpi_example()], [mmpi_example()]).points[0].verdict == "same"


def test_unlike_things_are_refused_and_what_differs_is_said() -> None:
    one = measure(1)
    with pytest.raises(InputError, match="experiment is collective in one and latency-map"):
        compare([one], [mmpi_example()])
    with pytest.raises(InputError, match="number of ranks is 64 in one and 32"):
        compare([one], [measure(1, ranks=32)])
    with pytest.raises(InputError, match="definition of the times"):
        compare([one], [measure(1, seconds_are="half a round trip")])
    with pytest.raises(InputError, match="option sync is barrier in one and window"):
        compare([measure(1, options={"sync": "barrier"})], [measure(1, options={"sync": "window"})])
    other = measure(1)
    table = other.tables["sample"]
    table.columns["bytes"] = table["bytes"] + (table["bytes"] == 10240)
    with pytest.raises(InputError, match="only the first has bytes 10240"):
        compare([one], [other])
    assert len(compare([one], [other], common=True).points) == 72
    table.columns["bytes"] = table["bytes"] + 1_000_000
    with pytest.raises(InputError, match="no point in common"):
        compare([one], [other], common=True)


def test_times_that_are_none_are_refused() -> None:
    for bad in (np.nan, -1.0):
        other = measure(1)
        other.tables["sample"]["seconds"][3] = bad
        with pytest.raises(InputError, match="is no time"):
            compare([measure(1)], [other])
    listed = measure(1)
    listed.path = Path("listed.jsonl")
    sizes = np.empty(len(listed.tables["sample"]), dtype=object)
    sizes[:] = [[1]] * len(sizes)
    listed.tables["sample"].columns["bytes"] = sizes
    with pytest.raises(InputError, match="'bytes' is a list") as error:
        compare([listed], [listed])
    assert error.value.where == "listed.jsonl"
    empty = Run(header={"experiment": "collective", "ranks": 64})
    with pytest.raises(InputError, match="no times to compare"):
        compare([empty], [empty])


def test_what_differs_around_the_measurement_is_listed() -> None:
    found = compare(
        [
            measure(
                1, mpi={"library": "MPICH 4"}, options={"repeats": 10}, notes={"launcher": "srun"}
            )
        ],
        [
            measure(
                1, mpi={"library": "MPICH 5"}, options={"repeats": 20}, notes={"launcher": "flux"}
            )
        ],
    )
    assert {(d["what"], d["before"], d["after"]) for d in found.differences} == {
        ("mpi library", "MPICH 4", "MPICH 5"), ("option repeats", "10", "20"),
        ("launcher", "srun", "flux"),
    }  # fmt: skip


def test_one_repetition_a_side_gives_a_ratio_without_a_width() -> None:
    first, second = (run_of(noisy(EXACT * f, VARIABLES, 0, 1, 1, op="bcast")) for f in (1.0, 2.0))
    for point in compare([first], [second]).points:
        assert (point.low, point.ratio, point.high) == pytest.approx((2, 2, 2))


@pytest.mark.filterwarnings("error")
def test_equal_runs_are_compared_without_a_word_on_stderr() -> None:
    """The runs of a side whose clock is coarse may have the same median, to the last digit."""

    def runs(*factors: float) -> list[Run]:
        return [run_of(noisy(EXACT * f, VARIABLES, 0, 5, 1, op="bcast")) for f in factors]

    assert all(point.p == 1 for point in compare(runs(1, 1), runs(1, 1)).points)
    assert all(point.verdict == "slower" for point in compare(runs(1, 1), runs(2, 2)).points)
    assert all(
        point.verdict == "slower" for point in compare(runs(1, 1, 1), runs(2, 2, 2.01)).points
    )


def test_the_interval_of_one_run_is_a_bootstrap_of_its_repetitions() -> None:
    """Drawn again here by hand: the ends agree within the sampling error of 1,000 draws."""
    dice = np.random.default_rng(3)
    runs = [measure(1), measure(2)]
    for point in compare(runs[:1], runs[1:]).points[:20]:
        medians = []
        for table in (run.tables["sample"] for run in runs):
            mine = (table["p"] == point.key["p"]) & (table["bytes"] == point.key["bytes"])
            medians.append(np.median(dice.choice(table["seconds"][mine], (9999, 10)), axis=1))
        low, high = np.quantile(medians[1] / medians[0], [0.025, 0.975])
        assert (point.low, point.high) == pytest.approx((low, high), abs=0.15 * (high - low))
