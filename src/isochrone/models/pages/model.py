"""A fitted model: its formulas, how well they fit, which other families were tried."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from msgspec import structs

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_error, format_seconds
from isochrone.models import Model, Segment
from isochrone.models.data.extension import added
from isochrone.models.data.terms import NUMBERED, VARIABLES, Selector, number, unit
from isochrone.models.formulas.text import formula, ranges
from isochrone.models.prediction.doubtful import missed, selected, switches, untried
from isochrone.models.prediction.neighbours import Neighbours
from isochrone.models.prediction.questions import recorded
from isochrone.pages.page import (
    Block,
    Later,
    Listing,
    Page,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    Warnings,
    columns_of,
)
from isochrone.pages.terminal import console, print_blocks
from isochrone.pages.words import plural
from isochrone.runfile.origin import one_word, together, with_noun
from isochrone.runfile.run import Run
from isochrone.views.view import Options

MAX_DEVIATION_ROWS = 16
"""Values of a variable listed with their deviations; of more, the worst are."""

MAX_COSTS = 6

NO_FAMILY = "no family of models fits: "

_COSTS = {
    **{term: cost for extension in added() for term, cost in extension.costs.items()},
    "1": ("as a fixed cost", 1.0),
}
"""What the coefficient of a term is of, and how many of its units: two messages are a pair."""


def verdict(model: Model) -> list[Block]:
    """Say what was found: the formula, or how many, and how far it is off."""
    quality = model.quality
    deviation = quality["deviation"]
    name = "model" if model.family == "several" else f"{model.family} model"
    description = f" of {len(model.segments)} formulas"
    if len(model.segments) == 1:
        [(segment, heading)] = model.headed
        description = f"{f', {heading}' if heading else ''}: t = {formula(segment)}"
    return [
        Sentence(name + description, "strong"),
        Sentence(
            f"Deviation: {format_error(deviation['median'])} in the median, "
            f"{format_error(deviation['maximum'])} at most, at {printable(quality['worst'])} "
            f"({plural(quality['points'], 'point')}, {quality['samples']} "
            f"{with_noun(printable(model.origin, 60))})"
        ),
    ]


def brief(model: Model) -> list[Block]:
    """Say of a model that was just fitted what it says: verdict, formulas, where they change."""
    several = len(model.segments) > 1
    return [
        *verdict(model),
        *([_table(model)] if several else ()),
        *_switches(model),
        *_trials(model),
        Warnings(tuple(model.warnings)),
    ]


def blocks(model: Model) -> list[Block]:
    """Say all there is to say about a model that was just fitted.

    That is: the verdict, formulas with their coefficients, deviations from the times, and the
    ranking of the families that were tried.
    """
    quality = model.quality
    return [
        *verdict(model),
        *_formulas(model, coefficients=True),
        *_switches(model),
        *_trials(model),
        _deviations(quality, one_word(model.origin)),
        _quality(model),
        *(block for entry in model.ranking for block in _ranking(entry)),
        Warnings(tuple(model.warnings)),
    ]


def sections_of(models_used: Sequence[Model], warnings: Sequence[str] = ()) -> list[Section]:
    """Return what a page says of the models that its predictions come from, and their warnings."""
    doubts = [Section("Warnings", (Warnings(tuple(warnings)),), only="report")] if warnings else []
    pages = (Section("Models", (Later(partial(_all_of, model)),)) for model in models_used)
    return [*doubts, *pages]


def _all_of(model: Model) -> list[Block]:
    """Return all that a model file says: published formulas have no deviations and intervals."""
    if "deviation" in model.quality:
        return blocks(model)
    return [*_formulas(model), Warnings(tuple(model.warnings))]


def text_of(model: Model) -> str:
    """Write all that a model says as it is on a terminal."""
    stream = StringIO()
    print_blocks(_all_of(model), console(stream))
    return stream.getvalue()


def model_page(model: Model) -> Page:
    """Return a model that was just fitted as one page: data, formula, intervals, extrapolation."""
    options = Options(model=model)
    data: tuple[Any, ...] = (model.samples,)
    pictures = (
        Picture(
            "fit",
            "Measured times and the formula",
            "The band is the 95 % interval of a measured time.",
            data,
            options,
        ),
        Picture(
            "deviation", "Deviations of the formula", "By value of each variable.", data, options
        ),
    )
    first, *others = brief(model)
    sections = (
        Section("Formula", (first, *others, pictures[0])),
        Section("Deviations", pictures[1:]),
        Section("Coefficients, families and deviations", tuple(blocks(model))),
    )
    files = tuple(printable(Path(str(one["path"])).name, 80) for one in model.made_from[:4])
    return Page(f"Model: {printable(model.family, 60)}", ("model",), files, None, sections)


def fitted(run: Run, family: str, picture: Picture, without: Picture | None = None) -> list[Block]:
    """Fit a formula to the times of a run and say what it means; or why there is none.

    Parameters
    ----------
    run
        Holds the times.
    family
        Family of models, or ``auto`` for the one that predicts best.
    picture
        The times and the formula; the fitted model is added to its options.
    without
        What is drawn if no formula can be fitted.
    """
    try:
        model = models.fit(models.of_run(run), family)
    except InputError as error:  # for example too few points, or times of 0 in a coarse clock
        why = error.what.removeprefix(NO_FAMILY)
        bare = [without] if without is not None else []
        return [Sentence(f"No formula could be fitted: {why}."), *bare]
    options = replace(picture.options, model=model)
    return [
        *(_costs(model) or _formulas(model)),
        _quality(model),
        Sentence("`isochrone fit` shows intervals, cross-validation and other families."),
        structs.replace(picture, options=options),
    ]


def predicted_by(*models: Model) -> Sentence:
    """Say what a prediction rests on: ``Model: tree, fitted to simulated times``."""
    first, several = models[0], len(models) > 1
    text = f"Model: {printable(first.family, 40)}"
    if several:
        text = f"{len(models)} models"
    elif first.family == "several":
        text = "Model: several families"
    origin = origin_of(models) if several else first.origin
    if origin:
        return Sentence(f"{text}, fitted to {with_noun(printable(origin, 60))}")
    if first.source and not several:
        return Sentence(f"{text}, from {printable(first.source, 400)}")
    whose = "the times of some" if several else "its times"
    return Sentence(f"{text}; where {whose} come from is not recorded")


def origin_of(models: Sequence[Model]) -> str:
    """Return where the times of models come from; empty if one does not say."""
    origins = [model.origin for model in models]
    return together(origins) if all(origins) else ""


# --- formulas -------------------------------------------------------------------------------------


def _table(model: Model) -> Table:
    """Tabulate the segments: where each holds, how it was validated, and its formula."""
    rows = []
    for k, (segment, heading) in enumerate(model.headed, 1):
        errors = ("-" if e is None else format_error(e) for e in (segment.left_out, segment.tried))
        rows.append(
            Row((str(k), heading, str(segment.points or ""), *errors, f"t = {formula(segment)}"))
        )
    columns = columns_of(">segment", "holds for", ">points", ">left out", ">largest p", "formula")
    return Table(
        "Formulas with their errors in cross-validation and at the largest numbers of ranks, "
        "predicted from fewer",
        columns,
        tuple(rows),
    )


def _formulas(model: Model, *, coefficients: bool = False) -> Iterator[Block]:
    """Yield the formula of each segment, with the intervals of its coefficients if wanted."""
    several = len(model.segments) > 1
    for k, (segment, heading) in enumerate(model.headed, 1):
        name = ", ".join(filter(None, (f"{k}" if several else "", heading)))
        yield Sentence(f"t = {formula(segment)}", "strong", name)
        if coefficients:
            columns = columns_of("coefficient", "of", ">value", "unit", "95 % interval")
            numbers = zip(
                segment.symbols,
                segment.terms,
                segment.coefficients,
                segment.low or [],
                segment.high or [],
                strict=True,
            )
            yield Table(
                "",
                tuple(columns),
                tuple(
                    Row((symbol, term, f"{value:.5g}", unit(term), f"[{low:.5g}, {high:.5g}]"))
                    for symbol, term, value, low, high in numbers
                ),
            )
            if segment.r2 is not None:
                yield Sentence(f"R² {segment.r2:.6f} at {segment.points} points")


def _switches(model: Model) -> Iterator[Block]:
    """Yield where segments change: a gap between measured values, and a guess within."""
    sentences = [
        Sentence(str(switch), about=", ".join(filter(None, (selected(where), switch.name))))
        for where, segments in _kinds(model)
        for switch in switches(segments)
    ]
    if sentences:
        yield Listing("The formula switches", tuple(sentences))


def _trials(model: Model) -> Iterator[Block]:
    """Yield what extrapolation was worth where it could be tried on what was measured."""
    for where, segments in _kinds(model):
        backtests = [backtest for backtest in model.backtests if backtest.where == where]
        ranks = recorded(segments, "p")
        if backtests:
            yield Sentence(missed(backtests)[0])
        elif ranks and ranks[0] < ranks[1]:
            yield Sentence(untried(ranks[1]), about=selected(where))
        yield from (
            Sentence(_weights(measured), about=selected(where))
            for measured in model.neighbours
            if measured.where == where and not measured.trusted
        )


def _weights(measured: Neighbours) -> str:
    """Say what a prediction is made of where the formula is not right."""
    beyond = {0.0: "the formula", 1.0: "power laws"}.get(
        measured.power_law, "the average of the formula and power laws"
    )
    return (
        "the formula fits the measured times too poorly, so predictions follow these times, and "
        f"{beyond} beyond p = {measured.p[-1]:g}"
    )


def _costs(model: Model) -> list[Block]:
    """Say for each segment what each kind of message costs; nothing if the terms are others."""
    if not any(
        term in segment.terms for segment in model.segments for term in _COSTS if term != "1"
    ):
        return []
    sentences = []
    for where, segments in _kinds(model):
        names = [printable(where.get("order", "any order"), 20)]
        if isinstance(size := where.get("bytes"), int):
            names.append(format_bytes(size))
        names += [
            f"{where[key]} {noun}" for key, noun in NUMBERED.items() if where.get(key, 1) != 1
        ]
        for segment, range_text in zip(segments, ranges(segments), strict=True):
            costs, times = [], []
            for term, (purpose, factor) in _COSTS.items():
                if term not in segment.terms:
                    continue
                position = segment.terms.index(term)
                time = format_seconds(factor * segment.coefficients[position])
                times.append(time)
                interval = ""
                if segment.low is not None and segment.high is not None:
                    low, high = factor * segment.low[position], factor * segment.high[position]
                    interval = f" ({format_seconds(low)} to {format_seconds(high)})"
                    if low <= 0 <= high:
                        interval = " (not significantly different from zero)"
                costs.append(f"{time} {purpose}{interval}")
            sentences.append(
                Sentence(
                    f"an exchange takes {', '.join(costs)}.",
                    about=", ".join(filter(None, (*names, range_text))),
                    stress=tuple(times),
                )
            )
    omitted = len(sentences) - MAX_COSTS
    left_out = (
        [Sentence(f"{plural(omitted, 'more formula')} are not listed.")] if omitted > 0 else []
    )
    return [*sentences[:MAX_COSTS], Sentence("In parentheses are 95 % intervals."), *left_out]


def _kinds(model: Model) -> list[tuple[dict[str, Selector], list[Segment]]]:
    """Return what the formulas are for, each once, with its segments."""
    selections = []
    for segment in model.segments:
        if segment.where not in selections:
            selections.append(segment.where)
    return [
        (where, [segment for segment in model.segments if segment.where == where])
        for where in selections
    ]


# --- how well they fit ----------------------------------------------------------------------------


def _quality(model: Model) -> Sentence:
    deviation = model.quality["deviation"]
    several = len(model.segments) > len(_kinds(model))
    segments = ", several segments" if several else ""
    return Sentence(
        f"Family {model.family}{segments}: deviation {format_error(deviation['median'])} in "
        f"the median, {format_error(deviation['maximum'])} at most; R² {model.quality['r2']:.6f}."
    )


def _deviations(quality: dict[str, Any], observed: str) -> Table:
    """Tabulate how far the formula is from the times it was fitted to, in all and by group."""
    deviations = {"at the fitted points": quality["deviation"]}
    for name, deviation in quality["held_out"].items():
        label = "leave-one-out" if name == "point" else f"leave-one-group-out by {name}"
        deviations[label] = deviation
    left_out = []
    for name, group in quality["groups"].items():
        listed = list(group.items())
        if len(listed) > MAX_DEVIATION_ROWS:
            left_out.append(
                f"the worst {MAX_DEVIATION_ROWS} of {len(listed)} values of {name} are listed"
            )
            listed = sorted(listed, key=lambda row: -row[1]["median"])[:MAX_DEVIATION_ROWS]
        for value, deviation in listed:
            text = number(name, float(value)) if name in VARIABLES else printable(value, 30)
            deviations[f"{name} = {text}"] = deviation
    titles = ("minimum", "median", "maximum")
    rows = (
        Row((label, *(format_error(errors[key]) for key in titles)))
        for label, errors in deviations.items()
    )
    columns = columns_of("", *(f">{title}" for title in titles))
    return Table(
        f"|predicted - {observed}| / the smaller of both", columns, tuple(rows), "; ".join(left_out)
    )


def _ranking(entry: dict[str, Any]) -> Iterator[Block]:
    """Yield the families that were tried, the best first, and those that could not be fitted."""
    selectors = ", ".join(f"{key} {value}" for key, value in entry["where"].items())
    rows, failed = [], []
    for k, row in enumerate(entry["families"]):
        if row["held_out"] is None:
            failed.append(Sentence(row["reason"], about=row["family"]))
            continue
        rows.append(
            Row(
                (
                    row["family"],
                    format_error(row["held_out"]),
                    "–" if row["sicc"] is None else f"{row['sicc']:.1f}",
                    str(row["coefficients"]),
                    str(row["pieces"]),
                    "<- taken" if k == 0 else "",
                )
            )
        )
    columns = columns_of("family", ">error", ">SICc", ">coefficients", ">segments", "")
    yield Table(
        f"Families by cross-validation error{', ' if selectors else ''}{selectors}",
        columns,
        tuple(rows),
    )
    if failed:
        yield Listing("Not fitted", tuple(failed))
