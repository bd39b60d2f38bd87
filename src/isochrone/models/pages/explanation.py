"""Why a formula was taken, what else would fit, and which measurement would decide."""

from collections.abc import Mapping, Sequence
from typing import Any

from isochrone.base.text import printable
from isochrone.base.units import format_error, format_seconds
from isochrone.models import Model, Segment
from isochrone.models.doubtful import selected
from isochrone.models.explain import Answer, Suggestion, suggestions
from isochrone.models.formulas import number, ranges, values
from isochrone.models.questions import recorded
from isochrone.pages.page import Listing, Sentence
from isochrone.pages.words import between, plural

_LISTED = 3
"""Rivals of one segment that are listed."""


def explanation(rows: Sequence[Mapping[str, Any]]) -> list[Listing]:
    """Say in three sentences, for each operation, why this formula and what to measure next."""
    return [
        Listing(
            ", ".join(filter(None, ("Why this formula", selected(row["where"])))),
            tuple(map(Sentence, row["sentences"])),
        )
        for row in rows
    ]


def document(
    model: Model, max_ranks: int | None = None, budget: float = 0.0,
    at: Mapping[str, float] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return for each operation the sentences, and the values to measure next."""
    found = []
    for where, points in suggestions(model, max_ranks, budget, at):
        segments = model.chosen(where)
        row: list[dict[str, Any]] = next(
            (one["families"] for one in model.ranking if one["where"] == where), []
        )
        variables = [one.variables for one in points]
        sentences = [
            _why(model, segments, row),
            _what_else(segments),
            _next(next(iter(points), None), segments, budget, at),
        ]
        if len(points) > 1:
            listed = "; ".join(" with ".join(values(one)) for one in variables[1:])
            spent = sum(one.cost for one in points)
            sentences.append(f"Then {listed}: all take about {format_seconds(spent)}.")
        found.append({
            "where": where, "sentences": sentences, "measure": next(iter(variables), None),
            "then": variables[1:],
        })  # fmt: skip
    return found


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
    found = []
    for segment, words in zip(segments, ranges(segments), strict=True):
        if not segment.rivals:
            continue
        listed = [
            f"{printable(one.family, 40)} (weight {100 * one.weight:.0f} %): "
            f"{printable(' + '.join(one.terms), 120)}"
            for one in segment.rivals[:_LISTED]
        ]
        more = len(segment.rivals) - _LISTED
        listed += [f"{more} more"] if more > 0 else []
        found.append(f"{f'for {words}: ' if words else ''}{'; '.join(listed)}")
    if not found:
        return "No other family fits equally well."
    return f"These fit equally well: {'; '.join(found)}."


# --- what to measure ------------------------------------------------------------------------------


def _next(
    found: Suggestion | None, segments: Sequence[Segment], budget: float,
    at: Mapping[str, float] | None,
) -> str:  # fmt: skip
    """Say which point to measure, and what it would decide."""
    if found is None:
        within = f" within {format_seconds(budget)}" if budget else ""
        return f"No further measurement{within} would tell more than more repetitions."
    text = f"Measure {' with '.join(values(found.variables))}"
    if found.answers:
        taken, *others = found.answers
        other = max(others, key=lambda one: one.weight * abs(one.seconds - taken.seconds))
        time = format_seconds(other.seconds) if other.seconds > 0 else "no possible time"
        return (
            f"{text} to distinguish them: {_called(taken, other)} predicts "
            f"{format_seconds(taken.seconds)} there, {_called(other, taken)} {time}."
        )
    expected = between(found.low, found.high)
    if at:
        asked = " with ".join(values(at))
        return f"{text} to narrow the interval at {asked}: {expected} are expected for it."
    if found.between:
        return f"{text}, which is between two segments: {expected} are expected there."
    exceeded = []
    for name, value in found.variables.items():
        measured = recorded(segments, name)
        if measured and value > measured[1]:
            exceeded.append(f"{name} = {number(name, measured[1])}")
    most = " and ".join(exceeded) or "what was measured"
    return f"{text} to be sure beyond {most}: {expected} are expected there."


def _called(one: Answer, other: Answer) -> str:
    """Name a formula by its family, or by its terms if the other one is of the same."""
    return one.family if one.family != other.family else " + ".join(one.terms)
