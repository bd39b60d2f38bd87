"""Refuse samples of a sweep that a damaged or hostile file holds."""

from __future__ import annotations

from typing import Final

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.results.sweep.computing import OPERATIONS
from isochrone.runfile.columns import MAX_SECONDS, MIN_SECONDS
from isochrone.runfile.run import Run

__all__ = ["check"]

_MAX_BYTES: Final = 1 << 60
_MAX_RATE: Final = 1e18  # bytes per second; what a machine of 2040 may do, and no damaged number
_LEAST: Final = {
    "seconds": MIN_SECONDS, "min": MIN_SECONDS, "max": MIN_SECONDS, "mean": MIN_SECONDS,
    "rate": 1 / MAX_SECONDS,
}  # fmt: skip
"""What is above zero is not below this."""


def check(run: Run, table: Table) -> None:
    """Check the samples of a run, member by member.

    Raises
    ------
    InputError
        If a member that is needed is missing, or one holds what it cannot be.
    """
    missing = [name for name in run.by if name not in table]
    if missing or not run.by:
        names = " or ".join(f"'{name}'" for name in missing or ["a member that the header names"])
        raise InputError(f"a 'sample' record without {names}", where=run.where)
    for key in ("bytes", "seconds"):
        if key not in table:
            raise InputError(f"a 'sample' record without '{key}'", where=run.where)
    for key, limit, whole in (
        ("bytes", _MAX_BYTES, True), ("seconds", MAX_SECONDS, False), ("rate", _MAX_RATE, False),
        ("i", run.size - 1, True), ("j", run.size - 1, True), ("p", run.size, True),
        ("pairs", run.size // 2, True), ("min", MAX_SECONDS, False), ("max", MAX_SECONDS, False),
        ("mean", MAX_SECONDS, False), ("groups", run.size, True), (OPERATIONS, _MAX_BYTES, True),
    ):  # fmt: skip
        _check(table, key, limit, whole=whole, where=run.where)
    for name in run.by:
        _check_named(table, name, run.where)


def _check(table: Table, key: str, limit: float, *, whole: bool, where: str) -> None:
    """Refuse a column that holds anything else than numbers from 0 to ``limit``."""
    if key not in table:
        return
    values = table[key]
    if values.dtype.kind not in "if":
        raise InputError(f"a 'sample' record whose '{key}' is not a number", where=where)
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if key in ("bytes", "seconds") and len(known) < len(values):
        raise InputError(f"a 'sample' record without '{key}'", where=where)
    if np.any((known < 0) | (known > limit)) or (whole and np.any(known != np.floor(known))):
        raise InputError(f"a 'sample' record whose '{key}' is out of range", where=where)
    if key in _LEAST and np.any((known > 0) & (known < _LEAST[key])):
        raise InputError(f"a 'sample' record whose '{key}' is no measurement", where=where)


def _check_named(table: Table, name: str, where: str) -> None:
    """Refuse samples that do not all say, by a number or a text, what they are of."""
    values = table[name]
    known = (
        not np.isnan(values).any()
        if values.dtype.kind in "if"
        else all(isinstance(value, str) for value in values.tolist())
    )
    if not known:
        raise InputError("a 'sample' record without its ranks or operation", where=where)
