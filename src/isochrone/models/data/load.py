"""Samples from whatever a user has: runs, run files, CSV files, data frames, columns or rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.files import sha256, written_name
from isochrone.base.text import printable
from isochrone.models.data.columns import AS_NAMED, Columns
from isochrone.models.data.extension import kept
from isochrone.models.data.observations import Samples, of_run
from isochrone.models.data.placement import CG, GROUP, PLACES
from isochrone.models.data.tables import (
    Frame,
    is_frame,
    of_rows,
    of_table,
    read_csv,
)
from isochrone.models.data.terms import VARIABLES, Selector, stacked
from isochrone.runfile.file import read as read_run
from isochrone.runfile.file_type import looks_like_a_run
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run

_Part = Run | Samples | str | Path | Frame | Mapping[str, Any]
Measured = _Part | Iterable[_Part]


def load(paths: Sequence[str | Path]) -> Samples:
    """Read run files and CSV files of measured times.

    Raises
    ------
    InputError
        If one cannot be read, or they do not belong together.
    """
    return joined([samples_in(path) for path in paths])


def load_usable(
    inputs: Sequence[Run | Samples], **only: Selector | None
) -> tuple[Samples, list[InputError]]:
    """Return the samples that selectors mean of those runs and tables that hold some.

    Parameters
    ----------
    inputs
        What was read from each file.
    only
        The selectors.

    Returns
    -------
    tuple
        The samples, and why a file was left out, one error each.

    Raises
    ------
    InputError
        If a table has none, all are left out, or the others do not belong together.
    """
    usable, left_out = [], []
    for item in inputs:
        try:
            usable.append(samples_in(item).only(**only))
        except InputError as error:
            where = item.where if isinstance(item, Run) else ""
            left_out.append(InputError(error.what, where=error.where or where))
            if not isinstance(item, Run) or len(inputs) == 1:
                raise
    if not usable:
        raise InputError(f"none of the {len(left_out)} files can be fitted", hint=str(left_out[0]))
    return joined(usable), left_out


def samples_of(measured: Measured) -> Samples:
    """Return the samples of one or several of what can be fitted, or of rows.

    Raises
    ------
    InputError
        If there are none, one cannot be read, or they do not belong together.
    """
    if (
        isinstance(measured, str | Mapping)
        or is_frame(measured)
        or not isinstance(measured, Iterable)
    ):
        return samples_in(measured)
    items = list(measured)
    if not items:
        raise InputError("no data to fit are given")
    if all(isinstance(item, Mapping) and not any(map(np.ndim, item.values())) for item in items):
        return of_rows(items)  # type: ignore[arg-type]  # rows are mappings
    return joined([samples_in(item) for item in items])


def samples_in(item: _Part, schema: Columns = AS_NAMED) -> Samples:
    """Return the samples of one thing, which say of which file they are.

    Raises
    ------
    InputError
        If it cannot be read, or is of no type that can be fitted.
    """
    if isinstance(item, str | Path) and looks_like_a_run(Path(item)):
        item = read_run(Path(item))
    if isinstance(item, Samples):
        return item
    if isinstance(item, Run):
        samples, path = of_run(item), item.path
    elif isinstance(item, str | Path):
        path = Path(item)
        samples = read_csv(path, schema)
    elif isinstance(item, Mapping) or is_frame(item):
        return of_table(item)
    else:
        raise InputError(
            f"data of type '{type(item).__name__}' cannot be fitted",
            hint="give a run, a path, a data frame, columns by name, or rows",
        )
    if path is not None and path.is_file():
        samples.made_from = [{"path": written_name(path), "sha256": sha256(path)}]
    return samples


def joined(parts: Sequence[Samples]) -> Samples:
    """Put several measurements together.

    Raises
    ------
    InputError
        If they are not of the same experiment, or have not the same variables.
    """
    if any(GROUP in part.selectors for part in parts):  # all ranks of a job are a row there
        parts = [
            part
            if GROUP in part.selectors or "op" not in part.selectors
            else replace(
                part,
                selectors={
                    **part.selectors,
                    GROUP: np.full(len(part.seconds), CG, dtype=object),
                },
            )
            for part in parts
        ]
    parts, remarks = _alike_placed(parts)
    first = parts[0]
    for following in parts[1:]:
        if following.experiment != first.experiment:
            raise InputError(
                f"a '{first.experiment}' and a '{following.experiment}' cannot be fitted together",
                hint="choose one; of a log with --test, such as --test osu_latency",
            )
        if following.seconds_are != first.seconds_are:
            raise InputError(
                "times with different definitions cannot be fitted together: "
                f"'{printable(first.seconds_are, 60)}'"
                f" and '{printable(following.seconds_are, 60)}'"
            )
        if following.variables.keys() != first.variables.keys() or (
            following.selectors.keys() != first.selectors.keys()
        ):
            raise InputError("the inputs have different variables")
    starts = np.cumsum([0, *(part.start.max() + 1 for part in parts)])
    names = dict.fromkeys(name for part in parts for name in part.others)
    return Samples(
        stacked([part.variables for part in parts]),
        stacked([part.selectors for part in parts]),
        np.concatenate([part.seconds for part in parts]),
        first.experiment,
        [source for part in parts for source in part.made_from],
        first.seconds_are,
        [path for part in parts for path in part.partial],
        together(part.origin for part in parts),
        np.concatenate([part.start + k for part, k in zip(parts, starts, strict=False)]),
        {
            name: np.concatenate(
                [part.others.get(name, np.full(len(part.seconds), "")) for part in parts]
            )
            for name in names
        },
        [*dict.fromkeys([*remarks, *(remark for part in parts for remark in part.remarks)])],
        {
            key: kept()[key].merged(entry for part in parts for entry in part.kept.get(key, ()))
            for key in sorted({key for part in parts for key in part.kept})
        },
        [*dict.fromkeys(line for part in parts for line in part.read_as)],
    )


def _alike_placed(parts: Sequence[Samples]) -> tuple[list[Samples], list[str]]:
    """Leave out ``nodes`` and ``ppn`` where not all parts know them; say which.

    Nor is it used on how many nodes pairs of ranks were where that differs: they are one formula.
    """
    placement = {name: [p.variables[name] for p in parts if name in p.variables] for name in PLACES}
    lost = [name for name, columns in placement.items() if 0 < len(columns) < len(parts)]
    gone = {*lost}
    of_pairs = all("p" not in part.variables for part in parts)
    if of_pairs and placement["nodes"] and np.ptp(np.concatenate(placement["nodes"])):
        lost, gone = [name for name in lost if name != "nodes"], {*lost, "nodes"}
    alike = [
        replace(part, variables={k: v for k, v in part.variables.items() if k not in gone})
        for part in parts
    ]
    return alike, [
        f"{name}, the {VARIABLES[name]}, is not used: some inputs do not have it" for name in lost
    ]
