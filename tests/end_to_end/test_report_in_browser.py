"""The report in a real browser: it opens from disk, is silent, asks for nothing, runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import READY, SETTLED, Browser, running
from isochrone.changes.compare import compare
from isochrone.changes.pages.comparison_page import Compared, comparison_page
from isochrone.pages.html.render import write_page, write_report
from isochrone.runfile import file as runs
from made_up.decisions import write_pages
from made_up.hotspots import hotspot, tile_io
from made_up.latency_maps import block, latency_map
from made_up.sweeps import bisection, collective, point_to_point, table_of

pytestmark = pytest.mark.browser

CORPUS = Path(__file__).parents[1] / "corpus"

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(2)'>",
    "</style><svg onload=alert(3)>",
    "https://example.org/$x$ {{ 7*7 }} ]]> &lt;b&gt;",
]


UNFOLDED = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
THREE_SCREENS = 3 * 900
"""Pixels."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of a run whose every text is an attack."""
    folder = tmp_path_factory.mktemp("report")
    run = latency_map([host for host in HOSTILE for _ in range(4)], slow_hosts={HOSTILE[1]: 3.0})
    run.header |= {
        "notes": dict.fromkeys(HOSTILE, HOSTILE[0]),
        "mpi": {"library": HOSTILE[1], "standard": HOSTILE[2]},
    }
    run.warnings += [{"code": "x", "text": text} for text in HOSTILE]
    runs.write(run, folder / "hostile.jsonl")
    path = folder / "report.html"
    plain = latency_map(block(8, 8, "node{:02d}"), nbytes=(64, 1024))
    write_report([runs.read(folder / "hostile.jsonl"), plain], path)
    return path


@pytest.fixture(scope="module")
def sweeps_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of sweeps, several of a kind, one of them full of attacks."""
    hostile = collective(("bcast", "scan"), late=5)
    rows = [
        {**row, "op": HOSTILE[1]} if row["op"] == "scan" else row
        for row in hostile.tables["sample"].rows()
    ]
    hostile.tables["sample"] = table_of(rows)
    hostile.header |= {"seconds_are": HOSTILE[0], "mpi": {"library": HOSTILE[2]}}
    path = tmp_path_factory.mktemp("sweeps") / "report.html"
    runs = [point_to_point(), point_to_point(window=64), bisection(9, slow=2), hostile]
    write_report(runs, path)
    return path


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_report_of_sweeps_is_silent_readable_and_fits(
    browser: Browser, sweeps_report: Path, width: int, scheme: str
) -> None:
    """No console line, no script, no request; the page fits a phone; text stands out."""
    browser.open(sweeps_report)
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    assert browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
    assert browser.seen("Page.javascriptDialogOpening") == []
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.evaluate(UNFOLDED)
    boxes = browser.evaluate(
        "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect())"
        ".map(b => [b.width, b.height])"
    )
    # time and bandwidth of each, of two of one kind together; two models; three distributions
    assert len(boxes) == 15
    assert all(w > 300 and h > 200 for w, h in boxes)
    assert HOSTILE[1] in browser.evaluate("document.body.textContent")
    assert min(browser.evaluate(CONTRAST)) >= 4.5


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare two sweeps and two maps, with attacks in their texts."""
    hosts = [host for host in HOSTILE for _ in (0, 1)]
    sweeps = [collective(("bcast", "scan")) for _ in range(6)]
    maps = [latency_map(hosts) for _ in range(6)]
    compared = []
    for name, made in (("sweep", sweeps), (HOSTILE[0], maps)):
        made[3].header |= {"mpi": {"library": HOSTILE[1], "standard": HOSTILE[2]}}
        found = compare(made[:3], made[3:])
        compared.append(Compared(name, found, made[:3], made[3:]))
    path = tmp_path_factory.mktemp("comparison") / "ab.html"
    write_page(comparison_page(compared), path)
    return path


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 360])
def test_a_comparison_is_silent_readable_and_fits(
    browser: Browser, comparison: Path, width: int, scheme: str
) -> None:
    """Two measurements on one page, with hosts and libraries of a hostile machine."""
    browser.open(comparison)
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    assert browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
    assert browser.seen("Page.javascriptDialogOpening") == []
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    browser.evaluate(UNFOLDED)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelectorAll('figure svg').length") == 2
    assert HOSTILE[1] in browser.evaluate("document.body.textContent")
    assert min(browser.evaluate(CONTRAST)) >= 4.5
    unnamed = "[...document.querySelectorAll('svg[role=img], [role=region]')]"
    assert browser.evaluate(f"{unnamed}.filter(e => !e.getAttribute('aria-label')).length") == 0


