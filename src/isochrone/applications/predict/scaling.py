"""From traces at a few numbers of ranks to the time of the program on many.

The trace of most ranks is held out: a description whose coefficients are those of the others is
predicted at its number of ranks, and compared with the time that the trace took. That error is
taken as the standard deviation of an error that each further step in the number of ranks adds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, log2
from typing import Any

from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.applications import Prediction, predict
from isochrone.applications.traces.generalizing import DOUBTFUL, analysed, generalized
from isochrone.applications.traces.trace import Trace
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.collectives.predicted_grids import Machine
from isochrone.models import Model

FEWEST = 2
"""Numbers of ranks of which a description is generalized."""

LEAST = 0.07
"""Half width for a step in the number of ranks, 95 %, if what was held out is off by nothing."""


@dataclass(frozen=True)
class Scaled:
    """A program on a number of ranks.

    Attributes
    ----------
    ranks
        Of the program.
    seconds, low, high
        Of all of it, with an interval of 95 %.
    """

    ranks: int
    seconds: float
    low: float
    high: float


@dataclass(frozen=True)
class Scaling:
    """A program on more ranks than it was recorded on.

    Attributes
    ----------
    described
        The description of any number of ranks, as plain data.
    recorded
        Numbers of ranks of the recordings.
    predictions
        One for each number of ranks that was asked for.
    held_out_error
        Relative error at the most ranks recorded if these are held out; None: of two recordings.
    omitted
        Share of the run time that is not described.
    warnings
        One sentence each.
    """

    described: Hidden[dict[str, Any]]
    recorded: list[int]
    predictions: list[Scaled]
    held_out_error: float | None
    omitted: float
    warnings: list[str]


def scale(
    traces: Sequence[Trace], to: Sequence[int], models: Sequence[Model],
    machine: Machine | None = None,
) -> Scaling:  # fmt: skip
    """Predict a program on more ranks than it was recorded on.

    Raises
    ------
    InputError
        If the traces are of fewer than two numbers of ranks, or have no description in common.
    """
    ordered = sorted(traces, key=lambda trace: len(trace.ranks))
    recorded = [len(trace.ranks) for trace in ordered]
    if len(set(recorded)) < max(FEWEST, len(traces)):
        raise InputError(
            f"the recordings are on {', '.join(map(str, recorded))} ranks only",
            hint="record the program on three numbers of ranks, such as 4, 8 and 16",
        )
    name = ordered[-1].name
    structures = [analysed(trace) for trace in ordered]
    general = generalized(structures, name)
    (app,) = general.document["apps"]
    warnings = dict.fromkeys(general.warnings)
    held_out = None
    *_, before, most = recorded
    if len(recorded) > FEWEST:
        fewer = generalized(structures, name, below=most)
        tried, _ = _predicted(fewer.document, most, models, machine)
        held_out = tried.seconds / ordered[-1].longest - 1
        off = hypot(2 * held_out, LEAST)
    else:
        off = DOUBTFUL
        warnings["two recordings: how well they generalize is not known; add a third"] = None
    steps = f"log2(p/{most})/{log2(most / before):.4g}"
    app["uncertainty"] = f"{hypot(off, general.spread):.3g}*sqrt(max(1, {steps}))"
    found = []
    for ranks in to:
        one, further = _predicted(general.document, ranks, models, machine)
        warnings |= dict.fromkeys(one.warnings)
        above = one.high / one.seconds - 1
        warnings[
            f"the interval on {ranks} ranks ends {above:.0%} above the prediction "
            f"(without errors of the models: {further:.0%})"
        ] = None
        found.append(Scaled(ranks, one.seconds, one.low, one.high))
    omitted = float(app.get("omitted", 0.0))
    return Scaling(general.document, recorded, found, held_out, omitted, list(warnings))


def _predicted(
    document: Mapping[str, Any], ranks: int, models: Sequence[Model], machine: Machine | None
) -> tuple[Prediction, float]:  # fmt: skip
    """Return a prediction, and the part of its interval that is due to extrapolation."""
    of = program(parse(dict(document), "generalized", {"p": str(ranks)}))
    (found,) = predict(of, models, machine)
    return found, of.applications[0].uncertainty
