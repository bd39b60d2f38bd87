"""The figure of collectives on grids: what is drawn, what is marked, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from beds.golden import Golden
from isochrone import models, views
from isochrone.models import Model
from made_up.grid_runs import SIZES, grid_run
from made_up.latency_maps import mmpi_example
from made_up.sweeps import collective

MANY = ("2x36", "3x24", "4x18", "6x12", "8x9", "9x8", "12x6", "18x4", "24x3", "36x2")


@pytest.fixture(scope="module")
def fitted() -> Model:
    return models.fit([grid_run(ops=("bcast",))])


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(match=lambda a: hasattr(a, "get_text"))]


def test_each_operation_has_a_panel_with_a_line_for_each_grid() -> None:
    figure = views.draw("grids", [grid_run()])
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "bcast, 16 ranks",
        "time / library",
        "allgather, 16 ranks",
        "time / library",
    ]
    for axes in figure.axes[1::2]:
        legend = axes.get_legend()
        assert legend is not None
        named = [text.get_text() for text in legend.get_texts()]
        assert named == ["library", "2x8", "4x4", "8x2"]


def test_the_best_of_each_size_is_ringed_and_named() -> None:
    """Made up so that the library is best below 16 KiB, and 4x4 from there on."""
    run = grid_run(ops=("bcast",), grids=("4x4", "8x2"), noise=0.0)
    table = run.tables["sample"]
    faster = (table["grid"] == "4x4") & (table["bytes"] >= 16384) & (table["phase"] == "total")
    table.columns["seconds"] = table["seconds"] * (1 - 0.99 * faster)
    axes, ratios = views.draw("grids", [run]).axes
    assert [text.get_text() for text in axes.texts] == ["library"] * 2 + ["4x4"] * 3
    rings = [line for line in axes.lines if line.get_markersize() > 8]
    assert len(rings) == len(SIZES)
    assert max(ratios.lines[0].get_ydata()) == min(ratios.lines[0].get_ydata()) == 1  # type: ignore[arg-type]


def test_a_grid_that_is_as_good_as_the_library_is_not_called_the_best() -> None:
    run = grid_run(ops=("bcast",), grids=("4x4",), noise=0.0, repeats=2)
    table = run.tables["sample"]
    own = {
        int(size): float(seconds)
        for size, seconds, grid in zip(table["bytes"], table["seconds"], table["grid"], strict=True)
        if grid == "library"
    }
    whole = (table["grid"] == "4x4") & (table["phase"] == "total")
    alike = np.array([0.99 * own[int(size)] for size in table["bytes"]])
    table.columns["seconds"] = np.where(whole, alike, table["seconds"])
    axes = views.draw("grids", [run]).axes[0]
    assert {text.get_text() for text in axes.texts} == {"library"}


@pytest.mark.slow
def test_a_model_is_drawn_beside_with_the_deviation_of_phases_and_totals(
    fitted: Model, tmp_path: Path, golden: Golden
) -> None:
    run = grid_run(ops=("bcast",), sizes=(2048, 32768), seed=9)
    figure = views.draw("grids", [run], views.Options(model=fitted))
    times, _, bars = figure.axes
    dashed = [line for line in times.lines if line.get_marker() == "x"]
    assert len(dashed) == 4
    legend = bars.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["columns", "rows", "whole"]
    heights = [patch.get_height() for patch in bars.patches]
    assert len(heights) == 3 + 3 + 4  # the library has a total only
    assert 0 < max(heights) < 5
    golden(bars.get_title(loc="left"))
    for suffix in views.SUFFIXES:
        views.save(figure, tmp_path / f"a{suffix}")


def test_a_model_of_something_else_leaves_the_times(fitted: Model) -> None:
    run = grid_run(ops=("allgather",))
    figure = views.draw("grids", [run], views.Options(model=fitted))
    assert "nothing predicted" in figure.axes[2].get_title(loc="left")


def test_of_many_grids_seven_are_drawn_and_the_best_is_one_of_them(golden: Golden) -> None:
    run = grid_run(72, MANY, ops=("bcast",), noise=0.0, repeats=2)
    table = run.tables["sample"]
    best = (table["grid"] == "18x4") & (table["phase"] == "total")
    table.columns["seconds"] = table["seconds"] * (1 - 0.99 * best)
    figure = views.draw("grids", [run])
    legend = figure.axes[1].get_legend()
    assert legend is not None
    named = [text.get_text() for text in legend.get_texts()]
    assert len(named) == 8
    assert {"library", "18x4", "2x36", "36x2"} <= set(named)
    golden(texts(figure))


def test_it_refuses_what_it_cannot_draw_in_one_line(
    fitted: Model, tmp_path: Path, golden: Golden
) -> None:
    for run in (collective(("bcast",), 8), mmpi_example()):
        with golden.refusal():
            views.draw("grids", [run])
    with golden.refusal():
        views.draw("grids", [grid_run()], views.Options(ops=("scan",)))
    with golden.refusal():
        views.draw("grids", [grid_run()], views.Options(model="tree"))
    with golden.refusal():
        views.draw("grids", [grid_run()], views.Options(model=tmp_path / "none.json"))


def test_a_small_cut_and_nameless_run_is_drawn(tmp_path: Path) -> None:
    run = grid_run(ops=("bcast",), sizes=(8,), repeats=1)
    run.ranks, run.end = [], None
    views.save(views.draw("grids", [run]), tmp_path / "a.png")
