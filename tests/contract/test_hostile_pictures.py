"""Names from elsewhere in every picture: no mathematics, no warnings, no crash, nothing hidden."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

import msgspec
import pytest

from isochrone import views
from isochrone.runfile.run import Run
from made_up.emulations import Truth, emulation
from made_up.grid_runs import grid_run
from made_up.hostile_names import FILE_NAMES
from made_up.hotspots import exchange, hotspot
from made_up.latency_maps import block, latency_map
from made_up.recordings import halo_recording
from made_up.sweeps import collective

NAMES = (
    "$\\frac{$",
    "a\nb\x1b[31m",
    "\N{RIGHT-TO-LEFT OVERRIDE}\u05d0\u05d1",
    "x" * 180,
    "漢" * 60,
)
"""Broken mathematics, what a terminal obeys, right to left, too long, not in the font."""

FEW = (8, 64, 512, 4096)


def operations(*ranks: int) -> list[Run]:
    return [collective(NAMES, p, sizes=FEW, repeats=4) for p in ranks]


def applications() -> list[Run]:
    truths = [Truth(name, ranks=2, iterations=2, phases=NAMES[:3]) for name in NAMES[:4]]
    return [emulation(truths)]


RUNS: dict[str, Callable[[], list[Run]]] = {
    **dict.fromkeys(("time", "bandwidth", "ranks", "distribution"), lambda: operations(4, 8)),
    **dict.fromkeys(("fit", "deviation"), lambda: operations(2, 4, 8)),
    **dict.fromkeys(("heatmap", "surface", "levels"), lambda: [latency_map(block(8, 3))]),
    "plane": lambda: [hotspot(intra=2, inter=2)],
    **dict.fromkeys(("slowdown", "timeline", "phases"), applications),
    "nodes": lambda: [exchange(), exchange(hosts=40, ranks=80)],
    "matrix": lambda: [halo_recording(2, 3)],
    "grids": lambda: [grid_run(24, ("4x6",), ops=("bcast",), repeats=2)],
}


def hostile(run: Run, names: Sequence[str] = NAMES) -> Run:
    """Give hosts, library, date, file and warnings of a run names that nobody wants."""
    hosts = list(dict.fromkeys(run.hosts))
    called = {host: f"{names[k % len(names)]}{k}" for k, host in enumerate(hosts)}
    run.ranks = [msgspec.structs.replace(rank, host=called[rank.host]) for rank in run.ranks]
    run.header |= {"mpi": {"library": names[0] * 20}, "started": names[0]}
    run.header["seconds_are"] = names[0]
    run.path = Path(f"{names[0]}{names[3]}.jsonl")
    run.warnings = [{"text": names[0] * 40}, {"code": "\n"}]
    return run


@pytest.mark.few(2)
@pytest.mark.parametrize("name", RUNS)
def test_hostile_names_are_text(name: str, tmp_path: Path) -> None:
    """Drawn as pixels, where mathematics would be parsed, with all warnings as errors."""
    runs = [hostile(run) for run in RUNS[name]()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        views.save(views.draw(name, runs, views.Options()), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


ACTIVE = {"script", "a", "foreignObject", "animate", "set", "iframe", "handler", "listener"}


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "name", ["time", "fit", "heatmap", "plane", "timeline", "nodes", "matrix", "grids"]
)
def test_a_drawing_holds_text_and_nothing_that_acts(name: str, tmp_path: Path) -> None:
    """SVG: no element, handler or link of a name; text is text, without control characters."""
    start = 5 * list(RUNS).index(name) % len(FILE_NAMES)
    names = (*FILE_NAMES[start:], *FILE_NAMES[:start])
    runs = [hostile(run, names) for run in RUNS[name]()]
    views.save(views.draw(name, runs, views.Options()), tmp_path / "a.svg")
    root = Xml.parse(tmp_path / "a.svg").getroot()
    for element in root.iter():
        assert str(element.tag).rpartition("}")[2] not in ACTIVE
        for key, value in element.attrib.items():
            assert not key.lower().startswith("on")
            if key.rpartition("}")[2] == "href":
                assert value.startswith(("#", "data:image/png;"))
            assert value.replace("\n", " ").isprintable()
        assert (element.text or "").replace("\n", " ").replace("\t", " ").isprintable()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["time", "heatmap", "plane"])
def test_a_document_is_drawn_under_such_names(name: str, tmp_path: Path) -> None:
    """PDF: no action and no link in it."""
    runs = [hostile(run, FILE_NAMES[30:]) for run in RUNS[name]()]
    views.save(views.draw(name, runs, views.Options()), tmp_path / "a.pdf")
    held = (tmp_path / "a.pdf").read_bytes()
    assert held.startswith(b"%PDF-")
    assert not [
        word for word in (b"/JavaScript", b"/URI", b"/Launch", b"/OpenAction") if word in held
    ]
