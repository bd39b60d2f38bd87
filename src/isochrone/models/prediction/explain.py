"""Which further measurement tells most: where rivals part, or where an interval is widest."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

import msgspec
import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.models.data.extension import Points, added
from isochrone.models.data.observations import Observations, applicable
from isochrone.models.data.placement import PLACES
from isochrone.models.data.sizes import filled
from isochrone.models.data.terms import Selector, evaluate_term, length_of, picked
from isochrone.models.formulas.segment import Segment, owners
from isochrone.models.prediction.doubtful import switches
from isochrone.models.prediction.model import Model
from isochrone.models.prediction.questions import needed
from isochrone.models.thresholds import (
    ASKED_BEYOND,
    DECISIVE_DIFFERENCE,
    MAX_RETRIED_VALUES,
    MIN_GAP_RATIO,
    QUESTION_POINTS,
)

_BETWEEN = (1.0, 1.25, 1.5, 1.75)
"""Counts that are tried, as multiples of powers of two: they tell steps from smooth growth."""


_LAUNCH, _REPEATED = 2.0, 100.0
"""Seconds that a launch takes, and how often a point is repeated in it."""


_COUNTS = ("p", "nodes", "w", *(name for extension in added() for name in extension.counts))


@dataclass(frozen=True)
class Answer:
    """The time, in seconds, that one formula gives at a point; ``weight`` is its probability."""

    family: str
    terms: tuple[str, ...]
    weight: float
    seconds: float


@dataclass(frozen=True)
class Suggestion:
    """A point that should be measured next.

    Attributes
    ----------
    where
        Selectors of what it is of, such as the operation.
    variables
        Its values by the names of variables.
    low, seconds, high
        What the model predicts there.
    answers
        Formulas that it distinguishes, the chosen one first; empty if it distinguishes none.
    between
        Whether it lies between two segments.
    cost
        Seconds that it takes.
    """

    where: dict[str, Selector]
    variables: dict[str, float]
    low: float
    seconds: float
    high: float
    answers: list[Answer] = field(default_factory=list)
    between: bool = False
    cost: float = 0.0


def suggestions(
    model: Model,
    max_ranks: float | None = None,
    budget: float = 0.0,
) -> list[tuple[dict[str, Selector], list[Suggestion]]]:
    """Return each operation with what to measure next, the most useful first, if anything is.

    ``max_ranks`` are the most that can be started. All together take no more than ``budget``
    seconds; there is one if the budget is 0.

    Raises
    ------
    InputError
        If the model was read from a file: what was measured is not in it.
    """
    if model.samples is None:
        raise InputError(
            "a model file does not contain the times it was fitted to",
            hint="fit it again from its data",
        )
    observed = applicable(model.selectors, model.samples.observations())
    by_operation = []
    for measured in observed:
        every = _ordered(model, measured, max_ranks)
        if not budget:
            by_operation.append((measured.where, list(islice(every, 1))))
            continue
        affordable = []
        for point in every:
            if point.cost <= budget:
                budget -= point.cost
                affordable.append(point)
        by_operation.append((measured.where, affordable))
    return by_operation


def _ordered(model: Model, observed: Observations, max_ranks: float | None) -> Iterator[Suggestion]:
    """Yield where rivals of one operation part most, and then where most is saved by each second.

    Where rivals part by less than a time there may be off, that is most of the interval: between
    two segments, at ranks of a class that was not measured, or as far beyond the data as is looked.
    Of each such question two points are asked at most.
    """
    where = model.known(observed.where)
    segments = model.chosen(where)
    points = _candidates(segments, observed, max_ranks)
    if not length_of(points):
        return
    predicted = model.predict(points, where)
    owner = owners(segments, points)
    between = np.sum([segment.may_hold(points) for segment in segments], axis=0) > 1
    possible = np.isfinite(predicted.seconds) & np.isfinite(predicted.high)
    cost = _LAUNCH + _REPEATED * predicted.seconds
    parting = _parting(segments, points, owner, model.weights)
    apart = np.where(possible & ~between, parting, 0.0)
    question, eligible = _questions(segments, observed, points, owner, between)
    width = np.where(possible & eligible, np.log(predicted.high / predicted.low) / cost, 0.0)
    times = Counter[tuple[bool, int]]()
    while True:
        decides = bool(apart.max() >= DECISIVE_DIFFERENCE)
        worth, group = (apart, owner) if decides else (width, question)
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            return
        point = picked(points, np.array([best]))
        answers = [
            Answer(
                formula.family,
                tuple(formula.terms),
                share,
                float(_alone(formula, point, model.weights)[0][0]),
            )
            for formula, share in segments[owner[best]].every()
            if decides
        ]
        low, seconds, high = (
            float(v[best]) for v in (predicted.low, predicted.seconds, predicted.high)
        )
        yield Suggestion(
            where,
            {name: float(value[0]) for name, value in point.items()},
            low,
            seconds,
            high,
            answers,
            bool(between[best]),
            float(cost[best]),
        )
        key = decides, int(group[best])
        times[key] += 1
        worth[group == group[best] if times[key] == QUESTION_POINTS else best] = 0.0


def _parting(segments: Sequence[Segment], points: Points, owner: Ints, weights: str) -> Floats:
    """Return how far rivals part from their segments, of what both may be off by; shape (n,).

    Each rival counts by its weight.
    """
    apart = np.zeros(len(owner))
    for k, segment in enumerate(segments):
        segment_points = picked(points, owner == k)
        time, error = _alone(segment, segment_points, weights)
        rivals = segment.every()[1:]
        for rival, share in rivals:
            rival_time, off = _alone(rival, segment_points, weights)
            joint_error = np.maximum(np.hypot(error, off), 1e-300)
            apart[owner == k] += (
                share / sum(s for _, s in rivals) * np.abs(rival_time - time) / joint_error
            )
    return apart


def _questions(
    segments: Sequence[Segment],
    observed: Observations,
    points: Points,
    owner: Ints,
    between: Bools,
) -> tuple[Ints, Bools]:
    """Return the number of the question that each point answers, and which of them are asked.

    The questions are the gaps between segments, the classes of ranks that were not measured, and
    what is beyond the data.
    """
    question = np.zeros_like(owner)  # beyond the data
    eligible = between.copy()
    for k, gap in enumerate(switches(segments), 1):
        inside = gap.holds(evaluate_term(gap.name, points))
        question[between & inside] = -k
        if (
            gap.below and gap.above / gap.below < MIN_GAP_RATIO
        ):  # two measurements narrowed it enough
            eligible &= ~inside
    name = _onwards(observed)
    if name in points:  # as far beyond the data as is looked
        eligible |= points[name] >= min(
            ASKED_BEYOND * observed.variables[name].max(), points[name].max()
        )
    for k, segment in enumerate(segments):
        unmeasured = (owner == k) & segment.of_other_class(points)
        eligible |= unmeasured
        question[unmeasured & (question == 0)] = k + 1
    return question, eligible


def _alone(segment: Segment, points: Points, weights: str) -> tuple[Floats, Floats]:
    """Return what one formula says without its rivals, and half of its interval."""
    plain = msgspec.structs.replace(segment, rivals=[], beyond={}, only=[])
    seconds, _, high = plain.evaluate(points, weights)
    return seconds, high - seconds


# --- what could be measured -----------------------------------------------------------------------


def _candidates(
    segments: Sequence[Segment], observed: Observations, max_ranks: float | None
) -> Points:
    """Return points that were not measured: all combinations of plausible values."""
    # Ranks are not asked for beside nodes, nor what follows from messages and their size.
    every, variables = set(needed(segments)), observed.variables.keys()
    if set(PLACES) <= variables and every & {"p", *PLACES}:
        every = (every | set(PLACES)) - {"p"}
    for extension in added():
        if set(extension.basis) <= variables and every & {*extension.bytes}:
            every = (every | set(extension.basis)) - {*extension.bytes, "pe"}
    names = [name for name in variables if name in every]
    choices = [_values(name, observed, segments, max_ranks) for name in names]
    rows = np.array(list(product(*choices))).reshape(-1, len(names))
    measured = set(zip(*(observed.variables[name].tolist() for name in names), strict=True))
    fresh = [k for k, row in enumerate(rows.tolist()) if tuple(row) not in measured]
    points = {name: rows[fresh, k] for k, name in enumerate(names)}
    if set(PLACES) <= points.keys():
        points["p"] = points["nodes"] * points["ppn"]
    if "p" in points:
        largest = max_ranks or ASKED_BEYOND * float(observed.variables["p"].max())
        points = picked(points, points["p"] <= largest)
    return filled(points)


def _values(
    name: str, observed: Observations, segments: Sequence[Segment], max_ranks: float | None
) -> list[float]:
    """Return values of one variable: those measured, the switch in each gap, and others.

    Counts are tried around powers of two, because steps tell themselves from smooth growth there.
    """
    measured = np.unique(observed.variables[name])
    indices = np.unique(np.linspace(0, len(measured) - 1, MAX_RETRIED_VALUES).round().astype(int))
    values = set(measured[indices].tolist())
    values |= {
        switch.taken
        for switch in switches(segments)
        if switch.name == name and switch.taken > switch.below
    }
    if name != _onwards(observed):
        return sorted(values)
    largest = ASKED_BEYOND * float(measured[-1])
    if name == "p":
        largest = max_ranks or largest
    if name in _COUNTS:
        counts = np.outer(2.0 ** np.arange(64), _BETWEEN).ravel()
        within = (counts == np.floor(counts)) & (counts >= measured[0]) & (counts <= largest)
        values |= set(counts[within].tolist())
    return sorted(values | {largest})


def _onwards(observed: Observations) -> str:
    """Return the variable along which people extrapolate: ranks or nodes, else sizes; or none."""
    names = [
        "nodes" if set(PLACES) <= observed.variables.keys() else "p",
        *_COUNTS,
        "entries",
        "b",
        "n",
    ]
    varying = [name for name in names if np.ptp(observed.variables.get(name, np.zeros(1))) > 0]
    return varying[0] if varying else ""
