"""The pictures: what is drawn where, and that it can be read."""

from __future__ import annotations

import colorsys
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import proj3d
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from msgspec.structs import replace

from beds.golden import Golden
from drawn import texts, words
from isochrone import views
from isochrone.base.errors import InputError
from isochrone.latency_map.figures import heatmap, levels, surface
from isochrone.latency_map.figures._slow_parts import _boxes
from isochrone.latency_map.slow_part import Slow
from isochrone.latency_map.topology import Level, analyse
from isochrone.runfile.run import Run
from isochrone.views import Options
from isochrone.views import style as _style
from made_up.latency_maps import (
    blank,
    block,
    cyclic,
    latency_map,
    map_of,
    mmpi_example,
    with_retests,
)

SEEN_AGAIN = [(0, 12), (1, 13), (2, 14), (3, 15)]
FQDN = "i182-1{:02d}.ranger.tacc.utexas.edu"
UNEVEN = [f"nid{h:05d}" for h, ranks in enumerate([5, 12, 3, 8, 1, 7]) for _ in range(ranks)]

MAPS: dict[str, Callable[[], Run]] = {
    "the paper's example": mmpi_example,
    "two ranks": lambda: latency_map(["a", "b"]),
    "16 ranks": lambda: latency_map(block(4, 4, "node{:02d}"), socket=1.9e-6),
    "64 ranks, long names": lambda: latency_map(block(8, 8, FQDN), slow_hosts={FQDN.format(3): 2}),
    "256 ranks": lambda: latency_map(block(16, 16, FQDN), slow_hosts={FQDN.format(3): 2}),
    "256 hosts": lambda: latency_map(block(256, 1, "nid{:05d}")),
    "uneven": lambda: latency_map(UNEVEN, slow_hosts={"nid00003": 1.8}),
    "cyclic": lambda: latency_map(cyclic(4, 6)),
    "cyclic, 256 ranks": lambda: latency_map(cyclic(16, 16)),
    "one host": lambda: latency_map(["workstation"] * 8),
    "partial": lambda: latency_map(block(4, 6), missing=lambda i, j: (i + j) % 24 > 15),
    "300 ranks": lambda: latency_map(block(10, 30)),
}
VIEWS = {"heatmap": heatmap, "surface": surface, "levels": levels}


def draw(view: Any, run: Run, what: str = "mean", nbytes: int | None = None) -> Figure:
    """Draw a figure of one run."""
    figure = view.draw([run], Options(what, () if nbytes is None else (nbytes,)))
    assert isinstance(figure, Figure)
    return figure


# --- shared style ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "name"),
    [
        (1.2e-6, 9.8e-6, "µs"),
        (0.5e-6, 1.2e-6, "µs"),
        (2e-6, 1.2e-3, "µs"),
        (1e-3, 4e-3, "ms"),
        (40e-9, 90e-9, "ns"),
        (0.9, 2.5, "s"),
        (0.0, 0.0, "µs"),
    ],
)
def test_the_unit_suits_the_numbers(low: float, high: float, name: str) -> None:
    assert _style.time_unit(np.array([low, high, np.nan])).name == name


def test_names_lose_their_common_domain_and_keep_their_end() -> None:
    hosts = [FQDN.format(k) for k in range(3)]
    assert list(_style.short_names(hosts).values()) == ["i182-100", "i182-101", "i182-102"]
    assert _style.short_names(["a.b.c"]) == {"a.b.c": "a.b.c"}
    long = _style.short_names(["x" * 40 + "17", "x" * 40 + "18"])
    assert all(len(name) <= 22 for name in long.values())
    assert [name[-2:] for name in long.values()] == ["17", "18"]
    assert _style.short_names(["n\x1b[31m1"]) == {"n\x1b[31m1": "n\N{REPLACEMENT CHARACTER}[31m1"}


def test_segments_begin_wherever_the_host_changes() -> None:
    found = [(s.host, s.first, s.last) for s in _style.host_segments(list("aabca"))]
    assert found == [("a", 0, 1), ("b", 2, 2), ("c", 3, 3), ("a", 4, 4)]


