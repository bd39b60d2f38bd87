"""The cost of a node from its messages, by a model of a hot spot, for whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.models import Model
from isochrone.workloads.node_messages import Counts

__all__ = ["TIE", "NodeCost", "refuse_no_time"]

Floats = NDArray[np.float64]

KNOWN: Final = ("pa", "pe", "in", "out", "b", "ba", "bi", "bo", "busy")

TIE: Final = 5e-7
"""Costs closer than this part of them are the same hot spot: below the digits of any model."""


@dataclass(frozen=True)
class NodeCost:
    """A model of what communication costs a node.

    Attributes
    ----------
    model
        With variables among ``pa``, ``pe``, ``in`` and ``out``, and, if it distinguishes sizes,
        bytes. Half of the messages are counted as pairs, as the cFireworks paper does (its
        equation 1 and table II): pa = intra / 2, pe = (in + out) / 2.
    where
        Which part of the model is meant, e.g. ``{"order": "intra-first"}``.
    """

    model: Model
    where: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [name for name in self.model.variables if name not in KNOWN]
        if unknown or set(self.model.variables) <= {"b", "busy"}:
            found = ", ".join(self.model.variables) or "nothing"
            raise InputError(
                f"the model is a function of {found}, not of the messages of a node (pa, pe)",
                where="--model", hint="fit a hotspot measurement, or see examples/models",
            )  # fmt: skip

    @property
    def of_bytes(self) -> bool:
        """Whether the model distinguishes message sizes."""
        return not {"b", "ba", "bi", "bo"}.isdisjoint(self.model.variables)

    def cost(self, counts: Counts, spread: int = 1) -> Floats:
        """Return the seconds of each node in an average of the ``spread`` rounds."""
        return self.ask(counts, spread)[0]

    def ask(
        self, counts: Counts, spread: int = 1, busy: float = 0.0
    ) -> tuple[Floats, Floats, Floats, list[str]]:
        """Return the seconds of each node in an average round, their interval, and warnings.

        Parameters
        ----------
        counts
            What nodes send and receive, arrays of any one shape.
        spread
            Rounds that it is spread over.
        busy
            How busy the other nodes are: `Counts.busy` of all nodes; 0: not looked at.
        """
        shape = np.shape(counts.intra)
        a, i, o, ba, bi, bo = (
            np.asarray(side, np.float64).ravel() / spread for side in vars(counts).values()
        )
        values = {"pa": a / 2, "pe": (i + o) / 2, "in": i, "out": o, "ba": ba, "bi": bi, "bo": bo}
        if {"b", "busy"} & set(self.model.variables):
            messages = a + i + o
            usual = float((ba + bi + bo).sum()) / max(1.0, float(messages.sum()))
            own = (ba + bi + bo) / np.where(messages > 0, messages, 1.0)
            values["b"] = np.where(messages > 0, own, usual)
            values["busy"] = np.full(len(a), busy)
        asked = {name: values[name] for name in self.model.variables}
        found = self.model.predict(asked, dict(self.where))
        seconds, low, high = (
            side.reshape(shape) for side in (found.by_formula, found.low, found.high)
        )
        return seconds, low, high, found.warnings


def refuse_no_time(cost: float) -> None:
    """Refuse the cost of the hottest node where a formula gives no time; others may be idle.

    Raises
    ------
    InputError
        If it is zero or less.
    """
    if not cost > 0:
        raise InputError(
            "the formula gives the hottest node no time above zero", where="--model",
            hint="fit a hot spot that was measured with as few messages as this call has",
        )  # fmt: skip
