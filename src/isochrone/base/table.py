"""Columns of samples: what a run file holds between its header and its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Table", "TableBuilder"]

_CHUNK: Final = 8192
"""Records that are held as dicts before they become columns; bounds the memory of a large file."""


class Table:
    """Records of one name as equally long columns.

    A column is an array of ``int64``, ``float64`` (NaN where a record lacks the key), ``bool``, or
    ``object`` for everything else (None where a record lacks the key).
    """

    def __init__(self, columns: dict[str, NDArray[Any]] | None = None) -> None:
        self.columns = columns or {}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __contains__(self, key: str) -> bool:
        return key in self.columns

    def __getitem__(self, key: str) -> NDArray[Any]:
        return self.columns[key]

    def flag(self, key: str) -> NDArray[np.bool_]:
        """Return a column of true and false; a record without the key is false."""
        if key not in self.columns:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.columns[key] == 1, dtype=bool)

    def where(self, keep: NDArray[np.bool_]) -> Table:
        """Return the records that a mask, or a list of their numbers, keeps."""
        return Table({key: column[keep] for key, column in self.columns.items()})

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the records; keys a record lacked are left out again."""
        lists = {key: column.tolist() for key, column in self.columns.items()}
        for row in zip(*lists.values(), strict=True):
            # value == value is false for NaN alone
            yield {k: v for k, v in zip(lists, row, strict=True) if v is not None and v == v}


class TableBuilder:
    """Collects records and turns them into a `Table`, chunk by chunk."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._chunks: list[tuple[int, dict[str, NDArray[Any]]]] = []

    def add(self, record: dict[str, Any]) -> None:
        """Take one record."""
        self.extend([record])

    def extend(self, records: list[dict[str, Any]]) -> None:
        """Take several records."""
        self._records += records
        if len(self._records) >= _CHUNK:
            self._flush()

    def build(self) -> Table:
        """Return all records taken so far as a table."""
        self._flush()
        keys = dict.fromkeys(key for _, chunk in self._chunks for key in chunk)
        return Table({key: self._join(key) for key in keys})

    def _flush(self) -> None:
        if self._records:
            self._chunks.append((len(self._records), _columns(self._records)))
            self._records = []

    def _join(self, key: str) -> NDArray[Any]:
        parts = [
            columns[key] if key in columns else _column([None] * rows)
            for rows, columns in self._chunks
        ]
        kinds = {part.dtype for part in parts}
        if len(kinds) == 1:
            return np.concatenate(parts)
        return _column([value for part in parts for value in part.tolist()])


def _columns(records: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """Turn records into columns; records of a probe nearly always have the same keys."""
    keys = dict.fromkeys(records[0])
    if set(map(len, records)) != {len(keys)} or any(keys.keys() != r.keys() for r in records):
        keys = dict.fromkeys(key for record in records for key in record)
    return {key: _column([record.get(key) for record in records]) for key in keys}


def _column(values: list[Any]) -> NDArray[Any]:
    """Choose the narrowest kind of array that holds all values."""
    kinds = set(map(type, values))
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds & {int, float} and kinds <= {int, float, type(None)}:
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
