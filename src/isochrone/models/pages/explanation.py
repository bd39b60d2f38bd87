"""Why a formula was taken, what else would fit, and which measurement would decide."""

from collections.abc import Sequence
from typing import Any

from isochrone.base.text import printable
from isochrone.base.units import format_error, format_seconds
from isochrone.models import Model, Segment
from isochrone.models.data.terms import number, point_text
from isochrone.models.formulas.text import ranges
from isochrone.models.prediction.doubtful import selected
from isochrone.models.prediction.explain import Answer, Suggestion, suggestions
from isochrone.models.prediction.file import Explained
from isochrone.models.prediction.questions import recorded
from isochrone.pages.page import Listing, Sentence
from isochrone.pages.words import between, plural

_LISTED_RIVALS = 3
"""Rivals of one segment that are listed."""


def explanation(explained: Sequence[Explained]) -> list[Listing]:
    """Say in three sentences, for each operation, why this formula and what to measure next."""
    return [
        Listing(
            ", ".join(filter(None, ("Why this formula", selected(operation.where)))),
            tuple(map(Sentence, operation.sentences)),
        )
        for operation in explained
    ]


def document(model: Model, max_ranks: int | None = None, budget: float = 0.0) -> list[Explained]:
    """Return for each operation the sentences, and the values to measure next."""
    sections = []
    for where, points in suggestions(model, max_ranks, budget):
        segments = model.chosen(where)
        row: list[dict[str, object]] = next(
            (ranking["families"] for ranking in model.ranking if ranking["where"] == where), []
        )
        variables = [suggestion.variables for suggestion in points]
        sentences = [
            _why(model, segments, row),
            _what_else(segments),
            _next(next(iter(points), None), segments, budget),
        ]
        if len(points) > 1:
            listed = "; ".join(" with ".join(point_text(point)) for point in variables[1:])
            spent = sum(suggestion.cost for suggestion in points)
            sentences.append(f"Then {listed}: all take about {format_seconds(spent)}.")
        sections.append(Explained(where, sentences, next(iter(variables), None), variables[1:]))
    return sections


# --- why this one ---------------------------------------------------------------------------------


def _why(model: Model, segments: Sequence[Segment], tried: Sequence[dict[str, Any]]) -> str:
    """Say by which error the family was taken, and what the runner-up has."""
    rows = [row for row in tried if row.get("held_out") is not None]
    if not rows:
        error = model.quality["held_out"]["point"]["median"]
        return (
            f"{printable(segments[0].family, 40)} was requested, and no other family was tried: "
            f"its cross-validation error is {format_error(error)}."
        )
    first, *others = rows
    text = _name(first)
    if len(segments) == 1:
        text += f" ({printable(' + '.join(segments[0].terms), 120)})"
    text += (
        f" has a cross-validation error of {format_error(first['held_out'])} and "
        f"{plural(first['coefficients'], 'coefficient')}"
    )
    if not others:
        return f"{text}; no other family could be fitted."
    second = min(others, key=lambda row: row["held_out"])
    text += f"; the next best, {_name(second)}, has {format_error(second['held_out'])} and "
    text += plural(second["coefficients"], "coefficient")
    if second["held_out"] < first["held_out"]:
        text += ", which is as good and not simpler"
    return f"{text}."


def _name(row: dict[str, Any]) -> str:
    pieces = row["pieces"]
    name = printable(row["family"], 80)
    return name if pieces == 1 else f"{name} in {plural(pieces, 'segment')}"


# --- what else would fit --------------------------------------------------------------------------


def _what_else(segments: Sequence[Segment]) -> str:
    """Name the rivals of each segment."""
    listings = []
    for segment, range_text in zip(segments, ranges(segments), strict=True):
        if not segment.rivals:
            continue
        listed = [
            f"{printable(rival.family, 40)} (weight {100 * rival.weight:.0f} %): "
            f"{printable(' + '.join(rival.terms), 120)}"
            for rival in segment.rivals[:_LISTED_RIVALS]
        ]
        omitted = len(segment.rivals) - _LISTED_RIVALS
        listed += [f"{omitted} more"] if omitted > 0 else []
        listings.append(f"{f'for {range_text}: ' if range_text else ''}{'; '.join(listed)}")
    if not listings:
        return "No other family fits equally well."
    return f"These fit equally well: {'; '.join(listings)}."


# --- what to measure ------------------------------------------------------------------------------


def _next(suggestion: Suggestion | None, segments: Sequence[Segment], budget: float) -> str:
    """Say which point to measure, and what it would decide."""
    if suggestion is None:
        within = f" within {format_seconds(budget)}" if budget else ""
        return f"No further measurement{within} would tell more than more repetitions."
    text = f"Measure {' with '.join(point_text(suggestion.variables))}"
    if suggestion.answers:
        chosen, *others = suggestion.answers
        alternative = max(
            others, key=lambda answer: answer.weight * abs(answer.seconds - chosen.seconds)
        )
        time = (
            format_seconds(alternative.seconds) if alternative.seconds > 0 else "no possible time"
        )
        return (
            f"{text} to distinguish them: {_called(chosen, alternative)} predicts "
            f"{format_seconds(chosen.seconds)} there, {_called(alternative, chosen)} {time}."
        )
    expected = between(suggestion.low, suggestion.high)
    if suggestion.between:
        return f"{text}, which is between two segments: {expected} are expected there."
    exceeded = []
    for name, value in suggestion.variables.items():
        measured = recorded(segments, name)
        if measured and value > measured[1]:
            exceeded.append(f"{name} = {number(name, measured[1])}")
    limits = " and ".join(exceeded) or "what was measured"
    return f"{text} to be sure beyond {limits}: {expected} are expected there."


def _called(answer: Answer, alternative: Answer) -> str:
    """Name a formula by its family, or by its terms if the other one is of the same."""
    return answer.family if answer.family != alternative.family else " + ".join(answer.terms)
