"""The plane of a hot spot in three dimensions: points at their medians, a panel for each size."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Path3DCollection, Poly3DCollection

from beds.golden import Golden
from drawn import draw
from isochrone import models
from isochrone.collective_io.figures import plane, plane_surface
from isochrone.models import Model
from made_up.hotspots import SIZES, by_bytes, hotspot, sizes


def heights(axes: object, kind: type) -> np.ndarray:
    """Heights of all points of a kind of artist in a panel, in units of its axis."""
    found = [one for one in axes.findobj(kind) if len(one._offsets3d[2])]  # type: ignore[attr-defined]
    return np.concatenate([np.asarray(one._offsets3d[2]) for one in found])


def test_each_size_has_a_panel_with_its_points() -> None:
    figure = draw(plane_surface, [sizes(noise=0)])
    assert len(figure.axes) == len(SIZES)
    for axes, size in zip(figure.axes, SIZES, strict=True):
        unit = 1e-3
        drawn = np.sort(heights(axes, Path3DCollection)) * unit
        stars = [by_bytes(0, i, o, size, 0.25) for i in (0, 1, 4, 7) for o in (0, 1, 4, 7) if i + o]
        rings = [by_bytes(0, i, o, size, 1) for i in (1, 4, 7) for o in (0, 1, 4, 7) if o <= i]
        assert drawn == pytest.approx(np.sort([*stars, *rings]), rel=1e-6)
        assert axes.findobj(Poly3DCollection)
        assert axes.findobj(Line3DCollection), "what it costs that all are busy"


def test_a_plane_of_pairs_has_them_along_its_sides(golden: Golden) -> None:
    figure = draw(plane_surface, [hotspot()], model="hotspot")
    (axes,) = figure.axes
    golden((axes.get_xlabel(), axes.get_ylabel()))
    assert len(heights(axes, Path3DCollection)) == 63


def test_points_without_a_formula_are_drawn_alone() -> None:
    figure = draw(plane_surface, [hotspot(inter=0, intra=2)])
    (axes,) = figure.axes
    assert not axes.findobj(Poly3DCollection)
    assert any("no formula" in text.get_text() for text in figure.findobj(Text))


def test_lines_of_the_plane_know_bytes_and_leave_out_busy_points(golden: Golden) -> None:
    """The view `plane` of the same run: a panel for each size, one hot node only."""
    model: Model = models.fit(sizes(noise=0))
    figure = draw(plane, [sizes(noise=0)], model=model)
    assert len(figure.axes) == len(SIZES)
    text = "\n".join(t.get_text() for t in figure.findobj(Text))
    golden(text)
