"""Counted messages of several sizes: formulas for each size apart, or bytes as variables."""

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.models.data.extension import Points, Variables, added, adding
from isochrone.models.data.observations import Samples
from isochrone.models.data.terms import BYTES


def several(samples: Samples) -> bool:
    """Whether these are points with several message sizes, which can be multiplied out."""
    return _filling(samples) is not None and len(np.unique(samples.selectors["bytes"])) > 1


def refuse_one_size(samples: Samples) -> None:
    """Refuse to look for what bytes cost in messages that are all of one size.

    Raises
    ------
    InputError
        If they are.
    """
    sizes = np.unique(samples.selectors.get("bytes", np.zeros(0)))
    if len(sizes) == 1:
        extension = adding(samples.variables)
        raise InputError(
            f"all messages have {format_bytes(int(sizes[0]))}: costs per byte and per message "
            "cannot be separated",
            hint=extension.measure if extension else "",
        )


def apart(samples: Samples) -> Samples:
    """Return the points that formulas without bytes describe, whose message size is a selector."""
    extension = adding(samples.variables)
    if extension is None:
        return samples
    column, value = extension.with_bytes
    if column in samples.others:
        samples = samples.rows(samples.others[column] != value)
    return _without(samples, extension, extension.unless_known)


def together(samples: Samples) -> Samples:
    """Return all points with bytes as variables, whatever their message size."""
    extension = _filling(samples)
    if extension is None:
        return samples
    sizes = samples.selectors["bytes"].astype(np.float64)
    unknown = {name: np.full_like(sizes, value) for name, value in extension.unless_known.items()}
    points = {**unknown, **samples.variables, "b": sizes}
    every = extension.filled(points)
    points |= {name: every[name] for name in extension.bytes}
    return _without(replace(samples, variables=points), extension, ["bytes"])


def arranged(samples: Samples, variables: Sequence[str]) -> Samples:
    """Return the points as a model with these variables is asked for them."""
    size_names = {"b", *BYTES, *(name for extension in added() for name in extension.unless_known)}
    return together(samples) if size_names & set(variables) else apart(samples)


def filled(points: Points) -> Points:
    """Return points with the bytes that follow from them."""
    for extension in added():
        if set(extension.basis) <= points.keys():
            points = extension.filled(points)
    return points


def _filling(samples: Samples) -> Variables | None:
    """Return what multiplies the message size out, if the other variables are known."""
    if "bytes" not in samples.selectors:
        return None
    variables = {"b", *samples.variables}
    return next((extension for extension in added() if set(extension.basis) <= variables), None)


def _without(samples: Samples, extension: Variables, names: Container[str]) -> Samples:
    """Leave out variables and selectors, and which formulas the points are for."""
    return replace(
        samples,
        variables={name: v for name, v in samples.variables.items() if name not in names},
        selectors={name: v for name, v in samples.selectors.items() if name not in names},
        others={name: v for name, v in samples.others.items() if name != extension.with_bytes[0]},
    )
