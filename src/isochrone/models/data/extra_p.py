"""Measurements in the text and JSON-lines formats of Extra-P, as rows of a table.

A text file has lines ``PARAMETER`` (names), ``POINTS`` (their values), ``REGION``, ``METRIC`` and,
for each point in turn, ``DATA`` (repetitions). A line of JSON has ``params``, ``value`` and perhaps
``metric`` and ``callpath``. A region is an operation.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from isochrone.base.errors import InputError
from isochrone.base.table_text import TextTable
from isochrone.base.text import printable
from isochrone.models.data.columns import Columns

_UNNAMED = "time"
"""The metric of files that name none."""


@dataclass(frozen=True)
class _Data:
    line: int
    point: dict[str, str]
    region: str
    metric: str
    values: Sequence[str]


class _Record(msgspec.Struct):
    params: dict[str, float]
    value: float | list[float]
    metric: str = _UNNAMED
    callpath: str = ""


def rows_of(text: str, where: str, columns: Columns) -> TextTable:
    """Return a row for each time in a file of Extra-P.

    Parameters
    ----------
    text
        All of the file.
    where
        Names it in errors.
    columns
        What parameters and metrics are.

    Raises
    ------
    InputError
        If it is not of these formats, has no metric that is a time, or lacks a parameter somewhere.
    """
    records = _json_records if text.lstrip()[:1] == "{" else _text_records
    data = [*records(text, where)]
    parameters = [*dict.fromkeys(name for record in data for name in record.point)]
    metrics = [*dict.fromkeys(record.metric for record in data)]
    names = [*parameters, *metrics]
    variables = columns.completed(names, where).renamed(names, where)
    times = [name for name, variable in zip(names, variables, strict=True) if variable == "seconds"]
    if not times:
        listed = ", ".join(f"'{printable(name, 40)}'" for name in metrics)
        raise InputError(
            f"no metric is a time: {listed}" if metrics else "the file has no measurements",
            where=where,
            hint="name one: --map-columns METRIC=seconds:us" * bool(metrics),
        )
    named = any(record.region for record in data)
    rows = [
        (record.line, [*_point(record, parameters, where), *[record.region] * named, value])
        for record in data
        if record.metric == times[0]
        for value in record.values
    ]
    return TextTable([*parameters, *["op"] * named, times[0]], ",", iter(rows))


def _point(data: _Data, parameters: Sequence[str], where: str) -> list[str]:
    for name in parameters:
        if name not in data.point:
            problem = f"the measurement has no '{printable(name, 40)}'"
            raise InputError(problem, where=f"{where}:{data.line}")
    return [data.point[name] for name in parameters]


def _json_records(text: str, where: str) -> Iterator[_Data]:
    decode = msgspec.json.Decoder(_Record).decode
    for line_number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = decode(line)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            problem = f"the line is no measurement of Extra-P: {printable(error, 100)}"
            raise InputError(problem, where=f"{where}:{line_number}") from error
        point = {name: repr(value) for name, value in record.params.items()}
        values = record.value if isinstance(record.value, list) else [record.value]
        yield _Data(line_number, point, record.callpath, record.metric, [*map(repr, values)])


def _text_records(text: str, where: str) -> Iterator[_Data]:
    parameters: list[str] = []
    points: list[dict[str, str]] = []
    region, metric, done, line_number = "", _UNNAMED, 0, 0

    def check_complete() -> None:
        if done not in (0, len(points)):
            problem = f"only {done} of {len(points)} points have a line DATA"
            raise InputError(problem, where=f"{where}:{line_number}")

    for line_number, line in enumerate(text.splitlines(), start=1):
        tag, *fields = line.split() or ["#"]
        if tag.startswith("#"):
            continue
        if tag == "PARAMETER":
            parameters += fields
        elif tag == "POINTS" and parameters:
            points += _points(fields, parameters, f"{where}:{line_number}")
        elif tag in ("REGION", "METRIC"):
            check_complete()
            done, name = 0, " ".join(fields)
            region, metric = (name, metric) if tag == "REGION" else (region, name)
        elif tag == "DATA" and done < len(points):
            yield _Data(line_number, points[done], region, metric, fields)
            done += 1
        else:
            raise InputError(
                f"'{printable(line.strip(), 40)}' is not expected here in a file of Extra-P",
                where=f"{where}:{line_number}",
                hint="lines are PARAMETER, POINTS, REGION, METRIC, and DATA, one for each point",
            )
    check_complete()


def _points(fields: Sequence[str], names: Sequence[str], where: str) -> list[dict[str, str]]:
    """Return the parameters of each point; brackets around their values say nothing more."""
    values = re.findall(r"[^\s()]+", " ".join(fields))
    count = len(names)
    if len(values) % count:
        raise InputError(f"{len(values)} values are not points of {count} parameters", where=where)
    return [
        dict(zip(names, values[k : k + count], strict=True)) for k in range(0, len(values), count)
    ]