def test_neighbouring_hosts_differ_in_colour_and_none_is_red() -> None:
    colours = list(_style.host_colours([f"n{k}" for k in range(300)]).values())
    assert all(a != b for a, b in itertools.pairwise(colours))
    for colour in colours:
        part = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        hue, _, _ = colorsys.rgb_to_hsv(*part)
        assert 0.03 < hue < 0.97


def test_pooling_keeps_the_slowest() -> None:
    matrix = np.ones((10, 10))
    matrix[7, 2] = 9.0
    small, block_size = _style.pool(matrix, 4)
    assert (small.shape, block_size) == ((4, 4), 3)
    assert small[2, 0] == 9.0
    assert np.isnan(_style.pool(np.full((4, 4), np.nan), 2)[0]).all()


# --- every picture can be read --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", MAPS)
def test_no_two_texts_touch_and_none_leaves_the_picture(view: str, name: str) -> None:
    figure = draw(VIEWS[view], MAPS[name](), "median")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    boxes = []
    for text in texts(figure):
        box = text.get_window_extent(canvas.get_renderer())
        if box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1:
            boxes.append((text.get_text(), box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1))
        else:  # matplotlib keeps ticks beyond the limits, at places where it does not draw them
            assert text.get_text().replace(".", "").isdigit(), (text.get_text(), box)
    for (a, ax0, ay0, ax1, ay1), (b, bx0, by0, bx1, by1) in itertools.combinations(boxes, 2):
        apart = ax1 <= bx0 or bx1 <= ax0 or ay1 <= by0 or by1 <= ay0
        assert apart or view == "surface", f"{a!r} and {b!r} overlap"


@pytest.mark.parametrize("view", VIEWS)
def test_the_title_says_what_size_how_many_and_round_trip(view: str) -> None:
    run = latency_map(block(2, 4), nbytes=(64, 1024))
    text = words(draw(VIEWS[view], run, "stddev", 1024))
    for part in ("tandard deviation", "1 KiB", "8 ranks on 2 hosts", "round trip"):
        assert part in text


@pytest.mark.parametrize("view", VIEWS)
def test_host_names_are_no_mathematics(view: str, tmp_path: Path) -> None:
    run = latency_map(["$x^2$ <b>&"] * 3 + ["$\\frac{$"] * 3)
    figure = draw(VIEWS[view], run)
    views.save(figure, tmp_path / "a.png")  # raises if the second one is parsed
    views.save(figure, tmp_path / "a.svg")
    if view != "surface":
        assert "$x^2$ &lt;b&gt;&amp;" in (tmp_path / "a.svg").read_text("utf-8")


# --- heat map -------------------------------------------------------------------------------------


def image(figure: Figure) -> np.ndarray[Any, Any]:
    return np.asarray(figure.axes[0].images[0].get_array())


def test_heatmap_shows_low_dark_high_bright_and_a_blank_diagonal() -> None:
    figure = draw(heatmap, mmpi_example(), "mean")
    axes, picture = figure.axes[0], image(figure)
    assert axes.get_ylim() == (3.5, -0.5)  # rank 0 is at the top
    assert (picture[range(4), range(4), 3] == 0).all()
    assert picture[0, 1, :3].tolist() == [68, 1, 84]  # viridis begins here: the fastest pair
    assert picture[0, 3, :3].tolist() == [253, 231, 36]  # and ends here: the slowest
    assert (picture == picture.transpose(1, 0, 2)).all()


def test_heatmap_of_few_ranks_holds_the_numbers_in_ink_that_contrasts() -> None:
    figure = draw(heatmap, mmpi_example(), "mean")
    inks = {t.get_text(): t.get_color() for t in figure.axes[0].texts}
    assert inks["10.4"] == "#ffffff"
    assert inks["24.3"] == "#101418"
    assert "24.3" not in words(draw(heatmap, latency_map(block(2, 6))))


def test_heatmap_draws_a_line_at_each_change_of_host() -> None:
    figure = draw(heatmap, latency_map(list("aabbbc")), "mean")
    lines = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)][-1]
    found = {float(s[0, 0]) for s in lines.get_segments() if s[0, 0] == s[1, 0]}
    assert found == {1.5, 4.5}


