"""What was measured is read, fitted and drawn where there is no MPI: on a laptop, in a pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Command
from beds.mpis import ROOT
from isochrone.measure import discovery, installation, probe


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
