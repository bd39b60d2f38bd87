"""Which samples count: one rule, and all readers keep to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from isochrone import models
from isochrone.base.inference import median_interval
from isochrone.base.table import Table
from isochrone.base.units import format_seconds
from isochrone.changes.compare import compare
from isochrone.cli.main import main
from isochrone.formats.exporters import csv as csv_exporter
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from isochrone.runfile.samples import SPREAD, Times, counting, points, summarise, times_of
from isochrone.sweep.curves import curves
from isochrone.sweep.figures._sweeps import collect
from made_up.sweeps import point_to_point, run_of, table_of

Rows = list[dict[str, Any]]


def of(*rows: dict[str, Any]) -> Table:
    return table_of([{"i": 0, "j": 1, "bytes": 8, "seconds": 1e-6, **row} for row in rows])


def test_all_records_count_unless_something_is_wrong_with_them() -> None:
    table = of({}, {"bytes": 64}, {})
    assert counting(table, ("i", "j", "bytes")).tolist() == [True, True, True]


@pytest.mark.parametrize("mark", ["void", "warmup"])
def test_what_is_void_or_a_warm_up_never_counts(mark: str) -> None:
    table = of({}, {mark: True}, {})
    assert counting(table, ("i", "j", "bytes")).tolist() == [True, False, True]


@pytest.mark.parametrize("mark", ["again", "retest"])
def test_a_second_measurement_of_a_point_replaces_the_first_of_that_point_only(mark: str) -> None:
    table = of({}, {"bytes": 64}, {mark: True}, {"bytes": 64, "i": 2, "j": 3})
    assert counting(table, ("i", "j", "bytes")).tolist() == [False, True, True, True]


def test_a_second_measurement_that_is_void_replaces_nothing() -> None:
    table = of({}, {"again": True, "void": True})
    assert counting(table, ("i", "j", "bytes")).tolist() == [True, False]


def test_of_several_retests_of_a_pair_the_middle_one_counts_and_of_two_the_faster() -> None:
    """One disturbed reading neither names a pair nor acquits it."""
    retests = [{"median": m, "retest": True} for m in (5e-6, 1e-6, 2e-6)]
    table = of({"median": 9e-6}, *retests, {"median": 4e-6, "j": 2})
    assert counting(table, ("i", "j", "bytes")).tolist() == [False, False, False, True, True]
    table = of({"median": 9e-6}, *retests[:2])
    assert counting(table, ("i", "j", "bytes")).tolist() == [False, False, True]


def test_points_and_their_rows_come_in_the_order_of_the_file() -> None:
    table = of({"bytes": 64}, {"bytes": 8}, {"bytes": 64}, {"bytes": 8, "j": 2})
    found = points(table, ("j", "bytes"))
    assert [dict(key) for key in found] == [
        {"j": 1, "bytes": 64},
        {"j": 1, "bytes": 8},
        {"j": 2, "bytes": 8},
    ]
    assert [rows.tolist() for rows in found.values()] == [[0, 2], [1], [3]]


def test_a_record_whose_identity_is_a_list_is_refused(golden: Golden) -> None:
    with golden.refusal():
        points(of({"op": ["bcast"]}, {"op": "bcast"}), ("op", "bytes"))


def test_a_sample_that_stands_for_many_is_counted_as_many() -> None:
    times = summarise(of({"n": 100, "min": 5e-7, "max": 9e-6, "mean": 2e-6}), np.array([0]))
    assert (times.n, times.min, times.max, times.mean, times.median) == (
        100,
        5e-7,
        9e-6,
        2e-6,
        1e-6,
    )


def in_passes(passes: int) -> Times:
    rows = [
        {"seconds": (1 + k + j / 10) * 1e-6, "pass": k} for k in range(passes) for j in range(3)
    ]
    return summarise(of(*rows), np.arange(3 * passes))


def test_the_interval_rests_on_the_medians_of_the_passes() -> None:
    """Repetitions of a pass are alike; ten passes count as ten values, and not as thirty."""
    times = in_passes(10)
    assert (times.n, times.passes) == (30, 10)
    assert (times.low, times.high) == pytest.approx((2.1e-6, 9.1e-6))


def test_too_few_passes_leave_the_interval_to_the_repetitions() -> None:
    times = in_passes(5)
    assert times.passes == 0
    assert (times.low, times.high) == median_interval(
        [(1 + k + j / 10) * 1e-6 for k in range(5) for j in range(3)]
    )


def test_records_that_do_not_say_their_pass_are_summarised_by_repetitions() -> None:
    rows = [{"seconds": k * 1e-6} for k in range(1, 31)]
    assert summarise(of(*rows), np.arange(30)).passes == 0


SIZES = (8, 512, 4096)


@st.composite
def sweeps(draw: st.DrawFn) -> Run:
    """Make a sweep of one pair in which some sizes were measured again, or have void samples."""
    rows: Rows = []
    again = draw(st.sets(st.sampled_from(SIZES)))
    for nbytes in SIZES:
        for repeat in range(draw(st.integers(3, 7))):
            seconds = draw(st.integers(1, 9999)) * 1e-8
            void = repeat > 1 and draw(st.booleans())
            rows.append({"bytes": nbytes, "repeat": repeat, "seconds": seconds, "void": void})
        for _ in range(draw(st.integers(1, 5)) if nbytes in again else 0):
            seconds = draw(st.integers(1, 9999)) * 1e-8
            rows.append({"bytes": nbytes, "repeat": 9, "seconds": seconds, "again": True})
    rows = draw(st.permutations(rows))
    records = {"sample": [{"i": 0, "j": 1, **row} for row in rows]}
    return run_of("point-to-point", 2, 2, records, {"mode": "blocking"}, "half a round trip")


def truth(run: Run) -> dict[int, float]:
    """Say by hand what the median of each size is."""
    found = {}
    for nbytes in SIZES:
        own = [row for row in run.tables["sample"].rows() if row["bytes"] == nbytes]
        own = [row for row in own if not row.get("void")]
        again = [row for row in own if row.get("again")]
        found[nbytes] = float(np.median([row["seconds"] for row in again or own]))
    return found


def shown(run: Run, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[int, float]:
    path = folder / "shown.jsonl"
    runs.write(run, path, overwrite=True)
    assert main(["show", str(path), "--json"]) == 0
    (curve,) = json.loads(capsys.readouterr().out)["curves"]
    return {point["bytes"]: point["median"] for point in curve["points"]}


def fitted(run: Run, *_: object) -> dict[int, float]:
    (group,) = models.of_run(run).observations()
    return dict(zip(group.variables["b"].astype(int).tolist(), group.seconds.tolist(), strict=True))


def compared(run: Run, *_: object) -> dict[int, float]:
    return {point.key["bytes"]: point.before for point in compare([run], [run]).points}


def drawn(run: Run, *_: object) -> dict[int, float]:
    ((_, curve),) = collect([run])
    return dict(zip(curve.bytes.tolist(), curve.column("median").tolist(), strict=True))


def reported(run: Run, *_: object) -> dict[int, float]:
    (curve,) = curves(run)
    return {point.bytes: point.median for point in curve.points}


def exported(run: Run, folder: Path, *_: object) -> dict[int, float]:
    path = folder / "exported.csv"
    csv_exporter.write(run, path)
    (group,) = models.load([path]).observations()
    return dict(zip(group.variables["b"].astype(int).tolist(), group.seconds.tolist(), strict=True))


@pytest.mark.parametrize("reader", [shown, fitted, compared, drawn, reported, exported])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(run=sweeps())
def test_all_readers_give_the_same_median_for_the_same_point(
    reader: Callable[..., dict[int, float]],
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A size that was measured again had one median in `show` and another one in `fit`."""
    assert reader(run, tmp_path, capsys) == pytest.approx(truth(run), rel=1e-12)