def test_heatmap_colours_are_logarithmic_over_a_wide_range_and_say_so() -> None:
    assert "logarithmic" in words(draw(heatmap, latency_map(block(2, 3), far=40e-6)))
    assert "logarithmic" not in words(draw(heatmap, mmpi_example()))


def test_heatmap_does_not_blow_noise_up_to_structure() -> None:
    figure = draw(heatmap, latency_map(["a"] * 12, noise=0.001), "median")
    low, high = figure.axes[1].get_ylim()
    assert high / low == pytest.approx(1.25, rel=0.01)


def test_heatmap_marks_what_was_not_measured() -> None:
    figure = draw(heatmap, MAPS["partial"]())
    assert image(figure)[0, 23].tolist() == list(heatmap._UNMEASURED)
    assert "not measured" in words(figure)
    assert "partial run" in words(figure)


def test_heatmap_names_hosts_once_in_a_legend_if_their_ranks_are_scattered() -> None:
    names = [t.get_text() for t in draw(heatmap, latency_map(cyclic(16, 16))).axes[0].texts]
    assert [name for name in names if name.startswith("n")] == [f"n{k}" for k in range(16)]


def test_heatmap_gives_every_cell_the_same_number_of_pixels() -> None:
    for ranks in (64, 256, 300):
        figure = draw(heatmap, latency_map(block(4, ranks // 4)))
        pixels = figure.axes[0].get_position().width * figure.get_figwidth() * figure.dpi
        assert pixels / ranks == pytest.approx(round(pixels / ranks))


def test_heatmap_of_very_many_ranks_shrinks_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heatmap, "_MAX_CELLS", 16)
    figure = draw(heatmap, latency_map(block(4, 12)))
    assert image(figure).shape[0] == 16
    assert "3 × 3 ranks" in words(figure)


@pytest.mark.parametrize("view", [heatmap, surface])
@pytest.mark.parametrize("sort", ["node", "level", "cost"])
def test_sorted_ranks_of_a_node_lie_side_by_side(view: Any, sort: str) -> None:
    """The ticks keep the numbers of the ranks, and the picture says how they are sorted."""
    run = latency_map(cyclic(3, 4), slow_hosts={"n1": 2.0}, noise=0.0)
    figure = view.draw([run], Options(sort=sort))
    assert f"sorted by {'their median' if sort == 'cost' else sort}" in words(figure)
    ticks = {
        t.get_text(): x
        for x, t in zip(figure.axes[0].get_xticks(), figure.axes[0].get_xticklabels(), strict=True)
    }
    places = [ticks[rank] for rank in ("1", "4", "7", "10") if rank in ticks]
    expected = (8, 12) if sort == "cost" else (4, 8)  # the slowest come last
    assert len(places) >= 2
    assert all(expected[0] <= place < expected[1] for place in places)


def test_an_order_that_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match="there are: rank, node, level, cost"):
        heatmap.draw([mmpi_example()], Options(sort="name"))


def test_a_sorted_heatmap_has_one_block_a_node() -> None:
    run = latency_map(cyclic(4, 6), noise=0.0)
    assert "see --sort node" in words(draw(heatmap, run))
    figure = heatmap.draw([run], Options(sort="node"))
    picture = image(figure)
    assert (picture[:6, :6][~np.eye(6, dtype=bool)] == picture[0, 1]).all()
    assert (picture[:6, 6:] != picture[0, 1]).any(axis=2).all()
    assert {"n0", "n1", "n2", "n3"} <= {t.get_text() for t in figure.axes[0].texts}


def frames(figure: Figure) -> list[tuple[tuple[float, ...], Any, str]]:
    """Return the frames of a map: corners without what stands out, colour, style of the line."""
    found = []
    for patch in figure.axes[0].patches:
        x, y, width, height = patch.get_bbox().bounds
        n = figure.axes[0].get_xlim()[1]
        corners = np.clip([x, y, x + width, y + height], -0.5, n)
        found.append((tuple(corners.tolist()), patch.get_edgecolor(), patch.get_linestyle()))
    return found


def test_heatmap_frames_what_is_slow_in_red_and_what_is_suspected_with_dashes(
    golden: Golden,
) -> None:
    """Rows and columns of the node, on a white casing, so that they are seen on every colour."""
    slow, again = (latency_map(block(8, 4), slow_hosts={"n3": 2.4}) for _ in range(2))
    figure = draw(heatmap, with_retests(again, SEEN_AGAIN, factor=1.0), "median")
    assert "red frame: slow: node n3 2.4×" in words(figure)
    red = mpl.colors.to_rgba(_style.SLOW)
    assert [box for box, colour, _ in frames(figure) if colour == red] == [
        (11.5, -0.5, 15.5, 31.5),
        (-0.5, 11.5, 31.5, 15.5),
    ]
    figure = draw(heatmap, slow, "median")
    golden(words(figure))
    assert red not in [colour for _, colour, _ in frames(figure)]
    assert not frames(draw(heatmap, latency_map(block(8, 4))))


def test_frames_of_ranks_that_lie_apart_stay_at_the_edge() -> None:
    """Where they would cover the map."""
    figure = draw(heatmap, latency_map(cyclic(8, 8), slow_hosts={"n3": 2.0}), "median")
    found = frames(figure)
    assert len(found) == 2 * 2 * 8
    assert all(min(x1 - x0, y1 - y0) == 0 for (x0, y0, x1, y1), _, _ in found)


@pytest.mark.parametrize("kind", ["pair", "nodes", "switch", "uplink"])
def test_frames_are_around_those_who_pay(kind: str) -> None:
    """A pair in both its cells, a slow switch around its block, its link at all rows behind it."""
    part = Slow(kind, "x", 2.0, (4, 5, 6), (), 0, 1.0, 0.5, 3, 0.5, 0.4, 0.6)
    ranks = {"pair": (1, 9), "nodes": (0, 1, 8, 9)}
    part = replace(part, kind="pair", ranks=ranks[kind]) if kind in ranks else part
    boxes = _boxes(part, np.arange(12), 0.01, block(3, 4))
    assert boxes[0] == pytest.approx(
        {
            "pair": (0.5, 8.5, 1.5, 9.5),
            "nodes": (-0.5, 7.5, 1.5, 9.5),
            "switch": (3.5, 3.5, 6.5, 6.5),
            "uplink": (3.5, -0.5, 6.5, 11.5),
        }[kind],
        abs=0.01,
    )
    assert len(boxes) == {"pair": 2, "nodes": 2, "switch": 1, "uplink": 2}[kind]


@pytest.mark.parametrize("view", VIEWS)
def test_maps_say_when_by_which_library_and_what_was_wrong(view: str) -> None:
    run = latency_map(block(2, 4))
    run.warnings = [{"code": "oversubscribed", "text": "8 ranks share 2 processors"}]
    text = words(draw(VIEWS[view], run))
    assert "2026-11-21 08:30 UTC · MPICH 5.0.2" in text
    assert "Warning: 8 ranks share 2 processors" in text


# --- surface --------------------------------------------------------------------------------------


def test_surface_has_rank_0_at_the_lower_left_and_begins_at_0() -> None:
    figure = draw(surface, mmpi_example(), "mean")
    FigureCanvasAgg(figure).draw()
    axes: Any = figure.axes[0]
    corners = {
        (x, y): proj3d.proj_transform(x, y, 0, axes.get_proj())[:2] for x in (0, 3) for y in (0, 3)
    }
    assert corners[0, 0][1] == min(y for _, y in corners.values())  # the lowest
    assert corners[0, 0][0] < corners[3, 0][0]  # left of the last column
    assert corners[0, 0][1] < corners[0, 3][1]
    assert axes.get_zlim() == pytest.approx((0, 24.34))


def test_surface_goes_from_blue_to_red() -> None:
    bar = draw(surface, mmpi_example()).axes[1]
    colours = bar.collections[-1].get_cmap()([0.0, 1.0])
    assert colours[0][2] > max(colours[0][:2])
    assert colours[1][0] > max(colours[1][1:3])


def test_surface_of_many_ranks_is_thinned_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface, "_MAX_MESH_POINTS", 16)
    assert "3 × 3 pairs" in words(draw(surface, latency_map(block(4, 12))))


