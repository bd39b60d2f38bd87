"""``compare RUN --with-prediction``: emulated applications against what models say of them."""

import argparse
import math

import msgspec

from isochrone import models
from isochrone.applications.predict.application_accuracy import Accuracy, accuracy
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_seconds
from isochrone.console.as_json import print_json
from isochrone.console.input import read, tell_partial
from isochrone.models.pages.model import predicted_by
from isochrone.pages.page import Row, Sentence, Table, Warnings, columns_of
from isochrone.pages.terminal import print_blocks


class Predicted(msgspec.Struct):
    """Emulated applications against what models predict."""

    compared: list[Accuracy]
    origin: str | None
    warnings: list[str]


def compare_with_prediction(args: argparse.Namespace) -> int:
    """Print measured and predicted times, in total and by phase, and how far they are apart.

    Raises
    ------
    InputError
        If a model is missing, B is given, or the run is of no applications.
    """
    if args.after or args.measure or args.fail_on:
        raise InputError(
            "--with-prediction compares a single run with models",
            where="--with-prediction",
            hint="isochrone compare RUN --with-prediction --model FILE",
        )
    if not args.model:
        raise InputError("no model is given", where="--with-prediction", hint="give --model FILE …")
    run = read(args.before)
    if not run.complete:
        tell_partial(run.where)
    fitted = [models.read(path) for path in args.model]
    rows, warnings = accuracy(run, fitted)
    if args.json:
        print_json(Predicted(rows, run.origin or None, warnings))
        return 0
    columns = columns_of(
        "application",
        f">{run.origin or 'measured'}",
        ">predicted",
        ">predicted is",
        ">95 % interval of prediction",
    )
    cells = []
    for row in rows:
        name = f"  {printable(row.phase, 40)}" if row.phase else printable(row.app, 40)
        away = "" if math.isnan(row.away) else f"{100 * row.away:+.1f} %"
        forecast = row.predicted
        ends = f"{format_seconds(forecast.low)} to {format_seconds(forecast.high)}"
        cells.append(
            Row(
                (
                    name,
                    format_seconds(row.measured.median, 4),
                    format_seconds(forecast.seconds, 4),
                    away,
                    ends if row.held else f"{ends}: missed",
                ),
                "" if row.phase else "strong",
            )
        )
    print_blocks(
        [
            predicted_by(*fitted),
            Sentence(
                "Time of applications alone (all iterations) and of their phases (one iteration)"
            ),
            Table("", columns, tuple(cells)),
            Warnings(tuple(warnings)),
        ]
    )
    return 0
