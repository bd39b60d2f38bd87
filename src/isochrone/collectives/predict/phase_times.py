"""The time of one phase of a grid collective: by formulas, and by what was measured near it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from isochrone.base.errors import InputError
from isochrone.collectives.grid_collectives import Phase
from isochrone.collectives.measured import (
    Ends,
    MeasuredGroup,
    factor_of,
    find,
    like,
    miss_at,
    time_at,
)
from isochrone.models import Model
from isochrone.models.placement import CG, GROUP, PLACES
from isochrone.models.questions import needed, not_held
from isochrone.runfile.grid_groups import Place

__all__ = ["PhaseTime", "PhaseTimes"]

_LINE: Final = 1e-9
"""A size this close to a measured one, as a part of it, is that one."""

_NO_TIME: Final = 1e-12
"""Seconds below which a formula says nothing that measured times could be held against."""

_ALONE: Final[Ends] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class PhaseTime:
    """One phase: what it is, what it takes in seconds, and what disturbance is part of that.

    ``low`` and ``high`` are NaN where they are not known. ``factor`` is 1 where it is not known.
    """

    phase: Phase
    seconds: float
    low: float
    high: float
    factor: float
    factor_known: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "group": self.phase.group, "op": self.phase.op, "ranks": self.phase.ranks,
            "bytes": self.phase.bytes, "groups": self.phase.groups, "seconds": self.seconds,
            "factor": self.factor,
        }  # fmt: skip


class PhaseTimes:
    """A model that is asked for phases.

    The time of a group that was measured itself is on the line between its sizes. That of another
    group is what the formula gives, times measured / formula of the groups of the same kind with
    fewer and with more ranks: formulas cross jumps of an algorithm, and neighbours know them.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    def time(self, phase: Phase, place: Place | None) -> tuple[PhaseTime | None, list[str]]:
        """Return the time of a phase, or None if the model gives none, and what is doubtful.

        Raises
        ------
        InputError
            If the model does not hold what is asked for.
        """
        where: dict[str, Any] = {"op": phase.op} if "op" in self.model.selectors else {}
        known = self.model.selectors.get(GROUP, [])
        if known:  # where only rows or only columns were measured, these
            where[GROUP] = phase.group if phase.group in known else known[0]
        regimes = self.model.chosen(where)
        variables: dict[str, float] = {"p": phase.ranks, "b": phase.bytes}
        stride, nodes = (place.stride, place.filled(phase.ranks)) if place else (1, (0, 0))
        if set(PLACES) & set(needed(regimes)):
            if place is None:
                raise InputError(
                    "the model needs to know on which nodes the ranks are", hint="give --ppn"
                )
            variables["nodes"], variables["ppn"] = nodes
        not_held(regimes, variables, strict=True)
        groups = self.model.kept.get("groups", ())
        kind = str(where.get(GROUP, CG))
        group = find(groups, phase.op, kind, phase.ranks, stride, nodes)
        if group is not None and group.bytes[0] <= phase.bytes <= group.bytes[-1]:
            return self._measured(group, phase, place), []
        # what the formula gives, corrected by measured groups of other numbers of ranks
        found = self.model.predict(variables, where)
        if math.isnan(found.seconds[0]):
            return None, found.warnings
        near = like(groups, phase.op, kind, phase.ranks, stride)
        ratio = self._ratio(near, phase, where, variables)
        by = self._factor(phase, place, phase.bytes)
        seconds, low, high = (
            float(end[0]) * ratio * times
            for end, times in zip((found.seconds, found.low, found.high), by or _ALONE, strict=True)
        )
        factor = (by or _ALONE)[0]
        return PhaseTime(phase, seconds, low, high, factor, by is not None), found.warnings

    def _measured(self, group: MeasuredGroup, phase: Phase, place: Place | None) -> PhaseTime:
        """Return the time of a group between its sizes, alone and with the others at work."""
        sizes, alone, size = group.sizes, np.array(group.seconds), float(phase.bytes)
        found = [self._factor(phase, place, int(one)) for one in group.bytes]
        factors = np.array([by or _ALONE for by in found])
        seconds = time_at(sizes, alone * factors[:, 0], size)
        factor, known = seconds / time_at(sizes, alone, size), found[0] is not None
        same = np.flatnonzero(np.abs(sizes - size) <= _LINE * size)
        if len(same):
            k = int(same[0])
            ends = (group.low[k], group.high[k])
            low, high = (
                math.nan if end is None else end * by
                for end, by in zip(ends, factors[k, 1:].tolist(), strict=True)
            )
        else:
            miss = miss_at(sizes, alone * factors[:, 0], size)
            low, high = seconds / (1 + miss), seconds * (1 + miss)
        return PhaseTime(phase, seconds, low, high, factor, known)

    def _ratio(
        self, groups: Iterable[MeasuredGroup], phase: Phase, where: dict[str, Any],
        variables: dict[str, float],
    ) -> float:  # fmt: skip
        """Return measured / formula at this number of ranks, on the line between neighbours."""
        ratios: list[tuple[float, float]] = []
        for group in groups:
            size = min(max(float(phase.bytes), group.bytes[0]), group.bytes[-1])
            other = {"p": group.ranks, "b": size, "nodes": group.nodes, "ppn": group.ppn}
            asked = {name: other[name] for name in variables}
            formula = float(self.model.by_formula(asked, where)[0])
            if formula > _NO_TIME:
                measured = time_at(group.sizes, group.seconds, size)
                ratios.append((math.log2(group.ranks), math.log(measured / formula)))
        if not ratios:
            return 1.0
        x, y = zip(*ratios, strict=True)
        return float(np.exp(np.interp(math.log2(max(phase.ranks, 1)), x, y)))

    def _factor(self, phase: Phase, place: Place | None, size: int) -> Ends | None:
        """Return by how much the groups slow each other down; None if that was not measured."""
        if phase.groups == 1:
            return _ALONE
        return factor_of(
            self.model.kept.get("disturbance", ()), phase.group, phase.op, phase.ranks,
            phase.groups, size, place.sharing if place else 0,
        )  # fmt: skip