def faces(figure: Figure) -> np.ndarray[Any, Any]:
    """Return the corners of all faces of a surface, shape (faces, 4, 3)."""
    found = figure.axes[0].collections[-1]
    assert isinstance(found, Poly3DCollection)
    if hasattr(found, "_faces"):  # newer versions of matplotlib
        return np.asarray(found._faces)
    return np.asarray(found._vec[:3].T).reshape(-1, 4, 3)


def test_surface_of_equal_ranks_is_flat() -> None:
    """The diagonal too, and it is not red: nothing is slow."""
    for ranks in (2, 4):
        figure = draw(surface, latency_map(["a"] * ranks, noise=0.0), "median")
        assert faces(figure)[..., 2] == pytest.approx(1.2, rel=0.01)
        assert len(faces(figure)) == (ranks - 1) ** 2
        assert figure.axes[0].get_zlim()[1] > 1.5


def test_the_diagonal_of_a_surface_is_as_high_as_the_node() -> None:
    """A rank at the edge of its node takes the height of the neighbour on it, not of the next."""
    figure = draw(surface, latency_map(block(3, 4), noise=0.0), "median")
    for corner in faces(figure).reshape(-1, 3):
        if corner[0] == corner[1]:
            assert corner[2] == pytest.approx(1.2, rel=0.01)


