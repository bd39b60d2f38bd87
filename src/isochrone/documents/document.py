"""What a document is: which commands print it, and its JSON Schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from isochrone.base import registry
from isochrone.documents.shapes import Schema

__all__ = ["Document", "load", "names", "of_command", "printed_by", "schema", "text"]

FAMILY: Final = "documents.declared"
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class Document:
    """One JSON document.

    Attributes
    ----------
    title
        What it says, in a few words.
    shape
        Its JSON Schema, without the head.
    commands
        The commands whose ``--json`` prints it, such as ``place nodes``; none for a file.
    """

    title: str
    shape: Schema
    commands: tuple[str, ...] = ()


def names() -> list[str]:
    """List the documents, as the user types them."""
    return registry.names(FAMILY)


def load(name: str) -> Document:
    """Return a document by its name.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    found: Document = registry.load(FAMILY, name).DOCUMENT
    return found


def of_command(command: str) -> list[str]:
    """List the documents that ``--json`` of a command may print; empty if none is declared."""
    return [name for name in names() if command in load(name).commands]


def schema(name: str) -> Schema:
    """Return the whole JSON Schema (draft 2020-12) of a document."""
    one = load(name)
    return {"$schema": DRAFT, "$id": f"isochrone-{name}", "title": one.title, **one.shape}


def printed_by(command: str) -> Schema:
    """Return the JSON Schema of whatever ``--json`` of a command prints.

    ``show`` prints a list of documents if it was given several files.

    Raises
    ------
    KeyError
        If no document of this command is declared.
    """
    known = of_command(command)
    if not known:
        raise KeyError(f"no document of 'isochrone {command} --json' is declared")
    if len(known) == 1 and command != "show":
        return schema(known[0])
    bodies: dict[str, Any] = {
        name: {"title": load(name).title, **load(name).shape} for name in known
    }
    ways: list[Schema] = [{"$ref": f"#/$defs/{name}"} for name in known]
    if command == "show":
        ways.append({"type": "array", "items": {"anyOf": list(ways)}})
    title = f"What isochrone {command} --json prints"
    head = {"$schema": DRAFT, "$id": f"isochrone-{command.replace(' ', '-')}-json", "title": title}
    return {**head, "anyOf": ways, "$defs": bodies}


def text(content: Schema) -> str:
    """Return a schema as it stands in its file."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
