"""What every view must do, whatever it draws."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import views
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.collective_io.orders.compared_orders import ComparedOrder, ComparedOrders
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from isochrone.views.style import SLOW
from made_up.emulations import Truth, emulation
from made_up.grid_runs import grid_run
from made_up.hotspots import exchange, hotspot
from made_up.latency_maps import block, latency_map, mmpi_example
from made_up.recordings import halo_recording
from made_up.sweeps import bisection, collective, point_to_point
from made_up.times import grid, noisy, run_of, times, truth

NAMES = registry.names("*.figures")
HISTORY = ["history", "ratio"]
"""They draw runs of any kind that repeats, over time or side by side."""
MAPS = [name for name in views.fitting("latency-map") if name not in HISTORY]
MODELS = ["deviation", "fit"]
EMULATIONS = [name for name in views.fitting("emulation") if name not in HISTORY]
RECORDINGS = views.fitting("recording")
GRIDS = ["grids"]
"""They draw sweeps that hold grids."""
SWEEPS = [name for name in views.fitting("sweep") if name not in (*MODELS, *GRIDS, *HISTORY)]
FEW = (0, 64, 4096)
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def example(name: str) -> list[Run]:
    """Return runs that a view of sweeps can draw: two of different numbers of ranks."""
    return [collective(("bcast",), ranks, sizes=FEW, repeats=4) for ranks in (4, 8)]


def test_the_views_of_the_map_and_of_sweeps_are_there() -> None:
    assert {"heatmap", "surface", "levels"} <= set(MAPS)
    assert {"time", "bandwidth", "ranks"} <= set(SWEEPS)


def test_it_has_help(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(str(name)):
            assert (registry.load("*.figures", name).__doc__ or "").splitlines()[0].endswith(".")


def test_it_has_the_signature_of_all_figures(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(str(name)):
            view = registry.load("*.figures", name).VIEW
            assert isinstance(view, views.View)
            assert list(inspect.signature(view.draw).parameters) == ["runs", "options"]
            assert set(view.usual) <= set(view.kinds)


def test_each_kind_has_one_usual_figure() -> None:
    usual = [kind for n in NAMES for kind in registry.load("*.figures", n).VIEW.usual]
    assert sorted(usual) == [
        "emulation",
        "hotspot",
        "latency-map",
        "orders",
        "recording",
        "sweep",
        "table",
        "tile-io",
    ]


def draw(name: str, runs: Run | list[Run], **options: object) -> Figure:
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    runs = [runs] if isinstance(runs, Run) else runs
    return views.draw(name, runs, views.Options(**given))  # type: ignore[arg-type]


Written = Callable[[Figure], None]


@pytest.fixture
def written(tmp_path: Path, full: bool) -> Written:
    """Write a figure; with ``--full`` in every format."""

    def write(figure: Figure) -> None:
        for suffix in views.SUFFIXES if full else (".svg",):
            views.save(figure, tmp_path / f"a{suffix}")
            assert (tmp_path / f"a{suffix}").read_bytes().startswith(STARTS[suffix])

    return write


def test_each_format_has_its_first_bytes(tmp_path: Path) -> None:
    figure = draw("nodes", [exchange()])
    for suffix in views.SUFFIXES:
        views.save(figure, tmp_path / f"a{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(STARTS[suffix])


@pytest.mark.few
@pytest.mark.parametrize("scale", [None, "log", "linear"])
@pytest.mark.parametrize("name", SWEEPS)
def test_a_view_of_sweeps_draws_in_every_format(
    name: str, scale: str | None, written: Written
) -> None:
    figure = draw(name, example(name), scale=scale)
    assert isinstance(figure, Figure)
    written(figure)


@pytest.mark.parametrize("name", SWEEPS)
def test_a_view_of_sweeps_refuses_in_one_line(name: str, golden: Golden) -> None:
    """A map, no run at all, an operation or a scale that is not there."""
    mixed = (
        "not a sweep over message sizes"
        if name not in MAPS
        else "the view distribution plots sweeps or a single map, not"
    )
    with pytest.raises(InputError, match=mixed):
        draw(name, [mmpi_example()] if name not in MAPS else [*example(name), mmpi_example()])
    with golden.refusal():
        draw(name, [])
    with golden.refusal():
        draw(name, example(name), ops=["scan"])
    with golden.refusal():
        draw(name, example(name), scale="wide")


@pytest.mark.parametrize("name", SWEEPS)
def test_a_view_of_sweeps_draws_small_cut_and_nameless_runs(name: str, tmp_path: Path) -> None:
    """One size, one repetition, no hosts, equal times, all experiments in one picture."""
    nameless = collective(("bcast",), 16, sizes=(8,), repeats=1)
    nameless.ranks, nameless.end = [], None
    equal = collective(("bcast",), 2, sizes=(8,), repeats=3, noise=0.0)
    mixed = [
        nameless,
        equal,
        bisection(8, sizes=(8,)),
        bisection(4, sizes=(8,)),
        point_to_point(sizes=(8,), repeats=1),
    ]
    for scale in ("log", "linear"):
        views.save(draw(name, mixed, scale=scale), tmp_path / "a.png")


@pytest.mark.few
@pytest.mark.parametrize("what", ["mean", "median", "stddev"])
@pytest.mark.parametrize("name", MAPS)
def test_a_view_of_a_map_draws_every_quantity_in_every_format(
    name: str, what: str, written: Written
) -> None:
    figure = draw(name, mmpi_example(), what=what)
    assert isinstance(figure, Figure)
    written(figure)


@pytest.mark.parametrize("name", MAPS)
def test_it_refuses_what_was_not_measured(name: str, golden: Golden) -> None:
    with golden.refusal():
        draw(name, mmpi_example(), what="mean", sizes=[7])
    with pytest.raises(InputError, match="there are"):
        draw(name, mmpi_example(), what="mode")


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("name", MAPS)
def test_it_draws_maps_that_are_cut_or_small_or_without_hosts(name: str, tmp_path: Path) -> None:
    nameless = latency_map(block(2, 3))
    nameless.ranks = []
    alone = latency_map(block(3, 2), missing=lambda i, j: j == 5)  # a rank without any pair
    single_pair = latency_map(block(3, 2), missing=lambda i, j: (i, j) != (0, 1))
    equal = latency_map(block(2, 3), near=1e-6, far=1e-6, noise=0.0)
    for run in (nameless, alone, single_pair, equal, latency_map(["a", "b"])):
        for what in ("median", "stddev"):
            views.save(draw(name, run, what=what), tmp_path / "a.png")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_importing_it_does_not_import_matplotlib(name: str) -> None:
    code = (
        "import sys; from isochrone.base import registry; "
        f"registry.load('*.figures', '{name}'); sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_two_views_of_a_model_are_there() -> None:
    assert {"fit", "deviation"} <= set(MODELS)


@pytest.mark.few(3)
@pytest.mark.parametrize("family", ["bcast-log", "hockney", "hotspot", "loggp", "compute"])
@pytest.mark.parametrize("name", MODELS)
def test_a_view_of_a_model_draws_families_of_all_variables(
    name: str, family: str, written: Written
) -> None:
    variables = grid(family)
    run = run_of(noisy(times(truth(family), variables), variables, 0.02, 3, seed=1))
    figure = draw(name, [run], model=family)
    assert isinstance(figure, Figure)
    written(figure)


@pytest.mark.parametrize("name", MODELS)
def test_a_view_of_a_model_refuses_in_one_line(name: str, tmp_path: Path, golden: Golden) -> None:
    """A map, no run, a model that is not there, a model of something else."""
    variables = grid("bcast-log")
    exact = times(truth("bcast-log"), variables)
    run = run_of(noisy(exact, variables, 0.02, 3, seed=1, op="bcast"))
    with golden.refusal():
        draw(name, [mmpi_example()])
    with golden.refusal():
        draw(name, [])
    with golden.refusal():
        draw(name, [run], model="nothing")
    with golden.refusal():
        draw(name, [run], model=tmp_path / "none.json")
    with golden.refusal():
        draw(name, [run], model=ROOT / "examples/models/t3e-1200.json")
    with golden.refusal():
        draw(name, [run], ops=["scan"])


def test_the_view_of_nodes_draws_before_and_after_in_every_format(written: Written) -> None:
    runs = [exchange(), exchange(hosts=40, ranks=80)]
    figure = draw("nodes", runs)
    assert len(figure.axes) == 2
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim(), "two scales cannot be compared"
    written(figure)


def test_the_view_of_nodes_marks_the_node_with_most_messages_to_others() -> None:
    axes = draw("nodes", [exchange()]).axes[0]
    assert axes.get_ylabel() == "messages"
    colours = {label.get_text(): label.get_color() for label in axes.get_xticklabels()}
    assert [name for name, colour in colours.items() if colour == SLOW] == ["n1"]


def test_the_view_of_nodes_refuses_in_one_line(golden: Golden, tmp_path: Path) -> None:
    """A map, no run, and a file whose numbers are damaged, which is refused when it is read."""
    with golden.refusal():
        draw("nodes", [mmpi_example()])
    with pytest.raises(InputError, match="no run"):
        draw("nodes", [])
    damaged = exchange()
    damaged.tables["node"].columns["in"] = np.array([1.0, np.nan, 2.0, 3.0])
    write(damaged, tmp_path / "damaged.jsonl")
    with pytest.raises(InputError, match="'in'"):
        draw("nodes", [read(tmp_path / "damaged.jsonl")])


HOT = ["plane"]


def test_orders_are_drawn_in_every_format_and_nothing_else_is(
    tmp_path: Path, written: Written, golden: Golden
) -> None:
    """They are no run: a view of runs refuses them, and theirs refuses runs and tables."""
    some = ComparedOrders([ComparedOrder(["given"], [0], ["a"], [2], 0.1, 0.05, 0.2, [0.1, 0.12])])
    written(views.draw("orders", [some]))
    with golden.refusal():
        views.draw("nodes", [some])
    with golden.refusal():
        views.draw("orders", [tmp_path / "a.csv"])
    with golden.refusal():
        views.draw("orders", [mmpi_example()])
    with golden.refusal():
        views.draw("orders", [some, some])


def test_every_figure_is_tested_here() -> None:
    tested = {*MAPS, *SWEEPS, *MODELS, *HOT, *GRIDS, *EMULATIONS, *RECORDINGS, "nodes", "orders"}
    assert tested | set(HISTORY) == set(NAMES)


def test_the_history_draws_runs_of_any_kind_and_number_in_every_format(written: Written) -> None:
    """One run, runs of several kinds, without hosts and dates, of names as text of a formula."""
    nameless = latency_map(block(2, 3))
    nameless.ranks = []
    odd = latency_map(block(3, 2, "$\\nofraction_n{}$"))
    mixed = [nameless, odd, emulation(), hotspot(), *example("time"), *example("time")]
    for runs in ([odd], mixed, [latency_map(block(24)), latency_map(block(24))]):
        figure = draw("history", runs)
        written(figure)


def test_the_history_refuses_in_one_line(golden: Golden) -> None:
    partial = mmpi_example()
    partial.end = None
    with golden.refusal():
        draw("history", [partial])
    with golden.refusal():
        draw("history", [])
    with golden.refusal():
        draw("history", latency_map(block(4), nbytes=(8, 64)), sizes=[7])


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_view_of_recordings_draws_in_every_format(name: str, written: Written) -> None:
    figure = draw(name, halo_recording(2, 3))
    written(figure)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_view_of_recordings_refuses_in_one_line(name: str) -> None:
    with pytest.raises(InputError):
        draw(name, [mmpi_example()])


@pytest.mark.few(1)
@pytest.mark.parametrize("name", EMULATIONS)
def test_a_view_of_emulations_draws_in_every_format(name: str, written: Written) -> None:
    figure = draw(name, emulation())
    written(figure)


@pytest.mark.parametrize(
    ("name", "run"),
    [("heatmap", mmpi_example()), ("matrix", halo_recording(2, 4)), ("slowdown", emulation())],
)
def test_a_matrix_begins_at_the_upper_left_and_explains_its_colours(name: str, run: Run) -> None:
    matrix, *others = draw(name, run).axes
    left, right = matrix.get_xlim()
    foot, top = matrix.get_ylim()
    assert left < right
    assert top < foot
    assert any(axes.get_xlabel() or axes.get_ylabel() for axes in others)


def test_all_matrices_of_amounts_have_the_same_colours() -> None:
    least = [
        draw(name, run).axes[0].images[0].get_array()
        for name, run in (("heatmap", mmpi_example()), ("matrix", halo_recording(2, 4)))
    ]
    colours = [
        {tuple(cell) for row in np.asarray(image).tolist() for cell in row} for image in least
    ]
    assert (253, 231, 36, 255) in set.intersection(*colours)  # the most


@pytest.mark.parametrize("seconds", [86400, 60, 1, 0])
def test_dates_of_a_history_are_distinguishable(seconds: int) -> None:
    runs = [latency_map(block(2, 4)) for _ in range(8)]
    for k, run in enumerate(runs):
        at = datetime(2026, 3, 1, 12, tzinfo=UTC) + timedelta(seconds=k * seconds)
        run.header["started"] = at.isoformat()
    figure = draw("history", runs)
    FigureCanvasAgg(figure).draw()  # places the labels
    labels = figure.axes[0].get_xticklabels()
    assert len({label.get_text() for label in labels}) == len(labels) == 8
    boxes = [label.get_window_extent() for label in labels]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


@pytest.mark.parametrize("name", EMULATIONS)
def test_a_view_of_emulations_refuses_in_one_line(name: str, golden: Golden) -> None:
    with golden.refusal():
        draw(name, mmpi_example())
    with golden.refusal():
        draw(name, [])
    if not registry.load("*.figures", name).VIEW.several:
        with golden.refusal():
            draw(name, [emulation(), emulation()])
    nothing = emulation(repeats=0)
    with golden.refusal():
        draw(name, nothing)


@pytest.mark.parametrize("name", EMULATIONS)
def test_a_view_of_emulations_draws_small_and_cut_runs(name: str, tmp_path: Path) -> None:
    """No hosts, one rank, one iteration, names as long as anybody gives them."""
    truths = [
        Truth("a" * 60, ranks=1, iterations=1, phases=("$x$" * 20, "exchange")),
        Truth("b", ranks=2, iterations=1, jitter=0.0),
    ]
    run = emulation(truths, complete=False)
    run.ranks = []
    views.save(draw(name, run), tmp_path / "a.png")


@pytest.mark.parametrize("name", GRIDS)
def test_a_view_of_grids_takes_several_runs_and_draws_in_every_format(
    name: str, written: Written, golden: Golden
) -> None:
    figure = draw(name, [grid_run(ops=("bcast",), repeats=2), grid_run(24, ("4x6",), repeats=2)])
    assert len(figure.axes) == 6
    written(figure)
    with golden.refusal():
        draw(name, [mmpi_example()])
    with golden.refusal():
        draw(name, [])


@pytest.mark.parametrize("name", HOT)
def test_a_view_of_hotspots_takes_runs_and_a_model_and_draws_in_every_format(
    name: str, written: Written
) -> None:
    figure = draw(name, [hotspot(intra=2, inter=2), hotspot(intra=3, inter=3)])
    written(figure)


def test_the_axes_of_sweeps_say_what_is_along_them(subtests: pytest.Subtests) -> None:
    for name, quantity in (("time", "time"), ("bandwidth", "bandwidth"), ("ranks", "time")):
        with subtests.test(name):
            (axes,) = draw(name, example(name)).axes
            assert axes.get_ylabel() == quantity
            assert axes.get_xlabel()
