"""A latency map to look into, in a real browser: what it says, sorts, filters, and marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beds.golden import Golden
from browser import READY, SETTLED, Browser, running
from isochrone.base.units import format_seconds
from isochrone.pages.html.render import write_report
from isochrone.runfile.run import Run
from made_up.latency_maps import (
    block,
    cyclic,
    latency_map,
    leaving,
    map_of,
    noisy,
    tree,
    with_retests,
)

pytestmark = pytest.mark.browser

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"'`${alert(3)}<!--<script>",
    "abc\u202egpj.exe\n\u2028 line",
]

REPORTED: list[Run] = []
"""Kept, so that no other run gets its id."""


class Map:
    """The first map of a page, used as a reader does: by pointer and keys."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder

    def open(self, made: Sequence[Run], width: int = 1280) -> Map:
        """Write the report of some runs, and open it."""
        self.path = self.written(made)
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.browser.open(self.path)
        assert self.value(READY)
        self.value("document.querySelectorAll('.part').forEach(one => { one.open = true; })")
        assert self.browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
        self.settle()
        return self

    def written(self, made: Sequence[Run]) -> Path:
        """Write a report; of runs that were reported before, it is there already."""
        path = self.folder / f"{'-'.join(str(id(run)) for run in made)}.html"
        if not path.exists():
            write_report(made, path)
            REPORTED.extend(made)
        return path

    def value(self, expression: str) -> Any:
        return self.browser.evaluate(expression)

    def settle(self) -> None:
        self.value("document.querySelector('canvas').scrollIntoView({block: 'center'})")
        self.value(SETTLED)

    @property
    def readout(self) -> str:
        """What the live region says."""
        assert (
            self.value("document.querySelector('.readout').getAttribute('aria-live')") == "polite"
        )
        return str(self.value("document.querySelector('.readout').textContent"))

    @property
    def view(self) -> list[float]:
        """First position across and up, and positions on a side."""
        self.settle()
        return [
            float(k) for k in self.value("document.querySelector('canvas').dataset.view").split()
        ]

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where the middle of a cell is in the window; cell (0, 0) is at the upper left."""
        x0, y0, span = self.view
        left, top, side = map(
            float, self.value("document.querySelector('canvas').dataset.plot").split()
        )
        box = self.value(
            "(b => [b.left, b.top])(document.querySelector('canvas').getBoundingClientRect())"
        )
        return (
            box[0] + left + (x + 0.5 - x0) * side / span,
            box[1] + top + (y + 0.5 - y0) * side / span,
        )

    def mouse(self, kind: str, place: tuple[float, float], **more: Any) -> None:
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **more)

    def hover(self, x: int, y: int) -> str:
        self.mouse("mouseMoved", self.place(x, y))
        return self.readout

    def press(self, *keys: str) -> str:
        self.value("document.querySelector('canvas').focus()")
        for key in keys:
            text = {"text": key} if len(key) == 1 else {}
            self.browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        return self.readout

    def control(self, label: str, value: str) -> None:
        """Set the control of this label, as typing or choosing does."""
        self.value(
            f"(() => {{ const label = [...document.querySelectorAll('.tools label')].find("
            f"one => one.textContent === {json.dumps(label)});"
            f" const one = document.getElementById(label.htmlFor); one.value = {json.dumps(value)};"
            " one.dispatchEvent(new Event('input', {bubbles: true}));"
            " one.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def colour(self, x: float, y: float) -> list[int]:
        """Return red, green and blue at a cell."""
        across, up = self.place(x, y)
        colours: list[int] = self.value(
            "(() => { const c = document.querySelector('canvas'), b = c.getBoundingClientRect();"
            f" return [...c.getContext('2d').getImageData({across} - b.left, {up} - b.top, 1, 1)"
            ".data.slice(0, 3)]; })()"
        )
        return colours

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)"
        )
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Map]:
    yield Map(browser, folder)
    assert browser.seen("Runtime.exceptionThrown") == []


@lru_cache
def slow_node() -> Run:
    """Make a map of 4 nodes with 4 ranks each, of which n2 is slow."""
    return latency_map(block(4, 4), slow_hosts={"n2": 2.4}, noise=0.0)


@lru_cache
def large() -> Run:
    """Make a map of 1,024 noisy ranks on 128 nodes."""
    return latency_map(block(128, 8), noise=0.1, slow_hosts={"n5": 3.0})


def seconds(run: Run, i: int, j: int, what: str = "median") -> str:
    return format_seconds(float(run.matrix(what)[i, j]))


def test_pointing_at_a_cell_names_pair_hosts_time_and_interval(page: Map, golden: Golden) -> None:
    """The pair under the pointer, with the numbers of the run file to three digits."""
    run = slow_node()
    page.open([run])
    for i, j in ((1, 14), (6, 7), (15, 0)):
        said = page.hover(i, j)
        assert f"Ranks {min(i, j)} and {max(i, j)}" in said
        assert seconds(run, i, j) in said
        assert seconds(run, i, j, "low").split()[0] in said
        assert seconds(run, i, j, "high") in said
    assert "on n0 and n3" in page.hover(1, 14)
    golden.measured(page.hover(6, 7))
    assert "slow" not in page.hover(1, 14)
    assert "possibly slow: node n2" in page.hover(1, 9)
    golden.measured(page.hover(3, 3))


def test_keys_move_zoom_and_go_to_what_is_slow(page: Map) -> None:
    page.open([slow_node()])
    assert "Ranks 0 and 1" in page.press("ArrowDown")
    assert "Ranks 1 and 2" in page.press("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown")
    page.press("+")
    x, y, span = page.view
    assert span == 8
    assert x <= 1 < x + span
    assert y <= 2 < y + span
    page.press(*["ArrowRight"] * 14)
    assert page.view[0] + page.view[2] == 16  # what is chosen is in view
    page.press("0")
    assert page.view == [0, 0, 16]
    page.value("document.querySelector('.explorer tbody button').focus()")
    page.browser.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", text="\r")
    page.browser.call("Input.dispatchKeyEvent", type="keyUp", key="Enter")
    assert "node n2" in page.readout
    assert "expected" in page.readout


def test_zoom_by_wheel_box_and_buttons(page: Map) -> None:
    page.open([latency_map(block(8, 4))])
    here = page.place(8, 24)
    page.mouse("mouseWheel", here, deltaX=0, deltaY=-100)
    assert page.view == [0, 0, 32]  # the page scrolls: the map was not clicked
    page.settle()
    here = page.place(8, 24)
    page.mouse("mousePressed", here, button="left", clickCount=1)
    page.mouse("mouseReleased", here, button="left", clickCount=1)
    page.mouse("mouseWheel", here, deltaX=0, deltaY=-100)
    x, y, span = page.view
    assert span < 32
    assert x <= 8 < x + span
    assert y <= 24 < y + span
    page.press("0")
    one, other = page.place(4, 4), page.place(11, 11)
    page.mouse("mousePressed", one, button="left", clickCount=1)
    page.mouse("mouseMoved", other, buttons=1, button="left")
    page.mouse("mouseReleased", other, button="left", clickCount=1)
    x, y, span = page.view
    assert (round(x), round(y), round(span)) == (4, 4, 7)
    assert "Ranks 6 and 9" in page.hover(6, 9)  # cells are found where they are drawn
    page.value("document.querySelector('.zoom button:nth-child(3)').click()")
    assert page.view == [0, 0, 32]


def test_ranks_are_sorted_by_node_level_and_cost(page: Map, golden: Golden) -> None:
    """A cyclic placement becomes blocks; by cost, the slow rank is last."""
    run = latency_map(cyclic(4, 4), slow_hosts={"n2": 3.0})
    page.open([run])
    assert "Ranks 0 and 1, on n0 and n1" in page.hover(0, 1)
    page.control("order", "node")
    golden.measured(page.hover(0, 1))
    page.control("order", "level")
    golden.measured(page.hover(0, 3))
    page.control("order", "cost")
    page.control("order", "rank")
    assert "Ranks 0 and 1, on" in page.hover(0, 1)


def test_filters_fade_what_does_not_match_and_count_the_rest(page: Map) -> None:
    page.open([slow_node()])
    full = page.colour(1, 13)
    page.control("host", "N1")
    assert page.readout == "54 pairs match"  # 4 ranks with 12 others, and 6 among themselves
    assert page.colour(1, 13) != full
    page.control("host", "")
    assert page.colour(1, 13) == full
    page.control("slower than", "20")  # of the unit of the map
    assert page.readout == "48 pairs match"
    page.control("slower than", "2 us")
    page.control("faster than", "0.01ms")
    assert page.readout == "48 pairs match"
    page.control("faster than", "soon")
    assert page.value("document.querySelectorAll('[aria-invalid=true]').length") == 1
    page.value("document.querySelector('details.pairs').open = true")
    page.value(SETTLED)
    rows = page.texts("details.pairs tbody tr")
    assert len(rows) == 20
    assert seconds(slow_node(), 0, 8) in rows[0]


def test_slow_parts_are_marked_and_listed(page: Map) -> None:
    """A red bar at the edge and frames in the map; the same as a table with buttons."""
    run = latency_map(block(4, 4), slow_hosts={"n2": 2.4})
    again = [(i, j) for i in (0, 4, 12) for j in (8, 9)]
    page.open([with_retests(run, [(min(p), max(p)) for p in again], 1.0)])
    assert page.texts(".explorer tbody tr")[0].startswith("node n2")
    assert "confirmed" in page.texts(".explorer tbody tr")[0]
    red = page.value("getComputedStyle(document.documentElement).getPropertyValue('--slow').trim()")
    bar = page.value(
        "(() => { const c = document.querySelector('canvas');"
        " const p = c.dataset.plot.split(' ').map(Number);"
        " const at = k => [...c.getContext('2d').getImageData(p[0] + p[2] * (k + .5) / 16,"
        " p[1] + p[2] + 5, 1, 1).data.slice(0, 3)]"
        ".map(v => v.toString(16).padStart(2, '0')).join('');"
        " return Array.from({length: 16}, (_, k) => '#' + at(k)); })()"
    )
    assert [k for k, colour in enumerate(bar) if colour == red] == [8, 9, 10, 11]
    page.value("document.querySelector('.explorer tbody button').click()")
    assert page.value("document.querySelector('.explorer tbody button').ariaPressed") == "true"
    assert "node n2" in page.readout


def test_an_uplink_is_slow_beyond_its_nodes_only(page: Map) -> None:
    """A pair says which slow parts are in its time, and not those that it merely is near."""
    group = np.arange(32) // 8
    times = noisy(tree([2, 4, 4], [1, 3, 9]), 0.02, 1) + 8.0 * leaving(group == 1, group)
    page.open([map_of(times, block(16, 2))])
    assert "uplink" in page.hover(9, 30)
    assert "uplink" not in page.hover(9, 14)
    assert "uplink" not in page.hover(2, 30)
    before = page.colour(9, 14)
    page.value("document.querySelector('.explorer tbody button').click()")
    assert page.colour(9, 14) != before  # faded, as what does not match


def test_nodes_come_first_above_256_ranks(page: Map) -> None:
    """Medians of the pairs of each two nodes; the ranks are one click away, and back."""
    run = large()
    page.open([run])
    assert page.view == [0, 0, 128]
    said = page.hover(5, 20)
    assert "Nodes n5 and n20" in said
    median = float(sorted(run.matrix()[40:48, 160:168].ravel())[31])
    assert f"{median * 1e6:.3g}"[:3] in said
    page.control("cells", "rank")
    assert page.view == [0, 0, 1024]
    assert "Ranks 40 and 160" in page.hover(40, 160)
    page.control("cells", "node")
    assert page.view == [0, 0, 128]


def test_two_maps_become_a_map_of_ratios(page: Map) -> None:
    before = latency_map(block(4, 4), noise=0.0)
    after = latency_map(block(4, 4), noise=0.0, slow_hosts={"n1": 2.0})
    page.open([after, before])
    page.control("compared with", "0")
    said = page.hover(1, 5)
    assert "2.00×" in said
    assert f"{seconds(after, 1, 5)} here" in said
    assert f"{seconds(before, 1, 5)} there" in said
    assert "1.00×" in page.hover(1, 14)
    same, slower = page.colour(1.3, 14.3), page.colour(1.3, 5.3)
    assert min(same) > 230  # nearly white
    assert slower[0] > 1.5 * slower[2]  # red
    page.control("compared with", "")
    assert "×" in page.hover(1, 5)
    assert "there" not in page.hover(1, 5)


def test_runs_of_other_sizes_are_not_compared(page: Map) -> None:
    page.open([latency_map(block(4, 4)), latency_map(block(4, 2))])
    assert "compared with" not in page.texts(".tools label")


def test_hostile_names_are_text_and_nothing_else(page: Map) -> None:
    """Names that end scripts, open tags, turn the writing direction or break the line."""
    run = latency_map([host for host in HOSTILE for _ in range(4)], slow_hosts={HOSTILE[0]: 3.0})
    page.open([run])
    for k, host in enumerate(HOSTILE[:3]):
        assert f"both on {host}" in page.hover(4 * k, 4 * k + 1)
    said = page.hover(12, 13)
    assert "abc" in said
    assert "\u202e" not in said
    assert "\n" not in said
    page.control("host", HOSTILE[0])
    page.value("document.querySelector('details.pairs').open = true")
    page.value("document.querySelector('.explorer tbody button').click()")
    page.value(SETTLED)
    assert page.browser.seen("Page.javascriptDialogOpening", "Log.entryAdded") == []
    assert page.value("document.querySelectorAll('img, iframe, [onerror]').length") == 0
    assert page.value("document.scripts.length") == 2  # its data and its own


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wider_than_the_window(page: Map, width: int) -> None:
    long = [f"compute-node-with-a-long-name-{k:04d}.cluster.example.org" for k in range(4)]
    runs = [latency_map([host for host in long for _ in range(4)], slow_hosts={long[1]: 3.0})] * 2
    page.open(runs, width)
    page.value("document.querySelector('details.pairs').open = true")
    page.hover(1, 13)
    page.value(SETTLED)
    assert page.value("document.documentElement.scrollWidth") <= width
    side = float(page.value("document.querySelector('canvas').dataset.plot").split()[2])
    assert side > 0.6 * min(width, 736)


def test_everything_can_be_reached_and_has_a_name(page: Map) -> None:
    """With the tab key alone, and for a screen reader."""
    page.open([slow_node()])
    tree = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"textbox", "searchbox", "combobox", "button", "application", "region"}
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node["ignored"] and node["role"]["value"] in roles
    ]
    assert len(found) > 10
    assert [role for role, name in found if not name.strip()] == []
    assert page.value(
        "[...document.querySelectorAll('.explorer :is(canvas, button, input, select)')]"
        ".every(one => one.tabIndex === 0)"
    )


def test_without_script_and_on_paper_the_still_pictures_are_there(page: Map) -> None:
    page.open([slow_node()])
    shown = "getComputedStyle(document.querySelector('figure.heatmap > .frame')).display"
    assert page.value(shown) == "none"
    try:
        page.browser.call("Emulation.setEmulatedMedia", media="print")
        assert page.value(shown) == "block"
        assert page.value("getComputedStyle(document.querySelector('.explorer')).display") == "none"
        page.browser.call("Emulation.setEmulatedMedia", media="")
        page.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        page.browser.events.clear()
        page.browser.call("Page.navigate", url=page.path.as_uri())
        page.browser.wait_for("Page.loadEventFired")
        assert page.value("document.querySelectorAll('.explorer').length") == 0
        assert page.value(shown) == "block"
        assert page.value(
            "(b => b.width > 300 && b.height > 300)"
            "(document.querySelector('figure.heatmap svg').getBoundingClientRect())"
        )
    finally:
        page.browser.call("Emulation.setEmulatedMedia", media="")
        page.browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_1024_ranks_stay_below_3_mb_with_every_pair_and_interval(page: Map) -> None:
    run = large()
    page.open([run])
    assert page.path.stat().st_size < 3_000_000
    page.control("cells", "rank")
    said = page.hover(40, 1000)
    assert "Ranks" in said
    i, j = map(int, re.findall(r"[0-9]+", said)[:2])
    assert seconds(run, i, j) in said
    assert seconds(run, i, j, "high") in said
