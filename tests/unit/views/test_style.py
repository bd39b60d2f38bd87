"""Colours that everybody tells apart, texts that fit, and the head that all figures share."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from isochrone.views.head import head_height, taken, warned
from isochrone.views.style import CAPTION, COLOURS, shortened, text_width
from made_up.sweeps import point_to_point

VISION = {
    "usual": np.eye(3),
    "without red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "without green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
"""What people see of linear RGB (Machado, Oliveira & Fernandes 2009, complete dichromacy)."""

XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, vision: str) -> list[float]:
    """Return a colour in CIELAB, in which distances are as people see them."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISION[vision] @ linear, 0, 1)
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in XYZ @ seen / np.array([0.9505, 1.0, 1.089])
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("vision", VISION)
def test_colours_are_told_apart_with_any_colour_vision(vision: str) -> None:
    """A distance of 15 is seen at a glance; that of 2 is just seen side by side."""
    for a, b in itertools.combinations(COLOURS, 2):
        assert math.dist(lab(a, vision), lab(b, vision)) > 15, (a, b)


def test_a_text_that_is_too_long_ends_in_dots_and_keeps_what_follows() -> None:
    cut = shortened("word " * 100, CAPTION, 3.0, " (and 2 more)")
    assert cut.endswith("… (and 2 more)")
    assert 0.85 * text_width(cut, CAPTION) < 3.1
    assert shortened("short", CAPTION, 3.0) == "short"


def test_the_head_says_when_and_which_warning_came_first() -> None:
    """Dates in words, or as they stand there if they are none; a warning without its newlines."""
    run = point_to_point(sizes=(8,), repeats=2)
    other = point_to_point(sizes=(8,), repeats=2)
    assert taken([run]) == ["2026-11-21 08:30 UTC"]
    other.header["started"] = "2026-11-23T01:02:03Z"
    assert taken([run, other]) == ["2026-11-21 to 2026-11-23"]
    other.header["started"] = "yester\nday"
    assert taken([other]) == ["yester\N{REPLACEMENT CHARACTER}day"]
    del other.header["started"]
    assert taken([other]) == []
    assert warned([run], 5) == []
    run.warnings = [{"code": "a", "text": "two\nlines $x^{$"}, {"code": "b"}]
    assert [line.text for line in warned([run], 5)] == ["Warning: two lines $x^{$ (and 1 more)"]
    assert head_height(3) > head_height(2)
