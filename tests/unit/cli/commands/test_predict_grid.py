"""`isochrone predict collective --grid`: answers for people and scripts, and refusals in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.command_line import Answer, Command
from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from made_up.grid_runs import grid_run
from made_up.sweeps import collective, point_to_point

CLIC = ROOT / "examples/models/clic.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of grids on 16 ranks, one of 4 ranks only, and one of messages."""
    folder = tmp_path_factory.mktemp("models")
    models.write(models.fit([grid_run(ops=("bcast",))]), folder / "grid.json")
    models.write(models.fit(collective(("bcast",), 4)), folder / "four.json")
    models.write(models.fit(point_to_point()), folder / "pair.json")
    return folder


def ask(isochrone: Command, model: Path, *words: object) -> Answer:
    return isochrone("predict", "collective", "--model", model, *words)


def document(isochrone: Command, model: Path, *words: object) -> dict[str, object]:
    answer = ask(isochrone, model, *words, "--json")
    assert answer.returncode == 0, answer.stderr
    found: dict[str, object] = json.loads(answer.stdout)
    return found


def test_a_grid_is_the_sum_of_its_phases(isochrone: Command, golden: Golden) -> None:
    asked = ("--op", "allgather", "--ranks", 96, "--grid", "8x12", "--bytes", "100KiB")
    found = document(isochrone, CLIC, *asked)
    assert list(found) == ["predictions", "best", "origin", "warnings"]
    (one,) = found["predictions"]  # type: ignore[misc]
    assert {**one, "phases": [], "seconds": 0} == {
        "op": "allgather",
        "ranks": 96,
        "bytes": 102400,
        "grid": "8x12",
        "seconds": 0,
        "low": None,
        "high": None,
        "phases": [],
        "together": 1.0,
    }
    assert one["seconds"] == sum(phase["seconds"] for phase in one["phases"])
    assert [{**phase, "seconds": 0} for phase in one["phases"]] == [
        {
            "group": "CG",
            "op": "allgather",
            "ranks": 12,
            "bytes": 102400,
            "groups": 8,
            "seconds": 0,
            "factor": 1.0,
        },
        {
            "group": "LG",
            "op": "allgather",
            "ranks": 8,
            "bytes": 12 * 102400,
            "groups": 12,
            "seconds": 0,
            "factor": 1.0,
        },
    ]
    golden(found["warnings"])  # type: ignore[union-attr, attr-defined]


def test_best_ranks_all_grids_and_the_library_for_each_size(isochrone: Command) -> None:
    asked = ("--op", "bcast", "--ranks", 96, "--grid", "best", "--bytes", "10KiB,100KiB")
    found = document(isochrone, CLIC, *asked)
    rows: list[dict[str, object]] = found["predictions"]  # type: ignore[assignment]
    for size in (10240, 102400):
        times = [one["seconds"] for one in rows if one["bytes"] == size]
        assert times == sorted(times)  # type: ignore[type-var]
        assert {one["grid"] for one in rows if one["bytes"] == size} == {
            "library",
            "2x48",
            "3x32",
            "4x24",
            "6x16",
            "8x12",
            "12x8",
            "16x6",
            "24x4",
            "32x3",
            "48x2",
        }
    assert {one["verdict"] for one in rows} == {"24x4"}
    best: list[dict[str, object]] = found["best"]  # type: ignore[assignment]
    assert [(one["bytes"], one["grid"], one["verdict"]) for one in best] == [
        (10240, "24x4", "24x4"),
        (102400, "24x4", "24x4"),
    ]


def test_all_keeps_the_order_of_grids(isochrone: Command) -> None:
    asked = ("--op", "bcast", "--ranks", 12, "--grid", "all", "--bytes", "10KiB", "--ppn", 4)
    rows = document(isochrone, CLIC, *asked)["predictions"]
    words = [one["grid"] for one in rows]  # type: ignore[attr-defined]
    assert words == ["library", "6x2", "4x3", "3x4", "2x6", "nodes"]


def test_a_prime_number_of_ranks_has_rows_of_which_the_last_is_shorter(isochrone: Command) -> None:
    asked = ("--op", "bcast", "--ranks", 13, "--grid", "all", "--bytes", "10KiB")
    rows = document(isochrone, CLIC, *asked)["predictions"]
    words = [one["grid"] for one in rows]  # type: ignore[attr-defined]
    assert words == ["library", "rows-of-2", "rows-of-4", "rows-of-8"]


def test_the_text_says_phases_gains_and_the_verdict(
    isochrone: Command, folder: Path, golden: Golden
) -> None:
    asked = ("--op", "bcast", "--ranks", 16, "--nodes", 4, "--grid", "best", "--bytes", "4KiB")
    answer = ask(isochrone, folder / "grid.json", *asked)
    assert answer.returncode == 0, answer.stderr
    golden(answer.stdout)
    assert "1 column of 4 ranks, 4 KiB: " in answer.stdout
    assert "4 rows of 4 ranks, 4 KiB: " in answer.stdout
    assert answer.stdout.splitlines()[-1] == "  best: library"
    golden(answer.stderr)


def test_a_model_of_grids_still_answers_for_the_library(isochrone: Command, folder: Path) -> None:
    """All ranks of a job are one row; nobody has to say so."""
    asked = ("--op", "bcast", "--ranks", 16, "--bytes", "4KiB")
    answer = ask(isochrone, folder / "grid.json", *asked)
    assert answer.returncode == 0, answer.stderr
    assert "16 ranks" in answer.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--op", "bcast", "--ranks", 96, "--grid", "8x13"), "has 104 ranks, not 96"),
        (("--op", "bcast", "--ranks", 96, "--grid", "8by12"), "is not a grid"),
        (("--op", "bcast", "--ranks", 96, "--grid", "nodes"), "give --ppn"),
        (("--op", "bcast", "--grid", "8x12"), "give --ranks"),
        (("--op", "barrier", "--ranks", 96, "--grid", "best"), "has no two-phase algorithm"),
        (("--op", "nothing", "--ranks", 96, "--grid", "best"), "has no two-phase algorithm"),
        (("--op", "alltoall", "--ranks", 96, "--grid", "8x12"), "not cover op 'alltoall'"),
        (("--ranks", 96, "--grid", "8x12"), "give --op"),
        (
            ("--op", "bcast", "--ranks", 96, "--nodes", 5, "--ppn", 4, "--grid", "best"),
            "do not fill 5 nodes",
        ),
    ],
)
def test_bad_input_is_one_line(isochrone: Command, words: tuple[object, ...], says: str) -> None:
    refused(ask(isochrone, CLIC, *words, "--bytes", "10KiB"), says)


def test_a_model_that_knows_no_ranks_or_no_collectives_is_refused(
    isochrone: Command, folder: Path
) -> None:
    asked = ("--op", "bcast", "--ranks", 16, "--grid", "best", "--bytes", "10KiB")
    refused(ask(isochrone, folder / "four.json", *asked), "has no p", "measure several")
    refused(
        ask(isochrone, folder / "pair.json", *asked), "the model is not of a collective, but of"
    )
    refused(ask(isochrone, CLIC, *asked[:-2]), "give --bytes")


def refused(answer: Answer, *says: str) -> None:
    assert answer.returncode == 2, answer.stdout
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    for words in says:
        assert words in answer.stderr
