"""Times made up from the formula of any family, to fit them again."""

from __future__ import annotations

from typing import Any

import numpy as np

from isochrone import models
from isochrone.base.table import Table
from isochrone.models import Samples, Segment
from isochrone.models.data.terms import design_matrix, variables_of
from isochrone.runfile.run import Run

RANKS = (2, 3, 5, 8, 12, 16, 24, 48)
SIZES = tuple(10_240 * k for k in (1, 2, 4, 7, 10, 15, 20, 30, 40, 50))
"""8 numbers of ranks, not all powers of two, and 10 sizes as in the paper (10 to 500 KiB)."""

SCALE = {
    "1": 2e-4,
    "1/w": 2e-4,
    "b": 3e-9,
    "p*b": 1.1e-9,
    "log2(p)*b": 4.5e-9,
    "n": 2e-9,
    "entries": 6e-9,
    "floor(log2(p-1))*b": 2.1e-9,
    "p*p*b": 2.2e-10,
    "log2(p)*p*b": 1.3e-9,
    "ceil(log2(p))": 3e-5,
    "ceil(log2(p))*b": 4e-9,
    "p": 2e-5,
    "log2(p)": 3e-5,
    "floor(log2(p))": 3e-5,
    "floor(log2(p))*b": 4e-9,
    "floor(log2(p))*floor(log2(p))*b": 2e-9,
    "1/p*b": -2e-9,
    "ppn": 1e-5,
    "nodes": 3e-5,
    "nodes*ppn": 2e-5,
    "ppn*b": 4e-10,
    "nodes*b": 1.2e-9,
    "nodes*ppn*b": 6e-10,
    "ceil(log2(nodes))*ppn*b": 6e-10,
    "floor(log2(p-1))": 2e-5,
    "batches8(p)": 3e-5,
    "batches16(p)": 5e-4,
    "batches32(p)": 5e-3,
    "ceil(log2(ppn))": 2e-5,
    "ceil(log2(nodes))": 5e-5,
    "floor(log2(ppn))": 2e-5,
    "floor(log2(nodes))": 5e-5,
    "floor(log2(ppn))*b": 2e-9,
    "floor(log2(nodes))*b": 4e-9,
    "ceil(log2(ppn))*b": 2e-9,
    "ceil(log2(nodes))*b": 4e-9,
    "log2(p)*log2(p)": 1e-5,
    "log2(p)*log2(p)*b": 1e-9,
    "ceil(log2(p))*p*b": 1.2e-9,
    "log2(p)*p": 4e-6,
    "sqrt(p)": 3e-5,
    "sqrt(p)*b": 2e-9,
    "p*sqrt(p)": 2e-6,
    "p*sqrt(p)*b": 1.5e-10,
    "cbrt(p)": 2e-5,
    "cbrt(p)*b": 1e-9,
    **{f"ceil(log{k}(p))": 5e-6 for k in (3, 4, 8)},
    **{f"ceil(log{k}(p))*b": 1e-9 for k in (3, 4, 8)},
    "pa": 4e-3,
    "pe": 8e-3,
    "max(in,out)": 8e-3,
    "min(in,out)": 1e-3,
    "max(bi,bo)": 2e-8,
    "min(bi,bo)": 6e-9,
    "ba": 5e-9,
    "busy*busy*max(bi,bo)": 6e-9,
    "busy*busy*min(bi,bo)": 9e-9,
}
"""A coefficient for each term, in seconds and bytes: every term of a family is felt."""


def grid(family: str) -> dict[str, np.ndarray]:
    """Return 80 or so combinations of the variables of a family."""
    needed = variables_of([t for form in models.family(family).forms for t in form.terms])
    axes: dict[str, Any] = {
        "b": SIZES,
        "p": RANKS,
        "nodes": (1, 2, 3, 4, 6, 8),
        "ppn": (1, 2, 4, 6, 8),
        "w": (1, 2, 4, 8, 16, 32, 64, 128),
        "n": np.arange(1, 11) * 1e5,
        "entries": (0, 1, 4, 16, 64, 256, 1024, 4096),
        "pa": range(8),
        "pe": range(8),
        "in": range(5),
        "out": range(5),
    }
    if family == "throttled":  # batches of 32 show above 33 ranks only
        axes["p"] = (*RANKS, 64, 80, 100)
    if "bi" in needed:  # so many variables take few values each
        axes |= {"pa": (0, 4), "pe": (0, 2), "ba": (0, 1e6), "busy": (0, 1)}
        axes |= {"bi": (1e5, 4e5, 1e6), "bo": (2e5, 7e5)}
    mesh = np.meshgrid(*(np.array(axes[name], dtype=float) for name in needed), indexing="ij")
    return {name: values.ravel() for name, values in zip(needed, mesh, strict=True)}


def truth(family: str, form: int = 0, scale: float = 1.0) -> Segment:
    """Return the formula of a family with plausible coefficients."""
    chosen = models.family(family).forms[form]
    return Segment(family, list(chosen.terms), [scale * SCALE[term] for term in chosen.terms])


def times(segment: Segment, variables: dict[str, np.ndarray]) -> np.ndarray:
    """Return the times a formula gives."""
    return design_matrix(segment.terms, variables) @ np.array(segment.coefficients)


def noisy(
    seconds: np.ndarray,
    variables: dict[str, np.ndarray],
    noise: float,
    repeats: int,
    seed: int,
    **selectors: str,
) -> Samples:
    """Repeat times with multiplicative normal noise."""
    generator = np.random.default_rng(seed)
    measured = np.repeat(seconds, repeats)
    return Samples(
        {name: np.repeat(values, repeats) for name, values in variables.items()},
        {name: np.full(len(measured), value) for name, value in selectors.items()},
        measured * (1 + noise * generator.standard_normal(len(measured))),
        "collective",
    )


def run_of(data: Samples, experiment: str = "collective", **header: Any) -> Run:
    """Return the run file that holds such samples, one record a repetition."""
    names = {"b": "bytes"}
    table = {names.get(name, name): values for name, values in data.variables.items()}
    for name in ("bytes", "p"):
        if name in table:
            table[name] = table[name].astype(np.int64)
    columns_ = {**data.selectors, **table, "seconds": data.seconds}
    return Run(
        header={"experiment": experiment, "ranks": 64, "options": {}, **header},
        tables={"sample": Table(columns_)},
        end={"seconds": 1.0, "complete": True},
    )
