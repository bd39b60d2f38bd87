"""From traces at a few numbers of ranks to the time of the program on many.

A description has to close: on the numbers of ranks of the recordings it takes as long as the whole
program did. What is missing there is named, and added as computation. The trace of most ranks is
held out: a description whose coefficients are those of the others is predicted at its number of
ranks. That error is taken as the standard deviation of an error that each further step in the
number of ranks adds. How far the functions lie apart that fit the recordings widens the interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import hypot, inf, log2

from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.applications import Prediction, predict
from isochrone.applications.thresholds import CLOSES, DOUBTFUL, MIN_DESCRIPTIONS, MIN_SCALING_WIDTH
from isochrone.applications.traces.gaps import Written
from isochrone.applications.traces.generalizing import General, generalized
from isochrone.applications.traces.growth import growth
from isochrone.applications.traces.structure import structure
from isochrone.applications.traces.trace import Trace
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.base.units import format_seconds
from isochrone.collectives.predicted_grids import Machine
from isochrone.models import Model

_POWERS = (0.5, 1.0, 1.5, 2.0)
"""Of the number of steps: how the part that is open may grow with it."""


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
    closing_errors
        Relative errors on the recorded numbers of ranks, before what was missing is added.
    held_out_error
        Relative error at the most ranks recorded if these are held out; None: of two recordings.
    omitted
        Share of the run time that is not described.
    warnings
        One sentence each.
    """

    described: Hidden[Written]
    recorded: list[int]
    predictions: list[Scaled]
    closing_errors: list[float]
    held_out_error: float | None
    omitted: float
    warnings: list[str]


def scale(
    traces: Sequence[Trace],
    to: Sequence[int],
    models: Sequence[Model],
    machine: Machine | None = None,
) -> Scaling:
    """Predict a program on more ranks than it was recorded on.

    Raises
    ------
    InputError
        If the traces are of fewer than two numbers of ranks, or have no description in common.
    """
    ordered = sorted(traces, key=lambda trace: len(trace.ranks))
    recorded = [len(trace.ranks) for trace in ordered]
    if len(set(recorded)) < max(MIN_DESCRIPTIONS, len(traces)):
        raise InputError(
            f"the recordings are on {', '.join(map(str, recorded))} ranks only",
            hint="record the program on three numbers of ranks, such as 4, 8 and 16",
        )
    name = ordered[-1].name
    predicted = partial(_predicted, models=models, machine=machine)
    structures = [structure(trace) for trace in ordered]
    general = generalized(structures, name)
    (app,) = general.document["apps"]
    closing = [
        predicted(general, ranks, ends=False).seconds / trace.run_time - 1
        for ranks, trace in zip(recorded, ordered, strict=True)
    ]
    _close(general, ordered, closing)
    warnings = dict.fromkeys(general.warnings)
    held_out = None
    *_, second_largest, largest = recorded
    if len(recorded) > MIN_DESCRIPTIONS:
        fewer = generalized(structures, name, below=largest)
        _close(fewer, ordered, closing, below=largest)
        tried = predicted(fewer, largest, ends=False)
        held_out = tried.seconds / ordered[-1].run_time - 1
        off = hypot(2 * held_out, MIN_SCALING_WIDTH)
    else:
        off = DOUBTFUL
        warnings["two recordings: how well they generalize is not known; add a third"] = None
    off = hypot(off, general.spread)
    steps = {
        ranks: max(1.0, log2(ranks / largest) / log2(largest / second_largest)) for ranks in to
    }
    left_open = {ranks: _left_open(general, predicted(general, ranks, ends=False)) for ranks in to}
    factor, power = _growing({steps[p]: sum(of.values()) for p, of in left_open.items()})
    written = f"max(1, log2(p/{largest})/{log2(largest / second_largest):.4g})"
    app["uncertainty"] = f"sqrt({off:.3g}**2*{written} + ({factor:.3g}*{written}**{power})**2)"
    scaled = []
    for ranks in to:
        prediction = predicted(general, ranks)
        warnings |= dict.fromkeys(prediction.warnings)
        above = prediction.high / prediction.seconds - 1
        further = hypot(off * steps[ranks] ** 0.5, factor * steps[ranks] ** power)
        if above**2 > 2 * further**2:
            warnings[
                f"most of the interval on {ranks} ranks is of the models of operations (without: "
                f"{further:.0%})"
            ] = None
        scaled.append(Scaled(ranks, prediction.seconds, prediction.low, prediction.high))
    warnings |= dict.fromkeys(_undecided(general, left_open[max(to)], largest))
    omitted = float(app.get("omitted", 0.0))
    return Scaling(general.document, recorded, scaled, closing, held_out, omitted, list(warnings))


