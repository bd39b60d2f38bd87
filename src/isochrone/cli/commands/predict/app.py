"""Predict the time of an application from its description.

SPEC describes the phases of an application and the times of its computation. Models give the times
of its messages and collectives. If a model is missing, the command says what to measure. Each
application is predicted alone, without slowdown by others.
"""

import argparse
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from isochrone import models
from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import read
from isochrone.applications.description.sweeps import settings
from isochrone.applications.predict.applications import Prediction, predict
from isochrone.base.documents import MaybeNan
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.collectives.predicted_grids import Machine
from isochrone.console.as_json import add_json
from isochrone.console.decision_page import VERDICT, add_page, check_page_file, tell_decision
from isochrone.console.options import (
    add_models,
    add_option,
    add_placement,
    read_count,
    read_setting,
)
from isochrone.models import Model
from isochrone.models.pages.model import origin_of, predicted_by, sections_of
from isochrone.pages.page import Block, Row, Section, Table, Warnings, columns_of

EXAMPLES = (
    (
        "how long does it take on 64 ranks?",
        "isochrone predict app jacobi.yaml --model messages.json allgather.json -n 64",
    ),
    (
        "on several numbers of ranks, for two sizes",
        "isochrone predict app jacobi.yaml --model m.json --set n=1024,2048 --set p=16:128:x2",
    ),
)

Settings = Mapping[str, str]

Points = Sequence[tuple[Settings, Sequence[Prediction]]]
"""Settings of the parameters, and what was predicted for them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict app``."""
    add_option(
        parser, "spec", "SPEC", Path, "file that describes the applications (YAML, JSON or TOML)"
    )
    add_models(parser, required=True)
    add_option(
        parser,
        "--set",
        "NAME=VALUES",
        read_setting,
        "values of a parameter of SPEC (n=1024,2048), or numbers of ranks (p=16,32); all "
        "combinations are predicted",
        action="append",
        default=[],
        dest="settings",
    )
    add_option(parser, "-n --ranks", "N", read_count, "number of ranks (default: as SPEC says)")
    add_option(parser, "--ppn", "N", read_count, "ranks on each node (default: as measured)")
    add_placement(parser)
    add_page(parser, "the times, their intervals, and the models")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of the settings, and print them."""
    check_page_file(args, [args.spec, *args.model])
    fitted_models = [models.read(path) for path in args.model]
    # the ranks on a full node in the data of models, as far as they say so
    full = max((int(m.constant.get("ppn", 0)) or m.full_node for m in fitted_models), default=0)
    ppn = args.ppn or full
    points = []
    for chosen in settings(args.settings):
        job_program = program(read(args.spec, chosen), args.ranks)
        if args.ranks not in (None, job_program.ranks):
            raise InputError(f"the description is for {job_program.ranks} ranks", where="-n")
        machine = Machine(-(-job_program.ranks // ppn) if ppn else 0, ppn, args.placement)
        points.append((chosen, predict(job_program, fitted_models, machine)))
    document = _document(points, fitted_models)
    sections = [
        Section(VERDICT, tuple(_blocks(points, fitted_models))),
        *sections_of(fitted_models),
    ]
    names = [printable(path.name, 60) for path in args.model]
    tell_decision(args, document, f"Predicted time of {args.spec.name}", sections, *names)
    return 0


_Per = Literal["run", "iteration"]


class _Time(Struct):
    op: str
    phase: str | None
    ranks: int
    bytes: None
    per: _Per
    iterations: int
    settings: Settings
    seconds: float
    low: MaybeNan
    high: MaybeNan


class _Predicted(Struct):
    """Predicted times of described applications; without a phase: of all of it."""

    predictions: list[_Time]
    origin: str | None
    warnings: list[str]


DOCUMENTS = {"predict-app": _Predicted}


def _document(points: Points, fitted_models: Sequence[Model]) -> _Predicted:
    rows = [
        _Time(
            total.app,
            phase,
            total.ranks,
            None,
            per,
            total.iterations,
            chosen,
            timed.seconds,
            timed.low,
            timed.high,
        )
        for chosen, predictions in points
        for total in predictions
        for timed, phase, per in _parts(total)
    ]
    return _Predicted(rows, origin_of(fitted_models) or None, _warnings(points))


def _parts(total: Prediction) -> list[tuple[Any, str | None, _Per]]:
    """Return the whole run, and each phase in an iteration of it."""
    return [(total, None, "run"), *((phase, phase.phase, "iteration") for phase in total.phases)]


def _warnings(points: Points) -> list[str]:
    texts = [text for _, predictions in points for total in predictions for text in total.warnings]
    if any(len(predictions) > 1 for _, predictions in points):
        texts.append("each application is predicted alone: how they slow each other down is not")
    return list(dict.fromkeys(texts))


def _blocks(points: Points, fitted_models: Sequence[Model]) -> list[Block]:
    """Say what was predicted: a line for each application, and one for each phase of it."""
    names = list(points[0][0])
    rows = []
    for chosen, predictions in points:
        values = tuple(printable(chosen[name], 20) for name in names)
        for total in predictions:
            app = printable(total.app, 40), str(total.ranks)
            rows.append(Row((*values, *app, *_cells(total, total.iterations, 1)), "strong"))
            rows += [
                Row(
                    (
                        *("" for _ in names),
                        f"  {printable(phase.phase, 40)}",
                        "",
                        *_cells(phase, 1, total.iterations),
                    )
                )
                for phase in total.phases
            ]
    columns = columns_of(
        *(f">{printable(name, 20)}" for name in names),
        "application",
        ">ranks",
        ">per iteration",
        ">total",
        ">95 % interval of total",
    )
    return [
        predicted_by(*fitted_models),
        Table("", columns, tuple(rows)),
        Warnings(tuple(_warnings(points))),
    ]


def _cells(timed: Any, iterations: int, times: int) -> tuple[str, ...]:
    """Write the seconds of one of so many iterations, and of so many times all of them."""
    low, high = timed.low * times, timed.high * times
    has_interval = not (isnan(low) or isnan(high))
    return (
        format_seconds(timed.seconds / iterations, 4),
        format_seconds(timed.seconds * times, 4),
        f"{format_seconds(low)} to {format_seconds(high)}" if has_interval else "not known",
    )
