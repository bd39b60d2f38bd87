"""The pictures of sweeps: what is drawn where, and that it can be read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from drawn import boxes_inside, draw, words
from isochrone import views
from isochrone.base.errors import InputError
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from isochrone.sweep.figures import bandwidth, ranks, time
from isochrone.views import lines as _lines
from isochrone.views import scales as _scales
from made_up.sweeps import bisection, collective, line, point_to_point, table_of

VIEWS = {"time": time, "bandwidth": bandwidth, "ranks": ranks}
EVEN = tuple(range(0, 1025, 32))
OPS = (
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "scan",
    "barrier",
)

RUNS: dict[str, Callable[[], Sequence[Run]]] = {
    "one": lambda: [point_to_point()],
    "per node": lambda: [point_to_point(line(k * 1e-6), per_node=k, sizes=EVEN) for k in (1, 2, 4)],
    "alike": lambda: [point_to_point(seed=k) for k in range(6)],
    "modes": lambda: [
        point_to_point(mode=m, window=w, layout=y, stride=128)
        for m in ("blocking", "bidirectional")
        for w in (1, 64)
        for y in ("contiguous", "vector")
    ],
    "bisection": lambda: [bisection(n) for n in (4, 9, 16)],
    "all collectives": lambda: [collective(OPS, n, repeats=6) for n in (4, 8, 16)],
    "many": lambda: [collective(OPS, n, repeats=2, sizes=(8, 4096)) for n in (2, 4, 8, 16, 32)],
    "narrow range": lambda: [point_to_point(sizes=(1000, 1010, 1023), noise=0.001)],
    "wide range": lambda: [point_to_point(lambda b: 1e-9 + b**1.7 * 1e-9, sizes=(1, 2**30))],
}


@pytest.mark.few(4)
@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("view", ["time", "bandwidth", "ranks"])
@pytest.mark.parametrize("name", RUNS)
def test_no_two_texts_touch_and_none_leaves_the_picture(
    view: str, name: str, scale: str, golden: Golden
) -> None:
    runs = RUNS[name]()
    if view == "ranks" and len({run.size for run in runs}) < 2:
        with golden.refusal():
            draw(ranks, runs)
        return
    figure = draw(VIEWS[view], runs, scale=scale)
    boxes = [
        (name, box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1) for name, box in boxes_inside(figure)
    ]
    for (a, ax0, ay0, ax1, ay1), (b, bx0, by0, bx1, by1) in itertools.combinations(boxes, 2):
        apart = ax1 <= bx0 or bx1 <= ax0 or ay1 <= by0 or by1 <= ay0
        assert apart, f"{a!r} and {b!r} overlap"


@pytest.mark.few(2)
@pytest.mark.parametrize("name", RUNS)
def test_both_axes_have_ticks_with_units(name: str) -> None:
    for view, unit in ((time, "s"), (bandwidth, "B/s")):
        for scale in ("log", "linear"):
            axes = draw(view, RUNS[name](), scale=scale).axes[0]
            below = [t.get_text() for t in axes.get_xticklabels()]
            beside = [t.get_text() for t in axes.get_yticklabels()]
            assert len(beside) >= 2
            assert all(t.endswith(unit) or t == "0" for t in beside), beside
            assert all(t.endswith("B") or t == "0" for t in below), below
            assert len(set(below)) == len(below) >= 2, below


def test_the_line_is_the_median_and_its_bars_the_interval() -> None:
    run = point_to_point(sizes=(8, 64, 4096))
    (curve,) = curves(run)
    axes = draw(time, [run], scale="log").axes[0]
    drawn = axes.lines[0]
    assert np.asarray(drawn.get_ydata()) == pytest.approx(curve.column("median"))
    assert np.asarray(drawn.get_xdata()) == pytest.approx([3, 6, 12])  # octaves
    (bars,) = axes.collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])  # type: ignore[attr-defined]
    assert ends[:, 0] == pytest.approx(curve.column("low"))
    assert ends[:, 1] == pytest.approx(curve.column("high"))


def test_a_size_of_0_has_a_place_on_a_logarithmic_axis() -> None:
    axes = draw(time, [point_to_point(sizes=(0, 8, 64))], scale="log").axes[0]
    assert axes.get_xticklabels()[0].get_text() == "0"
    assert axes.get_xticks()[0] < 3


def test_the_scale_suits_the_sizes_unless_one_is_named() -> None:
    """Equally spaced sizes, as in mpptest, are drawn on linear axes."""
    assert draw(time, [point_to_point(sizes=EVEN)]).axes[0].get_yscale() == "linear"
    assert draw(time, [point_to_point()]).axes[0].get_yscale() == "log"
    assert draw(time, [point_to_point()], scale="linear").axes[0].get_ylim()[0] == 0


def test_switches_are_shaded_and_named() -> None:
    text = words(draw(time, [point_to_point()]))
    assert "switch 64 KiB – 128 KiB" in text
    assert "switch" not in words(draw(time, [point_to_point(line(), noise=0.001)]))


def test_several_runs_are_named_by_what_differs_between_them(golden: Golden) -> None:
    text = words(draw(time, RUNS["per node"]()))
    for name in ("1 rank per node", "2 ranks per node", "4 ranks on one node"):
        assert name in text
    golden(text)


def test_operations_can_be_chosen() -> None:
    text = words(draw(time, [collective(OPS)], ops=["scan", "bcast"]))
    assert "scan" in text
    assert "gather" not in text


def test_time_by_ranks_has_a_line_an_operation_and_size(golden: Golden) -> None:
    figure = draw(
        ranks, [collective(("bcast",), n, sizes=(8, 4096)) for n in (2, 8, 4)], sizes=(4096,)
    )
    drawn = figure.axes[0].lines[0]
    assert np.asarray(drawn.get_xdata()) == pytest.approx([1, 2, 3])  # octaves of 2, 4, 8 ranks
    assert "4 KiB" in words(figure)
    with golden.refusal():
        draw(ranks, [collective(ranks=n) for n in (2, 4)], sizes=(7,))


def test_ranks_per_node_part_the_lines_only_where_they_cross() -> None:
    runs = [collective(("bcast",), n, sizes=(8,), per_node=k) for n in (4, 8) for k in (1, 2)]
    assert sum("per node" in text for text in words(draw(ranks, runs)).split("\n")) == 2
    runs = [collective(("bcast",), n, sizes=(8,), per_node=4) for n in (2, 4, 8)]
    assert "per node" not in words(draw(ranks, runs))


def test_a_picture_of_barriers_alone_has_no_bandwidth() -> None:
    with pytest.raises(InputError, match="no bandwidth"):
        draw(bandwidth, [collective(("barrier",))])


def test_bandwidth_says_of_what_it_is(golden: Golden) -> None:
    golden(words(draw(bandwidth, [point_to_point(mode="bidirectional")])))
    golden(words(draw(bandwidth, [bisection()])))


def test_names_are_spread_and_keep_their_order() -> None:
    for wanted in ([0.9, 0.9, 0.9], [1.0, 0.99, 0.5, 0.01, 0.0], [0.5] * 10, [0.02, 0.01, 0.0]):
        found = _lines.spread(wanted, 0.05)
        assert all(a - b >= 0.05 - 1e-9 for a, b in itertools.pairwise(found))
        assert min(found) >= -1e-9
        assert max(found) <= 1 + 1e-9
    assert _lines.spread([0.8, 0.2], 0.05) == [0.8, 0.2]


def test_ticks_of_any_range_are_few_and_distinct() -> None:
    dice = np.random.default_rng(5)
    for _ in range(300):
        low = 10 ** dice.uniform(-9, 2)
        high = low * 10 ** dice.uniform(0.01, 12)
        for scale in ("log", "linear"):
            ticks = _scales.value_ticks(low, high, scale, _scales.tick_seconds)  # type: ignore[arg-type]
            assert 2 <= len(ticks.texts) <= 10
            assert len(set(ticks.texts)) == len(ticks.texts), (low, high, ticks)


def test_hostile_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    run = collective(("bcast",), sizes=(8, 64))
    rows = [{**row, "op": "$\\frac{$<b>"} for row in run.tables["sample"].rows()]
    run.tables["sample"] = table_of(rows)
    run.header["mpi"] = {"library": "$x^{$"}
    views.save(draw(time, [run, collective(sizes=(8, 64))]), tmp_path / "a.svg")
    assert "$\\frac{$&lt;b&gt;" in (tmp_path / "a.svg").read_text("utf-8")
