"""The JSON Schema of descriptions, for editors and for programs that write them.

It says what a description may hold and where, as `reading` does. What a schema cannot say is left
to `reading` and `lowering`: names that are there twice, expressions, ranks that do not exist.
``isochrone emulate --schema`` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from isochrone.applications.description import fields, phase_reading, topology
from isochrone.applications.description.description import FORMAT
from isochrone.applications.description.distributions import KINDS
from isochrone.applications.description.expression import NAME
from isochrone.applications.description.program import METHODS, MODES, PLACEMENTS
from isochrone.applications.description.reading import (
    MAX_APPS,
    MAX_PARAMETERS,
    MAX_PHASES,
    MAX_REPEATS,
    RUNS,
    TAKEN,
)
from isochrone.collectives import grid_collectives

__all__ = ["schema", "text"]

Schema = dict[str, Any]

_SCALAR: Final[Schema] = {"$ref": "#/$defs/scalar"}
_SPREAD: Final[Schema] = {"$ref": "#/$defs/values"}
_COMPUTE: Final[Schema] = {"$ref": "#/$defs/compute"}
_BOOLEAN: Final[Schema] = {"type": "boolean"}
_PAIR: Final = 2


def text() -> str:
    """Return the schema as JSON, one line for each part."""
    return json.dumps(schema(), indent=1) + "\n"


def schema() -> Schema:
    """Return the schema (draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Applications as computation and communication",
        **_mapping(
            {
                "isochrone": {"const": FORMAT},
                "seed": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1},
                "runs": _list({"anyOf": [{"enum": list(RUNS)}, _list({"type": "string"})]}),
                "repeats": {"type": "integer", "minimum": 1, "maximum": MAX_REPEATS},
                "place": {"enum": list(PLACEMENTS)},
                "parameters": {"$ref": "#/$defs/parameters"},
                "apps": _list({"$ref": "#/$defs/app"}) | {"maxItems": MAX_APPS},
            },
            ("isochrone", "apps"),
        ),
        "$defs": _definitions(),
    }


def _definitions() -> Schema:
    return {
        "scalar": {
            "description": "a number, a number with its unit (30us, 4KiB), or an expression",
            "type": ["number", "string"],
        },
        "name": {"type": "string", "pattern": f"^{fields.NAME}$"},
        "parameters": {
            "type": "object",
            "maxProperties": MAX_PARAMETERS,
            "propertyNames": {
                "pattern": f"^{NAME.pattern}$",
                "not": {"enum": list(TAKEN)},
            },
            "additionalProperties": _SCALAR,
        },
        "values": _values(),
        "compute": _one_of(_SCALAR, _mapping(
            {"time": _SPREAD, "mode": {"enum": list(MODES)}, "imbalance": _imbalance()}, ("time",)
        )),
        "app": _app(),
        "phase": _phase(),
        "exchange": _exchange(),
        "topology": _topologies(),
    }  # fmt: skip


