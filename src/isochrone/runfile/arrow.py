"""Columns of a run as a table of Apache Arrow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from isochrone.base.arrays import Array
from isochrone.base.errors import InputError
from isochrone.base.text import printable

if TYPE_CHECKING:
    from pyarrow import Table


def arrow_table(columns: Mapping[str, Array], header: Mapping[str, object], where: str) -> Table:
    """Return columns as a table, with the header of their run in the metadata ``isochrone``.

    Raises
    ------
    InputError
        If pyarrow is not installed, or the values of a column are of no one type.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise InputError(
            "this format needs the package pyarrow",
            hint="try: pip install pyarrow",
        ) from error
    lists = {name: [_value(cell) for cell in columns[name].tolist()] for name in columns}
    about = json.dumps(header, ensure_ascii=True, default=str).encode()
    try:
        return pyarrow.table(lists).replace_schema_metadata({"isochrone": about})
    except (pyarrow.ArrowException, OverflowError) as error:
        reason = printable(str(error).partition("\n")[0])
        raise InputError(
            f"a column cannot hold both text and numbers: {reason}", where=where
        ) from error


def _value(value: object) -> object:
    """Return a value as Arrow has it: what is not known is null, and texts are Unicode."""
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, str):  # half a surrogate pair cannot be saved
        return value.encode("utf-8", "replace").decode()
    return value
