"""Predict the time of a collective operation, or of a message."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.cli.options import values_of
from isochrone.models.terms import VARIABLES
from isochrone.pages.model import predicted_by

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``isochrone predict collective``."""
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FILE",
        help="model file, from isochrone fit -o or examples/models",
    )  # fmt: skip
    parser.add_argument("--op", help="operation, such as bcast, if the model holds several")
    parser.add_argument(
        "--ranks", type=values_of("ranks"), metavar="LIST",
        help="numbers of ranks: 8 or 4,8,16 or START:STOP:STEP or START:STOP:xFACTOR",
    )  # fmt: skip
    parser.add_argument(
        "--bytes", type=values_of("bytes"), required=True, metavar="LIST",
        help="bytes of the block of one rank: 64KiB or a list as for --ranks",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="one JSON document, for scripts")


def run(args: argparse.Namespace) -> int:
    """Predict all combinations of ranks and bytes."""
    model = models.read(args.model)
    _check(model, args)
    ranks = args.ranks or [None]
    points = [(p, b) for p in ranks for b in args.bytes]
    variables = {"b": [b for _, b in points]}
    if args.ranks:
        variables["p"] = [p for p, _ in points]
    found = model.predict(variables, {"op": args.op} if args.op else {})
    op = args.op or next(iter(model.selectors.get("op", [])), None)
    times = (found.seconds.tolist(), found.low.tolist(), found.high.tolist())
    rows = [
        {"op": op, "ranks": p, "bytes": b, "seconds": t, "low": _known(low), "high": _known(high)}
        for (p, b), t, low, high in zip(points, *times, strict=True)
    ]
    if args.json:
        origin = model.origin or None
        print(json.dumps({"predictions": rows, "origin": origin, "warnings": found.warnings}))
        return 0
    print(predicted_by(model).text)
    for row in rows:
        print(_line(row))
    for warning in found.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    return 0


def _check(model: Any, args: argparse.Namespace) -> None:
    other = [name for name in model.variables if name not in ("b", "p")]
    if other:
        raise InputError(
            f"no model of a collective: it needs {', '.join(VARIABLES[name] for name in other)}",
            where=str(args.model),
        )
    if "p" in model.variables and not args.ranks:
        raise InputError("the model needs a number of ranks", hint="give --ranks")


def _known(value: float) -> float | None:
    return value if value == value else None


def _line(row: dict[str, Any]) -> str:
    words = [printable(row["op"])] if row["op"] else []
    words += [f"{row['ranks']:>6} ranks"] if row["ranks"] else []
    interval = "95 % interval not known"
    if row["low"] is not None:
        interval = f"95 %: {format_seconds(row['low'])} to {format_seconds(row['high'])}"
    words += [f"{format_bytes(row['bytes']):>10}", f"{format_seconds(row['seconds'], 4):>10}"]
    return "  ".join([*words, interval])