@pytest.fixture(scope="module")
def decisions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_pages(tmp_path_factory.mktemp("decisions"))


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (360, "dark")])
def test_the_page_of_each_decision_is_silent_readable_and_fits(
    browser: Browser,
    decisions: dict[str, Path],
    width: int,
    scheme: str,
    subtests: pytest.Subtests,
) -> None:
    """A verdict first; nothing wider than a phone; a name for every table and picture."""
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    for name, path in decisions.items():
        with subtests.test(name):
            browser.open(path)
            assert browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
            browser.evaluate(UNFOLDED)
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert min(browser.evaluate(CONTRAST)) >= 4.5
            unnamed = "[...document.querySelectorAll('svg[role=img], [role=region]')]"
            nameless = f"{unnamed}.filter(e => !e.getAttribute('aria-label')).length"
            assert browser.evaluate(nameless) == 0
            empty = "[...document.querySelectorAll('th')].filter(e => !e.textContent.trim()).length"
            assert browser.evaluate(empty) == 0


@pytest.fixture(scope="module")
def collective_io_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hot spots with and without a plane, and tiles, with attacks in their texts."""
    spot, io = hotspot(intra=3, inter=0, repeats=2), tile_io()
    spot.tables["sample"] = table_of(
        [{**row, "order": HOSTILE[0]} for row in spot.tables["sample"].rows()]
    )
    io.tables["hint"] = table_of([{"key": HOSTILE[1], "value": HOSTILE[2]}])
    path = tmp_path_factory.mktemp("collective-io") / "report.html"
    write_report([hotspot(("intra-first", "inter-first")), spot, io], path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_report_of_collective_io_is_silent_readable_and_fits(
    browser: Browser, collective_io_report: Path, width: int, scheme: str
) -> None:
    browser.open(collective_io_report)
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    assert browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
    assert browser.seen("Page.javascriptDialogOpening") == []
    assert browser.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.evaluate(UNFOLDED)
    boxes = browser.evaluate(
        "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect())"
        ".map(b => [b.width, b.height])"
    )
    assert len(boxes) == 3  # two planes and the nodes
    assert all(w > 300 and h > 150 for w, h in boxes)
    assert HOSTILE[1] in browser.evaluate("document.body.textContent")
    assert min(browser.evaluate(CONTRAST)) >= 4.5


@pytest.fixture
def page(browser: Browser, report: Path) -> Browser:
    browser.open(report)
    assert browser.evaluate(READY)
    return browser


def test_nothing_is_said_on_the_console(page: Browser) -> None:
    assert page.seen("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown") == []


def test_no_request_leaves_the_file(page: Browser, report: Path) -> None:
    asked = [event["request"]["url"] for event in page.seen("Network.requestWillBeSent")]
    assert report.as_uri() in asked
    assert [url for url in asked if url != report.as_uri() and not url.startswith("data:")] == []


def test_hostile_text_is_inert_and_shown_as_it_is(page: Browser) -> None:
    assert page.seen("Page.javascriptDialogOpening") == []
    assert page.evaluate("document.querySelectorAll('img, iframe, [onload]').length") == 0
    assert page.evaluate("[...document.scripts].map(s => s.type).sort().join(' ')") == (
        " application/json application/json"
    )
    text = page.evaluate("document.body.textContent")
    for hostile in HOSTILE:
        assert hostile in text
    titles = "[...document.querySelectorAll('svg text')].map(t => t.textContent).join('|')"
    assert "<script>al" in page.evaluate(titles)


def test_even_an_injected_script_would_not_run(page: Browser) -> None:
    """The policy of the page is the second line of defence: take the first one away."""
    refused = page.evaluate(
        "new Promise(done => {"
        "  var refused = [];"
        "  document.addEventListener('securitypolicyviolation', event => {"
        "    refused.push(event.effectiveDirective);"
        "    if (refused.length == 2) done(refused.sort());"
        "  });"
        "  var s = document.createElement('script'); s.textContent = 'window.broken = 1';"
        "  document.body.appendChild(s);"
        "  var i = document.createElement('img'); i.src = 'https://example.org/x.png';"
        "  document.body.appendChild(i);"
        "})"
    )
    assert refused == ["img-src", "script-src-elem"]
    page.evaluate(SETTLED)
    assert page.evaluate("window.broken") is None
    assert "Security Policy" in page.wait_for("Log.entryAdded")["entry"]["text"]
    answers = page.seen("Network.responseReceived")
    assert [a for a in answers if a["response"]["url"].startswith("http")] == []


@pytest.mark.parametrize("width", [1280, 360])
def test_pictures_are_there_and_the_page_fits_its_window(page: Browser, width: int) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(UNFOLDED)
    page.evaluate(SETTLED)
    boxes = page.evaluate(
        "[...document.querySelectorAll('figure :is(:not(.still) > svg, canvas)')]"
        ".map(s => s.getBoundingClientRect()).map(b => [b.width, b.height])"
    )
    assert len(boxes) == 6
    assert all(w > 300 and h > 200 for w, h in boxes)
    assert page.evaluate("document.querySelectorAll('figure svg image').length") >= 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_paper_in_both_themes(page: Browser, scheme: str) -> None:
    page.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    contrast = page.evaluate(CONTRAST)
    assert len(contrast) > 100
    assert min(contrast) >= 4.5, min(contrast)  # WCAG 2.2, level AA
    is_dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 29)"
    assert is_dark == (scheme == "dark")


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report like that of ``isochrone demo``: a map of few ranks and a long sweep."""
    path = tmp_path_factory.mktemp("demonstration") / "report.html"
    sizes = (0, *(64 * k for k in range(1, 51)))
    write_report(
        [runs.read(CORPUS / "debian-openmpi-latency-map.jsonl"), point_to_point(sizes=sizes)], path
    )
    return path


