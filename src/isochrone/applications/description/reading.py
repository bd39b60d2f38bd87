"""Descriptions read from YAML or plain data, and written again."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from isochrone.applications.description import fields, graphml_file, phase_reading, plain_data
from isochrone.applications.description.description import (
    FORMAT,
    App,
    Description,
    ExchangeSpec,
    Given,
    TopologySpec,
)
from isochrone.applications.description.expression import FUNCTIONS, NAME
from isochrone.applications.description.fields import Fields
from isochrone.applications.description.key_path import KeyPath
from isochrone.applications.description.program import PLACEMENTS, Placement
from isochrone.applications.description.settings import apply

__all__ = [
    "MAX_APPS",
    "MAX_PHASES",
    "MAX_REPEATS",
    "RUNS",
    "TAKEN",
    "as_document",
    "parse",
    "read",
    "write",
]

RUNS: Final = ("alone", "pairs", "all")
"""Words for which applications run together."""

TAKEN: Final = ("p", "ranks", *FUNCTIONS)
"""No names for parameters: they mean something already."""

MAX_APPS: Final = 64
MAX_PHASES: Final = 1000
MAX_PARAMETERS: Final = 1000
MAX_REPEATS: Final = 100_000

_TOP: Final = ("isochrone", "seed", "runs", "repeats", "place", "parameters", "apps")
_APP: Final = ("name", "ranks", "parameters", "iterations", "background", "place", "phases")


def read(path: Path, settings: Mapping[str, str] | None = None) -> Description:
    """Read a description.

    Parameters
    ----------
    path
        A YAML 1.2 file.
    settings
        Parameters and ranks that are not as in the file: ``n``, ``p``, ``APP.n``, ``APP.p``.

    Raises
    ------
    InputError
        If it cannot be read or says something unknown or impossible: names the file and the path
        of the key.
    """
    return parse(plain_data.load(path), str(path), settings)


def parse(document: object, where: str, settings: Mapping[str, str] | None = None) -> Description:
    """Read a description from plain data, such as JSON.

    Parameters
    ----------
    document
        Dicts, lists, texts, numbers and booleans.
    where
        What errors name as its file; files that it names are looked for beside it.
    settings
        As of `read`.

    Raises
    ------
    InputError
        As `read`.
    """
    at = KeyPath(where)
    data = plain_data.plain(document, at)
    found = _description(data, at)
    if settings:
        apply(data, found, settings)
        found = _description(data, at)
    return found


def as_document(description: Description) -> dict[str, Any]:
    """Return a description as plain data that `parse` reads, and JSON can hold.

    It stands on its own: graphs of GraphML files become lists of edges.

    Raises
    ------
    InputError
        If such a file cannot be read.
    """
    document = copy.deepcopy(dict(description.document))
    for app, written in zip(description.apps, document["apps"], strict=True):
        for phase, below in zip(app.phases, written["phases"], strict=True):
            if isinstance(phase, ExchangeSpec) and phase.topology.name == "graphml":
                below["exchange"]["topology"] = _edges(phase.topology, description.folder)
    return document


def _edges(spec: TopologySpec, folder: Path) -> dict[str, Any]:
    """Return the graph of a file as a topology of edges."""
    found = graphml_file.read(folder / spec.options["file"], spec.at)
    listed = []
    for edge in found.edges:
        one: dict[str, Any] = {"from": edge.source, "to": edge.target}
        if edge.bytes is not None:
            one["bytes"] = edge.bytes
        if edge.count != 1:
            one["count"] = edge.count
        listed.append(one)
    return {"edges": {"list": listed, "directed": found.directed}}


def write(description: Description, path: Path) -> None:
    """Write a description as a YAML file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    plain_data.save(as_document(description), path)


