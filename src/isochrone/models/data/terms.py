"""The terms of a model: a name a person can read, and the column of numbers it stands for.

A term is a product of factors: ``1``, a variable, ``log2(v)``, ``floor(log2(v))``,
``floor(log2(v-1))``, ``ceil(log2(v))``, ``sqrt(v)``, ``cbrt(v)``, ``1/v``, ``max(v,w)``,
``min(v,w)``, or ``batches8(v)``, which is (v - 1)/8 rounded up; also of 16 and 32. Logarithms that
are rounded up may be to the bases 3, 4 and 8. Ranges may be of ``power2(v)``
and ``even(v)``, which are 1 for such numbers and 0 for others. Names come out of files, so they are
read by this small grammar and never evaluated.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from isochrone.base.arrays import Array, Floats
from isochrone.base.errors import InputError
from isochrone.base.units import format_bytes
from isochrone.models.data.extension import added

VARIABLES = {
    "b": "message size in bytes",
    "p": "number of ranks",
    "nodes": "number of nodes",
    "ppn": "number of ranks on a node",
    "w": "messages in a window",
    "entries": "number of entries in a queue",
    "n": "number of operations",
    **{name: labels[0] for extension in added() for name, labels in extension.words.items()},
}
"""Variables that models know, with their meaning and unit."""

BYTES = [name for extension in added() for name in extension.bytes]
"""Those that are bytes, and follow from messages and their size ``b``."""

NUMBERED = {name: labels for extension in added() for name, labels in extension.selectors.items()}
"""Selectors that are whole numbers, and what they count."""

_IN_BYTES = {"b", *BYTES}

Selector = str | int


def _steps(radix: int) -> Callable[[Floats], Floats]:
    """Return how often v is divided by the radix until one is left."""
    return lambda v: np.ceil(np.log(v) / np.log(radix) - 1e-9)  # log3(9) is not quite 2


_FACTORS: dict[str, Callable[..., Floats]] = {
    "?": lambda v: v,
    "1/?": lambda v: 1 / v,
    "log2(?)": np.log2,
    "floor(log2(?-1))": lambda v: np.floor(np.log2(np.maximum(v - 1, 1))),  # one rank: no step
    "ceil(log2(?))": lambda v: np.ceil(np.log2(v)),
    "floor(log2(?))": lambda v: np.floor(np.log2(v)),
    "sqrt(?)": np.sqrt,
    "cbrt(?)": np.cbrt,
    **{f"ceil(log{k}(?))": _steps(k) for k in (3, 4, 8)},
    **{f"batches{k}(?)": lambda v, k=k: np.ceil((v - 1) / k) for k in (8, 16, 32)},
    "power2(?)": lambda v: (np.log2(v) % 1 == 0) * 1.0,
    "even(?)": lambda v: (v % 2 == 0) * 1.0,
    "max(?,?)": np.maximum,
    "min(?,?)": np.minimum,
}
"""The values of a factor, by how it is written with ``?`` for its variables."""

_LINEAR = ("?", "max(?,?)", "min(?,?)")
"""Factors that have the unit of their variables."""

_VARIABLE = re.compile(rf"\b(?:{'|'.join(VARIABLES)})\b")

CLASSES = ("power2(p)", "even(p)")
"""Classes of numbers of ranks that libraries have other algorithms for."""


def length_of(points: Mapping[str, Array]) -> int:
    """Return the number of points, whose variables are equally long; 0 without any variable."""
    return len(next(iter(points.values()), ()))


def picked(columns: Mapping[str, Array], rows: Array) -> dict[str, Array]:
    """Return some rows of columns."""
    return {name: values[rows] for name, values in columns.items()}


def stacked(tables: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Return the columns of several parts, one after the other; those of the first."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def design_matrix(terms: Sequence[str], variables: Mapping[str, Floats]) -> Floats:
    """Return one column for each term, shape (n, terms)."""
    return np.column_stack([evaluate_term(term, variables) for term in terms])


def evaluate_term(term: str, variables: Mapping[str, Floats]) -> Floats:
    """Return the values of one term, shape (n,).

    Raises
    ------
    InputError
        If a variable is missing, or the term is none of this grammar.
    """
    values = np.ones(length_of(variables))
    for function, names, _ in _factors(term):
        for name in names:
            if name not in variables:
                meaning = f", the {VARIABLES[name]}" if name in VARIABLES else ""
                raise InputError(f"the variable '{name}'{meaning}, is missing")
        values = values * function(*(variables[name] for name in names))
    return values


def variables_of(terms: Sequence[str]) -> list[str]:
    """List the variables that terms need, each once, in the order of `VARIABLES`."""
    needed = {name for term in terms for _, names, _ in _factors(term) for name in names}
    return [name for name in VARIABLES if name in needed]


def unit(term: str) -> str:
    """Return the unit of the coefficient of a term: seconds, or seconds a byte or an operation."""
    linear_names = {name for _, names, linear in _factors(term) if linear for name in names}
    return "s/B" if linear_names & _IN_BYTES else "s/op" if "n" in linear_names else "s"


def is_size(term: str) -> bool:
    """Whether a variable, or what stands for a term, is a number of bytes."""
    return unit(term) == "s/B"


@cache
def _factors(term: str) -> list[tuple[Callable[..., Floats], tuple[str, ...], bool]]:
    factors = []
    for factor in term.split("*"):
        if factor == "1":
            continue
        names, form = tuple(_VARIABLE.findall(factor)), _VARIABLE.sub("?", factor)
        if form not in _FACTORS or form.count("?") != len(names):
            raise InputError(f"'{term}' is not a term of a model")
        factors.append((_FACTORS[form], names, form in _LINEAR))
    return factors


# --- as a person writes them ----------------------------------------------------------------------


def number(name: str, value: float) -> str:
    """Write a value of a variable or of a product of them, with a unit if it is a size."""
    if is_size(name) and float(value).is_integer():
        return format_bytes(round(value))
    return f"{value:g}"


def point_text(point: Mapping[str, float]) -> list[str]:
    """Write the variables of a model at one point, ranks first: ``p = 20``, ``b = 1 MiB``."""
    names = sorted(point, key=lambda name: name == "b")
    return [f"{name} = {number(name, point[name])}" for name in names]
