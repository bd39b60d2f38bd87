"""Samples of several runs and tables, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.models.extension import kept
from isochrone.models.observations import Samples
from isochrone.models.placement import CG, GROUP, PLACES
from isochrone.models.terms import VARIABLES
from isochrone.runfile.origin import together

__all__ = ["joined"]


def joined(parts: Sequence[Samples]) -> Samples:
    """Put several measurements together.

    Raises
    ------
    InputError
        If they are not of the same experiment, or have not the same variables.
    """
    parts, remarks = _alike_placed(_of_one_path(_alike_grouped(parts)))
    first = parts[0]
    for other in parts[1:]:
        _check_together(first, other)
    starts = np.cumsum([0, *(part.start.max() + 1 for part in parts)])
    names = dict.fromkeys(name for part in parts for name in part.others)
    return Samples(
        {
            name: np.concatenate([part.variables[name] for part in parts])
            for name in first.variables
        },
        {
            name: np.concatenate([part.selectors[name] for part in parts])
            for name in first.selectors
        },
        np.concatenate([part.seconds for part in parts]),
        first.experiment,
        [source for part in parts for source in part.made_from],
        first.seconds_are,
        [path for part in parts for path in part.partial],
        together(part.origin for part in parts),
        np.concatenate([part.start + k for part, k in zip(parts, starts, strict=False)]),
        {
            name: np.concatenate([
                part.others.get(name, np.full(len(part.seconds), "")) for part in parts
            ])
            for name in names
        },
        [*dict.fromkeys([*remarks, *(remark for part in parts for remark in part.remarks)])],
        {
            key: kept()[key].merged(one for part in parts for one in part.kept.get(key, ()))
            for key in sorted({key for part in parts for key in part.kept})
        },
    )  # fmt: skip


def _check_together(first: Samples, other: Samples) -> None:
    """Refuse to join what is not the same."""
    if other.experiment != first.experiment:
        raise InputError(
            f"a '{first.experiment}' and a '{other.experiment}' cannot be fitted together"
        )
    if other.seconds_are != first.seconds_are:
        raise InputError(
            "times with different definitions cannot be fitted together: "
            f"'{printable(first.seconds_are, 60)}'"
            f" and '{printable(other.seconds_are, 60)}'"
        )
    if other.variables.keys() != first.variables.keys() or (
        other.selectors.keys() != first.selectors.keys()
    ):
        raise InputError("the inputs have different variables")


def _alike_grouped(parts: Sequence[Samples]) -> list[Samples]:
    """Call all ranks of a job a row where other parts are of rows and columns."""
    if not any(GROUP in part.selectors for part in parts):
        return list(parts)
    return [
        part if GROUP in part.selectors or "op" not in part.selectors else replace(
            part, selectors={
                **part.selectors, GROUP: np.full(len(part.seconds), CG, dtype=object),
            },
        ) for part in parts
    ]  # fmt: skip


def _of_one_path(parts: Sequence[Samples]) -> list[Samples]:
    """Leave out on how many nodes pairs of ranks were where that differs: they are one formula."""
    nodes = [part.variables["nodes"] for part in parts if "nodes" in part.variables]
    of_pairs = all("p" not in part.variables for part in parts)
    if not of_pairs or not nodes or not np.ptp(np.concatenate(nodes)):
        return list(parts)
    return [
        replace(part, variables={k: v for k, v in part.variables.items() if k != "nodes"})
        for part in parts
    ]


def _alike_placed(parts: Sequence[Samples]) -> tuple[list[Samples], list[str]]:
    """Leave out ``nodes`` and ``ppn`` where not all parts know them; say which."""
    lost = [
        name for name in PLACES
        if any(name in part.variables for part in parts)
        and not all(name in part.variables for part in parts)
    ]  # fmt: skip
    kept = [
        replace(part, variables={k: v for k, v in part.variables.items() if k not in lost})
        for part in parts
    ]
    return kept, [f"not all inputs say their {VARIABLES[name]}: it is not used" for name in lost]
