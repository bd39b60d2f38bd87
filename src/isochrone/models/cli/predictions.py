"""What the predictions of single operations share: they ask a model for all combinations."""

import sys
from argparse import ArgumentParser, Namespace, _ActionsContainer
from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from isochrone import models
from isochrone.base.documents import IfKnown
from isochrone.base.errors import InputError, located
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.console.as_json import add_json
from isochrone.console.decision_page import VERDICT, add_page, check_page_file, tell_decision
from isochrone.console.options import values_of
from isochrone.models import Model
from isochrone.models.data.extension import added
from isochrone.models.data.placement import CG, GROUP, PLACES
from isochrone.models.data.terms import VARIABLES
from isochrone.models.formulas.segment import owners
from isochrone.models.formulas.text import headings
from isochrone.models.pages.model import predicted_by, sections_of
from isochrone.models.prediction.questions import (
    WORDS,
    Subject,
    check_places,
    completed,
    needed,
    not_held,
    recorded,
    subject,
)
from isochrone.pages.page import Row, Section, Sentence, Table, columns_of

_OPTIONS = {"p": "ranks", "nodes": "nodes", "ppn": "ppn", "w": "window", "b": "bytes"}
"""Variables and the options that ask for them, in the order of a row."""

_ASKS = {
    "collective": "isochrone predict collective",
    "message": "isochrone predict message",
    **{extension.subject: extension.command for extension in added()},
}


class _Time:
    op: IfKnown[str]
    mode: IfKnown[str]
    ranks: IfKnown[int]
    nodes: IfKnown[int]
    ppn: IfKnown[int]
    window: IfKnown[int]
    bytes: int | None
    seconds: float
    low: float | None
    high: float | None


class Predicted(msgspec.Struct):
    """Predicted times of messages or collective operations, each with its 95 % interval."""

    predictions: Annotated[list[Any], list[_Time]]
    origin: str | None
    warnings: list[str]


def add_model(parser: ArgumentParser) -> None:
    """Add ``--model``, ``--page`` and ``--json``."""
    parser.add_argument(
        "--model",
        type=Path,
        required=True,
        metavar="FILE",
        help="model file (from fit -o, or in examples/models)",
    )
    add_page(parser, "the times, and the model with its intervals and tests")
    add_json(parser)


def add_values(parser: _ActionsContainer, **helps: str) -> None:
    """Add options that take lists of values, with their help: ``ranks``, ``bytes``, ``window``."""
    for name, text in helps.items():
        kind = "bytes" if name == "bytes" else "ranks"
        parser.add_argument(f"--{name}", type=values_of(kind), metavar="LIST", help=text)


def answer(args: Namespace, expected: Subject, selector: str) -> int:
    """Predict all combinations of the values asked for, and print them.

    Parameters
    ----------
    args
        With ``model``, ``json``, the lists of values, and what ``selector`` is to be.
    expected
        What the model has to be of.
    selector
        Name of what keeps formulas apart: ``op`` or ``mode``.

    Raises
    ------
    InputError
        If the model is of something else, lacks what is asked for, or gives no time at all.
    """
    check_page_file(args, [args.model])
    model = models.read(args.model)
    requested = {
        name: values
        for name, option in _OPTIONS.items()
        if (values := getattr(args, option, None)) is not None
    }
    full_node = model.full_node if set(PLACES) & set(model.variables) else 0
    every = np.array(list(product(*requested.values()))).T
    points = completed(dict(zip(requested, every, strict=True)), model.constant, full_node)
    columns = np.broadcast_arrays(*points.values())
    question = {name: column.astype(int) for name, column in zip(points, columns, strict=True)}
    chosen = getattr(args, selector)
    where = {} if chosen is None else {selector: chosen}
    if CG in model.selectors.get(GROUP, []):
        where[GROUP] = CG  # all ranks of a job are one row
    check_subject(model, expected, str(args.model))
    always = [
        name for name in _OPTIONS if all(name in needed([segment]) for segment in model.segments)
    ]
    _complete(always, question)
    segments = model.chosen(where)
    _complete(needed(segments), question)
    with located(str(args.model)):
        not_held(segments, question, strict=True)
    doubtful = check_places(segments, model.constant, requested)
    predicted = model.predict(question, where)
    first = next(iter(model.selectors.get(selector, [])), None)
    options = {
        name: option
        for name, option in _OPTIONS.items()
        if hasattr(args, option) and (name not in PLACES or name in question)
    }
    common = {  # what all the data had in common
        name: int(ends[0])
        for name in options
        if (ends := recorded(segments, name)) and ends[0] == ends[1]
    }
    rows: list[dict[str, Any]] = [
        {
            selector: first if chosen is None else chosen,
            **{
                option: int(question[name][k]) if name in question else common.get(name)
                for name, option in options.items()
            },
            "seconds": float(predicted.seconds[k]),
            "low": float(predicted.low[k]),
            "high": float(predicted.high[k]),
        }
        for k in np.flatnonzero(~np.isnan(predicted.seconds))
    ]
    if not rows:
        raise InputError(f"no prediction is possible: {predicted.warnings[0]}", where=args.model)
    warnings = [*predicted.warnings, *doubtful]
    follows = predicted.seconds == predicted.by_formula  # and not the measured times
    names = np.array(headings(segments))[owners(segments, question)[follows]]
    formulas = dict.fromkeys(names) if len(segments) > 1 else {}
    sections = [
        Section(
            VERDICT,
            (
                predicted_by(model),
                *(Sentence(_line(row), only="terminal") for row in rows),
                _table(rows),
                *(Sentence(f"By the formula for {text}") for text in formulas),
            ),
        ),
        *sections_of([model], warnings),
    ]
    document = Predicted(rows, model.origin or None, warnings)
    tell_decision(args, document, f"Predicted time of a {expected}", sections, args.model.name)
    if not args.json:
        for warning in warnings:
            print(f"Warning: {printable(warning, 500)}", file=sys.stderr)
    return 0


