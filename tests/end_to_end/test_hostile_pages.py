"""Pages of runs full of hostile names, in a real browser: nothing runs, nothing is asked for.

Reports of every kind of run, of several runs, and the history; and maps that are looked into.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from beds.command_line import run_here
from browser import READY, SETTLED, Browser, running
from fuzz.readers import READERS
from isochrone.pages.html.render import write_report
from made_up.hostile_names import COMBINED, NAMES, renamed_everywhere
from made_up.latency_maps import latency_map

pytestmark = pytest.mark.browser

KINDS = (
    "latency-map",
    "sweep",
    "grids",
    "hotspot",
    "tile-io",
    "emulation",
    "recording",
    "io-recording",
)

FORBIDDEN = "img, iframe, object, embed, base, form, foreignObject, audio, video, animate, set"

EVERY_TEXT = """
(() => {
  const found = [document.title];
  const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_ALL);
  for (let n = walk.currentNode; n; n = walk.nextNode()) {
    if (n.nodeType === 3 && !n.parentElement.closest('script, style')) found.push(n.data);
    if (n.nodeType === 8) found.push(n.data);
    if (n.attributes) for (const a of n.attributes) found.push(a.value);
  }
  return found;
})()
"""
"""Texts, comments and attributes; what is in `script` is data, which the page's script reads."""

ACTIVE = f"""
(() => {{
  const found = [...document.querySelectorAll('{FORBIDDEN}')].map(e => e.tagName);
  for (const e of document.querySelectorAll('*')) for (const a of e.attributes) {{
    if (a.name.startsWith('on')) found.push(a.name);
    const link = /^(href|src|xlink:href|action|formaction)$/.test(a.name);
    if (link && !/^(#|data:,$|data:image[/]png;)/.test(a.value)) found.push(a.name + '=' + a.value);
  }}
  return found;
}})()
"""
"""What could act: elements, handlers, and links that lead out of the page."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running(tmp_path_factory.mktemp("profile")) as started:
        yield started


def inert(browser: Browser, page: Path) -> None:
    """Open a page; hold it to what is promised of names."""
    browser.open(page)
    if browser.evaluate("document.scripts.length") > 0:
        assert browser.evaluate(READY)
    assert browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
    assert browser.seen("Page.javascriptDialogOpening", "Runtime.consoleAPICalled") == []
    assert browser.evaluate("window.broken") is None
    asked = [event["request"]["url"] for event in browser.seen("Network.requestWillBeSent")]
    assert [url for url in asked if url != page.as_uri() and not url.startswith("data:")] == []
    assert browser.evaluate(ACTIVE) == []
    policy = "document.querySelector('meta[http-equiv=Content-Security-Policy]').content"
    assert browser.evaluate(policy).startswith("default-src 'none';")
    shown = browser.evaluate(EVERY_TEXT)
    obeyed = {c for text in shown for c in text if not c.isprintable() and c not in "\n\t"}
    assert obeyed <= {"\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}"}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_of_hostile_names_is_inert(browser: Browser, kind: str, tmp_path: Path) -> None:
    """Of each kind of run, two in one report: tables, pictures, titles, data of maps.

    In the second one those words have changed, too, of which a reader knows some.
    """
    text = (tmp_path / READERS[kind].seeds(tmp_path)[-1]).read_text()
    (tmp_path / "a.jsonl").write_text(renamed_everywhere(text))
    (tmp_path / "b.jsonl").write_text(renamed_everywhere(text, COMBINED, deep=True))
    answer = run_here("report", "a.jsonl", "b.jsonl", "-o", "a.html", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    inert(browser, tmp_path / "a.html")


def test_a_history_of_hostile_names_is_inert(browser: Browser, tmp_path: Path) -> None:
    """Runs that differ by their settings and libraries only, night after night."""
    (tmp_path / "nights").mkdir()
    READERS["latency-map"].seeds(tmp_path)
    text = (tmp_path / "seed-0.jsonl").read_text()
    for night in range(6):
        names = NAMES[night:]
        (tmp_path / "nights" / f"{night}<b>.jsonl").write_text(renamed_everywhere(text, names))
    answer = run_here("history", "nights", "-o", "a.html", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    inert(browser, tmp_path / "a.html")


def test_a_map_of_all_hostile_names_can_be_looked_into(browser: Browser, tmp_path: Path) -> None:
    """Pointed at, searched by each name, and with its tables open."""
    hosts = [name for name in dict.fromkeys((*NAMES, *COMBINED[:8])) for _ in range(2)]
    run = latency_map(hosts, slow_hosts={NAMES[0]: 4.0, NAMES[2]: 3.0})
    write_report([run], tmp_path / "a.html")
    inert(browser, tmp_path / "a.html")
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    browser.evaluate("document.querySelector('canvas').focus()")
    for key in ("ArrowRight", "ArrowUp", "Enter"):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        browser.evaluate(SETTLED)
    for name in hosts[::24]:
        browser.evaluate(
            "document.querySelectorAll('.tools input').forEach(one => {"
            f" one.value = {json.dumps(name)};"
            " one.dispatchEvent(new Event('input', {bubbles: true}));"
            " one.dispatchEvent(new Event('change', {bubbles: true})); })"
        )
    browser.evaluate(SETTLED)
    assert browser.seen("Log.entryAdded", "Runtime.exceptionThrown") == []
    assert browser.seen("Page.javascriptDialogOpening") == []
    assert browser.evaluate("window.broken") is None
    assert browser.evaluate(ACTIVE) == []
    readout = browser.evaluate("document.querySelector('.readout').textContent")
    assert readout
    assert readout.isprintable()
