"""The JSON Schema of descriptions, made of what the reader knows."""

import json

from isochrone.applications.description import shapes
from isochrone.applications.description.description import App, Description
from isochrone.applications.description.distributions import Spread
from isochrone.applications.description.parameters import Parameters
from isochrone.applications.description.phases import ComputeSpec, ExchangeSpec, Phase, RepeatSpec
from isochrone.applications.description.shapes import Given, Name, Schema
from isochrone.applications.description.topology import TopologySpec

_DEFINITIONS = (
    Given,
    Name,
    Parameters,
    Spread,
    ComputeSpec,
    App,
    Phase,
    RepeatSpec,
    ExchangeSpec,
    TopologySpec,
)


def text() -> str:
    """Return the schema as JSON, one line for each part."""
    return json.dumps(schema(), indent=1) + "\n"


def schema() -> Schema:
    """Return the schema (draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Applications as computation and communication",
        **shapes.definition(Description),
        "$defs": {kind.REF: shapes.definition(kind) for kind in _DEFINITIONS},
    }
