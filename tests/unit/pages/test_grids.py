"""What is said of runs with grids: in words, to a script, in pictures, in files of others."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.golden import Golden
from isochrone.pages.page import Picture
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.grids import SIZES, grid_run
from made_up.sweeps import collective
from rendered import blocks, document, report, show, words


def _saved(run: Run, folder: Path, name: str = "grids.jsonl") -> Path:
    runs.write(run, folder / name)
    return folder / name


def test_the_best_grid_and_its_ratio_are_said_with_their_interval(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, grid_run(("4x4", "2x8"), speedup=1.32))
    golden(text)
    (line,) = [line for line in text.splitlines() if line.startswith(" 16 KiB")]
    for cell in ("4x4 is 1.3", "x faster (1.", " to 1."):
        assert cell in line


def test_no_gain_and_a_loss_are_said_as_such(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    none = show(capsys, tmp_path, grid_run(speedup=1.0))
    golden(none)
    exact = show(capsys, tmp_path, grid_run(speedup=1.0, noise=0.0))
    golden(exact)
    slower = show(capsys, tmp_path, grid_run(speedup=0.5))
    assert "4x4 is 2.0" in slower or "4x4 is 1.9" in slower
    assert "x slower (" in slower


def test_groups_that_disturb_each_other_are_named_and_others_are_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, grid_run(factors={"LG": 2.1}))
    assert "columns at" in text
    golden(text)
    assert "rows at " + "once take" not in text
    assert "each other" not in show(capsys, tmp_path, grid_run())


def test_phases_that_do_not_explain_the_whole_are_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, grid_run(left_over=1.4))
    golden(text)
    golden(show(capsys, tmp_path, grid_run()))


def test_the_phases_are_tabulated_with_what_they_do_to_each_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = show(capsys, tmp_path, grid_run(("4x4",), ("bcast",), factors={"CG": 1.5}, noise=0.001))
    table = text[text.index("Phases of bcast") :]
    (line,) = [line for line in table.splitlines() if line.startswith("4x4") and "1 KiB" in line]
    assert "–" in line, "one column has the root: nobody disturbs it"
    assert "1.50x (4 rows)" in line
    assert line.split()[-1] == "1.00"


def test_a_script_gets_all_of_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = grid_run(("4x4", "nodes"), ("allgather", "bcast"), factors={"LG": 2.1})
    found = document(capsys, tmp_path, run)
    grids = found["grids"]
    assert len(grids["gains"]) == 2 * 2 * len(SIZES)
    assert {gain["verdict"] for gain in grids["best"]} == {"faster"}
    assert {one["grid"] for one in grids["disturbances"]} == {"4x4", "nodes"}
    assert {part["op"] for part in grids["phases"]} == {"allgather", "bcast"}
    assert {curve["grid"] for curve in found["curves"]} == {"library", "4x4", "nodes"}
    assert "grids" not in document(capsys, tmp_path, collective())


def test_one_size_may_be_chosen_and_a_wrong_one_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    text = show(capsys, tmp_path, grid_run(), "--bytes", "16KiB")
    assert "1 KiB" not in text
    assert "at 1 of 1 size" in text
    answer = run_here("show", _saved(grid_run(), tmp_path), "--bytes", "3")
    assert answer.returncode == 2
    golden(answer.stderr)


def test_names_from_elsewhere_are_made_safe(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = grid_run(sizes=(1024,))
    run.tables["sample"].columns["op"][:] = "<b>\x1b[31m"
    text = show(capsys, tmp_path, run)
    assert "\x1b" not in text
    assert "<b>" not in report(tmp_path, run)


def test_a_report_shows_the_realisations_in_one_picture(tmp_path: Path) -> None:
    run = grid_run(("4x4", "2x8"), factors={"LG": 2.1})
    assert blocks(run, Picture)[0].view == "time"
    text = words(report(tmp_path, run))
    for said in ("x faster", "columns at once", "where 2x8 is", "the others sleep"):
        assert said in text


def test_pictures_of_a_run_with_grids_are_of_whole_operations(tmp_path: Path) -> None:
    path = _saved(grid_run(("4x4", "2x8")), tmp_path)
    for view in ("time", "bandwidth"):
        picture = tmp_path / f"{view}.svg"
        assert run_here("plot", path, "--view", view, "-o", picture).returncode == 0
        text = picture.read_text()
        assert "2x8" in text
        assert "LG" not in text


def test_a_csv_tells_realisations_and_phases_apart(tmp_path: Path) -> None:
    path, table = _saved(grid_run(), tmp_path), tmp_path / "run.csv"
    assert run_here("export", path, "--to", "csv", "-o", table).returncode == 0
    rows = list(csv.DictReader(table.open()))
    assert {row["grid"] for row in rows} == {"library", "4x4"}
    leaders = [row for row in rows if row["phase"] == "LG" and row["groups"] == "4"]
    assert {row["phase_bytes"] for row in leaders} == {str(4 * size) for size in SIZES}
    assert {row["phase_p"] for row in rows if row["phase"] == "total"} == {""}
    other = _saved(collective(), tmp_path, "other.jsonl")
    assert run_here("export", other, "--to", "csv", "-o", table, "--force").returncode == 0
    assert "grid" not in table.read_text().partition("\n")[0]


@pytest.mark.parametrize(("form", "tables"), [("osu", 1), ("gnuplot", 2)])
def test_other_formats_hold_whole_operations(tmp_path: Path, form: str, tables: int) -> None:
    """OSU's tables have no name for another realisation than the library's."""
    path, out = _saved(grid_run(), tmp_path), tmp_path / f"run.{form}"
    assert run_here("export", path, "--to", form, "-o", out).returncode == 0
    assert out.read_text().count("1024 ") == tables


def test_two_runs_with_grids_are_compared_point_by_point(tmp_path: Path) -> None:
    before = [_saved(grid_run(seed=k), tmp_path, f"a{k}.jsonl") for k in range(6)]
    slow = {"factors": {"LG": 2.0}, "speedup": 0.5}
    after = [_saved(grid_run(seed=k, **slow), tmp_path, f"b{k}.jsonl") for k in range(10, 16)]
    answer = run_here("compare", ",".join(map(str, before)), ",".join(map(str, after)))
    assert answer.returncode == 0, answer.stderr
    assert "phase LG" in answer.stdout
    assert "groups 4" in answer.stdout


def test_a_run_with_grids_and_one_without_have_no_point_in_common(tmp_path: Path) -> None:
    plain = collective(("allgather",), 16, sizes=SIZES)
    paths = _saved(grid_run(), tmp_path), _saved(plain, tmp_path, "plain.jsonl")
    answer = run_here("compare", *paths)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