def _predicted(
    general: General,
    ranks: int,
    models: Sequence[Model],
    machine: Machine | None,
    *,
    ends: bool = True,
) -> Prediction:
    of = program(parse(dict(general.document), "generalized", {"p": str(ranks)}))
    (prediction,) = predict(of, models, machine, ends=ends)
    return prediction


# --- what is missing at the recordings ------------------------------------------------------------


def _close(
    general: General, traces: Sequence[Trace], closing: Sequence[float], below: float = inf
) -> None:
    """Add what a description lacks of the whole run times, if it lacks much; say what that is."""
    if max(map(abs, closing)) <= CLOSES:
        return
    missing = {
        len(trace.ranks): -error * trace.run_time
        for trace, error in zip(traces, closing, strict=True)
    }
    general.spread += max(map(abs, closing))
    general.warnings += [
        _named(trace, error)
        for trace, error in zip(traces, closing, strict=True)
        if abs(error) > CLOSES
    ]
    by = growth(missing, below=below, noise=CLOSES / max(map(abs, closing)))
    if min(missing.values()) > 0 and by is not None:
        (app,) = general.document["apps"]
        app["phases"].append(
            {"name": "not-described", "compute": f"1s*{by.text}/({app['iterations']})"}
        )
        general.open.append({"the time that is not described": by})


def _named(trace: Trace, error: float) -> str:
    """Say what a description lacks on the ranks of a trace, and where the time may have gone."""
    text = f"on {len(trace.ranks)} ranks the description is {abs(error):.1%} "
    if error > 0:
        return f"{text}too long ({format_seconds(error * trace.run_time)})"
    aside = [
        f"{op} {format_seconds(seconds / len(trace.ranks))}"
        for op, seconds in sorted(trace.omitted.items(), key=lambda item: -item[1])
    ]
    return (
        f"{text}too short: {format_seconds(-error * trace.run_time)} are missing, and are added as "
        f"computation (calls that it does not contain, on each rank: {', '.join(aside) or 'none'})"
    )


# --- what the recordings leave open ---------------------------------------------------------------


def _left_open(general: General, prediction: Prediction) -> dict[str, float]:
    """Return by what part the time may be off for each value of which several functions fit.

    Half a width, 95 %. A value that is off by a part puts its phase off by that part at most; of
    several values of a phase it is the one that is open most.
    """
    widths = {}
    for phase, fitted in zip(prediction.phases, general.open, strict=True):
        share = phase.seconds * prediction.iterations / prediction.seconds
        spreads = {name: by.spread(prediction.ranks) for name, by in fitted.items()}
        name = max(spreads, key=spreads.__getitem__, default="")
        if name:
            widths[name] = share * spreads[name]
    return widths


def _growing(widths: Mapping[float, float]) -> tuple[float, float]:
    """Return a factor and a power of the number of steps that no width is above, by the least."""
    candidates = [
        (max(width / steps**power for steps, width in widths.items()), power) for power in _POWERS
    ]
    return min(
        candidates,
        key=lambda candidate: sum(candidate[0] * steps ** candidate[1] for steps in widths),
    )


def _undecided(general: General, widths: Mapping[str, float], largest: int) -> Iterator[str]:
    """Say of the value that is open most which recording would decide, if it matters."""
    name = max(widths, key=widths.__getitem__, default="")
    if name and widths[name] > MIN_SCALING_WIDTH:
        by = next(fitted[name] for fitted in general.open if name in fitted)
        likely = " or ".join(" + ".join(rival.terms) for rival in by.rivals[:2])
        ranks = by.decides(largest)
        yield f"{name} may be a multiple of {likely} (±{widths[name]:.0%} of the time)" + (
            f"; record on {ranks} to decide" if ranks else ""
        )
