"""The figures of emulated applications: what is drawn, in which colours, and what is refused."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from beds.golden import Golden
from drawn import texts, words
from isochrone import views
from isochrone.applications.figures.phases import figure_of
from isochrone.applications.predict.application_accuracy import Said
from isochrone.base.errors import InputError
from made_up.emulations import BULLY, QUIET, VICTIM, Truth, emulation

GREY = "#dfe2e7"


def many(count: int, ranks: int = 1, iterations: int = 3) -> list[Truth]:
    names = [f"application-{k}" for k in range(count)]
    return [
        Truth(name, ranks, iterations, slowed={names[k - 1]: 2.0}) for k, name in enumerate(names)
    ]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Return pairs of texts that lie on each other."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    boxes = [
        (text.get_text(), text.get_window_extent(renderer).shrunk(0.96, 0.8))
        for text in texts(figure)
        if not text.get_rotation()
    ]
    return [(a, b) for (a, one), (b, two) in combinations(boxes, 2) if one.overlaps(two)]


def test_a_cell_is_grey_exactly_if_its_interval_contains_1() -> None:
    figure = views.draw("slowdown", [emulation([VICTIM, BULLY, QUIET], noise=0.01)])
    *matrices, legend = figure.axes
    assert legend.get_xlabel()
    for axes in matrices:
        cells = [p for p in axes.patches if isinstance(p, Rectangle)]
        shown = [text.get_text() for text in axes.texts]
        assert len(shown) == 2 * len(cells) == 18, "each ratio stands with its interval"
        for cell, interval in zip(cells, shown[1::2], strict=True):
            low, high = map(float, interval.split(" … "))
            red, green, blue, _ = cell.get_facecolor()
            even = f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}" == GREY
            assert even == (low <= 1 <= high)


def test_the_matrix_of_tails_is_left_out_where_it_is_not_known() -> None:
    """One legend is for both."""
    assert len(views.draw("slowdown", [emulation()]).axes) == 2 + 1
    assert len(views.draw("slowdown", [emulation(many(3))]).axes) == 1 + 1


def test_no_interval_no_matrix(golden: Golden) -> None:
    with pytest.raises(InputError, match="--repeats 5 or more"):
        views.draw("slowdown", [emulation(repeats=4)])
    with golden.refusal():
        views.draw("slowdown", [emulation([VICTIM])])


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [2, 8, 16])
def test_texts_of_a_matrix_do_not_lie_on_each_other(count: int) -> None:
    assert not overlapping(views.draw("slowdown", [emulation(many(count), events=False)]))


def test_a_large_matrix_has_colours_only() -> None:
    figure = views.draw("slowdown", [emulation(many(18), events=False, runs=("alone", "pairs"))])
    assert not figure.axes[0].texts
    assert len(figure.axes[0].patches) == 18 * 17


@pytest.mark.few(2)
@pytest.mark.parametrize("ranks", [1, 16, 64])
@pytest.mark.parametrize("view", ["timeline", "phases"])
def test_texts_of_a_timeline_do_not_lie_on_each_other(view: str, ranks: int) -> None:
    phases = ("stencil", "halo", "allreduce", "check", "barrier", "write-the-checkpoint", "another")
    truths = [Truth("jacobi", ranks, phases=phases), Truth("bully", ranks, seconds=3e-5)]
    assert not overlapping(views.draw(view, [emulation(truths)]))


def test_a_timeline_has_a_row_for_each_application_and_one_scale_for_both_columns(
    golden: Golden,
) -> None:
    figure = views.draw("timeline", [emulation()])
    assert len(figure.axes) == 6
    for alone, beside in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        assert alone.get_xlim() == beside.get_xlim()
    assert figure.axes[0].get_title("right") == "alone"
    golden(figure.axes[1].get_title("right"))
    (bars,) = [c for c in figure.axes[0].collections if isinstance(c, PolyCollection)]
    assert len(bars.get_paths()) == 4 * 3, "each event of each rank is a bar"


def test_an_application_on_its_own_has_one_wide_timeline() -> None:
    (axes,) = views.draw("timeline", [emulation([VICTIM])]).axes
    assert axes.get_title("right") == ""


def test_a_timeline_names_what_is_to_be_seen() -> None:
    said = words(views.draw("timeline", [emulation([VICTIM])]))
    for word in ("victim", "computation", "exchange", "rank"):
        assert word in said


def test_phases_add_up_to_the_iteration_below_them() -> None:
    axes = views.draw("phases", [emulation([VICTIM], noise=0.0, drift=0.0)]).axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["compute", "exchange", "iteration"]
    compute, exchange, iteration = (bar.get_width() for bar in axes.patches)  # type: ignore[attr-defined]
    assert compute + exchange == pytest.approx(iteration, rel=0.03)


def test_a_prediction_stands_beside_its_phase_with_the_difference_in_percent() -> None:
    run = emulation([VICTIM], noise=0.0, drift=0.0)
    bars = {("victim", "exchange"): Said(6e-4, 5e-4, 7e-4)}
    figure = figure_of(run, bars)
    said = words(figure)
    assert "+50.0 %" in said
    assert "(predicted - measured) / measured" in said
    assert len(figure.axes[0].patches) == 4


def test_without_launches_alone_there_are_no_phases() -> None:
    with pytest.raises(InputError, match="--combinations alone"):
        views.draw("phases", [emulation([VICTIM, BULLY], runs=("pairs",))])


def test_both_sides_of_a_picture_are_within_it() -> None:
    """A line of notes that is too long goes on below, and not beyond the edge."""
    run = emulation([VICTIM])
    run.header["clock"] = {"source": "MPI_Wtime", "simulated": True}
    bars = {("victim", "exchange"): Said(6e-4, 5e-4, 7e-4)}
    for figure in (figure_of(run, bars), views.draw("timeline", [run])):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
        for text in texts(figure):
            box = text.get_window_extent(renderer)
            assert 0 <= box.x0 <= box.x1 <= figure.bbox.x1, text.get_text()