def _mapping(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """Return a mapping with known keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 1}


def _one_of(*choices: Schema) -> Schema:
    return {"anyOf": list(choices)}


def _single(choices: Mapping[str, Schema]) -> Schema:
    """Return a mapping with one of some keys."""
    return _mapping(choices) | {"minProperties": 1, "maxProperties": 1}


def _values() -> Schema:
    """Return a value or a distribution."""
    return {"description": "a value, or a distribution of values"} | _one_of(
        _SCALAR, _distribution()
    )


def _distribution() -> Schema:
    kinds: dict[str, Schema] = {}
    for kind, choices in KINDS.items():
        each = [_mapping(dict.fromkeys(choice, _SCALAR), choice) for choice in choices]
        kinds[kind] = each[0] if len(each) == 1 else _one_of(*each)
    kinds["constant"] = _one_of(_SCALAR, kinds["constant"])
    weighted = {"type": "object", "additionalProperties": _SCALAR, "minProperties": 1}
    kinds["empirical"] = _one_of(_list(_SCALAR), weighted)
    return _single(kinds)


def _imbalance() -> Schema:
    """Return a factor of the last rank, a distribution over ranks, or factors by rank."""
    by_rank = {
        "type": "object",
        "patternProperties": {"^[0-9]+$": _SCALAR},
        "additionalProperties": False,
        "minProperties": 1,
    }
    return _one_of(_SCALAR, _distribution(), by_rank)


def _app() -> Schema:
    return _mapping(
        {
            "name": {"$ref": "#/$defs/name"},
            "ranks": _SCALAR,
            "parameters": {"$ref": "#/$defs/parameters"},
            "iterations": _SCALAR,
            "background": _BOOLEAN,
            "place": _mapping({"ranks": _list(_SCALAR)}),
            "phases": _list({"$ref": "#/$defs/phase"}) | {"maxItems": MAX_PHASES},
        },
        ("name", "iterations", "phases"),
    )


def _phase() -> Schema:
    kinds: dict[str, Schema] = {
        "compute": _COMPUTE,
        "exchange": {"$ref": "#/$defs/exchange"},
        **{op: _collective(op) for op in phase_reading.COLLECTIVES},
    }
    name = {"name": {"$ref": "#/$defs/name"}}
    return _one_of(*(_mapping(name | {kind: of}, (kind,)) for kind, of in kinds.items()))


def _collective(op: str) -> Schema:
    among: dict[str, Schema] = {"among": _list(_list(_SCALAR))}
    if op == "barrier":
        return {"type": ["object", "null"], "properties": among, "additionalProperties": False}
    properties = {"bytes": _SPREAD, **among}
    if op in grid_collectives.ROOTED:
        properties["root"] = _SCALAR
    if op in grid_collectives.OPERATIONS:
        properties["grid"] = {"type": "string", "pattern": f"^{grid_collectives.WORD.pattern}$"}
    return _mapping(properties, ("bytes",))


def _exchange() -> Schema:
    path = {"type": "string", "pattern": r"\S"}
    files: dict[str, Schema] = {method: path for method in METHODS if method.endswith("-file")}
    words = [method for method in METHODS if method not in files]
    return _mapping(
        {
            "topology": {"$ref": "#/$defs/topology"},
            "flow": {"enum": list(phase_reading.FLOWS)},
            "bytes": _SPREAD,
            "reply": _SPREAD,
            "compute": _COMPUTE,
            "tasks": _SCALAR,
            "method": _one_of({"enum": words}, _single(files)),
            "starter": _one_of(
                {"enum": list(phase_reading.STARTERS)},
                _mapping({"outside": _list(_SCALAR)}, ("outside",)),
            ),
        },
        ("topology",),
    )


def _topologies() -> Schema:
    """Return all topologies: by name alone where nothing else is needed, or with options."""
    names = topology.names()
    alone = [name for name in names if not topology.load(name).needed]
    return _one_of({"enum": alone}, _single({name: _topology(name) for name in names}))


def _topology(name: str) -> Schema:
    kind = topology.load(name)
    options = {key: _OPTIONS[of] for key, of in kind.options.items()}
    found = _mapping(options, kind.needed)
    if kind.more:
        found["additionalProperties"] = _OPTIONS["number-or-boolean"]
    if not kind.needed:
        found["type"] = ["object", "null"]
    return _one_of(found, options[kind.short]) if kind.short else found


_EDGE: Final[Schema] = _one_of(
    {"type": "array", "items": _SCALAR, "minItems": _PAIR, "maxItems": _PAIR},
    _mapping(dict.fromkeys(("from", "to", "bytes", "count"), _SCALAR), ("from", "to")),
)

_OPTIONS: Final[Mapping[topology.Kind, Schema]] = {
    "number": _SCALAR,
    "numbers": _list(_SCALAR),
    "boolean": _BOOLEAN,
    "booleans": _one_of(_BOOLEAN, _list(_BOOLEAN)),
    "number-or-boolean": _one_of(_SCALAR, _BOOLEAN),
    "text": {"type": "string", "minLength": 1},
    "edges": _list(_EDGE),
}
"""What options of topologies are."""
