"""What models say of applications that were emulated, from what their run file says of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import parse
from isochrone.applications.emulation.recorded import DESCRIPTION, applications
from isochrone.applications.predict.applications import Prediction, predict
from isochrone.base.errors import InputError
from isochrone.collectives.predict.grid_collectives import Machine
from isochrone.models import Model
from isochrone.runfile.run import Run

__all__ = ["predicted", "program_of"]


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
