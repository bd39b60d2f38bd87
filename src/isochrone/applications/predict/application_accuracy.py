"""Predicted against emulated: each application alone, in total and phase by phase."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.emulation.recorded import DESCRIPTION, applications
from isochrone.applications.emulation.summary import emulation
from isochrone.applications.predict.applications import PhaseTime, Prediction, predict
from isochrone.base.documents import MaybeNan, shown
from isochrone.base.errors import InputError
from isochrone.base.inference import Estimate
from isochrone.collectives.predicted_grids import Machine
from isochrone.models import Model
from isochrone.runfile.run import Run


def predicted(run: Run, models: Sequence[Model]) -> list[Prediction]:
    """Predict each application of a run alone, on the ranks that it ran on.

    Raises
    ------
    InputError
        If the run does not say what its applications do, or no model holds it.
    """
    text = run.notes.get(DESCRIPTION)
    if not text:
        raise InputError(
            "the run does not contain the description of its applications",
            where=run.where,
            hint="runs of isochrone emulate contain it",
        )
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(
            f"the description in the run is damaged: {error}", where=run.where
        ) from error
    ranks = [app.ranks for app in applications(run)]
    emulated = program(parse(document, run.where), run.size)
    return predict(emulated, models, Machine.of_hosts(run.hosts), ranks)


class Said(NamedTuple):
    """A time in seconds, and its interval; NaN where that is not known."""

    seconds: float
    low: MaybeNan
    high: MaybeNan

    @classmethod
    def of(cls, prediction: Prediction | PhaseTime, iterations: int = 1) -> Said:
        """Return what is predicted of some iterations, for each of them."""
        ends = (prediction.seconds, prediction.low, prediction.high)
        return cls(*(end / iterations for end in ends))

    @classmethod
    def measured(cls, estimate: Estimate, iterations: int = 1) -> Said:
        """Return what was measured of some iterations, for each of them."""
        return cls(*(end / iterations for end in (estimate.median, estimate.low, estimate.high)))


@dataclass(frozen=True)
class Accuracy:
    """One time of an application alone, in seconds.

    Attributes
    ----------
    app, phase
        ``phase`` is None for all iterations; else it is of one iteration, a mean over ranks.
    measured
        The median over the repetitions, with its interval if there is one.
    predicted
        What models say.
    """

    app: str
    phase: str | None
    measured: Estimate
    predicted: Said

    @property
    @shown
    def away(self) -> MaybeNan:
        """Predicted / measured - 1; NaN where nothing was measured."""
        measured = self.measured.median
        return self.predicted.seconds / measured - 1 if measured > 0 else math.nan

    @property
    @shown
    def held(self) -> bool:
        """Whether the interval of the prediction holds what was measured."""
        return self.predicted.low <= self.measured.median <= self.predicted.high


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
    summary = emulation(run)
    rows = []
    warnings: dict[str, None] = {}
    for index, prediction in enumerate(predicted(run, models)):
        wall = summary.alone(index)
        if wall is None:
            continue
        warnings |= dict.fromkeys(prediction.warnings)
        measured = {p.name: p.mean for p in summary.phases if p.number == index and not p.beside}
        rows.append(Accuracy(prediction.app, None, wall.seconds, Said.of(prediction)))
        rows += [
            Accuracy(prediction.app, of.phase, measured[of.phase], Said.of(of))
            for of in prediction.phases
            if of.phase in measured
        ]
    if not rows:
        raise InputError(
            "no application ran alone; only those can be predicted",
            where=run.where,
            hint="emulate with --combinations alone",
        )
    return rows, list(warnings)
