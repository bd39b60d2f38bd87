"""A recording of the collective I/O of a program: which bytes its ranks access, and for how long.

Calls whose pieces are the same, up to one shift of all ranks, are one pattern.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.collective_io.results.call_parts import Parts, part_columns, parts_of
from isochrone.runfile.columns import numbers, seconds, texts
from isochrone.runfile.run import Run

__all__ = [
    "KIND", "Independent", "RecordedCall", "RecordedFile", "RecordedPattern", "calls", "files",
    "hints", "patterns",
]  # fmt: skip

KIND: Final = "io-recording"

_OPS: Final = ("write", "read")


@dataclass(frozen=True)
class RecordedCall:
    """A collective access.

    Attributes
    ----------
    call
        Its number, in the order of the program.
    pattern
        Number of its pattern.
    shift
        Bytes by which its pieces are further in the file than those of the pattern's first call.
    op
        ``write`` or ``read``.
    name
        Of the function.
    seconds
        The slowest rank.
    parts
        Where they went.
    rounds
        Of the exchange; None where that was not seen.
    late
        Seconds by which the first rank came earlier than the last; None where that was not seen.
    """

    call: int
    pattern: int
    shift: int
    op: str
    name: str
    seconds: float
    parts: Parts
    rounds: int | None
    late: float | None


@dataclass(frozen=True)
class RecordedPattern:
    """What one or more calls access.

    Attributes
    ----------
    number, file
        Of the pattern, and of its file.
    op
        ``write`` or ``read``.
    bytes, calls
        Of one call, all ranks together; number of calls.
    contiguous
        Contiguous pieces of one call.
    ranks
        Number of ranks of the file.
    whole
        Whether no piece is left out.
    rank, offset, length, count, stride
        One entry for each run: ``count`` pieces of ``length`` bytes, ``stride`` apart, the first at
        ``offset``, accessed by ``rank`` (its number in the run).
    """

    number: Annotated[int, "as pattern"]
    file: int
    op: str
    bytes: int
    calls: int
    contiguous: Annotated[int, "as pieces"]
    ranks: int
    whole: bool
    rank: Hidden[NDArray[np.int64]]
    offset: Hidden[NDArray[np.int64]]
    length: Hidden[NDArray[np.int64]]
    count: Hidden[NDArray[np.int64]]
    stride: Hidden[NDArray[np.int64]]

    @cached_property
    def pieces(self) -> dict[str, NDArray[np.int64]]:
        """The five columns by name."""
        names = ("rank", "offset", "length", "count", "stride")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Independent:
    """Accesses of single ranks to a file, which were only counted.

    Attributes
    ----------
    op
        ``write`` or ``read``.
    calls, bytes
        Of all ranks.
    ranks
        That made them.
    seconds
        Of the rank that spent most.
    """

    op: str
    calls: int
    bytes: int
    ranks: int
    seconds: float


@dataclass(frozen=True)
class RecordedFile:
    """A file that was opened.

    Attributes
    ----------
    number, name
        In the run; as the program names it.
    ranks
        That opened it, ascending.
    opens
        How often.
    hints, given
        In force, as the library reported them; given by the program.
    independent
        Accesses of single ranks.
    filesystem
        That it is on (``tmpfs``, ``lustre`` …), ``other``, or empty if not known.
    """

    number: Annotated[int, "as file"]
    name: str
    ranks: NDArray[np.int64]
    opens: int
    hints: dict[str, str]
    given: dict[str, str]
    independent: list[Independent]
    filesystem: str = ""


def files(run: Run) -> list[RecordedFile]:
    """List the files.

    Raises
    ------
    InputError
        If the run is no recording of collective I/O, or damaged.
    """
    table, where = _table(run, "file"), run.where
    if table is None:
        return []
    members = table["ranks"].tolist() if "ranks" in table else [None] * len(table)
    systems = table["filesystem"].tolist() if "filesystem" in table else [None] * len(table)
    columns = [numbers(table, "file", where, "file").tolist(), texts(table, "name", where, "file"),
               members, numbers(table, "opens", where, "file").tolist(), systems]  # fmt: skip
    return [
        RecordedFile(number, name, _ranks(run, listed), opens, _hints(run, number, "value"),
                     _hints(run, number, "given"), _independent(run, number),
                     system if isinstance(system, str) else "")
        for number, name, listed, opens, system in zip(*columns, strict=True)
    ]  # fmt: skip


def hints(run: Run, file: int) -> dict[str, str]:
    """Return the hints in force for a file.

    Raises
    ------
    InputError
        If the run is no recording of collective I/O, or damaged.
    """
    _check_kind(run)
    return _hints(run, file, "value")


def patterns(run: Run) -> list[RecordedPattern]:
    """List the patterns, by number.

    Raises
    ------
    InputError
        If the run is no recording of collective I/O, or damaged.
    """
    table, where = _table(run, "pattern"), run.where
    if table is None:
        return []
    sizes = {one.number: len(one.ranks) for one in files(run)}
    keys = ("pattern", "file", "bytes", "calls", "pieces")
    columns = [numbers(table, key, where, "pattern").tolist() for key in keys]
    whole = table["whole"].tolist() if "whole" in table else [True] * len(table)
    pieces = _pieces(run)
    found = []
    for number, file, size, times, contiguous, op, all_ in zip(
        *columns, _ops(table, where), whole, strict=True
    ):
        if file not in sizes:
            raise InputError(f"pattern {number} is of no file", where=where)
        own = pieces["pattern"] == number
        runs = {key: column[own] for key, column in pieces.items() if key != "pattern"}
        found.append(RecordedPattern(
            number, file, op, size, times, contiguous, sizes[file], all_ is not False, **runs
        ))  # fmt: skip
    return sorted(found, key=lambda one: one.number)


def calls(run: Run) -> list[RecordedCall]:
    """List the calls, in the order of the program.

    Raises
    ------
    InputError
        If the run is no recording of collective I/O, or damaged.
    """
    table, where = _table(run, "call"), run.where
    if table is None:
        return []
    ops = {one.number: one.op for one in patterns(run)}
    times = seconds(table, "seconds", where, "call")
    parts = part_columns(table, where, "call")
    late = seconds(table, "late", where, "call") if "late" in table else None
    rounds = table["rounds"] if "rounds" in table else np.full(len(table), np.nan)
    if rounds.dtype.kind not in "if":
        raise InputError("a 'call' record whose 'rounds' are no number", where=where)
    columns = [numbers(table, "call", where, "call"), numbers(table, "pattern", where, "call"),
               _whole(table, "shift", where)]  # fmt: skip
    names = texts(table, "name", where, "call")
    found = []
    for k, (call, pattern, shift) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if pattern not in ops:
            raise InputError(f"call {call} is of no pattern", where=where)
        found.append(RecordedCall(
            call, pattern, shift, ops[pattern], names[k], float(times[k]),
            parts_of(times[k], {name: column[k] for name, column in parts.items()}),
            int(rounds[k]) if 0 <= rounds[k] < 2**53 else None,
            None if late is None or np.isnan(late[k]) else float(late[k]),
        ))  # fmt: skip
    return sorted(found, key=lambda one: one.call)


# --- records --------------------------------------------------------------------------------------


def _check_kind(run: Run) -> None:
    if run.kind != KIND:
        raise InputError(
            f"this run is of '{run.experiment}'", where=run.where,
            hint="collective I/O is recorded by 'isochrone record --collective-io'",
        )  # fmt: skip


def _table(run: Run, name: str) -> Table | None:
    """Return the records of a name, None if there are none."""
    _check_kind(run)
    table = run.tables.get(name)
    return table if table is not None and len(table) else None


def _ops(table: Table, where: str, record: str = "pattern") -> list[str]:
    found = texts(table, "op", where, record)
    if not set(found) <= set(_OPS):
        raise InputError(f"a '{record}' record that is neither read nor write", where=where)
    return found


def _whole(table: Table, key: str, where: str) -> NDArray[np.int64]:
    """Return a column of whole numbers that may be below 0."""
    values = table[key] if key in table else np.zeros(0)
    if len(values) != len(table) or values.dtype.kind != "i":
        raise InputError(f"a 'call' record without a whole '{key}'", where=where)
    return values.astype(np.int64)


def _ranks(run: Run, listed: Any) -> NDArray[np.int64]:
    """Return the ranks of a list such as ``0-3 8``; all if there is none."""
    if listed is None:
        return np.arange(run.size)
    found: list[NDArray[np.int64]] = []
    for word in str(listed).split():
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < run.size:
            raise InputError(f"a 'file' record whose ranks are '{word}'", where=run.where)
        found.append(np.arange(first, last + 1))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _hints(run: Run, file: int, key: str) -> dict[str, str]:
    table = run.tables.get("hint")
    if table is None or not len(table) or key not in table:
        return {}
    own = numbers(table, "file", run.where, "hint") == file
    names = texts(table, "key", run.where, "hint")
    rows = zip(names, table[key].tolist(), own.tolist(), strict=True)
    return {name: value for name, value, mine in rows if mine and isinstance(value, str)}


def _independent(run: Run, file: int) -> list[Independent]:
    table, where = run.tables.get("independent"), run.where
    if table is None or not len(table):
        return []
    own = table.where(numbers(table, "file", where, "independent") == file)
    keys = ("calls", "bytes", "ranks")
    columns = [numbers(own, key, where, "independent").tolist() for key in keys]
    times = seconds(own, "seconds", where, "independent").tolist()
    return [
        Independent(*row)
        for row in zip(_ops(own, where, "independent"), *columns, times, strict=True)
    ]


def _pieces(run: Run) -> dict[str, NDArray[np.int64]]:
    keys = ("pattern", "rank", "offset", "length", "count", "stride")
    table = run.tables.get("piece")
    if table is None or not len(table):
        return {key: np.zeros(0, np.int64) for key in keys}
    found = {key: numbers(table, key, run.where, "piece") for key in keys}
    if found["rank"].max() >= run.size:
        raise InputError(f"a 'piece' record beyond the {run.size} ranks", where=run.where)
    if found["length"].min() < 0 or found["count"].min() < 1:
        raise InputError("a 'piece' record of less than no bytes", where=run.where)
    return found
