"""A sweep as a user walks it: measured on real ranks, shown, drawn, exported, reported."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Isochrone = Callable[..., subprocess.CompletedProcess[str]]

EXPERIMENTS = {
    "point-to-point": ("-n", 2, "--bytes", "8:1MiB:x8"),
    "bisection": ("-n", 3, "--bytes", "8,64KiB"),
    "collective": ("-n", 2, "--bytes", "8,64KiB", "--op", "bcast,barrier"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweeps")


@pytest.fixture(params=EXPERIMENTS)
def run_file(request: pytest.FixtureRequest, folder: Path, isochrone: Isochrone) -> Path:
    """Each sweep of this machine, measured once for this file."""
    path = folder / f"{request.param}.jsonl"
    if not path.exists():
        options = EXPERIMENTS[request.param]
        answer = isochrone("measure", request.param, *options, "--repeats", 6, "-o", path)
        assert answer.returncode == 0, answer.stderr
    return path


def test_show_knows_what_the_probe_writes(isochrone: Isochrone, run_file: Path) -> None:
    found = json.loads(isochrone("show", run_file, "--json").stdout)
    assert found["experiment"] == run_file.stem
    assert found["seconds_are"]
    for curve in found["curves"]:
        for point in curve["points"]:
            assert point["n"] >= 6
            assert 0 < point["min"] <= point["median"] <= point["max"]
    if run_file.stem == "bisection":
        assert found["bystanders"] == [2] or len(found["bystanders"]) == 1
    text = isochrone("show", run_file).stdout
    assert f"times: {found['seconds_are']}" in text


def test_it_can_be_drawn_exported_and_reported(
    isochrone: Isochrone, run_file: Path, tmp_path: Path
) -> None:
    commands: list[tuple[object, ...]] = [
        ("plot", run_file, "-o", tmp_path / "time.svg"),
        ("plot", run_file, "--view", "bandwidth", "-o", tmp_path / "bandwidth.png"),
        ("report", run_file, "-o", tmp_path / "report.html"),
        ("export", run_file, "--to", "gnuplot", "-o", tmp_path / "a.dat"),
        ("export", run_file, "--to", "csv", "-o", tmp_path / "a.csv"),
        ("export", run_file, "--to", "osu", "-o", tmp_path / "a.txt"),
        ("import", tmp_path / "a.txt", "--from", "osu", "-o", tmp_path / "back.jsonl"),
        ("show", tmp_path / "back.jsonl"),
    ]
    for command in commands:
        answer = isochrone(*command)
        assert answer.returncode == 0, (command, answer.stderr)
    for name in ("time.svg", "bandwidth.png", "report.html", "a.dat", "a.gp", "a.csv", "a.txt"):
        assert (tmp_path / name).stat().st_size > 0
