"""What makes measured times doubtful is said with the model that is fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models.data.quality import noise_behind, unused
from isochrone.models.data.tables import of_table
from made_up.launches import launches
from made_up.sweeps import collective, point_to_point

SIZES = (8, 64, 512, 4096, 32768, 262144)


def table(
    folder: Path,
    columns: str,
    values: Sequence[tuple[str, float]],
    *,
    repeats: int = 5,
    noise: float = 0.02,
    more: str = "",
) -> Path:
    """Write a CSV: for each value of a column and its factor, gathers of some sizes and ranks."""
    dice = np.random.default_rng(1)
    rows = [
        f"{value},{p},{b},{factor * (5e-6 + p * b * 1e-9) * dice.lognormal(0, noise)}{more}"
        for _ in range(repeats)
        for value, factor in values
        for p in (2, 4, 8, 16)
        for b in SIZES
    ]
    path = folder / "times.csv"
    path.write_text(f"{columns}\n" + "\n".join(rows) + "\n")
    return path


def warnings_of(path: Path) -> list[str]:
    return models.fit(path, "gather", splits=models.parse_splits(["none"])).warnings


@pytest.mark.parametrize("repeats", [1, 2, 3, 10])
def test_merged_rows_that_differ_two_times_are_said_so(
    tmp_path: Path, repeats: int, golden: Golden
) -> None:
    """They were one formula with R² 1.000000."""
    path = table(tmp_path, "algorithm,p,b,seconds", [("ring", 2.0), ("tree", 1.0)], repeats=repeats)
    (said, *_) = warnings_of(path)
    golden(said)
    ratio = float(said.split(" differ ")[1].split("x")[0])
    assert ratio == pytest.approx(2, rel=0.05)
    assert "--op" in said


def test_a_column_that_makes_no_difference_is_named(tmp_path: Path, golden: Golden) -> None:
    path = table(tmp_path, "host,p,b,seconds", [("n1", 1.0), ("n2", 1.0), ("n3", 1.0)])
    (said, *_) = warnings_of(path)
    golden(said)


def test_false_alarms_of_columns_without_a_difference_are_rare() -> None:
    """In at most 1 of 100 tables, for few and many values and repetitions."""
    dice = np.random.default_rng(2)
    for values, repeats in ((2, 1), (2, 2), (2, 3), (2, 10), (8, 1), (8, 3), (20, 2)):
        wrong = 0
        for _ in range(100):
            point = np.repeat(np.arange(20), values * repeats)
            column = np.tile(np.arange(values), 20 * repeats).astype(str)
            seconds = dice.lognormal(point % 5, 0.3)
            (found,) = unused({"host": column}, point, seconds)
            wrong += found.ratio > 1
        assert wrong <= 1, (values, repeats)


def test_a_column_that_follows_from_the_variables_merges_nothing(
    tmp_path: Path, golden: Golden
) -> None:
    path = tmp_path / "times.csv"
    rows = [f"{'small' if b < 1000 else 'large'},{b},{1e-6 + b * 1e-9}" for b in SIZES]
    path.write_text("size_class,b,seconds\n" + "\n".join(rows) + "\n")
    said = models.fit(path, "hockney").warnings[0]
    golden(said)


@pytest.mark.parametrize("column", ["repeat", "pass", "rate"])
def test_columns_that_number_repetitions_are_not_named(tmp_path: Path, column: str) -> None:
    path = table(tmp_path, f"{column},p,b,seconds", [(str(k), 1.0) for k in range(8)], repeats=1)
    assert not any("not used" in warning for warning in warnings_of(path))


def test_a_constant_column_is_not_named(tmp_path: Path) -> None:
    path = table(tmp_path, "host,p,b,seconds", [("n1", 1.0)])
    assert not any("host" in warning for warning in warnings_of(path))


def test_times_of_several_pairs_are_told_apart_only_if_they_differ(golden: Golden) -> None:
    """Pairs within a node and between nodes are one formula, and so are two that are alike."""
    near = point_to_point(pairs=((0, 1), (0, 2)))
    assert not any("pair" in warning for warning in models.fit(near, "hockney").warnings)
    far = point_to_point(pairs=((0, 1), (0, 2)))
    sample = far.tables["sample"]
    sample["seconds"][sample["j"] == 2] *= 3
    golden(models.fit(far, "hockney").warnings)


def test_runs_of_two_libraries_are_said_to_be_two(golden: Golden) -> None:
    runs = [collective(("bcast",), 8), collective(("bcast",), 8)]
    runs[1].header = {**runs[1].header, "mpi": {"library": "Open MPI v5.0.10", "standard": "3.1"}}
    runs[1].tables["sample"]["seconds"][:] *= 2
    said = models.fit(runs, "hockney").warnings
    golden(said)


def test_repetitions_in_two_groups_are_a_warning_with_place_and_distance(golden: Golden) -> None:
    run = point_to_point(repeats=20, noise=0.02)
    sample = run.tables["sample"]
    slow = (sample["bytes"] == 1024) & (sample["repeat"] % 5 > 1)
    sample["seconds"][slow] *= 2.5
    (said,) = [text for text in models.fit(run, "hockney").warnings if "two groups" in text]
    assert "at 1 of " in said
    assert " 2.54 (at most 2.54x at blocking, b = 1 KiB)" in said
    golden(said)
    assert not any(
        "two groups" in text for text in models.fit(point_to_point(), "hockney").warnings
    )


def test_starts_that_differ_are_not_two_groups() -> None:
    runs = launches(2, np.random.default_rng(3), between=0.5, within=0.02)
    assert not any("two groups" in text for text in models.fit(runs, "hockney").warnings)


def test_a_model_of_one_start_says_so(golden: Golden) -> None:
    runs = launches(3, np.random.default_rng(4))
    one = models.fit(runs[0], "hockney").warnings
    golden(one)
    assert not any("one start" in text for text in models.fit(runs, "hockney").warnings)


def test_simulated_times_are_the_same_in_every_start() -> None:
    (run,) = launches(1, np.random.default_rng(5), clock={"source": "s", "simulated": True})
    assert not any("one start" in text for text in models.fit(run, "hockney").warnings)


def test_a_single_launch_is_told_only_to_those_whose_data_have_launches(tmp_path: Path) -> None:
    """A table of others, or several, has none; with the column there is one of each point."""
    rows = [(p, b, f"{5e-6 + p * b * 1e-9}") for p in (2, 4, 8, 16) for b in SIZES]
    launch_warnings = {}
    for name, columns in (
        ("plain", "p,b,seconds"),
        ("again", "p,b,seconds"),
        ("with", "launch,p,b,seconds"),
    ):
        lines = [",".join(map(str, row if name != "with" else (row[0], *row))) for row in rows]
        (tmp_path / name).write_text("\n".join([columns, *lines]) + "\n")
    for names in (["plain"], ["plain", "again"], ["with"]):
        found = models.fit([tmp_path / name for name in names], "gather").warnings
        launch_warnings[len(names), names[0]] = sum("--launches" in text for text in found)
    assert launch_warnings == {(1, "plain"): 0, (2, "plain"): 0, (1, "with"): 1}


def noisy(ratio: float, repeats: int) -> dict[str, list[float]]:
    """Make times of five numbers of ranks, whose repetitions are ``ratio`` apart in turn."""
    return {
        "p": [float(p) for p in (2, 4, 8, 16, 32) for _ in range(repeats)],
        "b": [8.0] * (5 * repeats),
        "seconds": [p * 1e-6 * ratio ** (k % 2) for p in (2, 4, 8, 16, 32) for k in range(repeats)],
    }


@pytest.mark.parametrize(("errors", "explained"), [(2.4, True), (3.6, False)])
def test_an_error_of_up_to_three_standard_errors_may_be_noise(
    errors: float, explained: bool
) -> None:
    """Two repetitions that differ e times: their deviation is √2/2 · 1.4826, and that of a median
    1.2533/√2 of it.
    """
    error = 1.4826 * 0.5 * np.sqrt(2) * 1.2533 / np.sqrt(2)
    found = noise_behind(of_table(noisy(float(np.e), 2)), float(np.expm1(errors * error)))
    assert bool(found) == explained


def test_times_without_repetitions_have_no_known_noise() -> None:
    assert not noise_behind(of_table(noisy(1.0, 1)), 0.01)


def test_a_few_outliers_are_not_the_noise() -> None:
    """One of ten repetitions takes 28 times as long: the medians do not see it."""
    data = noisy(1.001, 10)
    data["seconds"][::10] = [28 * seconds for seconds in data["seconds"][::10]]
    assert not noise_behind(of_table(data), 0.6)


def test_where_repetitions_differ_widely_they_are_the_problem(golden: Golden) -> None:
    """Repetitions of one point differ up to 28 times: more points would not help."""
    dice = np.random.default_rng(3)
    data = {"p": [], "b": [], "seconds": []}  # type: dict[str, list[float]]
    for p in (2, 4, 8, 16, 32):
        for b in (8, 1024, 65536):
            for _ in range(3):
                data["p"].append(p)
                data["b"].append(b)
                data["seconds"].append((p * 1e-6 + p * b * 1e-10) * dice.lognormal(0, 1.0))
    with pytest.raises(InputError) as refused:
        models.fit(data)
    golden(str(refused.value))
    assert "repetitions" in refused.value.hint
