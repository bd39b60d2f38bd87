"""Descriptions read from YAML or plain data, and written again."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from isochrone.applications.description import graphml_file, plain_data, shapes
from isochrone.applications.description.description import FORMAT, Description
from isochrone.applications.description.phases import ExchangeSpec, leaves
from isochrone.applications.description.shapes import KeyPath
from isochrone.base.errors import InputError
from isochrone.base.record import Members

_RANKS = ("p", "ranks")


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
    description = _description(data, at)
    if not settings:
        return description
    _apply(data, description, settings)
    return _description(data, at)


def as_document(description: Description) -> Members:
    """Return a description as plain data that `parse` reads, and JSON can hold.

    It needs no other file: graphs of GraphML files become lists of edges.

    Raises
    ------
    InputError
        If such a file cannot be read.
    """
    document = copy.deepcopy(dict(description.document))
    for app, written in zip(description.apps, document["apps"], strict=True):
        for phase, below in zip(leaves(app.phases), _written(written["phases"]), strict=True):
            if not isinstance(phase, ExchangeSpec) or phase.topology.name != "graphml":
                continue
            spec = phase.topology
            _, graph = graphml_file.read(description.folder / spec.options["file"], spec.at)
            listed = []
            for edge in graph.edges:
                entry = {"from": edge.source, "to": edge.target}
                if edge.bytes is not None:
                    entry["bytes"] = edge.bytes
                if edge.times != 1:
                    entry["count"] = edge.times
                listed.append(entry)
            below["exchange"]["topology"] = {"edges": {"list": listed, "directed": graph.directed}}
    return document


def _written(phases: list[Members]) -> Iterator[Members]:
    """Yield phases in order, those that are repeated once."""
    for phase in phases:
        if "repeat" in phase:
            yield from _written(phase["repeat"]["phases"])
        else:
            yield phase


def write(description: Description, path: Path, comments: Iterable[str] = ()) -> None:
    """Write a description as a YAML file, after lines of comments.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    plain_data.save(as_document(description), path, comments)


def _description(data: Members | None, at: KeyPath) -> Description:
    """Return what plain data say."""
    if data is None:
        raise at.error("the description is empty", f"begin with 'isochrone: {FORMAT}'")
    if isinstance(data, dict) and "isochrone" not in data:
        raise at.key("isochrone").error(
            "the format is missing", f"begin with 'isochrone: {FORMAT}'"
        )
    description = shapes.declared(Description, data, at)
    names = [app.name for app in description.apps]
    for k, name in enumerate(names):
        if name in names[:k]:
            location = at.key("apps").item(k).key("name")
            raise location.error(f"the name '{name}' is already used by apps[{names.index(name)}]")
    for k, run in enumerate(description.runs):
        if isinstance(run, str):
            continue
        location = at.key("runs").item(k)
        for j, name in enumerate(run):
            shapes.word(name, location.item(j), names)
        if len(set(run)) < len(run):
            raise location.error("the combination has an application twice")
    return replace(description, document=data, folder=Path(at.file).parent)


def _apply(document: Members, description: Description, settings: Mapping[str, str]) -> None:
    """Put settings into the document of a description.

    Parameters
    ----------
    document
        Is changed.
    description
        What it says.
    settings
        Values by name: of a parameter, wherever it is defined; ``p`` or ``ranks`` of the only
        application; ``APP.`` and one of these.

    Raises
    ------
    InputError
        If nothing has this name.
    """
    names = [app.name for app in description.apps]
    for setting, value in settings.items():
        where = f"--set {setting}"
        owner, dot, name = setting.rpartition(".")
        if not dot and name in _RANKS and len(names) > 1:
            raise InputError(
                "several applications have ranks",
                where=where,
                hint=f"write {names[0]}.{setting}={value}",
            )
        if dot and owner not in names:
            raise InputError(
                f"there is no application '{owner}'",
                where=where,
                hint=f"there are: {', '.join(names)}",
            )
        apps = [app for app in document["apps"] if not dot or app["name"] == owner]
        if name in _RANKS:
            apps[0]["ranks"] = value
            continue
        owners = apps if dot else [document, *apps]
        scopes = [holder["parameters"] for holder in owners if name in holder.get("parameters", {})]
        if not scopes:
            defined = [*document.get("parameters", {})]
            for app in document["apps"]:
                defined += [f"{app['name']}.{parameter}" for parameter in app.get("parameters", {})]
            raise InputError(
                f"there is no parameter '{name}'",
                where=where,
                hint=f"there are: {', '.join([*defined, 'p'])}",
            )
        for parameters in scopes:
            parameters[name] = value
