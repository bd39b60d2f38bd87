"""Records of a run file as structs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.runfile.columns import numbers, seconds, texts
from isochrone.runfile.run import Run

Reader = Callable[[Table, str, str, str], Any]


def records(run: Run, name: str, kind: Any, **readers: Reader) -> list[Any]:
    """Return the records of a name, each as a struct whose members are their keys.

    Members that are ``int`` are whole numbers from 0, those that are ``float`` times, unless there
    is another reader for them; ``source`` is the key ``from``.

    Raises
    ------
    InputError
        If a record lacks a key, or it is something else.
    """
    table = run.tables.get(name)
    if table is None or not len(table):
        return []
    known = {"int": numbers, "float": _times, "str": texts} | readers
    columns = []
    for member in fields(kind):
        read = known.get(member.name) or known[str(member.type)]
        key = "from" if member.name == "source" else member.name
        columns.append(np.asarray(read(table, key, run.where, name)).tolist())
    return [kind(*row) for row in zip(*columns, strict=True)]


def _times(table: Table, key: str, where: str, record: str) -> Any:
    values = seconds(table, key, where, record)
    if np.isnan(values).any():
        raise InputError(f"a '{record}' record without '{key}'", where=where)
    return values
