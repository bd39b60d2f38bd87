"""`isochrone plot`: which files a view takes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from isochrone.cli.main import main
from isochrone.runfile import file as runs
from made_up.latency_maps import mmpi_example
from made_up.sweeps import collective, point_to_point


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    few = (8, 64, 4096)
    runs.write(mmpi_example(), tmp_path / "map.jsonl")
    runs.write(point_to_point(), tmp_path / "pair.jsonl")
    for ranks in (4, 8):
        run = collective(("bcast", "scan"), ranks, sizes=few)
        runs.write(run, tmp_path / f"c{ranks}.jsonl")
    rows = [
        f"{p},{b}B,{(1e-6 * p + 1e-9 * b) * (0.98 + 0.02 * ((p + b) % 3))}"
        for p in (2, 4, 8, 16)
        for b in (8, 64, 4096, 65536)
    ]
    (tmp_path / "t.csv").write_text("\n".join(['"p","b","seconds"', *rows, ""]))
    (tmp_path / "x.log").write_text("nothing that is known\n")
    return tmp_path


def plot(folder: Path, *args: str) -> int:
    files = (".csv", ".jsonl", ".log", ".png", ".svg")
    given = [str(folder / a) if a.endswith(files) else a for a in args]
    return main(["plot", *given])


def test_the_view_suits_the_run_unless_one_is_named(folder: Path, golden: Golden) -> None:
    """A map becomes a heat map, sweeps become times over sizes."""
    assert plot(folder, "map.jsonl", "-o", "map.svg") == 0
    golden((folder / "map.svg").read_text("utf-8"))
    assert plot(folder, "pair.jsonl", "-o", "time.svg") == 0
    golden((folder / "time.svg").read_text("utf-8"))


def test_several_sweeps_go_into_one_picture(folder: Path) -> None:
    command = ("c4.jsonl", "c8.jsonl", "--view", "ranks", "--bytes", "64,4KiB", "--op", "scan")
    assert plot(folder, *command, "-o", "a.svg") == 0
    text = (folder / "a.svg").read_text("utf-8")
    assert "4 KiB" in text
    assert "bcast" not in text
    command = ("c4.jsonl", "c8.jsonl", "--view", "bandwidth", "--scale", "linear")
    assert plot(folder, *command, "-o", "b.png") == 0


@pytest.mark.slow
@pytest.mark.parametrize("view", [(), ("--view", "fit"), ("--view", "deviation")])
def test_a_csv_that_fit_takes_is_drawn_with_its_model(
    folder: Path, view: tuple[str, ...], golden: Golden
) -> None:
    """The view of a fit unless another is named; with a family, and over the ranks."""
    assert plot(folder, "t.csv", *view, "--family", "ring", "-o", "a.svg") == 0
    said = (folder / "a.svg").read_text("utf-8")
    golden(said)
    assert ("Deviation of" in said) == ("deviation" in view)
    assert plot(folder, "t.csv", "--across", "p", "-o", "b.svg") == 0
    golden((folder / "b.svg").read_text("utf-8"))


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (
            ("t.csv", "--view", "time"),
            "the view time does not plot tables (views that do: deviation, fit)",
        ),
        (("t.csv", "--view", "plane"), "the view plane does not plot tables"),
        (("t.csv", "c4.jsonl", "--view", "fit"), "cannot be fitted together"),
        (("t.csv", "--across", "w"), "the data do not vary w"),
        (("x.log", "--view", "fit"), "not a known format"),
        (("none.csv", "--view", "fit"), "No such file"),
        (("map.jsonl", "map.jsonl", "--view", "heatmap"), "plots a single run, not 2"),
        (("map.jsonl", "--bytes", "64,128"), "plots a single message size, not 2"),
        (("map.jsonl", "--view", "time"), "not a sweep over message sizes"),
        (("pair.jsonl", "--view", "heatmap"), "no pairs"),
        (("pair.jsonl", "map.jsonl"), "not a sweep over message sizes"),
        (("c4.jsonl", "--view", "ranks"), "different numbers of ranks"),
        (("c4.jsonl", "--op", "gather"), "the runs have no operation 'gather'"),
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


def test_a_wrong_size_is_wrong_use(
    folder: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    with pytest.raises(SystemExit) as caught:
        plot(folder, "pair.jsonl", "--bytes", "64,many", "-o", "a.png")
    assert caught.value.code == 2
    golden(capsys.readouterr().err)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize(
    "command",
    [("show",), ("fit",), ("plot",), ("plot", "--view", "fit"), ("plot", "--view", "deviation")],
)
def test_times_that_nobody_measured_are_one_line(
    isochrone: Command, folder: Path, scale: float, command: tuple[str, ...], golden: Golden
) -> None:
    """Whatever reads them: their squares are no numbers, and no clock shows such times."""
    run = collective(("bcast",), 4)
    samples = run.tables["sample"]
    samples.columns["seconds"] = samples["seconds"] * scale
    runs.write(run, folder / "absurd.jsonl")
    output = () if command[0] == "show" else ("-o", folder / "out.svg")
    answer = isochrone(command[0], folder / "absurd.jsonl", *command[1:], *output)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    golden(answer.stderr)
    assert not (folder / "out.svg").exists()


def test_a_figure_has_the_size_and_the_title_of_a_paper(isochrone: Command, folder: Path) -> None:
    """Inches are those of the file: 150 pixels each."""
    (folder / "paper.mplstyle").write_text("font.family: monospace\n")
    words = ("plot", "c4.jsonl", "-o", "a.svg", "--force", "--size", "6x3", "--style")
    answer = isochrone(*words, "paper.mplstyle", "--title", "Figure 7", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    text = (folder / "a.svg").read_text("utf-8")
    assert 'width="432pt" height="216pt"' in text  # 72 points an inch
    assert "Figure 7" in text
    assert "monospace" in text
    for wrong in ("6", "0x3", "6x3x2", "axb"):
        assert isochrone(*words[:-3], "--size", wrong, cwd=folder).returncode == 2
    assert isochrone(*words, "nothing.mplstyle", cwd=folder).returncode == 2
