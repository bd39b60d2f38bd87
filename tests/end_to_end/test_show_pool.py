"""Launches taken together as a user does it: measured on real ranks, named in every way."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from isochrone.runfile.file import write
from made_up.launches import launches
from made_up.sweeps import collective

Isochrone = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k, run in enumerate(launches(5, np.random.default_rng(2), sizes=(8, 64)), 1):
        write(run, tmp_path / f"run-{k}.jsonl")
    return tmp_path


def test_three_launches_of_real_ranks_have_intervals(isochrone: Isochrone, tmp_path: Path) -> None:
    answer = isochrone(
        "measure",
        "point-to-point",
        "-n",
        2,
        "--bytes",
        "8,1KiB",
        "--repeats",
        6,
        "--launches",
        3,
        "--quiet",
        "-o",
        "p.jsonl",
        cwd=tmp_path,
    )
    assert answer.returncode == 0, answer.stderr
    found = json.loads(isochrone("show", "--pool", "p.jsonl", "--json", cwd=tmp_path).stdout)
    assert (found["kind"], found["launches"], found["unit"]) == ("sweep", 3, "launch")
    assert [point["key"]["bytes"] for point in found["points"]] == [8, 1024]
    for point in found["points"]:
        assert point["n"] == 3
        assert point["next_low"] <= point["low"] <= point["seconds"]
        assert point["seconds"] <= point["high"] <= point["next_high"]
    text = isochrone("show", "--pool", "p.jsonl", cwd=tmp_path).stdout
    assert "3 launches" in text
    assert "Student's t" not in text


def test_names_lists_and_folders_mean_what_they_mean_to_compare(
    isochrone: Isochrone, folder: Path
) -> None:
    first = folder / "run-1.jsonl"
    every = [folder / f"run-{k}.jsonl" for k in range(1, 6)]
    for files in ([folder], [folder / "run.jsonl"], every, [first, folder], [*every, *every]):
        found = json.loads(isochrone("show", "--pool", *files, "--json").stdout)
        assert found["launches"] == 5, files  # a file given twice is one launch


def test_two_launches_are_said_to_be_few(isochrone: Isochrone, folder: Path) -> None:
    text = isochrone("show", "--pool", *(folder / f"run-{k}.jsonl" for k in (1, 2))).stdout
    assert "Student's t" in text
    assert "t is 12.7" in text


def test_what_cannot_be_pooled_is_said_in_one_line(isochrone: Isochrone, folder: Path) -> None:
    write(collective(sizes=(8, 64)), folder / "other.jsonl")
    for files, says in (
        (
            ["run-1.jsonl"],
            "a single launch has no interval between launches; use measure --launches 5",
        ),
        (
            ["run-1.jsonl", "run-1.jsonl"],
            "a single launch has no interval between launches; use measure --launches 5",
        ),
        ([folder], "not comparable: experiment is"),
        (["none.jsonl"], "cannot be read"),
        (["run.jsonl", "--bytes", "7"], "the run has no measurement of 7 bytes"),
    ):
        answer = isochrone("show", "--pool", *files, cwd=folder)
        assert answer.returncode == 2
        assert answer.stdout == ""
        assert len(answer.stderr.splitlines()) == 1
        assert says in answer.stderr


def test_a_launch_that_was_cut_short_is_named(isochrone: Isochrone, folder: Path) -> None:
    cut = folder / "run-5.jsonl"
    lines = cut.read_text().splitlines(keepends=True)
    cut.write_text("".join(line for line in lines if '"record":"end"' not in line))
    answer = isochrone("show", "--pool", folder)
    assert answer.returncode == 0
    assert "run-5.jsonl: partial run" in answer.stderr


def test_a_name_that_stands_for_launches_does_so_in_every_command(
    isochrone: Isochrone, tmp_path: Path
) -> None:
    for k, run in enumerate(launches(3, np.random.default_rng(2)), 1):
        write(run, tmp_path / f"run-{k}.jsonl")
    for words in (
        ("show", "run.jsonl", "--json"),
        ("plot", "run.jsonl", "-o", "p.svg"),
        ("report", "run.jsonl", "-o", "r.html"),
        ("fit", "run.jsonl", "--family", "hockney", "-o", "m.json"),
    ):
        answer = isochrone(*words, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
    assert len(json.loads(isochrone("show", "run.jsonl", "--json", cwd=tmp_path).stdout)) == 3
    assert isochrone("show", "none.jsonl", cwd=tmp_path).returncode == 2
