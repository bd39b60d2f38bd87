"""What `isochrone show` says of sweeps, for a person and for a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isochrone.cli.main import main
from isochrone.runfile import run as runs
from isochrone.runfile.run import Run
from made_up.latency_maps import mmpi_example
from made_up.sweeps import bisection, collective, point_to_point, table_of


def show(capsys: pytest.CaptureFixture[str], folder: Path, run: Run, *options: str) -> str:
    runs.write(run, folder / "a.jsonl", overwrite=True)
    assert main(["show", str(folder / "a.jsonl"), *options]) == 0
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], folder: Path, run: Run) -> dict[str, Any]:
    found = json.loads(show(capsys, folder, run, "--json"))
    assert isinstance(found, dict)
    return found


def row(text: str, size: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(f"{size} "))


def test_a_sweep_is_a_table_with_its_switch_marked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Size, median, interval, min, mean and bandwidth; the first size after the switch has «."""
    text = show(capsys, tmp_path, point_to_point(noise=0.001))
    assert "Times are: half a round trip" in text
    for title in ("size", "median", "95 % interval", "min", "mean", "bandwidth"):
        assert title in text
    assert row(text, "128 KiB").rstrip().endswith("«")
    assert "«" not in row(text, "64 KiB")
    assert "7.66 GB/s" in row(text, "128 KiB")
    assert "Protocol switch between 64 KiB and 128 KiB" in text


def test_no_cell_is_cut_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number without its unit is worse than a line that wraps."""
    monkeypatch.setenv("COLUMNS", "40")
    text = show(capsys, tmp_path, collective(late=5))
    assert "…" not in row(text, "1 KiB").replace(" … ", "")
    assert row(text, "1 KiB").count("µs") >= 5


def test_a_bisection_names_its_bystander_and_its_slow_pair(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, bisection(9, slow=2))
    assert "Rank 8 sat out" in text
    assert "pair 2–6 (n0, n2): 2.0" in text or "pair 2–6 (n0, n2): 1.9" in text
    assert "Later" not in show(capsys, tmp_path, bisection(8))


def test_a_collective_names_its_slowest_rank_and_a_barrier_has_no_bandwidth(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, collective(("bcast", "barrier"), late=5))
    assert "rank 5 (n1): 1." in text
    assert "skew" in text
    assert "bandwidth" not in text[text.index("barrier,") :]


def test_windows_have_a_message_rate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "k/s" in row(show(capsys, tmp_path, point_to_point(window=64)), "1 KiB")


def test_warnings_and_partial_runs_are_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = point_to_point(complete=False)
    run.warnings.append({"code": "noisy", "text": "the machine was \x1b[31mbusy"})
    text = show(capsys, tmp_path, run)
    assert "partial run" in text
    assert "Warning: the machine was \N{REPLACEMENT CHARACTER}[31mbusy" in text


def test_json_is_one_document_with_curves_and_switches(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = document(capsys, tmp_path, point_to_point())
    assert found["experiment"] == "point-to-point"
    assert found["seconds_are"] == "half a round trip"
    (curve,) = found["curves"]
    assert curve["pair"] == [0, 3]
    assert len(curve["points"]) == 21
    (switch,) = curve["switches"]
    assert (switch["after"], switch["before"]) == (65536, 131072)
    ops = [curve["op"] for curve in document(capsys, tmp_path, collective())["curves"]]
    assert ops == ["bcast", "allreduce"]
    bis = document(capsys, tmp_path, bisection(9, slow=2))
    assert bis["bystanders"] == [8]
    assert bis["curves"][0]["slowest"][0]["ranks"] == [2, 6]


def test_several_files_of_different_kinds_may_be_given(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = []
    for k, run in enumerate((mmpi_example(), point_to_point(), collective())):
        names.append(str(tmp_path / f"{k}.jsonl"))
        runs.write(run, tmp_path / f"{k}.jsonl")
    assert main(["show", *names]) == 0
    text = capsys.readouterr().out
    assert text.index("latency-map") < text.index("point-to-point") < text.index("collective")
    assert main(["show", "--json", *names]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["experiment"] for one in found] == ["latency-map", "point-to-point", "collective"]


def test_one_size_may_be_chosen_and_a_wrong_one_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, point_to_point(), "--bytes", "1KiB")
    assert "2 KiB" not in text
    assert "Protocol switch" in text  # which is found among all sizes all the same
    assert main(["show", str(tmp_path / "a.jsonl"), "--bytes", "3"]) == 2
    assert "nothing was measured with 3 bytes (there are: 0, 8" in capsys.readouterr().err


def test_hostile_names_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = collective(("bcast",))
    rows = [{**row, "op": "\x1b[2J[bold]x"} for row in run.tables["sample"].rows()]
    run.tables["sample"] = table_of(rows)
    run.header["seconds_are"] = "\x1b[2J"
    text = show(capsys, tmp_path, run)
    assert "\x1b[2J" not in text
    assert "[bold]x" in text
