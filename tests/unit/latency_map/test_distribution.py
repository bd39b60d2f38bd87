"""The view of distributions: what is drawn of which times, and which percentiles are marked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from drawn import boxes_inside, draw, texts, words
from isochrone.base.errors import InputError
from isochrone.latency_map.figures import distribution
from isochrone.latency_map.topology import analyse
from made_up.latency_maps import block, latency_map
from made_up.sweeps import collective, point_to_point


def steps(axes: Axes) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Return the lines of times, without marks and legends."""
    return [
        (np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
        for line in axes.lines
        if line.get_drawstyle() == "steps-post"
    ]


def marks(axes: Axes, marker: str) -> list[tuple[float, float]]:
    """Return where a marker stands within the axes."""
    return [
        (float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0]))
        for line in axes.lines
        if line.get_marker() == marker and line.get_transform() == axes.transData
    ]


def bars(axes: Axes, part: float) -> list[tuple[float, float]]:
    """Return the ends of the intervals at a percentile."""
    return [
        (float(x[0]), float(x[1]))
        for line in axes.lines
        if (x := np.asarray(line.get_xdata())).size == 2
        and np.asarray(line.get_ydata()).tolist() == [part, part]
        and line.get_transform() == axes.transData
    ]


def test_a_line_rises_by_one_part_at_each_repetition() -> None:
    run = point_to_point(sizes=(8,), repeats=25)
    (line,) = steps(draw(distribution.VIEW, [run]).axes[0])
    x, y = line
    assert x[1:].tolist() == sorted(run.tables["sample"]["seconds"].tolist())
    assert y == pytest.approx(np.arange(26) / 25)


@pytest.mark.parametrize(
    ("repeats", "p95", "p99", "enclosed"),
    [(19, 0, 0, 0), (20, 1, 0, 0), (99, 1, 0, 1), (100, 1, 1, 1), (368, 1, 1, 2)],
)
def test_a_percentile_is_marked_where_there_are_repetitions_enough(
    repeats: int, p95: int, p99: int, enclosed: int
) -> None:
    """At its height, and enclosed where its interval is known."""
    run = point_to_point(sizes=(8,), repeats=repeats)
    axes = draw(distribution.VIEW, [run]).axes[0]
    seconds = run.tables["sample"]["seconds"]
    assert marks(axes, "o") == [(pytest.approx(np.median(seconds)), 0.5)]
    assert marks(axes, "s") == [(pytest.approx(np.quantile(seconds, 0.95)), 0.95)] * p95
    assert marks(axes, "D") == [(pytest.approx(np.quantile(seconds, 0.99)), 0.99)] * p99
    found = {part: bars(axes, part) for part in (0.95, 0.99)}
    assert sum(map(len, found.values())) == enclosed
    for part, ends in found.items():
        assert all(low <= np.quantile(seconds, part) <= high and low < high for low, high in ends)


def test_the_legend_names_lines_and_percentiles_in_numbers() -> None:
    run = collective(("bcast", "allreduce"), 4, sizes=(8,), repeats=30)
    figure = draw(distribution.VIEW, [run])
    said = [text.get_text() for text in texts(figure)]
    assert "bcast, 30 repetitions" in said
    assert "allreduce, 30 repetitions" in said
    assert {"p50", "p95", "p99"} <= set(said)
    assert said.count("–") == 2  # no p99 of 30


def test_the_smallest_and_the_largest_size_are_drawn_unless_some_are_named() -> None:
    run = point_to_point(sizes=(8, 64, 512), repeats=5)
    assert [a.get_title("left") for a in draw(distribution.VIEW, [run]).axes] == ["8 B", "512 B"]
    named = draw(distribution.VIEW, [run], sizes=[64])
    assert len(named.axes) == 1
    assert "64 B messages" in words(named)
    with pytest.raises(InputError, match="8, 64, 512"):
        draw(distribution.VIEW, [run], sizes=[7])
    many = point_to_point(sizes=(8, 16, 32, 64, 128), repeats=5)
    with pytest.raises(InputError, match="4 message sizes"):
        draw(distribution.VIEW, [many], sizes=[8, 16, 32, 64, 128])


def test_of_a_map_each_level_is_a_line_of_its_pairs() -> None:
    """They are all pairs there are, and no draw of them: nothing is enclosed."""
    run = latency_map(block(8, 4))
    axes = draw(distribution.VIEW, [run]).axes[0]
    found = analyse(run)
    assert [len(x) - 1 for x, _ in steps(axes)] == [level.pairs for level in found.levels]
    assert "level 1 network, 448 pairs" in words(axes.get_figure())  # type: ignore[arg-type]
    middles = [x for x, _ in marks(axes, "o")]
    assert middles == pytest.approx([level.median for level in found.levels])
    assert not bars(axes, 0.95)


def test_times_that_are_far_apart_get_a_logarithmic_axis() -> None:
    assert draw(distribution.VIEW, [latency_map(block(2, 4))]).axes[0].get_xscale() == "log"
    run = point_to_point(sizes=(8,))
    assert draw(distribution.VIEW, [run]).axes[0].get_xscale() == "linear"
    assert draw(distribution.VIEW, [run], scale="log").axes[0].get_xscale() == "log"


def test_summaries_of_others_have_no_distribution() -> None:
    run = point_to_point(sizes=(8,), repeats=3)
    run.tables["sample"].columns["n"] = np.array([100, 100, 100])
    with pytest.raises(InputError, match="only summaries"):
        draw(distribution.VIEW, [run])


def test_of_very_many_lines_some_are_drawn_and_the_others_counted() -> None:
    run = collective(tuple(f"op{k}" for k in range(12)), 4, sizes=(8,), repeats=4)
    figure = draw(distribution.VIEW, [run])
    assert len(steps(figure.axes[0])) == 8
    assert "and 4 more, not drawn" in words(figure)


def test_hostile_names_are_no_mathematics_and_nothing_is_cut_off() -> None:
    run = collective(("$x^{$" * 20, "a\nb", "\N{RIGHT-TO-LEFT OVERRIDE}c"), 4, sizes=(8,))
    run.warnings = [{"text": "$\\frac{" * 60}]
    boxes_inside(draw(distribution.VIEW, [run]))
    boxes_inside(draw(distribution.VIEW, [point_to_point(sizes=(8, 1024), repeats=120)]))
    boxes_inside(draw(distribution.VIEW, [latency_map(["a", "b"])]))
