"""The picture of a fit: formula, band and residuals, and what lies beyond the data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from beds.golden import Golden
from drawn import boxes_inside, draw, words
from isochrone import models, views
from isochrone.base.errors import InputError
from isochrone.models import Model, Samples
from isochrone.models.data.load import joined
from isochrone.models.figures import deviation, fit
from made_up.times import grid, noisy, times, truth

SIZES = (8, 4096, 65536)
RANKS = (2, 3, 4, 6, 8, 12, 16)
GREY = (0.42, 0.45, 0.5)


def broadcast(
    ranks: tuple[int, ...] = RANKS,
    sizes: tuple[int, ...] = SIZES,
    op: str = "bcast",
    noise: float = 0.03,
) -> Samples:
    """Return the times of a tree."""
    b, p = (side.ravel() for side in np.meshgrid(np.array(sizes, float), np.array(ranks, float)))
    exact = 3e-6 + (2e-6 + 3e-10 * b) * np.ceil(np.log2(p))
    found = noisy(exact, {"b": b, "p": p}, noise, 5, 1, op=op)
    found.origin = "measured"
    return found


@pytest.fixture(scope="module")
def model() -> Model:
    return models.fit(broadcast(), "tree")


def panels(figure: Figure) -> list[tuple[Axes, Axes]]:
    """Return the axes in pairs: times, and residuals below."""
    return list(zip(figure.axes[::2], figure.axes[1::2], strict=True))


def points(axes: Axes) -> list[np.ndarray]:
    return [np.array(line.get_data()) for line in axes.lines if line.get_marker() == "o"]


def lines(axes: Axes, width: float = 1.3) -> list[Line2D]:
    return [
        line
        for line in axes.lines
        if line.get_marker() != "o" and line.get_linewidth() == width and len(line.get_xdata())
    ]


def bands(axes: Axes) -> list[np.ndarray]:
    return [c.get_paths()[0].vertices for c in axes.collections if isinstance(c, PolyCollection)]


def test_points_are_medians_and_lines_go_on_to_four_times_the_ranks(
    model: Model, golden: Golden
) -> None:
    """Solid as far as was measured, dashed on grey beyond; whole numbers of ranks only."""
    (upper, _), *_ = panels(model.plot())
    observed = models.fit(broadcast(), "tree").samples
    assert observed is not None
    (medians,) = observed.observations()
    drawn = points(upper)
    assert len(drawn) == 3
    for size, (x, y) in zip(SIZES, drawn, strict=True):
        mine = medians.variables["b"] == size
        assert 2**x == pytest.approx(medians.variables["p"][mine])
        assert y == pytest.approx(medians.seconds[mine])
    for number, line in enumerate(lines(upper)):
        p, y = 2 ** np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        assert y == pytest.approx(model.predict(p=np.round(p), b=SIZES[number // 2]).seconds)
        inside = number % 2 == 0
        assert (p.min(), p.max()) == pytest.approx((2, 16) if inside else (16, 64))
        assert (line.get_linestyle() == "-") == inside
    assert 17 in np.round(2 ** np.asarray(lines(upper)[1].get_xdata(), float))  # a tree jumps there
    shaded = [
        patch
        for patch in upper.patches
        if patch.get_facecolor()[:3] == pytest.approx(GREY, abs=0.01)
    ]
    assert [patch.get_x() for patch in shaded] == pytest.approx([4.0])
    golden(words(model.plot()))


def test_the_band_is_the_interval_of_the_prediction(model: Model) -> None:
    (upper, _), *_ = panels(model.plot())
    for size, band in zip(SIZES, bands(upper), strict=True):
        found = model.predict(p=[2, 64], b=size)
        for end, column in ((1.0, 0), (6.0, 1)):
            here = band[np.abs(band[:, 0] - end) < 1e-9, 1]
            assert here.min() == pytest.approx(found.low[column])
            assert here.max() == pytest.approx(found.high[column])


def test_residuals_are_per_cent_of_the_formula_with_its_band(model: Model) -> None:
    """The same as `Model.residuals` says; nothing is drawn where nothing was measured."""
    (_, lower), *_ = panels(model.plot())
    table = pd.DataFrame(model.residuals())
    for size, (x, y) in zip(SIZES, points(lower), strict=True):
        own = table[table.b == size]
        assert 2**x == pytest.approx(own.p)
        assert y == pytest.approx(100 * own.residual)
    for band in bands(lower):
        assert band[:, 0].max() == pytest.approx(4.0)
        assert band[:, 1].min() < 0 < band[:, 1].max()
    assert "%" in "".join(label.get_text() for label in lower.get_yticklabels())
    assert lower.get_ylim()[0] == -lower.get_ylim()[1]


def test_no_line_is_drawn_where_the_formula_changes(golden: Golden) -> None:
    """A jump within the gap would dive below the times on both sides; dots join them straight."""
    sizes = tuple(2**k for k in range(3, 23))
    b = np.array(sizes, float)
    exact = np.where(b <= 65536, 1e-6 + b / 6e9, 5e-6 + b / 11e9)
    data = noisy(exact, {"b": b}, 0.01, 5, 1, op="send")
    data.origin = "measured"
    figure = models.fit(data, "hockney").plot()
    (upper, lower), *_ = panels(figure)
    line, *_ = lines(upper)
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    gap = (x > 16) & (x < 17)  # octaves: 64 KiB is the last of the first formula
    assert gap.any()
    assert np.isnan(y[gap]).all()
    assert np.isfinite(y[~gap]).all()
    (dots,) = lines(upper, width=1.1)
    assert np.asarray(dots.get_xdata()) == pytest.approx([16, 17])
    ends = np.asarray(dots.get_ydata(), float)
    assert ends == pytest.approx([1e-6 + 2**16 / 6e9, 5e-6 + 2**17 / 11e9], rel=0.03)
    known = y[~gap]
    assert (np.diff(known) > -1e-9).all()
    golden(words(figure))
    assert not any(((band[:, 0] > 16.01) & (band[:, 0] < 16.99)).any() for band in bands(lower))


def test_a_deviation_of_one_point_is_one_bar(golden: Golden) -> None:
    """Its least is its largest; groups of several points keep three."""
    sizes = (8, 64, 512, 4096, 65536)
    one = draw(deviation, [broadcast(ranks=(4,), sizes=sizes)], model="hockney")
    (axes,) = one.axes
    assert len(axes.patches) == 5
    golden([t.get_text() for t in axes.get_legend().get_texts()])
    several = draw(deviation, [broadcast(ranks=(4, 8), sizes=sizes)], model="tree")
    assert [len(axes.patches) for axes in several.axes] == [15, 6]


def test_without_groups_there_are_no_bars_and_no_warnings() -> None:
    segment = models.Segment("tree", ["1", "ceil(log2(p))"], [3e-6, 2e-6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw(deviation, [broadcast(ranks=(4,), sizes=(8,))], model=Model([segment]))
    assert not figure.axes[0].patches


def test_a_formula_without_ranks_is_not_drawn_beyond_them() -> None:
    data = broadcast(sizes=(8, 4096))
    (upper, _), *_ = panels(models.fit(data, "hockney").plot())
    assert not upper.patches
    assert max(x.max() for x, _ in points(upper)) == upper.lines[0].get_xdata()[-1]


def test_the_variable_across_can_be_chosen(golden: Golden) -> None:
    """By default that with most values; another that was not measured is refused."""
    data = broadcast(ranks=(2, 4, 8), sizes=(1, 8, 64, 512, 4096))
    figure = draw(fit, [data], model="tree")
    assert figure.axes[1].get_xlabel() == "message size"
    figure = draw(fit, [data], model="tree", across="p")
    assert figure.axes[1].get_xlabel() == "ranks"
    assert figure.axes[0].get_legend().get_title().get_text() == "message size"
    with golden.refusal():
        draw(fit, [data], model="tree", across="w")


def test_a_wide_band_does_not_hide_the_lines(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interval a thousand times the time leaves the axis to points and lines."""
    plain = model.plot().axes[0].get_ylim()
    predict = Model._predict

    def wide(self: Model, *args: Any) -> Any:
        found = predict(self, *args)
        found.low, found.high = found.low / 1000, found.high * 1000
        return found

    monkeypatch.setattr(Model, "_predict", wide)
    low, high = model.plot().axes[0].get_ylim()
    assert 1 / 2 < low / plain[0] <= 1
    assert 1 <= high / plain[1] < 2


