"""The suite of OSU: what the library cannot do is left out, and one report has OSU's names."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from isochrone.measure import presets
from isochrone.runfile.file import read

Command = Callable[..., subprocess.CompletedProcess[str]]

ROWS = ("osu_latency", "osu_bw", "osu_barrier", "osu_multi_lat", "osu_allreduce", "osu_ibcast")
IMPOSSIBLE = presets.Preset("osu_impossible", "collective", ("--op", "impossible"), "no operation")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the suite have a few benchmarks, and one that no library can do."""
    suite = presets.SUITES["osu"]
    own = [
        replace(preset, options=(*preset.options, "--bytes", "8,1KiB"))
        for preset in suite.own
        if preset.name in ROWS
    ]
    monkeypatch.setitem(presets.SUITES, "osu", replace(suite, own=(IMPOSSIBLE, *own)))


@pytest.mark.usefixtures("few", "mpich")
def test_it_measures_what_it_can_and_reports_it_by_the_names_of_osu(
    isochrone: Command, tmp_path: Path
) -> None:
    answer = isochrone("suite", "osu", "-n", "2", "--budget", "30", "--quiet", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert [line for line in answer.stderr.splitlines() if IMPOSSIBLE.name in line]
    assert not (tmp_path / f"osu/{IMPOSSIBLE.name}-2.jsonl").exists()
    runs = {name: read(tmp_path / f"osu/{name}-2.jsonl") for name in ROWS}
    assert {run.notes["preset"] for run in runs.values()} == set(ROWS)
    assert runs["osu_bw"].options["window"] == 64
    table = answer.stdout.rpartition("benchmark")[2].splitlines()
    rows = {line.split()[0]: line for line in table if line.startswith("osu_")}
    assert set(rows) == set(ROWS)
    assert rows["osu_bw"].count("MB/s") == rows["osu_allreduce"].count(" us") == 2
    assert rows["osu_multi_lat"].count(" us") == 2
    assert rows["osu_ibcast"].endswith("%")
    page = (tmp_path / "osu/report.html").read_text()
    assert all(page.index(name) < page.index('id="findings"') for name in ROWS)


@pytest.mark.usefixtures("few", "mpich")
def test_runs_for_which_there_is_no_time_are_left_out(isochrone: Command, tmp_path: Path) -> None:
    """The first is measured in any case; the others are not called wrong."""
    answer = isochrone("suite", "osu", "-n", "2", "--budget", "10ms", "--quiet", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    measured = {path.name.removesuffix("-2.jsonl") for path in tmp_path.glob("osu/*.jsonl")}
    assert len(measured) == 1
    left_out = [line for line in answer.stdout.splitlines() if line.endswith("left out")]
    assert len(left_out) == len(ROWS) - 1
