"""Fit, predict and plot as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.runfile.file import write
from made_up.times import grid, noisy, run_of, times, truth

Isochrone = Callable[..., subprocess.CompletedProcess[str]]
CLIC = ROOT / "examples/models/clic.json"


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Three runs of a broadcast; the last is 20 % slower."""
    variables = grid("bcast-log")
    exact = times(truth("bcast-log"), variables)
    paths = []
    for seed, factor in enumerate((1.0, 1.0, 1.2)):
        path = tmp_path / f"{seed}.jsonl"
        write(run_of(noisy(factor * exact, variables, 0.02, 10, seed, op="bcast")), path)
        paths.append(path)
    return paths


def one_line(answer: subprocess.CompletedProcess[str], says: str) -> None:
    """Wrong use is one line on standard error, and exit code 2."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    assert len(answer.stderr.splitlines()) == 1
    assert says in answer.stderr


def test_measured_times_become_a_model_that_predicts(
    isochrone: Isochrone, runs: list[Path], tmp_path: Path
) -> None:
    model = tmp_path / "model.json"
    answer = isochrone("fit", *runs[:2], "-v", "-o", model)
    assert answer.returncode == 0, answer.stderr
    for words in (
        "bcast-log model",
        "(80 points, 1600 measured times)",
        "R²",
        "leave-one-out",
        "leave-one-group-out by p",
        "Families by cross-validation error",
        "<- taken",
        "scatter-allgather",
        str(model),
    ):
        assert words in answer.stdout
    asked = ("--op", "bcast", "--ranks", "4,8:32:x2", "--bytes", "64KiB,100KiB", "--json")
    found = json.loads(isochrone("predict", "collective", "--model", model, *asked).stdout)
    assert [(row["ranks"], row["bytes"]) for row in found["predictions"]] == [
        (p, b) for p in (4, 8, 16, 32) for b in (65536, 102400)
    ]
    assert found["warnings"] == []
    for row in found["predictions"]:
        exact = (3e-9 + 4.5e-9 * np.log2(row["ranks"])) * row["bytes"]
        assert row["op"] == "bcast"
        assert row["low"] < row["seconds"] < row["high"]
        assert row["seconds"] == pytest.approx(exact, rel=0.01)


def test_fit_as_json_is_the_model_file(isochrone: Isochrone, runs: list[Path]) -> None:
    answer = isochrone("fit", runs[0], "--family", "bcast-log", "--split", "p:4", "--json")
    found = json.loads(answer.stdout)
    assert found["record"] == "model"
    assert [piece["range"] for piece in found["pieces"]] == [{"p": [None, 4]}, {"p": [4, None]}]
    assert {"r2", "deviation", "groups", "held_out"} <= set(found["quality"])
    assert set(found["quality"]["groups"]) == {"b", "p"}


def test_prediction_outside_the_data_warns(isochrone: Isochrone, golden: Golden) -> None:
    asked = ("--model", CLIC, "--op", "gather", "--ranks", 500, "--bytes", "10KiB")
    answer = isochrone("predict", "collective", *asked)
    assert answer.returncode == 0
    golden(answer.stdout)
    golden(answer.stderr)
    found = json.loads(isochrone("predict", "collective", *asked, "--json").stdout)
    assert found["predictions"][0]["low"] is None
    golden(found["warnings"])


@pytest.mark.parametrize("view", ["fit", "deviation"])
def test_plot_draws_a_model_with_the_times(
    isochrone: Isochrone, runs: list[Path], tmp_path: Path, view: str
) -> None:
    for number, model in enumerate(("bcast-log", CLIC)):
        picture = tmp_path / f"{number}.svg"
        asked = ("--view", view, "--model", model, "-o", picture)
        answer = isochrone("plot", *runs[:2], *asked)
        assert answer.returncode == 0, answer.stderr
        assert picture.read_text().startswith("<?xml")


@pytest.mark.usefixtures("mpich")
def test_wrong_use_is_one_line(isochrone: Isochrone, runs: list[Path], tmp_path: Path) -> None:
    """A missing variable, another experiment, a model that is none, an output that is an input."""
    table = tmp_path / "t.csv"
    table.write_text("p,b,seconds\n" + "".join(f"8,{b},{b}e-9\n" for b in range(1, 9)))
    map_file = tmp_path / "map.jsonl"
    isochrone("measure", "synthetic", "-n", 3, "-o", map_file)
    one_line(isochrone("fit", runs[0], "--family", "hotspot"), "needs the variables pa, pe")
    one_line(isochrone("fit", runs[0], "--family", "nothing"), "no model family 'nothing'")
    one_line(isochrone("fit", runs[0], "--op", "scan"), "no measured times of op 'scan'")
    one_line(isochrone("fit", map_file), "' cannot be fitted")
    one_line(isochrone("fit", table, "--family", "bcast-log"), "p is always 8")
    one_line(isochrone("fit", runs[0], "-o", runs[0]), "it is also the input")
    one_line(isochrone("fit", runs[0], "--split", "p:x"), "is not a valid breakpoint of 'p'")
    predict = ("predict", "collective", "--bytes", "1KiB")
    one_line(isochrone(*predict, "--model", runs[0]), "not a model file")
    one_line(isochrone(*predict, "--model", CLIC), "needs a number of ranks")
    one_line(isochrone(*predict, "--model", CLIC, "--ranks", 4), "the model has several 'op'")
    one_line(
        isochrone(*predict, "--model", CLIC, "--ranks", 4, "--op", "scan"), "not cover op 'scan'"
    )
    hot = CLIC.with_name("tachyon-i.json")
    one_line(
        isochrone(*predict, "--model", hot, "--ranks", 4),
        "the model is not of a collective, but of",
    )
    changed = tmp_path / "changed.json"
    changed.write_text(CLIC.read_text().replace("LAM MPI", "LAM"))
    one_line(
        isochrone(*predict, "--model", changed, "--ranks", 4),
        "the file was changed after it was written: its hash is wrong",
    )


@pytest.mark.slow
def test_the_python_of_the_documentation_runs(tmp_path: Path) -> None:
    """The ten lines of docs/models.md, as they stand there."""
    page = (ROOT / "docs/models.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    variables = grid("bcast-log")
    for p in (2, 4, 8, 16):
        own = {"b": variables["b"][variables["p"] == 2], "p": np.full(10, float(p))}
        data = noisy(times(truth("bcast-log"), own), own, 0.02, 10, p, op="bcast")
        write(run_of(data), tmp_path / f"b{p}.jsonl")
    answer = subprocess.run(
        [sys.executable, "-c", code + "\nprint(isochrone.read_model('bcast.json'))"],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("bcast-log model") == 2


@pytest.mark.slow
def test_the_python_with_a_table_of_the_documentation_runs(tmp_path: Path) -> None:
    """It prints what stands below it in the page: summary, predictions, residuals; and draws."""
    page = (ROOT / "docs/models.md").read_text()
    code = page.split("```python\n")[2].split("```")[0]
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    for words in (
        "tree model of tabulated times",
        "median deviation",
        "outside the fitted range 2 to 16",
    ):
        assert words in answer.stdout
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")