def test_a_model_without_intervals_is_drawn() -> None:
    """A published one has no covariance: lines and residuals, no band."""
    segment = models.Segment("tree", ["1", "ceil(log2(p))"], [3e-6, 2e-6])
    figure = Model([segment]).plot(broadcast(sizes=(8,)))
    views.to_svg(figure)
    assert len(points(figure.axes[1])) == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["ranks", "sizes", "hotspot", "several"])
def test_no_two_texts_touch(kind: str, model: Model) -> None:
    if kind == "hotspot":
        variables = grid("hotspot")
        data = noisy(times(truth("hotspot"), variables), variables, 0.02, 3, 1)
        figure = models.fit(data, "hotspot").plot()
    elif kind in ("sizes", "several"):
        ops = ("bcast", "reduce", "scan") if kind == "several" else ("bcast",)
        sizes = tuple(4**k for k in range(12))
        data = joined([broadcast((2, 4, 8, 16), sizes, op) for op in ops])
        fitted = [models.fit(data.only(op=op), "tree") for op in ops]
        figure = Model([segment for one in fitted for segment in one.segments]).plot(data)
    else:
        figure = model.plot()
    boxes = boxes_inside(figure)
    assert len(boxes) > 10
    for number, (name, a) in enumerate(boxes):
        for other, b in boxes[:number]:
            apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
            assert apart, f"{name!r} and {other!r} overlap"


def test_tables_are_drawn_by_the_views_of_a_model(tmp_path: Path, golden: Golden) -> None:
    """A CSV by its path, and samples; by no other view."""
    data = broadcast()
    frame = pd.DataFrame({"op": data.selectors["op"], **data.variables, "seconds": data.seconds})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for view in (fit, deviation):
        for given in (tmp_path / "t.csv", data):
            figure = draw(view, [given], model="tree")
            assert isinstance(figure, Figure)
    assert "Tabulated times" in words(draw(fit, [tmp_path / "t.csv"], model="tree"))
    assert views.usual(views.TABLE) == "fit"
    for name in ("time", "heatmap", "plane"):
        with pytest.raises(InputError) as caught:
            views.draw(name, [tmp_path / "t.csv"])
        golden(caught.value)
        assert "deviation, fit" in str(caught.value)


def test_a_model_that_was_read_draws_what_it_is_given(
    model: Model, tmp_path: Path, golden: Golden
) -> None:
    models.write(model, tmp_path / "m.json")
    read = models.read(tmp_path / "m.json")
    assert isinstance(read.plot(broadcast(), view="deviation"), Figure)
    with golden.refusal():
        read.plot()
