"""The picture of the hot spot's plane: points where they were measured, lines of the formula."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from beds.golden import Golden
from drawn import boxes_inside, draw
from isochrone import models, views
from isochrone.cli.main import main
from isochrone.collective_io.figures import plane
from isochrone.models import Model
from isochrone.runfile.file import write
from made_up.hotspots import SIZES, duplex, hotspot, saturating, sizes
from made_up.jobs import TACHYON
from made_up.latency_maps import mmpi_example
from made_up.sweeps import point_to_point


def words(figure: Figure) -> str:
    return "\n".join(t.get_text() for t in figure.findobj(Text) if t.get_text().strip())


def lines(axes: Axes, style: str) -> list[Line2D]:
    return [line for line in axes.lines if line.get_linestyle() == style]


def test_points_are_at_their_medians_and_lines_at_the_formula() -> None:
    """Without noise each segment's lines go through its points, in a style of its own."""
    figure = draw(plane, [hotspot(noise=0.0)])
    (axes,) = figure.axes
    marked = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(marked) == 8  # pa from 0 to 7
    for pa, line in enumerate(marked):
        x, y = (np.asarray(side, float) for side in line.get_data())
        assert y == pytest.approx([saturating(pa, int(pe), int(pe)) for pe in x])
    for style, found in (("-", range(2)), ("--", range(2, 8))):
        drawn = lines(axes, style)
        assert len(drawn) == len(found)
        for pa, line in zip(found, drawn, strict=True):
            x, y = (np.asarray(side, float) for side in line.get_data())
            assert y == pytest.approx(saturating(pa, 0, 0) + 0.0061 * x, rel=1e-6)
    text = words(figure)
    assert "solid, pa ≤ 1: 3.80 ms pa + 6.10 ms pe + 5.70 ms" in text
    assert "dashed, 2 ≤ pa: 8.40 ms pa + 6.10 ms pe + 1.60 ms" in text


def test_bars_are_the_interval_of_the_median() -> None:
    run = hotspot(intra=1, inter=1, noise=0.2, repeats=9)
    figure = draw(plane, [run])
    table = run.tables["sample"]
    for pa, bars in enumerate(figure.axes[0].collections):
        ends = np.array([s[:, 1] for s in bars.get_segments()])  # type: ignore[attr-defined]
        for number, pe in enumerate([1] if pa == 0 else [0, 1]):
            mine = (table["pa"] == pa) & (table["pe"] == pe)
            times = np.sort(table["seconds"][mine])
            assert ends[number] == pytest.approx([times[1], times[-2]])  # 95 % of nine


def test_directions_that_are_apart_have_the_busier_one_across() -> None:
    figure = draw(plane, [hotspot(free=True, intra=3, inter=4, noise=0.0)])
    assert "max(in,out)" in figure.axes[0].get_xlabel()
    assert "86.4 ms max(in,out) + 12.4 ms min(in,out)" in words(figure)
    for axes, pa in zip(figure.axes, (0, 3), strict=True):
        for least, line in enumerate(lines(axes, "-")):
            x, y = (np.asarray(side, float) for side in line.get_data())
            expected = [duplex(pa, int(v), least) for v in x if v == int(v)]
            assert y[x == np.floor(x)] == pytest.approx(expected)
            assert x[0] == least  # the busier direction is never the smaller one


def test_panels_of_one_size_have_one_scale() -> None:
    figure = draw(plane, [hotspot(("intra-first", "inter-first"))])
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert {"intra-first", "inter-first"} <= {
        a.get_title(loc="left").split(" ")[0] for a in figure.axes
    }


@pytest.mark.few(4)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(
    ("intra", "inter"), [(0, 1), (1, 0), (1, 1), (7, 0), (0, 4), (7, 4), (1, 4)]
)
def test_no_two_texts_touch_whatever_was_measured(intra: int, inter: int, free: bool) -> None:
    figure = draw(plane, [hotspot(intra=intra, inter=inter, free=free, repeats=3)])
    boxes = boxes_inside(figure)
    for number, (name, a) in enumerate(boxes):
        for other, b in boxes[:number]:
            apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
            assert apart, f"{name!r} and {other!r} overlap"


def test_points_that_no_formula_fits_are_drawn_alone_and_it_says_why(golden: Golden) -> None:
    figure = draw(plane, [hotspot(inter=0, intra=7, complete=False)])
    golden(words(figure))
    assert "partial run" in words(figure)
    golden(figure.axes[0].get_xlabel())
    assert not lines(figure.axes[0], "-")


def test_a_published_model_is_held_against_the_points(tmp_path: Path) -> None:
    """It lists the saturated segment first; both are drawn, each where it holds."""
    figure = draw(plane, [hotspot()], model=TACHYON)
    assert len(lines(figure.axes[0], "-")) == 6
    assert len(lines(figure.axes[0], "--")) == 2
    for suffix in views.SUFFIXES:
        views.save(figure, tmp_path / f"a{suffix}")
        assert (tmp_path / f"a{suffix}").stat().st_size > 1000


def test_lines_of_the_plane_know_bytes_and_leave_out_busy_points(golden: Golden) -> None:
    """A panel for each size, one hot node only."""
    model: Model = models.fit(sizes())
    figure = draw(plane, [sizes()], model=model)
    assert len(figure.axes) == len(SIZES)
    text = "\n".join(t.get_text() for t in figure.findobj(Text))
    golden(text)


def test_it_refuses_in_one_line(tmp_path: Path, golden: Golden) -> None:
    """A map, no run, a run without points, a family of something else, a file that is not there."""
    with golden.refusal():
        draw(plane, [mmpi_example()])
    with golden.refusal():
        draw(plane, [])
    cut = hotspot()
    del cut.tables["sample"]
    with golden.refusal():
        draw(plane, [cut])
    with golden.refusal():
        draw(plane, [hotspot()], model="hockney")
    with golden.refusal():
        draw(plane, [hotspot()], model=tmp_path / "none.json")
    foreign = models.fit(models.of_run(point_to_point()), "hockney")
    with golden.refusal():
        draw(plane, [hotspot()], model=foreign)


def test_plot_chooses_it_for_a_hotspot(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, golden: Golden
) -> None:
    write(hotspot(intra=2, inter=2), tmp_path / "a.jsonl")
    out = tmp_path / "a.svg"
    assert main(["plot", str(tmp_path / "a.jsonl"), "-o", str(out)]) == 0
    golden(out.read_text("utf-8"))