def test_surface_has_gaps_where_nothing_was_measured() -> None:
    run = latency_map(block(4, 6), missing=lambda i, j: (i, j) == (3, 9))
    figure = draw(surface, run)
    assert len(faces(figure)) == 23**2 - 8
    assert "gaps: not measured" in words(figure)


@pytest.mark.slow
def test_surface_of_a_thousand_ranks_is_drawn_in_blocks() -> None:
    """Of 128 x 128 points, each the slowest of its pairs."""
    n = 1024
    times = np.full((n, n), 5.0)
    times[700:708] = times[:, 700:708] = 9.0
    figure = draw(surface, map_of(blank(times)), "median")
    assert len(faces(figure)) == 127**2
    assert "8 × 8 pairs" in words(figure)
    assert faces(figure)[..., 2].max() == pytest.approx(9.0)


# --- levels ---------------------------------------------------------------------------------------


def test_tree_joins_ranks_at_their_round_trip() -> None:
    found = [
        Level(0, "node", 1e-6, 1e-6, 1e-6, 2, [[0, 1], [2, 3]]),
        Level(1, "network", 3e-6, 3e-6, 3e-6, 4, [[0, 1, 2, 3]]),
    ]
    tree = levels.tree_of_levels(found, [1e-6, 3e-6], [], block(2, 2))
    assert tree.order == [0, 1, 2, 3]
    bars = [(left[1], owner) for left, right, owner in tree.lines if left[1] == right[1]]
    assert bars == [(1e-6, "n0"), (1e-6, "n1"), (3e-6, None)]


def test_a_group_may_have_a_thousand_ranks() -> None:
    n = 1500
    found = Level(0, "node", 1e-6, 1e-6, 1e-6, n, [list(range(n))])  # each joins all before it
    tree = levels.tree_of_levels([found], [1e-6], [], ["a"] * n)
    assert tree.order == list(range(n))


def test_levels_are_drawn_where_topology_found_them() -> None:
    figure = draw(levels, latency_map(block(8, 4), noise=0.0), "median")
    text = words(figure)
    assert "level 0 node: 1.20 µs" in text
    assert "same node, 48 pairs" in text
    assert "between nodes, 448 pairs" in text
    dashed = [line for line in figure.axes[0].lines if line.is_dashed()]
    low, high = figure.axes[0].get_ylim()
    at = [low * (high / low) ** float(np.asarray(line.get_ydata())[0]) for line in dashed]
    assert at == pytest.approx([1.2, 9.8], rel=0.02)


def joints(figure: Figure) -> list[float]:
    """Return the heights of the horizontal lines of a tree."""
    (tree,) = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    return sorted(
        {
            round(float(a[1]), 9)
            for segment in tree.get_segments()
            for a, b in itertools.pairwise(segment)
            if a[1] == b[1] and a[0] != b[0]
        }
    )


def test_ranks_meet_at_the_median_of_their_level() -> None:
    """However the times of single pairs scatter; so does `isochrone show` say it."""
    run = latency_map(block(8, 4), noise=0.1)
    medians = [1e6 * level.median for level in analyse(run).levels]
    assert joints(draw(levels, run, "median")) == pytest.approx(medians)


