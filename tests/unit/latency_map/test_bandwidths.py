"""Maps of bandwidths: the same analysis, in words and axes of bandwidths."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from beds.command_line import run_here
from isochrone import views
from isochrone.base.errors import InputError
from isochrone.formats.importers import matrix
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Run

OF_TIMES = re.compile(r"latenc|round.trip|one.way|µs|\bns\b|\bms\b|seconds", re.I)
GPUS = 12


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two switches of six GPUs with 26 GB/s, 12 GB/s between them, a slow GPU and direction."""
    rates = np.random.default_rng(5).normal(1, 0.01, (GPUS, GPUS))
    near = np.arange(GPUS)[:, None] // 6 == np.arange(GPUS) // 6
    rates *= np.where(near, 26.0, 12.0)
    rates[4] /= 2
    rates[:, 4] /= 2
    rates[1, 9] /= 2
    rows = (f"{k} " + " ".join(f"{rate:.2f}" for rate in row) for k, row in enumerate(rates))
    path = tmp_path_factory.mktemp("bandwidths") / "matrix.txt"
    names = " ".join(map(str, range(GPUS)))
    path.write_text(f"Bandwidth Matrix (GB/s)\n {names}\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def run(file: Path) -> Run:
    return matrix.IMPORTER.run(file)


def test_levels_and_what_is_slow_are_bandwidths(run: Run) -> None:
    """The medians of the levels, the slow rank and the slow direction of the generated machine."""
    found = analyse(run)
    rates = [level.bandwidth for level in found.levels]
    assert rates == pytest.approx([26e9, 12e9], rel=0.02)
    named = {(part.kind, part.ranks): part for part in found.slow}
    assert named.keys() == {("rank", (4,)), ("direction", (1, 9))}
    for part in named.values():
        assert part.ratio == pytest.approx(2, rel=0.05)
    direction = named["direction", (1, 9)]
    assert direction.moved is not None
    assert direction.moved / direction.seconds == pytest.approx(6e9, rel=0.05)
    assert direction.moved / direction.expected == pytest.approx(12e9, rel=0.05)


def test_no_sentence_speaks_of_times(file: Path, tmp_path: Path) -> None:
    """What `show` and the report say is about bandwidths; the JSON has them, too."""
    shown = run_here("show", file, cwd=tmp_path)
    assert shown.returncode == 0
    assert OF_TIMES.findall(shown.stdout) == []
    assert shown.stdout.count("GB/s") >= 6
    assert run_here("report", file, "-o", "report.html", cwd=tmp_path).returncode == 0
    html = (tmp_path / "report.html").read_text()
    page = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    assert OF_TIMES.findall(page) == []
    document = json.loads(run_here("show", file, "--json", cwd=tmp_path).stdout)
    assert [level["bandwidth"] for level in document["levels"]] == pytest.approx(
        [26e9, 12e9], rel=0.02
    )


def test_a_comparison_is_of_bandwidths(file: Path, tmp_path: Path) -> None:
    """Rank 2 loses a third: the changed rank, its pairs and the page have bandwidths."""
    rows = [line.split() for line in file.read_text().splitlines()[2:]]
    for k, row in enumerate(rows):
        for other in range(GPUS):
            if 2 in (k, other):
                row[1 + other] = f"{float(row[1 + other]) * 2 / 3:.2f}"
    heading = file.read_text().splitlines()[:2]
    (tmp_path / "b.txt").write_text("\n".join([*heading, *map(" ".join, rows)]) + "\n")
    for options in ((), ("-o", "ab.html")):
        answer = run_here("compare", file, "b.txt", "--one-launch", *options, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        (row,) = [line for line in answer.stdout.splitlines() if line.startswith("slower")]
        assert row.count("GB/s") == 3
        assert OF_TIMES.findall(answer.stdout) == []
    html = (tmp_path / "ab.html").read_text()
    page = re.sub(r"<(script|style|svg).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)
    assert OF_TIMES.findall(page) == []
    assert re.search(r"bandwidth \w+ GB/s", html)


@pytest.mark.parametrize("view", ["heatmap", "levels"])
def test_no_axis_and_no_caption_speaks_of_times(view: str, run: Run) -> None:
    figure = views.draw(view, [run], views.Options())
    figure.canvas.draw()
    texts = [one.get_text() for one in figure.findobj(Text)]
    assert [text for text in texts if OF_TIMES.search(text)] == []
    assert any("GB/s" in text for text in texts)


def test_cells_are_of_messages_from_row_to_column(run: Run) -> None:
    """The picture has both directions of the file: one of 1 and 9 is as slow as those of 4."""
    figure = views.draw("heatmap", [run], views.Options())
    picture = np.asarray(figure.axes[0].images[0].get_array(), dtype=float)
    slow, usual = picture[4, 9, :3], picture[0, 9, :3]
    assert np.abs(picture[1, 9, :3] - slow).max() < np.abs(usual - slow).max() / 5
    assert np.abs(picture[9, 1, :3] - usual).max() < np.abs(usual - slow).max() / 5


@pytest.mark.parametrize("view", ["surface", "distribution"])
def test_views_of_times_refuse_bandwidths(view: str, run: Run) -> None:
    with pytest.raises(InputError):
        views.draw(view, [run], views.Options())
