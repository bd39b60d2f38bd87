"""The JSON documents that commands print, by name, and their schemas.

A command names the classes of its documents in ``DOCUMENTS``, or a function that returns a schema;
what ``show`` prints of a kind of result is what the function ``document`` of that kind returns, and
what is said of every run.
``python -m isochrone.console.documents FOLDER`` writes the schemas of all, one file each.
"""

import json
import sys
from inspect import isfunction
from pathlib import Path
from typing import get_type_hints

from isochrone.base import registry
from isochrone.base.documents import Schema, record, shape
from isochrone.base.files import write_text
from isochrone.pages import common
from isochrone.runfile import records
from isochrone.runfile.header import RunRecord

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def of_command(command: str) -> dict[str, Schema]:
    """Return the shapes of the documents that ``--json`` of a command may print, by name."""
    *group, name = command.split()
    module = registry.load(".".join(["cli.commands", *group]), name)
    schemas = {
        name: declared() if isfunction(declared) else shape(declared)
        for name, declared in getattr(module, "DOCUMENTS", {}).items()
    }
    if command == "show":
        for kind in registry.names(common.FAMILY):
            returned = get_type_hints(registry.load(common.FAMILY, kind).PAGE.document)["return"]
            schemas[f"show-{kind}"] = record(common.About, returned)
    return schemas


def _all() -> dict[str, Schema]:
    schemas = {"run-file": _line()}
    for family in registry.FAMILIES:
        if family.startswith("cli.commands"):
            group = family.split(".")[2:]
            for name in registry.names(family):
                schemas |= of_command(" ".join([*group, name]))
    return schemas


def _line() -> Schema:
    """Return the shape of a line of a run file: a record of any kind of result."""
    always = {
        "run": RunRecord,
        "rank": records.Rank,
        "pair": records.Pair,
        "warning": records.Warned,
        "end": records.End,
    }
    lines: list[tuple[str, type]] = [*always.items(), *records.OF_ANY_KIND.items()]
    for kind in records.kinds():
        lines += records.result(kind).records.items()
    unlisted = {"record": {"type": "string", "not": {"enum": [*always]}}}
    return {
        "description": "A line of a run file",
        "anyOf": [
            *(_named(name, record(kind)) for name, kind in dict.fromkeys(lines)),
            {
                "type": "object",
                "description": "what else an experiment writes",
                "properties": unlisted,
                "required": ["record"],
                "additionalProperties": {},
            },
        ],
    }


def _named(name: str, schema: Schema) -> Schema:
    properties = {"record": {"enum": [name]}, **schema["properties"]}
    more: Schema | bool = {} if name not in ("run", "pair") else False
    return {
        **schema,
        "properties": properties,
        "required": ["record", *schema["required"]],
        "additionalProperties": more,
    }


def names() -> list[str]:
    """List the documents, as the user types them."""
    return sorted(_all())


def schema(name: str) -> Schema:
    """Return the whole JSON Schema (draft 2020-12) of a document.

    Raises
    ------
    KeyError
        If there is none of this name.
    """
    return {"$schema": DRAFT, "$id": f"isochrone-{name}", **_all()[name]}


def printed_by(command: str) -> Schema:
    """Return the JSON Schema of whatever ``--json`` of a command prints.

    ``show`` prints a list of documents if it was given several files.
    """
    ways = [*of_command(command).values()]
    if command == "show":
        ways.append({"type": "array", "items": {"anyOf": list(ways)}})
    title = f"What isochrone {command} --json prints"
    name = f"isochrone-{command.replace(' ', '-')}-json"
    return {"$schema": DRAFT, "$id": name, "title": title, "anyOf": ways}


def text(content: Schema) -> str:
    """Return a schema as it stands in its file."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write ``NAME.json`` for each document into the folder that is named."""
    for name in names():
        write_text(Path(arguments[0]) / f"{name}.json", text(schema(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
