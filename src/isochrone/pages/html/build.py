"""Put the report together: one HTML file that needs nothing else, no network and no script."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import isochrone
from isochrone.base.errors import InputError
from isochrone.base.files import sha256, whole_file
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.pages.html import sweeps, tables, words
from isochrone.pages.html.hotspot import hotspot
from isochrone.pages.html.models import model_of
from isochrone.pages.html.nodes import nodes_picture
from isochrone.pages.html.pictures import pictures
from isochrone.pages.html.tile_io import tile_io
from isochrone.results.latency_map import topology
from isochrone.runfile.run import Run

__all__ = ["is_report", "write_report"]

MARK: Final = '<meta name="generator" content="isochrone'
"""What tells a report from any other HTML file."""

MOST_SLOW: Final = 12
MOST_WARNINGS: Final = 20
_PAGES: Final = ("template.html.j2", "sweep.html.j2", "hotspot.html.j2", "tile_io.html.j2")
_LONGEST_TEXT: Final = 1000


def write_report(runs: Sequence[Run], path: Path) -> None:
    """Write the report of one or several runs. The file appears whole or not at all.

    Raises
    ------
    InputError
        If there is no run, jinja2 or matplotlib is not installed, or the file cannot be written.
    """
    if not runs:
        raise InputError("a report of no run", hint="name at least one run file")
    sections = [_section(run, f"run-{k}") for k, run in enumerate(runs, start=1)]
    for first, picture in nodes_picture(runs):
        sections[first]["nodes"] = picture
    page = _render(sections, sweeps.together(runs))
    with whole_file(path) as stream:
        stream.write(page.encode())


def is_report(path: Path) -> bool:
    """Whether a file is a report of ours, so that it may be written anew."""
    try:
        with path.open("rb") as stream:
            return MARK.encode() in stream.read(1024)
    except OSError:
        return False


def _render(sections: list[dict[str, Any]], together: list[dict[str, Any]]) -> str:
    try:
        from jinja2 import DictLoader, Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise InputError(
            "a report needs jinja2, which is not installed",
            hint="try: pip install 'isochrone[report]'",
        ) from error

    def clean(value: object) -> object:
        """Take control characters out of every text that came from a file."""
        if isinstance(value, str) and not isinstance(value, Markup):
            return printable(value, _LONGEST_TEXT)
        return value

    folder = resources.files("isochrone.pages.html")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=clean, trim_blocks=True,
        lstrip_blocks=True, loader=DictLoader({n: (folder / n).read_text("utf-8") for n in _PAGES}),
    )  # fmt: skip
    environment.filters["trusted"] = Markup
    template = environment.get_template(_PAGES[0])
    several = len(sections) > 1
    return template.render(
        title=f"{len(sections)} measurements" if several else sections[0]["title"],
        sections=sections,
        together=together,
        several=several,
        style=(folder / "style.css").read_text("utf-8"),
        version=isochrone.__version__,
    )


def _section(run: Run, name: str) -> dict[str, Any]:
    """Collect what the template says about one run."""
    header = run.header
    imported = header.get("imported")
    library = " ".join(str(tables.part(header, "mpi").get("library", "")).split())
    section: dict[str, Any] = {
        "id": name,
        "title": words.title_of(run),
        "facts": [
            text
            for text in (words.describe_date(header.get("started")), printable(library, 60))
            if text
        ],
        "complete": run.complete,
        "experiment": run.experiment,
        "map": None,
        "sweep": sweeps.sweep(run, name) if sweeps.holds_sweep(run) else None,
        "model": model_of(run, name) if sweeps.holds_sweep(run) else None,
        "hotspot": hotspot(run, name),
        "tile_io": tile_io(run),
        "nodes": None,
        "records": [(kind, len(table)) for kind, table in run.tables.items()],
        "hosts": tables.hosts(run),
        "how": tables.measured_how(run),
        "imported": imported if isinstance(imported, dict) else None,
        "median_is_mean": header.get("median_is_mean") is True,
        "source": _source(run),
        "probe": str(header.get("probe", "")),
        "warnings": _texts(run.warnings),
    }
    if "pair" in run.tables and len(run.tables["pair"]):
        section["map"] = _map(run, name)
        section["warnings"] = section["map"].pop("warnings")
    return section


def _map(run: Run, name: str) -> dict[str, Any]:
    """Collect what is said about a latency map: of its smallest message size."""
    sizes = run.message_sizes()
    true_median = "median" in run.pairs() and run.header.get("median_is_mean") is not True
    what = "median" if true_median else "mean"
    analysis = topology.analyse(run, sizes[0])
    found = analysis.to_json()
    level = tables.level_of_pairs(found["levels"], run.size)
    return {
        "what": what,
        "size": format_bytes(sizes[0]),
        "sizes": words.describe_sizes(sizes[: tables.MOST_SIZES]),
        "levels": words.describe_levels(found["levels"], run.hosts),
        "placement": words.describe_placement(found["placement"], run.hosts),
        "slow": [words.describe_slow(part, run.hosts) for part in found["slow"][:MOST_SLOW]],
        "more_slow": max(0, len(found["slow"]) - MOST_SLOW),
        "pictures": list(pictures(run, what, sizes[0], analysis, name)),
        "by_size": tables.by_size(run, what, found["levels"], level),
        "all_pairs": run.size * (run.size - 1) // 2 <= tables.MOST_PAIRS,
        "pairs": tables.slowest_pairs(run, what, sizes[0], found["levels"], level),
        "warnings": _texts(found["warnings"]),
    }


def _texts(warnings: Sequence[dict[str, Any]]) -> list[str]:
    texts = [str(w.get("text") or w.get("code") or "a warning without a text") for w in warnings]
    texts = list(dict.fromkeys(texts))
    left_out = len(texts) - MOST_WARNINGS
    return texts[:MOST_WARNINGS] + ([f"and {left_out} more"] if left_out > 0 else [])


def _source(run: Run) -> dict[str, str] | None:
    """Return path and SHA-256 of the file of a run, as far as it is still there."""
    if run.path is None:
        return None
    try:
        digest = sha256(run.path)
    except OSError:
        digest = ""
    return {"path": str(run.path), "sha256": digest}
