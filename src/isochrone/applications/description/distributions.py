"""Distributions as lists of equally likely values.

A distribution is cut into `BINS` parts of equal probability, and each part stands for itself with
its mean. So the mean of the list is that of the distribution, whatever its shape; its extremes are
means of the outermost 1/4096.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, exp, floor, log, log1p, pi, sqrt
from typing import ClassVar

import numpy as np
from scipy import special

from isochrone.applications.description import shapes
from isochrone.applications.description.quantities import Reader, Scope, number, seconds
from isochrone.applications.description.shapes import Given, KeyPath, Schema, keys_schema, one_of
from isochrone.base.arrays import Floats

BINS = 4096

_MOST_TASKS = 1e9
"""Of a Poisson distribution."""


KINDS = {
    "constant": (("value",),),
    "normal": (("mean", "stddev"),),
    "exponential": (("mean",),),
    "lognormal": (("median", "sigma"), ("mean", "stddev")),
    "gamma": (("shape", "scale"),),
    "poisson": (("tasks", "each"),),
}
"""Names of distributions, and the arguments that each takes; ``empirical`` takes values."""

_PLAIN = ("sigma", "shape", "tasks")
"""Arguments without a unit, whatever is distributed."""


@dataclass(frozen=True)
class Spread:
    """One value, or a distribution of values.

    Attributes
    ----------
    kind
        ``constant``, or a name of `KINDS`.
    arguments
        By name; that of ``constant`` is ``value``.
    weighted
        Of ``empirical``: values and how often each occurs, relative to the others.
    """

    kind: str
    arguments: Mapping[str, Given]
    at: KeyPath = field(compare=False)
    weighted: tuple[tuple[Given, Given], ...] = ()
    REF: ClassVar = "values"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Spread:
        """Return a value or a distribution."""
        kind, written = "constant", value
        if not shapes.is_scalar(value):
            kinds = (*KINDS, "empirical")
            kind, written, at = shapes.single(
                value, at, kinds, "one distribution is expected", f"of {', '.join(kinds)}"
            )
        if kind == "empirical":
            if written == {}:
                raise at.error("the distribution has no values")
            if isinstance(written, dict):
                weighted = tuple(
                    (Given(key, at.key(key)), Given.read(weight, at.key(key)))
                    for key, weight in written.items()
                )
            else:
                alike = shapes.read(tuple[Given, ...], written, at)
                weighted = tuple((expression, Given(1, at)) for expression in alike)
            return cls(kind, {}, at, weighted)
        if kind == "constant" and shapes.is_scalar(written):
            return cls(kind, {"value": Given(written, at)}, at)
        choices = KINDS[kind]
        arguments = shapes.mapping(
            written, at, sorted({key for choice in choices for key in choice})
        )
        if set(arguments) not in [set(choice) for choice in choices]:
            needed = " or ".join(" and ".join(choice) for choice in choices)
            raise at.error(f"a {kind} distribution has {needed}")
        return cls(
            kind,
            {key: Given.read(argument, at.key(key)) for key, argument in arguments.items()},
            at,
        )

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {
            "description": "a value, or a distribution of values",
            **one_of(shapes.schema(Given), distribution_schema()),
        }


def distribution_schema() -> Schema:
    """Return what a distribution may be."""
    scalar = shapes.schema(Given)
    kinds = {}
    for kind, choices in KINDS.items():
        schemas = [keys_schema(dict.fromkeys(choice, scalar), choice) for choice in choices]
        kinds[kind] = schemas[0] if len(schemas) == 1 else one_of(*schemas)
    kinds["constant"] = one_of(scalar, kinds["constant"])
    weighted = {"type": "object", "additionalProperties": scalar, "minProperties": 1}
    kinds["empirical"] = one_of(shapes.schema(tuple[Given, ...]), weighted)
    return shapes.single_schema(kinds)


def values(spread: Spread, read: Reader, scope: Scope) -> list[float]:
    """Return equally likely values of a distribution: one, those given, or `BINS`, ascending.

    Parameters
    ----------
    spread
        As it was written.
    read
        Reads what is distributed: seconds, bytes or numbers.
    scope
        What names stand for.

    Raises
    ------
    InputError
        If an argument cannot be read or has no such distribution.
    """
    if spread.kind == "empirical":
        return [float(value) for value in _empirical(spread, read, scope)]
    arguments = {
        key: (number if key in _PLAIN else read)(expression, scope)
        for key, expression in spread.arguments.items()
    }
    for key in ("median", "shape", "scale", "mean"):
        if arguments.get(key, 1) <= 0 and not (key == "mean" and spread.kind == "normal"):
            raise spread.arguments[key].at.error(f"the {key} must be above 0")
    quantiles = _FUNCTIONS[spread.kind](arguments, spread.arguments)
    if read is seconds:
        for value in (min(quantiles), max(quantiles)):
            read(Given(f"{float(value)!r}s", spread.at), scope)  # possible
        return [float(value) for value in quantiles]
    return [
        read(Given(float(value), spread.at), scope) for value in quantiles
    ]  # whole, and possible


def _means(partial: Callable[[Floats], Floats], ends: Floats) -> Floats:
    """Return the mean of each part; `partial(x)` is the integral of x f(x) up to x."""
    means = np.diff(partial(ends)) * (len(ends) - 1)
    return np.clip(means, ends[:-1], ends[1:])


_PARTS = np.linspace(0.0, 1.0, BINS + 1)

Numbers = Mapping[str, float]
"""Arguments of a distribution."""

Written = Mapping[str, Given]
"""The same as they were written, for errors."""


def _normal(of: Numbers, _: Written) -> Floats:
    """Of a normal distribution without what is below 0."""
    mean, stddev = of["mean"], of["stddev"]
    if stddev == 0:
        return np.array([mean])
    low = special.ndtr(-mean / stddev)
    ends = mean + stddev * special.ndtri(low + (1 - low) * _PARTS)
    ends[0], ends[-1] = 0.0, np.inf

    def partial(x: Floats) -> Floats:
        z = (x - mean) / stddev
        density = np.exp(-(z**2) / 2) / sqrt(2 * pi)
        return np.asarray((mean * special.ndtr(z) - stddev * density) / (1 - low))

    return _means(partial, ends)


def _lognormal(of: Numbers, written: Written) -> Floats:
    if "sigma" in of:
        sigma, middle = of["sigma"], log(of["median"])
    else:
        sigma = sqrt(log1p((of["stddev"] / of["mean"]) ** 2))
        middle = log(of["mean"]) - sigma**2 / 2
    if sigma > 20:
        raise written["sigma" if "sigma" in of else "stddev"].at.error(
            f"the sigma {sigma:g} of the lognormal distribution is too large"
        )
    if sigma == 0:
        return np.array([exp(middle)])
    ends = np.exp(middle + sigma * special.ndtri(_PARTS))

    def partial(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            z = (np.log(x) - middle) / sigma
        return np.asarray(exp(middle + sigma**2 / 2) * special.ndtr(z - sigma))

    return _means(partial, ends)


def _gamma(of: Numbers, _: Written) -> Floats:
    shape, scale = of["shape"], of["scale"]
    ends = scale * special.gammaincinv(shape, _PARTS)
    ends[-1] = np.inf

    def partial(x: Floats) -> Floats:
        return np.asarray(shape * scale * special.gammainc(shape + 1, x / scale))

    return _means(partial, ends)


def _poisson(of: Numbers, written: Written) -> Floats:
    """Of a number of tasks that take the same time each."""
    tasks = of["tasks"]
    if tasks > _MOST_TASKS:
        raise written["tasks"].at.error(f"the farm has {tasks:g} tasks", f"at most {_MOST_TASKS:g}")
    reach = 12 * sqrt(tasks) + 40
    numbers = np.arange(max(0, floor(tasks - reach)), ceil(tasks + reach))
    return np.asarray(of["each"]) * _steps(
        numbers.astype(float), special.pdtr(numbers, tasks), tasks
    )


def _steps(numbers: Floats, reached: Floats, mean: float | None = None) -> Floats:
    """Return the means of parts of a distribution of single values.

    ``reached`` is the probability of each value or a smaller one.
    """
    weights = np.diff(reached, prepend=0.0)
    integral = np.concatenate([[0.0], np.cumsum(weights * numbers)])
    total = integral[-1] if mean is None else mean
    reached = np.concatenate([[0.0], reached])
    at = np.interp(_PARTS, reached, integral)
    at[-1] = total
    return np.asarray(np.clip(np.diff(at) * BINS, numbers[0], numbers[-1]))


_FUNCTIONS = {
    "constant": lambda of, _: np.array([of["value"]]),
    "normal": _normal,
    "exponential": lambda of, _: _gamma({"shape": 1.0, "scale": of["mean"]}, {}),
    "lognormal": _lognormal,
    "gamma": _gamma,
    "poisson": _poisson,
}


def _empirical(spread: Spread, read: Reader, scope: Scope) -> Floats:
    """Return the values as they are if all are as likely, else means of equally likely parts."""
    pairs = [(read(value, scope), number(weight, scope)) for value, weight in spread.weighted]
    pairs.sort()
    weights = np.array([weight for _, weight in pairs])
    total = weights.sum()
    if total <= 0:
        raise spread.at.error("all weights are 0")
    numbers = np.array([value for value, _ in pairs])
    if (weights == weights[0]).all():
        return numbers
    with np.errstate(over="ignore"):
        times = weights / weights[weights > 0].min()
    if times.sum() <= BINS and (times == np.round(times)).all():
        return np.repeat(numbers, times.astype(int))
    return _steps(numbers, np.cumsum(weights) / total)