def _line(row: Mapping[str, Any]) -> str:
    """Write a predicted time as a line of a terminal."""
    name = row.get("op", row.get("mode"))
    cells = [printable(name)] if name else []
    if row.get("ranks") is not None:
        cells.append(f"{row['ranks']:>6} ranks")
    if row.get("nodes") is not None and row.get("ppn") is not None:
        cells.append(f"{row['nodes']:>4} nodes x {row['ppn']}")
    if row.get("window") is not None:
        cells.append(f"window {row['window']:>4}")
    if row["bytes"] is not None:
        cells.append(f"{format_bytes(row['bytes']):>10}")
    time, interval = _time(row)
    cells.append(f"{time:>10}")
    return "  ".join([*cells, interval if isnan(row["low"]) else f"95 %: {interval}"])


def _time(row: Mapping[str, Any]) -> tuple[str, str]:
    """Write the time with the digits that its interval supports, and the interval."""
    digits = 2 if row["high"] > 2 * row["low"] else 3
    rounded = float(f"{row['seconds']:.{digits}g}")
    interval = "95 % interval not known"
    if not isnan(row["low"]):
        interval = f"{format_seconds(row['low'])} to {format_seconds(row['high'])}"
    return format_seconds(rounded, digits), interval


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate predicted times for a page."""
    names = [
        name
        for name in rows[0]
        if name not in ("seconds", "low", "high") and any(row[name] is not None for row in rows)
    ]
    cells = (
        Row(
            (
                *(
                    format_bytes(row[name]) if name == "bytes" else printable(row[name], 40)
                    for name in names
                ),
                *_time(row),
            )
        )
        for row in rows
    )
    titles = [name if name in ("op", "mode") else f">{name}" for name in names]
    columns = columns_of(*titles, ">time", ">95 % interval")
    return Table("predicted times", columns, tuple(cells), only="report")


def check_subject(model: Model, expected: Subject, path: str) -> None:
    """Refuse a model that is of something else."""
    actual = subject(model.experiment, model.segments)
    if actual != expected:
        of = f" ({printable(model.experiment, 40)})" if model.experiment else ""
        raise InputError(
            f"the model is not of {WORDS[expected]}, but of {WORDS.get(actual, actual)}{of}",
            where=path,
            hint=f"try {_ASKS[actual]}" if actual in _ASKS else "",
        )


def _complete(names: Sequence[str], question: Mapping[str, Any]) -> None:
    """Refuse a question that leaves a variable open."""
    for name in (name for name in names if name not in question):
        hint = f"give --{_OPTIONS[name]}" if name in _OPTIONS else ""
        raise InputError(f"the model needs a {VARIABLES[name]}", hint=hint)
