"""Records of a run file as columns; values by their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import numpy as np

from isochrone.base.arrays import Array, Bools
from isochrone.base.record import Members

_CHUNK = 8192
"""Records held as dicts before they become columns; bounds the memory for a large file."""

_JOINED_COLUMNS = 2048
"""Columns of the same members that are joined at once: many small arrays scatter the memory."""

_FEW_CELLS = 1 << 20
_CELLS_PER_VALUE = 16
"""A table with more cells than the first number has at least one value in the second number of
cells; else it would be far larger than its file."""


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_Chunks = list[tuple[int, dict[str, Array]]]


class SparseError(ValueError):
    """Records that make no table."""


class Table:
    """Records of one name as equally long columns.

    A column is an array of ``int64``, ``float64`` (NaN where a record lacks the key), ``bool``, or
    ``object`` for everything else (None where a record lacks the key).
    """

    def __init__(self, columns: dict[str, Array] | None = None) -> None:
        self.columns = columns or {}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __contains__(self, key: str) -> bool:
        return key in self.columns

    def __getitem__(self, key: str) -> Array:
        return self.columns[key]

    def flag(self, *keys: str) -> Bools:
        """Return whether any of some members is true; one that a record lacks is false."""
        flags = np.zeros(len(self), dtype=bool)
        for key in self.columns.keys() & keys:
            flags |= np.asarray(self.columns[key] == 1, dtype=bool)
        return flags

    def where(self, keep: Array) -> Table:
        """Return the records that a mask, or a list of their numbers, keeps."""
        return Table({key: column[keep] for key, column in self.columns.items()})

    def rows(self) -> Iterator[Members]:
        """Yield the records; keys a record lacked are left out again."""
        lists = {key: column.tolist() for key, column in self.columns.items()}
        for row in zip(*lists.values(), strict=True):
            # value == value is false for NaN alone
            yield {k: v for k, v in zip(lists, row, strict=True) if v is not None and v == v}


class TableBuilder:
    """Collects records and turns them into a `Table`, chunk by chunk."""

    def __init__(self) -> None:
        self._records: list[Members] = []
        self._chunks: _Chunks = []
        self._joined = 0

    def add(self, record: Members) -> None:
        """Take one record."""
        self.extend([record])

    def extend(self, records: list[Members]) -> None:
        """Take several records."""
        self._records += records
        if len(self._records) >= _CHUNK:
            self._flush()

    def add_columns(self, rows: int, columns: dict[str, Array]) -> None:
        """Take records that are columns already."""
        self._flush()
        self._chunks.append((rows, columns))
        small = self._chunks[self._joined :]
        if len(small) == _JOINED_COLUMNS and all(
            chunk.keys() == columns.keys() for _, chunk in small
        ):
            self._chunks[self._joined :] = [
                (sum(rows for rows, _ in small), {key: _join(key, small) for key in columns.copy()})
            ]
            self._joined += 1

    def build(self) -> Table:
        """Return all records taken so far as a table.

        Raises
        ------
        SparseError
            If hardly any two of them have the same members.
        """
        self._flush()
        keys = dict.fromkeys(key for _, chunk in self._chunks for key in chunk)
        cells = sum(rows * len(columns) for rows, columns in self._chunks)
        _refuse_sparse(len(keys) * sum(rows for rows, _ in self._chunks), cells)
        return Table({key: _join(key, self._chunks) for key in keys})

    def _flush(self) -> None:
        if self._records:
            self._chunks.append((len(self._records), _columns(self._records)))
            self._records = []


def _join(key: str, chunks: _Chunks) -> Array:
    """Take one column out of all."""
    arrays = [
        columns.pop(key) if key in columns else column([None] * rows) for rows, columns in chunks
    ]
    alike = len({(array.dtype, array.strides, array[:1].tobytes()) for array in arrays}) == 1
    if alike and arrays[0].strides == (0,):  # the same everywhere takes no room
        return np.broadcast_to(arrays[0][:1], sum(map(len, arrays)))
    if {array.dtype.kind for array in arrays} <= {"i", "f"} or len({p.dtype for p in arrays}) == 1:
        return np.concatenate(arrays)
    # value == value is false only for NaN, a missing number
    values = (value for array in arrays for value in array.tolist())
    return column([value if value == value else None for value in values])


def _columns(records: list[Members]) -> dict[str, Array]:
    """Turn records into columns; records of a probe nearly always have the same keys."""
    keys = dict.fromkeys(records[0])
    if set(map(len, records)) != {len(keys)} or any(keys.keys() != r.keys() for r in records):
        keys = dict.fromkeys(key for record in records for key in record)
        _refuse_sparse(len(keys) * len(records), sum(map(len, records)))
    return {key: column([record.get(key) for record in records]) for key in keys}


def _refuse_sparse(cells: int, values: int) -> None:
    if cells > _FEW_CELLS + _CELLS_PER_VALUE * values:
        raise SparseError("records of one name, hardly two of which have the same members")


def refuse_uneven(texts: Sequence[str]) -> None:
    """Refuse texts as an array of which would be far larger than they are.

    Each takes as much room there as the longest.

    Raises
    ------
    SparseError
        If so.
    """
    longest = max(map(len, texts), default=0)
    if longest * len(texts) > _FEW_CELLS * 8 + _CELLS_PER_VALUE * sum(map(len, texts)):
        raise SparseError(f"a text of {longest} characters among {len(texts)}")


def column(values: Sequence[object]) -> Array:
    """Choose the narrowest kind of array that holds all values; None is a missing one."""
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds == {int}:
        with suppress(OverflowError):  # numbers beyond 64 bits
            return np.array(values, dtype=np.int64)
    if kinds & {int, float} and kinds <= {int, float, type(None)}:
        with suppress(OverflowError):  # whole numbers beyond any float
            return np.array(values, dtype=np.float64)  # None becomes NaN
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the values of each key, in their order."""
    groups: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
