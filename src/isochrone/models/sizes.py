"""Hot spots of several message sizes: formulas for each size apart, or bytes as variables.

A run of a hot spot says how many messages of which size a node had. Either the size keeps its
points apart (a selector, and formulas for each), or it is multiplied out, and one formula is for
all sizes. Points at which other nodes are busy, too, belong to the second kind alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.models.family import Family
from isochrone.models.observations import Samples
from isochrone.models.terms import variables_of

Array = NDArray[np.float64]

BYTES = ("ba", "bi", "bo")
"""Bytes of a node: within it, into it and out of it."""

NODE = ("pa", "in", "out", "b")
"""What these bytes follow from: messages of a node, and their size."""

_SHAPE, _RING = "shape", "ring"


def of_bytes(family: Family) -> bool:
    """Whether all formulas of a family have the bytes of a node."""
    return bool(family.forms) and all(
        not set(BYTES).isdisjoint(variables_of(form.terms)) for form in family.forms
    )


def several(samples: Samples) -> bool:
    """Whether these are points of a hot spot with several message sizes."""
    sizes = samples.selectors.get("bytes")
    known = {"pa", "in", "out"} <= samples.variables.keys()
    return known and sizes is not None and len(np.unique(sizes)) > 1


def refuse_one_size(samples: Samples) -> None:
    """Refuse to look for what bytes cost in messages that are all of one size.

    Raises
    ------
    InputError
        If they are.
    """
    sizes = np.unique(samples.selectors.get("bytes", np.zeros(0)))
    if len(sizes) == 1:
        raise InputError(
            f"all messages have {format_bytes(int(sizes[0]))}: costs per byte and per message "
            "cannot be separated",
            hint="measure several sizes: measure hotspot --bytes 32KiB,256KiB,1MiB,2MiB",
        )


def apart(samples: Samples) -> Samples:
    """Return the points of one hot node, whose message size is a selector."""
    if _SHAPE not in samples.others and "busy" not in samples.variables:
        return samples
    alone = samples.others.get(_SHAPE, np.zeros(0)) != _RING
    kept = samples.rows(alone) if len(alone) == len(samples.seconds) else samples
    return replace(
        kept,
        variables={name: v for name, v in kept.variables.items() if name != "busy"},
        others=_without_shape(kept),
    )


def together(samples: Samples) -> Samples:
    """Return all points with the bytes of the node as variables, whatever their message size."""
    if "bytes" not in samples.selectors or not {"pa", "in", "out"} <= samples.variables.keys():
        return samples
    sizes = samples.selectors["bytes"].astype(np.float64)
    busy = {"busy": np.zeros_like(sizes)}
    return replace(
        samples,
        variables=filled({**busy, **samples.variables, "b": sizes}),
        selectors={name: v for name, v in samples.selectors.items() if name != "bytes"},
        others=_without_shape(samples),
    )


def arranged(samples: Samples, variables: Sequence[str]) -> Samples:
    """Return the points as a model with these variables is asked for them."""
    return together(samples) if {"b", "busy", *BYTES} & set(variables) else apart(samples)


def filled(points: Mapping[str, Array]) -> dict[str, Array]:
    """Return points with the bytes of the node, which has ``in``, ``out`` and 2 ``pa`` messages."""
    b = points["b"]
    bytes_ = {"ba": 2 * points["pa"] * b, "bi": points["in"] * b, "bo": points["out"] * b}
    return {**points, **bytes_}


def _without_shape(samples: Samples) -> dict[str, NDArray[np.str_]]:
    return {name: v for name, v in samples.others.items() if name != _SHAPE}
