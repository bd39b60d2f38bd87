"""Predicted against emulated: each application alone, in total and phase by phase."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import parse
from isochrone.applications.emulation.recorded import DESCRIPTION, applications
from isochrone.applications.emulation.summary import emulation
from isochrone.applications.emulation.timing import Estimate
from isochrone.applications.predict.applications import PhaseTime, Prediction, predict
from isochrone.base.errors import InputError
from isochrone.collectives.predict.grid_collectives import Machine
from isochrone.models import Model
from isochrone.runfile.run import Run

__all__ = ["Accuracy", "accuracy", "program_of"]


def program_of(run: Run) -> Program:
    """Return the program that a run emulated, worked out again from its description.

    Raises
    ------
    InputError
        If the run file does not hold it.
    """
    text = run.notes.get(DESCRIPTION)
    if not text:
        raise InputError(
            "the run does not say what its applications do", where=run.where,
            hint="isochrone emulate writes it into the run file",
        )  # fmt: skip
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(f"its description is damaged: {error}", where=run.where) from error
    return program(parse(document, run.where), run.size)


def predicted(run: Run, models: Sequence[Model]) -> list[Prediction]:
    """Predict each application of a run alone, on the ranks that it ran on.

    Raises
    ------
    InputError
        If the run does not say what its applications do, or no model holds it.
    """
    ranks = [app.ranks for app in applications(run)]
    return predict(program_of(run), models, Machine.of_hosts(run.hosts), ranks)


@dataclass(frozen=True)
class Accuracy:
    """One time of an application alone, in seconds.

    Attributes
    ----------
    app, phase
        ``phase`` is empty for all iterations; else it is of one iteration, a mean over ranks.
    measured
        The median over the repetitions, with its interval if there is one.
    predicted, low, high
        What models say.
    """

    app: str
    phase: str
    measured: Estimate
    predicted: float
    low: float
    high: float

    @property
    def away(self) -> float:
        """Predicted / measured - 1; NaN where nothing was measured."""
        return self.predicted / self.measured.median - 1 if self.measured.median > 0 else math.nan

    @property
    def held(self) -> bool:
        """Whether the interval of the prediction holds what was measured."""
        return self.low <= self.measured.median <= self.high

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "app": self.app, "phase": self.phase or None,
            "measured": self.measured.to_json("seconds"),
            "predicted": {"seconds": self.predicted, "low": self.low, "high": self.high},
            "away": None if math.isnan(self.away) else self.away, "held": self.held,
        }  # fmt: skip


def accuracy(run: Run, models: Sequence[Model]) -> tuple[list[Accuracy], list[str]]:
    """Hold a run of emulated applications against what models say of them.

    Returns
    -------
    tuple
        For each application that ran alone its total and then its phases; and warnings.

    Raises
    ------
    InputError
        If no application ran alone, the run does not say what they do, or no model holds it.
    """
    found = emulation(run)
    rows: list[Accuracy] = []
    said: dict[str, None] = {}
    for number, one in enumerate(predicted(run, models)):
        wall = found.alone(number)
        if wall is None:
            continue
        said |= dict.fromkeys(one.warnings)
        measured = {p.name: p.mean for p in found.phases if p.app == number and not p.beside}
        parts: list[tuple[str, Prediction | PhaseTime]] = [("", one)]
        parts += [(part.phase, part) for part in one.phases if part.phase in measured]
        measured[""] = wall.seconds
        rows += [
            Accuracy(one.app, name, measured[name], part.seconds, part.low, part.high)
            for name, part in parts
        ]
    if not rows:
        raise InputError(
            "no application ran alone, and that is what can be predicted", where=run.where,
            hint="emulate with --runs alone",
        )  # fmt: skip
    return rows, list(said)
