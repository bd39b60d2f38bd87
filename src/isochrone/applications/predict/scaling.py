"""From traces at a few numbers of ranks to the time of the program on many.

The trace of most ranks is held out: a description generalized from the others is predicted at its
number of ranks, and compared with the time that the trace took. That error, which grows with the
logarithm of the number of ranks, makes the interval wider.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
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

LEAST = 0.05
"""Error for each step in the number of ranks, if what was held out is off by less: by chance."""


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
    by_ranks = {len(trace.ranks): trace for trace in traces}
    if len(by_ranks) < max(FEWEST, len(traces)):
        raise InputError(
            f"the recordings are on {', '.join(str(len(t.ranks)) for t in traces)} ranks only",
            hint="record the program on three numbers of ranks, such as 4, 8 and 16",
        )
    ordered = [by_ranks[ranks] for ranks in sorted(by_ranks)]
    name = ordered[-1].name
    structures = [analysed(trace) for trace in ordered]
    general = generalized(structures, name)
    omitted = float(general.document["apps"][0].get("omitted", 0.0))
    warnings = dict.fromkeys(general.warnings)
    held_out = None
    if len(ordered) > FEWEST:
        try:
            fewer = generalized(structures[:-1], name)
        except InputError as error:
            warnings[f"the largest recording is no test of the others: {error.what}"] = None
            general.spread = max(general.spread, DOUBTFUL)
            fewer = general
        last = ordered[-1]
        tried = _predicted(fewer.document, len(last.ranks), models, machine)
        held_out = tried.seconds / last.longest - 1
    else:
        warnings["two recordings: how well they generalize is not known; add a third"] = None
    found = []
    for ranks in to:
        one = _predicted(general.document, ranks, models, machine)
        warnings |= dict.fromkeys(one.warnings)
        off = max(abs(held_out or 0.0), LEAST) + general.spread
        further = off * _distance(sorted(by_ranks), ranks)
        low = max(one.low - further * one.seconds, one.low / (1 + further) ** 2)
        above = one.high / one.seconds - 1
        warnings[
            f"interval on {ranks} ranks: {above:.0%} from models, {further:.0%} from extrapolation"
        ] = None
        found.append(Scaled(ranks, one.seconds, low, one.high + further * one.seconds))
    return Scaling(general.document, sorted(by_ranks), found, held_out, omitted, list(warnings))


def _predicted(
    document: Mapping[str, Any], ranks: int, models: Sequence[Model], machine: Machine | None
) -> Prediction:  # fmt: skip
    description = parse(dict(document), "generalized", {"p": str(ranks)})
    (found,) = predict(program(description), models, machine)
    return found


def _distance(recorded: Sequence[int], ranks: int) -> float:
    """Return how far a number of ranks is beyond those recorded, in the step that was held out."""
    step = log(recorded[-1] / recorded[-2])
    return max(1.0, log(ranks / recorded[-1]) / step)
