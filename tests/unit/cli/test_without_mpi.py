"""What was measured is read, fitted and drawn where there is no MPI: on a laptop, in a pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Command
from beds.mpis import ROOT
from isochrone.measure import discovery, installation, probe
from isochrone.runfile.file import read


def test_results_are_read_fitted_and_drawn_without_an_mpi(
    isochrone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("an MPI was looked for")

    monkeypatch.setattr(discovery, "find", refuse)
    monkeypatch.setattr(probe, "find_mpicc", refuse)
    monkeypatch.setattr(installation, "here", refuse)
    (tmp_path / "empty").mkdir()
    osu = ROOT / "tests/golden/osu/latency-7.2.txt"
    for line in (
        f"import {osu} --from osu -o a.jsonl",
        "show a.jsonl",
        "show a.jsonl --json",
        "fit a.jsonl --family hockney -o m.json",
        "predict message --model m.json --bytes 1KiB",
        "plot a.jsonl -o a.png",
        "report a.jsonl -o a.html",
        "export a.jsonl --to csv",
        "compare a.jsonl a.jsonl -o ab.html",
    ):
        with subtests.test(line):
            answer = isochrone(*line.split(), cwd=tmp_path, PATH=str(tmp_path / "empty"), MPICC="")
            assert answer.returncode == 0, answer.stderr


def test_a_synthetic_map_is_measured_without_an_mpi(
    isochrone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same as with one, but for the name of the library."""

    def refuse(*_: object, **__: object) -> None:
        raise probe.NoMpi("no MPI")

    monkeypatch.setattr(discovery, "find", refuse)
    measure = ("measure", "synthetic", "--shape", "4,4", "--slow-node", "2", "--quiet")
    answer = isochrone(*measure, "-o", "map.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    run = read(tmp_path / "map.jsonl")
    assert (run.size, len(run.pairs()["i"]), run.library.library) == (16, 120 + 48, "no MPI")
    assert isochrone("show", "map.jsonl", cwd=tmp_path).stdout.count("node n2") == 1
    assert isochrone("measure", "synthetic", "--help").stdout.count("--shape N") == 1
    for typed in ("measure synthetic -n 4", "measure latency-map -n 2", "measure latency-map -h"):
        answer = isochrone(*typed.split(), cwd=tmp_path)
        assert answer.returncode == (0 if typed.endswith("-h") else 2)
        assert answer.stderr.count("\n") == (not typed.endswith("-h"))