def test_a_report_fits_on_three_screens_and_opens_with_what_was_found(
    browser: Browser, demonstration: Path
) -> None:
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=1440,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.open(demonstration)
    height = browser.evaluate("document.documentElement.scrollHeight")
    assert height <= THREE_SCREENS
    below = "document.getElementById('findings').getBoundingClientRect().bottom"
    assert browser.evaluate(below) < 900
    assert browser.evaluate("document.querySelectorAll('details.part[open]').length") == 0


def test_the_link_of_a_finding_opens_its_run(browser: Browser, demonstration: Path) -> None:
    browser.open(demonstration)
    browser.evaluate("document.querySelectorAll('.lead a')[1].click()")
    browser.evaluate(SETTLED)
    opened = "[...document.querySelectorAll('article > details')].map(one => one.open)"
    assert browser.evaluate(opened) == [False, True]


def test_what_is_folded_is_printed(browser: Browser, demonstration: Path) -> None:
    browser.open(demonstration)
    drawn = (
        "[...document.querySelectorAll('details.part > :not(summary)')]"
        ".filter(one => one.checkVisibility() && one.getBoundingClientRect().height > 0).length"
    )
    assert browser.evaluate(drawn) == 0
    try:
        browser.call("Emulation.setEmulatedMedia", media="print")
        folded = browser.evaluate(
            "document.querySelectorAll('details.part > :not(summary)').length"
        )
        assert browser.evaluate(drawn) == folded > 20
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


CONTRAST = """
(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const seen = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest('figure.heatmap g[clip-path]')) continue;
    const style = getComputedStyle(e);
    const fill = e instanceof SVGElement ? style.fill : style.color;
    // numbers in the cells of a heat map and colour keys stand on their own colours
    if (e instanceof SVGElement && !['ink', 'faint', 'slow'].some(
        n => (e.getAttribute('style') || '').includes('--' + n))) continue;
    const a = light(parse(fill)), b = light(paper(e));
    seen.push((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return seen;
})()
"""
