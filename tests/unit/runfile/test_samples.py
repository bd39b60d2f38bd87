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

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.stats import median_interval
from isochrone.base.table import Table
from isochrone.cli.main import main
from isochrone.formats.exporters import csv as csv_exporter
from isochrone.results.comparison.compare import compare
from isochrone.results.sweep.curves import curves
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counting, points, summarise
from isochrone.views.sweeps import collect
from made_up.sweeps import run_of, table_of

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
        {"j": 1, "bytes": 64}, {"j": 1, "bytes": 8}, {"j": 2, "bytes": 8},
    ]  # fmt: skip
    assert [rows.tolist() for rows in found.values()] == [[0, 2], [1], [3]]


def test_a_record_whose_identity_is_a_list_is_refused() -> None:
    with pytest.raises(InputError, match="'op' is a list"):
        points(of({"op": ["bcast"]}, {"op": "bcast"}), ("op", "bytes"))


def test_a_sample_that_stands_for_many_is_counted_as_many() -> None:
    times = summarise(of({"n": 100, "min": 5e-7, "max": 9e-6, "mean": 2e-6}), np.array([0]))
    assert (times.n, times.min, times.max, times.mean, times.median) == (
        100, 5e-7, 9e-6, 2e-6, 1e-6,
    )  # fmt: skip


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
    reader: Callable[..., dict[int, float]], run: Run, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """A size that was measured again had one median in `show` and another one in `fit`."""
    assert reader(run, tmp_path, capsys) == pytest.approx(truth(run), rel=1e-12)
