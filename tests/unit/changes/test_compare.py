"""Comparisons find what changed, call nothing else changed, and refuse unlike things."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.changes.compare import Comparison, compare
from isochrone.runfile.run import Rank, Run
from made_up.latency_maps import mmpi_example
from made_up.launches import SIZES, launches
from made_up.times import grid, noisy, run_of, times, truth

VARIABLES = grid("bcast-log")
EXACT = times(truth("bcast-log"), VARIABLES)
STEADY = (1.0, 1.01, 0.99, 1.0, 1.005)
"""What five launches of one command differ by."""


def measure(seed: int, factor: np.ndarray | float = 1.0, noise: float = 0.02, **header) -> Run:
    return run_of(noisy(EXACT * factor, VARIABLES, noise, 10, seed, op="bcast"), **header)


def side(seed: int, factor: np.ndarray | float = 1.0, runs: int = 5) -> list[Run]:
    return [measure(seed + k, factor * STEADY[k]) for k in range(runs)]


def words(found: Comparison) -> set[str]:
    return {point.verdict for point in found.points}


def test_one_start_a_side_proves_nothing_whatever_its_repetitions_say() -> None:
    """Two launches that differ by 10 % with hardly any scatter are not two machines."""
    for before, after in ((1, 1), (5, 1), (1, 5)):
        found = compare(side(0, runs=before), side(50, 1.1, runs=after))
        assert words(found) == {"not known"}
        assert found.one_launch
        assert not found.parts
        (low, high, p) = {(d.low, d.high, d.p) for d in (x.difference for x in found.points)}.pop()
        assert (low, high, p) == (None, None, None)
        assert found.points[0].ratio == pytest.approx(1.1, rel=0.05)


@pytest.mark.parametrize(("factor", "verdict"), [(9.0, "not known"), (12.0, "slower")])
def test_what_is_further_apart_than_launches_ever_are_is_a_verdict(
    factor: float, verdict: str
) -> None:
    """Launches of one command differed up to 3.2 times in published series; 10 is its square."""
    found = compare(side(0, runs=1), side(50, factor, runs=1))
    assert words(found) == {verdict}
    assert words(compare(side(0, factor, runs=1), side(50, runs=1))) == {
        {"slower": "faster"}.get(verdict, verdict)
    }


def test_same_is_proved_and_rarely_said_of_what_is_not() -> None:
    """Twice the margin is called the same in at most 2.5 % of points, and equal times often are."""
    dice = np.random.default_rng(4)
    said = {1.0: 0, 1.1: 0}
    for factor in said:
        for _ in range(40):
            sides = [launches(5, dice, factor=f, between=0.01, within=0.02) for f in (1.0, factor)]
            said[factor] += sum(p.verdict == "same" for p in compare(*sides).points)
    assert said[1.0] / (40 * len(SIZES)) > 0.5
    assert said[1.1] / (40 * len(SIZES)) < 0.025


def test_the_interval_of_the_ratio_covers_the_truth_of_the_machine() -> None:
    """That of new launches, not of more repetitions of these."""
    dice, inside = np.random.default_rng(8), []
    for _ in range(60):
        sides = [launches(5, dice, factor=f, between=0.1) for f in (1.0, 1.2)]
        inside += [p.difference.low <= 1.2 <= p.difference.high for p in compare(*sides).points]
    assert 0.92 <= np.mean(inside) <= 0.99


def test_what_became_slower_is_found_and_nothing_else() -> None:
    factor = np.ones(80)
    factor[5:9] = 1.2
    factor[20] = 0.8
    found = compare(side(1), side(100, factor))
    changed = [point for point in found.points if point.verdict in ("slower", "faster")]
    assert len(changed) == 5
    for point in changed:
        k = int(
            np.flatnonzero(
                (VARIABLES["p"] == point.key["p"]) & (VARIABLES["b"] == point.key["bytes"])
            )[0]
        )
        assert point.verdict == ("slower" if factor[k] > 1 else "faster")
        assert point.ratio == pytest.approx(factor[k], rel=0.03)
        assert point.difference.low < point.ratio < point.difference.high
    assert {part.of for part in found.parts} == {1}


def test_what_changed_alike_is_one_part_and_the_largest_explains_it() -> None:
    (part,) = compare(side(1), side(100, 1.3)).parts
    assert (part.kind, part.who, len(part.points)) == ("all", "all 80 points", 80)
    assert part.difference.ratio == pytest.approx(1.3, rel=0.02)


def test_a_curve_that_changed_is_named() -> None:
    factor = np.ones(80)
    factor[VARIABLES["p"] == 8] = 1.3
    factor[(VARIABLES["p"] == 24) & (VARIABLES["b"] == 10240)] = 2.0
    header = {"kind": "sweep", "by": ["op", "p"]}
    before = [measure(k, STEADY[k], **header) for k in range(5)]
    after = [measure(20 + k, factor * STEADY[k], **header) for k in range(5)]
    curve, point = compare(before, after).parts
    assert (curve.kind, curve.who, curve.of) == ("curve", "op bcast, p 8", 10)
    assert point.of == 1
    assert point.difference.ratio == pytest.approx(2, rel=0.03)


def test_simulated_times_know_no_chance() -> None:
    clock = {"clock": {"simulated": True}}
    runs = [measure(1, 1.0, 0, **clock), measure(1, 1.001, 0, **clock)]
    assert words(compare(runs[:1], runs[1:])) == {"slower"}
    assert words(compare(runs[:1], runs[:1])) == {"same"}
    assert words(compare(runs[:1], runs[1:], margin=0.05)) == {"same"}


def test_made_up_times_are_certain_only_without_noise() -> None:
    for noise, expected in ((0, "slower"), (0.1, "not known")):
        made_up = {"made_up": True, "options": {"noise": noise}}
        runs = [measure(1, 1.0, 0, **made_up), measure(1, 1.2, 0, **made_up)]
        assert words(compare(runs[:1], runs[1:])) == {expected}


def test_one_start_may_be_taken_as_it_is_if_the_user_insists() -> None:
    found = compare([measure(1)], [measure(2, 1.2)], as_they_are=True)
    assert words(found) == {"slower"}
    assert found.unit == "start"
    assert compare(side(1), side(9, 1.2), as_they_are=True).unit == "launch"


def test_unlike_things_are_refused(golden: Golden) -> None:
    one = measure(1)
    with golden.refusal():
        compare([one], [mmpi_example()])
    with golden.refusal():
        compare([one], [measure(1, ranks=32)])
    with golden.refusal():
        compare([one], [measure(1, seconds_are="half a round trip")])
    with golden.refusal():
        compare([measure(1, options={"sync": "barrier"})], [measure(1, options={"sync": "window"})])


def test_what_both_sides_have_is_compared_and_the_rest_is_named(golden: Golden) -> None:
    one, other = measure(1), measure(1)
    table = other.tables["sample"]
    table.columns["bytes"] = table["bytes"] + (table["bytes"] == 10240)
    found = compare([one], [other])
    assert len(found.points) == 72
    (note,) = found.notes
    golden(note)
    table.columns["bytes"] = table["bytes"] + 1_000_000
    with golden.refusal():
        compare([one], [other])


def test_times_that_are_none_are_refused(golden: Golden) -> None:
    for bad in (np.nan, -1.0):
        other = measure(1)
        other.tables["sample"]["seconds"][3] = bad
        with golden.refusal():
            compare([measure(1)], [other])
    listed = measure(1)
    listed.path = Path("listed.jsonl")
    sizes = np.empty(len(listed.tables["sample"]), dtype=object)
    sizes[:] = [[1]] * len(sizes)
    listed.tables["sample"].columns["bytes"] = sizes
    with pytest.raises(InputError) as error:
        compare([listed], [listed])
    golden(error.value)
    assert error.value.where == "listed.jsonl"
    empty = Run(header={"experiment": "collective", "ranks": 64})
    with golden.refusal():
        compare([empty], [empty])


def test_what_differs_around_the_measurement_is_listed() -> None:
    before = {"options": {"repeats": 10}, "notes": {"launcher": "srun", "launch": "1/2"}}
    after = {"options": {"repeats": 20}, "notes": {"launcher": "flux", "launch": "2/2"}}
    found = compare(
        [measure(1, mpi={"library": "MPICH 4"}, **before)],
        [measure(1, mpi={"library": "MPICH 5"}, **after)],
    )
    assert {(d["what"], d["before"], d["after"]) for d in found.differences} == {
        ("mpi library", "MPICH 4", "MPICH 5"),
        ("option repeats", "10", "20"),
        ("launcher", "srun", "flux"),
    }


@pytest.mark.filterwarnings("error")
def test_equal_runs_are_compared_without_a_word_on_stderr() -> None:
    """The runs of a side whose clock is coarse may have the same median, to the last digit."""

    def runs(*factors: float) -> list[Run]:
        return [run_of(noisy(EXACT * f, VARIABLES, 0, 5, 1, op="bcast")) for f in factors]

    assert words(compare(runs(1), runs(1))) == {"not known"}
    assert words(compare(runs(1, 1), runs(1, 1))) == {"same"}
    assert words(compare(runs(1, 1), runs(2, 2))) == {"slower"}
    assert words(compare(runs(1, 1, 1), runs(2, 2, 2.01))) == {"slower"}


def test_launches_whose_ranks_shared_a_processor_are_left_out() -> None:
    """Unless there were too few processors, or a side would have no launches."""

    def crowded(runs: list[Run], *which: int, warnings: bool = False) -> list[Run]:
        for k in which:
            runs[k].ranks = [Rank(rank, "n", 0, cpu=3) for rank in range(2)]
            runs[k].warnings = [{"code": "oversubscribed", "text": ""}] if warnings else []
        return runs

    good = side(0)
    for bad, launches_of, said in (
        (crowded(side(50), 0, 3), (5, 3), 1),
        (crowded(side(50), 0, 3, warnings=True), (5, 5), 0),
        (crowded(side(50), *range(5)), (5, 5), 1),
    ):
        found = compare(good, bad)
        assert found.launches == launches_of
        assert len(found.notes) == len(compare(good, side(50)).notes) + said