def _description(data: Any, at: KeyPath) -> Description:
    """Return what plain data say."""
    if data is None:
        raise at.error("an empty description", f"it begins with 'isochrone: {FORMAT}'")
    if isinstance(data, dict) and "isochrone" not in data:
        raise at.key("isochrone").error("missing", f"a description begins 'isochrone: {FORMAT}'")
    top = Fields(data, at, _TOP, ("isochrone", "apps"))
    top.word("isochrone", (FORMAT,), FORMAT)
    listed = fields.listed(top.get("apps"), top.at("apps"))
    if len(listed) > MAX_APPS:
        raise top.at("apps").error(f"{len(listed)} applications", f"at most {MAX_APPS}")
    apps = tuple(_app(app, top.at("apps").item(k)) for k, app in enumerate(listed))
    _check_names([app.name for app in apps], top.at("apps"))
    return Description(
        seed=_whole(top.get("seed", 1), top.at("seed"), 0, 2**63 - 1),
        runs=_runs(top.get("runs", list(RUNS)), top.at("runs"), [app.name for app in apps]),
        repeats=_whole(top.get("repeats", 5), top.at("repeats"), 1, MAX_REPEATS),
        placement=cast(Placement, top.word("place", PLACEMENTS, "disjoint")),
        parameters=_parameters(top),
        apps=apps,
        at=at,
        document=data,
        folder=Path(at.file).parent,
    )


def _whole(value: Any, at: KeyPath, least: int, most: int) -> int:
    """Return a whole number that is written as one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise at.error("a whole number is expected")
    if not least <= value <= most:
        raise at.error(f"{value} is not from {least} to {most}")
    return value


def _runs(value: Any, at: KeyPath, known: list[str]) -> tuple[str | tuple[str, ...], ...]:
    """Return which applications run together."""
    found: list[str | tuple[str, ...]] = []
    for k, run in enumerate(fields.listed(value, at)):
        if not isinstance(run, list):
            found.append(fields.word(run, at.item(k), RUNS))
            continue
        together = tuple(
            fields.word(name, at.item(k).item(j), known)
            for j, name in enumerate(fields.listed(run, at.item(k)))
        )
        if len(set(together)) < len(together):
            raise at.item(k).error("names an application twice")
        found.append(together)
    return tuple(found)


def _parameters(owner: Fields) -> tuple[tuple[str, Given], ...]:
    """Return parameters by name, in their order."""
    at, written = owner.at("parameters"), owner.get("parameters", {})
    if not isinstance(written, dict):
        raise at.error("a mapping of names to values is expected")
    if len(written) > MAX_PARAMETERS:
        raise at.error(f"{len(written)} parameters", f"at most {MAX_PARAMETERS}")
    for name in written:
        if not NAME.fullmatch(name):
            raise at.key(name).error("not a name of a parameter", "letters, digits, underscores")
        if name in TAKEN:
            what = "a function" if name in FUNCTIONS else "the ranks of an application"
            raise at.key(name).error(f"'{name}' is {what}, not a parameter", "choose another name")
    return tuple((name, fields.given(value, at.key(name))) for name, value in written.items())


def _check_names(names: list[str], at: KeyPath) -> None:
    """Refuse names that are there twice."""
    for k, name in enumerate(names):
        if name in names[:k]:
            raise at.item(k).key("name").error(f"'{name}' is the name of apps[{names.index(name)}]")


def _app(value: Any, at: KeyPath) -> App:
    """Return one application."""
    app = Fields(value, at, _APP, ("name", "iterations", "phases"))
    listed = fields.listed(app.get("phases"), app.at("phases"))
    if len(listed) > MAX_PHASES:
        raise app.at("phases").error(f"{len(listed)} phases", f"at most {MAX_PHASES}")
    place = Fields(app.get("place", {}), app.at("place"), ("ranks",))
    on = None
    if "ranks" in place:
        ranks = fields.listed(place.get("ranks"), place.at("ranks"))
        on = tuple(fields.given(r, place.at("ranks").item(k)) for k, r in enumerate(ranks))
    return App(
        name=fields.name(app.get("name"), app.at("name")),
        ranks=app.given("ranks", 0) if "ranks" in app else None,
        parameters=_parameters(app),
        iterations=app.given("iterations", 1),
        background=app.boolean("background", False),
        on=on,
        phases=phase_reading.phases(listed, app.at("phases")),
        at=at,
    )
