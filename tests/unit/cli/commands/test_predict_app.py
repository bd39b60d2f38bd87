"""`predict app` and `compare --with-prediction`: what is printed, and what is refused in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.golden import Golden
from isochrone import models
from isochrone.models.data.observations import SHARED
from made_up.applications import collectives, messages

SPEC = """
isochrone: app/1
parameters: {n: 1000, t_op: 1ns}
apps:
  - name: jacobi
    ranks: 4
    iterations: 50
    phases:
      - compute: 2*n**2/p * t_op
      - allgather: {bytes: 8*n/p}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.yaml").write_text(SPEC)
    models.write(collectives(allgather=(10e-6, 1e-6)), tmp_path / "allgather.json")
    models.write(messages(), tmp_path / "messages.json")
    return tmp_path


def iteration(n: int, p: int) -> float:
    return 2 * n**2 / p * 1e-9 + 10e-6 + p * 1e-6


def test_total_and_phases_are_rows_for_scripts(folder: Path) -> None:
    answer = run_here(
        "predict", "app", folder / "app.yaml", "--model", folder / "allgather.json", "--json"
    )
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    total, compute, gather = document["predictions"]
    assert (total["op"], total["phase"], total["ranks"], total["bytes"]) == (
        "jacobi",
        None,
        4,
        None,
    )
    assert total["seconds"] == pytest.approx(50 * iteration(1000, 4), rel=1e-9)
    assert (compute["phase"], compute["per"]) == ("compute", "iteration")
    assert compute["seconds"] == pytest.approx(5e-4, rel=1e-9)
    assert gather["seconds"] == pytest.approx(14e-6, rel=1e-9)
    assert document["origin"] == "measured"


def test_settings_are_swept(folder: Path) -> None:
    """What happens at 64 ranks, before anyone has them."""
    answer = run_here(
        "predict",
        "app",
        folder / "app.yaml",
        "--model",
        folder / "allgather.json",
        "--set",
        "n=1000,2000",
        "--set",
        "p=4:64:x4",
        "--json",
    )
    rows = [row for row in json.loads(answer.stdout)["predictions"] if row["phase"] is None]
    found = {(int(r["settings"]["n"]), int(r["settings"]["p"])): r["seconds"] for r in rows}
    assert found == {
        (n, p): pytest.approx(50 * iteration(n, p), rel=1e-9)
        for n in (1000, 2000)
        for p in (4, 16, 64)
    }


def test_the_table_has_a_line_for_each_phase(folder: Path, golden: Golden) -> None:
    answer = run_here(
        "predict",
        "app",
        folder / "app.yaml",
        "--set",
        "p=8",
        "--model",
        folder / "allgather.json",
        folder / "messages.json",
    )
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    golden(lines[0])
    (total,) = [line for line in lines if "jacobi" in line]
    assert total.split()[:3] == ["8", "jacobi", "8"]
    assert any(line.split()[:2] == ["compute", "250.0"] for line in lines)
    assert any(line.split()[:2] == ["allgather", "18.00"] for line in lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "messages.json"], "no model of allgather is given"),
        (["--model", "nowhere.json"], "nowhere.json"),
        (["--model", "allgather.json", "--set", "x=4"], "there is no parameter 'x'"),
        (["--model", "allgather.json", "--set", "n"], "'n' is not NAME=VALUE"),
        (["--model", "allgather.json", "--set", "p=0"], "ranks"),
        (
            ["--model", "allgather.json", "-n", "64"],
            "is for 4 ranks",
        ),
        (["--model", "allgather.json", "--ppn", "0"], "not a number of at least 1"),
        ([], "--model"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, words: list[str], said: str) -> None:
    answer = run_here("predict", "app", "app.yaml", *words, cwd=folder)
    assert answer.returncode == 2
    assert said in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
    assert not answer.stdout


def test_the_missing_measurement_is_named(folder: Path, golden: Golden) -> None:
    answer = run_here("predict", "app", "app.yaml", "--model", "messages.json", cwd=folder)
    golden(answer.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run.jsonl"], "B is missing"),
        (["run.jsonl", "--with-prediction"], "no model is given"),
        (
            ["run.jsonl", "other.jsonl", "--with-prediction"],
            "--with-prediction compares a single run with models",
        ),
        (["run.jsonl", "other.jsonl", "--model", "allgather.json"], "--with-prediction"),
        (["nowhere.jsonl", "--with-prediction", "--model", "allgather.json"], "nowhere.jsonl"),
    ],
)
def test_a_comparison_with_models_says_what_it_needs(
    folder: Path, words: list[str], said: str
) -> None:
    answer = run_here("compare", *words, cwd=folder)
    assert answer.returncode == 2
    assert said in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("words", [["-n", "64"], ["--set", "p=64"], ["--set", "jacobi.p=64"]])
def test_the_description_of_one_recording_is_for_its_number_of_ranks(
    folder: Path, words: list[str]
) -> None:
    """Its computation and its partners are those of 4 ranks: for more there is `scale`."""
    (folder / "app.yaml").write_text(SPEC.replace("ranks: 4", "ranks: 4\n    recorded: 4"))
    asked = ["predict", "app", "app.yaml", "--model", "allgather.json"]
    refused = run_here(*asked, *words, cwd=folder)
    assert refused.returncode == 2
    assert "isochrone scale" in refused.stderr
    assert "is for 4 ranks, not 64" in refused.stderr
    assert run_here(*asked, "-n", "4", cwd=folder).returncode == 0


def test_models_of_ranks_that_shared_processors_are_doubtful(folder: Path) -> None:
    shared = collectives(allgather=(10e-6, 1e-6))
    shared.warnings.append(SHARED)
    models.write(shared, folder / "shared.json")
    for file, expected in (("shared.json", [SHARED]), ("allgather.json", [])):
        said = run_here("predict", "app", "app.yaml", "--model", file, "--json", cwd=folder)
        assert [text for text in json.loads(said.stdout)["warnings"] if text == SHARED] == expected