@pytest.mark.parametrize(
    ("n", "known"),
    [
        (1, ()),
        (2, ("stddev",)),
        (19, ("stddev",)),
        (20, ("stddev", "p95")),
        (72, ("stddev", "p95", "p95_low", "p95_high")),
        (100, ("stddev", "p95", "p95_low", "p95_high", "p99")),
        (368, SPREAD),
    ],
)
def test_how_repetitions_are_spread_is_said_from_enough_of_them_on(
    n: int, known: tuple[str, ...]
) -> None:
    """Of fewer none is expected beyond a percentile, or its interval cannot be one at 95 %."""
    seconds = np.random.default_rng(n).lognormal(-12, 0.3, n)
    times = times_of(seconds)
    assert {name for name in SPREAD if getattr(times, name) is not None} == set(known)
    if "stddev" in known:
        assert times.stddev == pytest.approx(seconds.std(ddof=1))
    for name, part in (("p95", 95), ("p99", 99)):
        if name in known:
            assert getattr(times, name) == pytest.approx(np.percentile(seconds, part))
        if f"{name}_low" in known:
            assert getattr(times, f"{name}_low") <= getattr(times, name)
            assert getattr(times, name) <= getattr(times, f"{name}_high") <= times.max


def test_the_spread_of_summaries_is_not_known() -> None:
    """A mean of 100 repetitions is none of them, and 30 such means are no distribution."""
    table = of(*({"n": 100, "mean": 1e-6} for _ in range(30)))
    times = summarise(table, np.arange(30))
    assert {getattr(times, name) for name in SPREAD} == {None}
    alike = summarise(of(*({} for _ in range(30))), np.arange(30))
    assert (alike.stddev, alike.p95) == (0.0, 1e-6)


def test_show_json_and_csv_say_the_same_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One place decides it; where it is not known, a script gets null, an empty cell, and –."""
    run = point_to_point(sizes=(8,), repeats=40)
    runs.write(run, tmp_path / "a.jsonl")
    assert main(["show", str(tmp_path / "a.jsonl"), "--json"]) == 0
    (point,) = json.loads(capsys.readouterr().out)["curves"][0]["points"]
    assert point["p99"] is None
    csv_exporter.write(run, tmp_path / "a.csv")
    header, *rows = (tmp_path / "a.csv").read_text("utf-8").splitlines()
    assert len(rows) == 40
    for row in rows:
        cells = dict(zip(header.split(","), row.split(","), strict=True))
        assert float(cells["stddev"]) == point["stddev"]
        assert float(cells["p95"]) == point["p95"]
        assert cells["p99"] == ""
    assert main(["show", str(tmp_path / "a.jsonl")]) == 0
    table = capsys.readouterr().out.splitlines()
    (titles,) = [line.split() for line in table if "stddev" in line]
    assert "p95" in titles
    assert "p99" not in titles  # of no size
    (line,) = [line for line in table if line.split()[:2] == ["8", "B"]]
    assert format_seconds(point["p95"]) in line
