"""Starts of a job differ, and the median of the next one is where it is said to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone import models
from isochrone.models.data.load import joined
from isochrone.models.data.starts import compare_starts
from made_up.launches import launches
from made_up.times import grid, noisy, times, truth


def test_what_repetitions_explain_is_no_difference_between_starts() -> None:
    """Starts that differ by chance alone: hardly any is left beside the noise of their medians."""
    dice = np.random.default_rng(4)
    found = []
    for _ in range(30):
        runs = launches(4, dice, between=0, within=0.1, rho=0, repeats=20)
        (points,) = joined([models.of_run(run) for run in runs]).observations()
        found.append(points.starts.between)
    assert np.median(found) < 0.015


def test_a_disturbed_point_of_one_start_is_not_the_difference_of_all() -> None:
    dice = np.random.default_rng(5)
    runs = launches(5, dice, between=0.02, within=0.01)
    table = runs[2].tables["sample"]
    seconds = table["seconds"]
    seconds[table["bytes"] == table["bytes"].max()] *= 5
    (points,) = joined([models.of_run(run) for run in runs]).observations()
    assert points.starts.between is not None
    assert points.starts.between < 0.06


def test_starts_of_each_number_of_ranks_are_compared_among_themselves() -> None:
    """Three starts on each number of ranks: none has points in common with those of another."""
    variables, segment = grid("gather"), truth("gather")
    exact, parts = times(segment, variables), []
    dice = np.random.default_rng(6)
    for p in np.unique(variables["p"]):
        mine = variables["p"] == p
        own = {name: values[mine] for name, values in variables.items()}
        parts += [noisy(exact[mine] * dice.lognormal(0, 0.1), own, 0.01, 5, k) for k in range(3)]
    (points,) = joined(parts).observations()
    assert points.starts.launches == 3
    assert points.starts.between == pytest.approx(0.1, rel=0.4)


def test_a_model_file_keeps_how_far_starts_differ(tmp_path: Path) -> None:
    model = models.fit(launches(3, np.random.default_rng(9)), "hockney")
    models.write(model, tmp_path / "m.json")
    again = models.read(tmp_path / "m.json")
    assert again == model
    assert again.segments[0].starts is not None
    assert again.segments[0].starts.launches == 3
    asked = {"b": [8, 1 << 20]}
    assert again.predict(asked).high.tolist() == model.predict(asked).high.tolist()


def test_one_start_says_nothing_of_others() -> None:
    (points,) = models.of_run(launches(1, np.random.default_rng(7))[0]).observations()
    assert points.starts.between is None
    assert points.starts.launches == 1
    assert points.starts.next_start() == 0


def test_times_without_chance_have_no_difference() -> None:
    variables, segment = grid("gather"), truth("gather")
    parts = [noisy(times(segment, variables), variables, 0, 2, k) for k in range(3)]
    (points,) = joined(parts).observations()
    assert points.starts.between == 0
    assert points.seconds == pytest.approx(times(segment, variables))


def csv(folder: Path, column: str, *, repeats: int) -> Path:
    path = folder / "times.csv"
    dice = np.random.default_rng(8)
    rows = []
    for start in ("a", "b", "c"):
        factor = dice.lognormal(0, 0.1)
        for b in (8, 64, 512, 4096, 32768):
            rows += [f"{start},{b},{1e-6 * factor * dice.lognormal(0, 0.01)}"] * repeats
    path.write_text(f"{column},b,seconds\n" + "\n".join(rows) + "\n")
    return path


def test_a_column_launch_tells_the_starts_of_a_table_apart(tmp_path: Path) -> None:
    for column in ("launch", "run"):
        (points,) = models.load([csv(tmp_path, column, repeats=3)]).observations()
        assert points.starts.launches == 3
        assert points.starts.between is not None
        assert points.starts.between > 0.02


def test_a_column_run_that_numbers_repetitions_is_no_start(tmp_path: Path) -> None:
    (points,) = models.load([csv(tmp_path, "run", repeats=1)]).observations()
    assert points.starts.launches == 1
    (points,) = models.load([csv(tmp_path, "launch", repeats=1)]).observations()
    assert points.starts.launches == 3


def test_the_spread_between_starts_is_that_of_a_known_law() -> None:
    """Starts that differ by 10 % in all points, and points of a start by another 3 %."""
    dice = np.random.default_rng(5)
    point, start = (side.ravel() for side in np.meshgrid(np.arange(8), np.arange(400)))
    logs = 0.1 * dice.standard_normal(400)[start] + 0.03 * dice.standard_normal(len(start))
    found = compare_starts(logs, point, start, np.zeros(len(start)))
    assert found.between == pytest.approx(np.hypot(0.1, 0.03), rel=0.05)
    assert found.freedom == pytest.approx(400, rel=0.2)