def test_what_is_slow_meets_the_others_above_its_level() -> None:
    run = with_retests(latency_map(block(8, 4), slow_hosts={"n3": 2.4}), SEEN_AGAIN, factor=1.0)
    found = analyse(run)
    node, network = (1e6 * level.median for level in found.levels)
    expected = [node, network, found.slow[0].ratio * network]
    assert joints(draw(levels, run, "median")) == pytest.approx(expected)


def test_a_slow_switch_is_joined_above_its_like() -> None:
    """Its own ranks, and not those of others; what is slow beyond it is above the next level."""
    groups = [[[0, 1], [2, 3]], [[0, 1, 2, 3]]]
    made = [Level(k, "group", 10.0**k, 1.0, 1.0, 2, group) for k, group in enumerate(groups)]
    inside = Slow("switch", "x", 3.0, (2, 3), (), 0, 1.0, 0.5, 3, 0.5, 0.4, 0.6)
    beyond = Slow("uplink", "x", 2.0, (0, 1), (), 1, 1.0, 0.5, 3, 0.5, 0.4, 0.6)
    tree = levels.tree_of_levels(made, [1.0, 10.0], [inside, beyond], ["a"] * 4)
    bars = [left[1] for left, right, _ in tree.lines if left[1] == right[1]]
    assert bars == pytest.approx([3.0, 1.0, 20.0])
    assert tree.order == [2, 3, 0, 1]


def test_levels_mark_what_is_slow() -> None:
    run = with_retests(latency_map(block(8, 4), slow_hosts={"n3": 2.4}), SEEN_AGAIN, factor=1.0)
    figure = draw(levels, run, "median")
    assert "▲ slow: node n3 2.4×" in words(figure)
    red = {t.get_text() for t in figure.axes[0].texts if t.get_color() == _style.SLOW}
    assert red == {"n3:12", "n3:13", "n3:14", "n3:15"}


def test_levels_do_not_call_slow_what_was_not_measured_again(golden: Golden) -> None:
    figure = draw(levels, latency_map(block(8, 4), slow_hosts={"n3": 2.4}), "median")
    golden(words(figure))
    assert not [t for t in figure.axes[0].texts if t.get_color() == _style.SLOW]


def test_levels_name_ranks_if_they_are_few_and_hosts_if_they_are_many() -> None:
    few = draw(levels, latency_map(block(2, 4)))
    assert "n1:5" in words(few)
    many = [t.get_text() for t in draw(levels, latency_map(block(16, 16))).axes[0].texts]
    assert {f"n{k}" for k in range(16)} <= set(many)
    assert not any(":" in name and name.startswith("n") for name in many)


def test_levels_of_a_partial_map_say_that_pairs_were_filled_in(golden: Golden) -> None:
    golden(words(draw(levels, MAPS["partial"]())))


# --- files ----------------------------------------------------------------------------------------


def test_unknown_quantity_and_unknown_format_are_one_line_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are: mean, median, stddev"):
        draw(heatmap, mmpi_example(), "mode")
    for name in ("a.gif", "a"):
        with pytest.raises(InputError, match=r"there are: \.png, \.svg, \.pdf"):
            views.save(draw(heatmap, mmpi_example()), tmp_path / name)
    with pytest.raises(InputError, match="be written"):
        views.save(draw(heatmap, mmpi_example()), tmp_path / "no" / "a.png")


def test_pictures_need_matplotlib_and_say_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    for name in [m for m in sys.modules if m.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for view in VIEWS.values():
        with golden.refusal():
            draw(view, mmpi_example())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_the_same_picture_is_the_same_file(suffix: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        views.save(draw(heatmap, latency_map(block(4, 6))), tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_svg_keeps_text_as_text_and_is_small(tmp_path: Path) -> None:
    views.save(draw(heatmap, latency_map(block(16, 16))), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert ">n7</text>" in text
    assert len(text) < 200_000


def test_drawing_leaves_the_settings_of_matplotlib_alone(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    views.save(draw(levels, mmpi_example()), tmp_path / "a.svg")
    assert dict(mpl.rcParams) == before
