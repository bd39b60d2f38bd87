"""`isochrone plot`: which files a view takes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from isochrone.cli.main import main
from isochrone.runfile import run as runs
from made_up.maps import paper_map
from made_up.sweeps import collective, point_to_point


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    few = (8, 64, 4096)
    runs.write(paper_map(), tmp_path / "map.jsonl")
    runs.write(point_to_point(), tmp_path / "pair.jsonl")
    for ranks in (4, 8):
        run = collective(("bcast", "scan"), ranks, sizes=few)
        runs.write(run, tmp_path / f"c{ranks}.jsonl")
    return tmp_path


def plot(folder: Path, *args: str) -> int:
    given = [str(folder / a) if a.endswith((".jsonl", ".png", ".svg")) else a for a in args]
    return main(["plot", *given])


def test_the_view_suits_the_run_unless_one_is_named(folder: Path) -> None:
    """A map becomes a heat map, sweeps become times over sizes."""
    assert plot(folder, "map.jsonl", "-o", "map.svg") == 0
    assert "Median round trip" in (folder / "map.svg").read_text("utf-8")
    assert plot(folder, "pair.jsonl", "-o", "time.svg") == 0
    assert "Time by message size" in (folder / "time.svg").read_text("utf-8")


def test_several_sweeps_go_into_one_picture(folder: Path) -> None:
    command = ("c4.jsonl", "c8.jsonl", "--view", "ranks", "--bytes", "64,4KiB", "--op", "scan")
    assert plot(folder, *command, "-o", "a.svg") == 0
    text = (folder / "a.svg").read_text("utf-8")
    assert "4 KiB" in text
    assert "bcast" not in text
    command = ("c4.jsonl", "c8.jsonl", "--view", "bandwidth", "--scale", "linear")
    assert plot(folder, *command, "-o", "b.png") == 0


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("map.jsonl", "map.jsonl", "--view", "heatmap"), "draws one run, not 2"),
        (("map.jsonl", "--bytes", "64,128"), "draws one message size, not 2"),
        (("map.jsonl", "--view", "time"), "no sweep over message sizes"),
        (("pair.jsonl", "--view", "heatmap"), "no pairs"),
        (("pair.jsonl", "map.jsonl"), "no sweep over message sizes"),
        (("c4.jsonl", "--view", "ranks"), "different numbers of ranks"),
        (("c4.jsonl", "--op", "gather"), "no operation 'gather'"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], what: str
) -> None:
    assert plot(folder, *args, "-o", "a.png") == 2
    error = capsys.readouterr().err
    assert what in error
    assert error.count("\n") == 1
    assert not (folder / "a.png").exists()


def test_a_wrong_size_is_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        plot(folder, "pair.jsonl", "--bytes", "64,many", "-o", "a.png")
    assert caught.value.code == 2
    assert "'many' is not a size" in capsys.readouterr().err
