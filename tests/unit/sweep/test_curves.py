"""A sweep summarised: what each number of a curve is, and that damaged samples are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.base.inference import median_interval
from isochrone.runfile import file as runs
from isochrone.runfile.rules import check
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, curves, is_sweep
from isochrone.sweep.stragglers import late, participants
from made_up.grids import grid_run
from made_up.latency_maps import mmpi_example
from made_up.sweeps import at_once, bisection, collective, line, point_to_point, table_of


def of(rows: list[dict[str, Any]], experiment: str = "point-to-point", **options: Any) -> Run:
    header = {"experiment": experiment, "ranks": 4, "options": options}
    return Run(header=header, tables={"sample": table_of(rows)})


def test_a_point_holds_median_interval_extremes_and_mean() -> None:
    """The numbers of a point are those of its repetitions and of no other size or pair."""
    seconds = [3e-6, 1e-6, 2e-6, 9e-6, 2.5e-6, 2.2e-6, 2.1e-6]
    rows = [
        {"i": 0, "j": 3, "bytes": 1000, "repeat": k, "seconds": s} for k, s in enumerate(seconds)
    ]
    other = [
        {"i": 0, "j": 3, "bytes": 8, "repeat": 0, "seconds": 1e-7},
        {"i": 1, "j": 2, "bytes": 1000, "repeat": 0, "seconds": 5.0},
    ]
    first, second = curves(of(rows + other))
    assert (first.key, second.key) == ({"pair": [0, 3]}, {"pair": [1, 2]})
    assert first.bytes.tolist() == [8, 1000]
    point = first.points[1]
    assert (point.n, point.median, point.min, point.max) == (7, 2.2e-6, 1e-6, 9e-6)
    assert (point.low, point.high) == median_interval(seconds)
    assert point.mean == pytest.approx(np.mean(seconds))
    assert point.bandwidth == pytest.approx(1000 / 2.2e-6)
    assert (point.bandwidth_low, point.bandwidth_high) == (1000 / point.high, 1000 / point.low)
    assert (point.message_rate, point.skew) == (None, None)


def test_bandwidth_counts_both_directions_of_an_exchange() -> None:
    run = point_to_point(line(1e-6, 1e9), sizes=(1000,), noise=0.0, mode="bidirectional")
    assert curves(run)[0].points[0].bandwidth == pytest.approx(2000 / 2e-6)


def test_a_window_has_a_message_rate() -> None:
    """Seconds are then those of one message: the rate is their inverse."""
    run = point_to_point(line(1e-6, 1e9), sizes=(0, 1000), noise=0.0, window=64)
    assert curves(run)[0].points[1].message_rate == pytest.approx(1 / 2e-6)


def test_bandwidth_of_a_bisection_is_the_median_of_its_rates() -> None:
    """Each pair has its own time, so the sum of their rates is not bytes over the slowest time."""
    run = bisection(9, sizes=(8192,))
    (curve,) = curves(run)
    assert (curve.key, curve.p) == ({"pairs": 4}, 9)
    rates = run.tables["sample"]["rate"]
    assert curve.points[0].bandwidth == pytest.approx(np.median(rates))
    assert (curve.points[0].bandwidth_low, curve.points[0].bandwidth_high) == median_interval(rates)
    assert curve.points[0].skew == pytest.approx(
        np.median([max(t) - min(t) for t in run.tables["sample"]["times"]])
    )


def test_a_collective_has_a_curve_an_operation_and_a_barrier_no_bandwidth() -> None:
    bcast, barrier = curves(collective(("bcast", "barrier")))
    assert (bcast.key, bcast.p) == ({"op": "bcast"}, 8)
    assert barrier.points[0].bandwidth is None
    assert bcast.points[0].bandwidth is not None


def test_what_was_measured_again_counts() -> None:
    """A size that did not fit its neighbours is taken from its second measurement alone."""
    rows = [{"i": 0, "j": 1, "bytes": 8, "repeat": k, "seconds": 9.0} for k in range(5)]
    rows += [{**row, "seconds": 1.0, "again": True} for row in rows]
    assert curves(of(rows))[0].points[0].median == 1.0
    assert curves(of(rows))[0].points[0].n == 5


def test_samples_that_stand_for_many_say_their_extremes_and_how_many() -> None:
    """Other programs write only a mean with extremes; they are not lost."""
    row = {
        "i": 0,
        "j": 1,
        "bytes": 8,
        "repeat": 0,
        "seconds": 2.0,
        "min": 1.0,
        "max": 7.0,
        "n": 1000,
    }
    point = curves(of([row]))[0].points[0]
    assert (point.min, point.max, point.n) == (1.0, 7.0, 1000)


def test_the_slowest_rank_and_pair_are_found() -> None:
    late = collective(("bcast",), late=5)
    found = participants(curves(late)[0])
    assert found[0].who == (5,)
    assert found[0].last == 1.0
    assert found[0].ratio == pytest.approx(1.5, rel=0.1)
    slow = bisection(8, slow=2)
    assert participants(curves(slow)[0])[0].who == (2, 6)
    assert participants(curves(point_to_point())[0]) == []


def test_it_survives_the_run_file(tmp_path: Path) -> None:
    """What is written and read again gives the same curves, times of all ranks included."""
    for run in (point_to_point(), bisection(), collective()):
        runs.write(run, tmp_path / "a.jsonl", overwrite=True)
        again = runs.read(tmp_path / "a.jsonl")
        assert plain(curves(again)) == plain(curves(run))


def test_json_holds_only_what_is_known() -> None:
    document = plain(curves(point_to_point(sizes=(8,)))[0])
    assert set(document) == {"pair", "p", "points"}
    assert set(document["points"][0]) == {
        "bytes",
        "n",
        "passes",
        "median",
        "low",
        "high",
        "min",
        "mean",
        "max",
        "bandwidth",
        "bandwidth_low",
        "bandwidth_high",
        "stddev",
        "p95",
        "p95_low",
        "p95_high",
        "p99",
        "p99_low",
        "p99_high",
    }
    assert isinstance(curves(collective())[0], Curve)


GOOD = {"i": 0, "j": 1, "bytes": 8, "repeat": 0, "seconds": 1e-6}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"seconds": -1.0}, "'seconds' is out of range"),
        ({"seconds": 1e12}, "'seconds' is out of range"),
        ({"seconds": "fast"}, r"'seconds' of a '\w+' record is not a number"),
        ({"seconds": None}, "'seconds' is out of range"),
        ({"bytes": 1.5}, r"'bytes' of a '\w+' record is not a whole number"),
        ({"bytes": True}, r"'bytes' of a '\w+' record is not a whole number"),
        ({"j": 4}, "'j' is out of range"),
        ({"i": [0]}, r"'i' of a '\w+' record is not a whole number"),
    ],
)
def test_damaged_samples_are_refused_in_one_line(change: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        check(of([{**GOOD, **change}, *([GOOD] if change == {"seconds": None} else [])]))


def test_a_run_that_is_no_sweep_or_empty_is_refused(golden: Golden) -> None:
    assert not is_sweep(mmpi_example())
    with golden.refusal():
        curves(mmpi_example())
    with pytest.raises(InputError, match="no samples"):
        curves(of([]))
    with pytest.raises(InputError, match="no 'op'"):
        check(of([GOOD | {"p": 2}], "collective"))
    with golden.refusal():
        check(of([GOOD | {"p": 2, "op": None}], "collective"))


@pytest.mark.parametrize("times", ["x", [1.0], [1.0, "a"], None, [1.0, -2.0]])
def test_damaged_times_of_ranks_are_left_out(times: Any) -> None:
    """The time of the operation is still known."""
    rows = [
        {"op": "bcast", "p": 2, "bytes": 8, "seconds": 2.0, "times": t} for t in ([1.0, 2.0], times)
    ]
    (curve,) = curves(of(rows, "collective"))
    assert curve.points[0].skew is None
    assert curve.points[0].median == 2.0


def test_curves_of_grids_are_called_what_they_are() -> None:
    found = {curve.name: curve.whole for curve in curves(grid_run(sizes=(1024,)))}
    assert found == {
        "allgather, library": True,
        "allgather, 4x4": True,
        "allgather, 4x4, LG alone": False,
        "allgather, 4x4, LG 4 at once": False,
        "allgather, 4x4, CG alone": False,
        "allgather, 4x4, CG 4 at once": False,
    }


@pytest.mark.parametrize("groups", ["many", -1, 1.5, 1e9])
def test_a_damaged_number_of_groups_is_refused(groups: object) -> None:
    run = grid_run(sizes=(1024,))
    columns = run.tables["sample"].columns
    columns["groups"] = np.array([groups] * len(columns["op"]))
    with pytest.raises(InputError, match="groups"):
        check(run)


@pytest.mark.parametrize("name", ["pairs", "threads"])
def test_efficiency_compares_with_one_stream_and_has_an_interval(name: str) -> None:
    """Streams that share a link have 1/n of its rate each, whatever the streams are."""
    for curve in curves(at_once(name, (1, 2, 4))):
        (point,) = curve.points
        assert point.message_rate == pytest.approx(1e6, rel=0.01)
        if curve.streams == 1:
            assert point.efficiency is None
            continue
        expected = 1 / curve.streams
        assert point.efficiency == pytest.approx(expected, rel=0.01)
        assert point.scaling is not None
        value, low, high = (part or 0.0 for part in point.scaling)
        assert 0.97 * expected < low <= value <= high < 1.03 * expected


def test_efficiency_is_not_known_without_a_curve_of_one_stream() -> None:
    assert [c.points[0].efficiency for c in curves(at_once("pairs", (2, 4)))] == [None, None]


def test_names_say_how_many_pairs_and_threads() -> None:
    for number, curve in enumerate(curves(at_once("pairs", (1, 2))), 1):
        assert curve.name.split()[0] == str(number)
    for number, curve in enumerate(curves(at_once("threads", (1, 2))), 1):
        assert str(number) in curve.name.split()


def test_threads_are_no_stragglers() -> None:
    """Those of a rank share the library; which of them is later says nothing of the machine."""
    run = at_once("threads", (8,))
    for times in run.tables["sample"]["times"]:
        times[3] *= 5
    assert late(curves(run)[0], run.hosts) == []
