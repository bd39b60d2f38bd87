"""Logs: every table of a known benchmark, with other text around it.

A format of tables is a class that is made for one file:

* ``begins(text)`` returns a new `Results` if a line begins a table of the format, else None;
* ``takes(table, text)`` gets this line and those after it, up to the next table of any format;
* ``sweep(table)`` returns what was measured in a table.

All lines go through the classes of all formats of which the file has the signature.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec.structs import replace as replace_members

from isochrone.base.errors import InputError
from isochrone.base.log_text import plain
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import did_you_mean, listed, printable
from isochrone.formats.imported_sweep import Results, Sweep, lines_of
from isochrone.formats.log_ranks import LogRanks
from isochrone.formats.source import MAX_FILE_RANKS, NoRanksError, Source
from isochrone.runfile import importer as importers
from isochrone.runfile.any_file import several
from isochrone.runfile.importer import Importer, Wanted
from isochrone.runfile.run import Run

_LISTED_TESTS = 8
"""Tests that an error or a warning names."""


_Table = TypeVar("_Table", bound=Results)


class Tables(ABC, Generic[_Table]):
    """Finds and reads the tables of one format in one file; ``wanted`` says what it may lack."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source, self.wanted = source, wanted

    @abstractmethod
    def begins(self, text: str) -> _Table | None:
        """Return a new table if this line begins one."""

    @abstractmethod
    def takes(self, table: _Table, text: str) -> None:
        """Take this line, or one after it."""

    @abstractmethod
    def sweep(self, table: _Table) -> Sweep:
        """Return what was measured.

        Raises
        ------
        InputError
            If the table is not understood.
        """

    def ranks(self, table: _Table, least: int = 1) -> int:
        """Return the number of ranks, of the table or as given; it must be ``least`` or more.

        Raises
        ------
        InputError
            If it is unknown or impossible.
        """
        ranks = table.ranks or self.wanted.ranks
        if ranks is None:
            raise self.source.no_ranks("the file does not contain the number of ranks", table.line)
        if not least <= ranks <= MAX_FILE_RANKS:
            raise self.source.fail(f"the number of ranks {ranks} is not valid", table.line)
        return ranks


@dataclass(frozen=True)
class _Measured:
    """A table that was understood: its format, the table, and what was measured in it."""

    form: str
    table: Results
    sweep: Sweep


def of_tables(name: str, says: str, signature: bytes, tables: type[Tables[_Table]]) -> Importer:
    """Return the importer of a format whose tables may stand in a log.

    Parameters
    ----------
    name
        Of the format.
    says
        What such a file is, as in ``the output of an OSU benchmark``.
    signature
        Regular expression: what only files of this format have.
    tables
        Reads the tables.
    """

    def read(path: Path, ranks: int | None = None) -> Run:
        runs = read_log(path, Wanted(ranks=ranks, formats=(name,)))
        if len(runs) > 1:
            raise several(runs)
        return runs[0]

    return Importer(
        holds="sweep",
        read=read,
        takes_ranks=True,
        says=says,
        tables=tables,
        runs=read_log,
        signature=re.compile(signature, re.MULTILINE),
    )


def read_log(path: Path, wanted: Wanted) -> list[Run]:
    """Read the tables of a log that are wanted, in their order.

    Tables of one kind are one run: collectives with several operations, for example. The first run
    has a warning that names what was not understood.

    Parameters
    ----------
    path
        The file.
    wanted
        Which tables.

    Raises
    ------
    InputError
        If the file cannot be read, or there are none.
    """
    source, understood, left_out = _understood(path, wanted)
    chosen = _chosen(understood, wanted, path)
    if not chosen:
        raise _nothing(source, wanted, [error for _, error in left_out])
    runs = []
    for alike, form in _grouped(chosen, wanted.launches):
        source.warnings, source.format = [], form
        complete = not any(one.table.cut for one in alike)
        for one in alike:
            one.table.warn(source)
        joined = replace(
            alike[0].sweep,
            ranks=max(one.sweep.ranks for one in alike),
            samples=[sample for one in alike for sample in one.sweep.samples],
        )
        run = joined.run(source, complete=complete)
        run.header["imported"] |= {
            "tests": ", ".join(dict.fromkeys(one.table.test for one in alike)),
            "lines": ", ".join(str(one.table.line) for one in alike),
        }
        if len({one.table.command for one in alike}) > 1 == len({one.table.test for one in alike}):
            text = "the commands differ: the times are not launches of one measurement"
            run.warnings.append({"code": "commands-differ", "text": text})
        tables = [one.table for one in alike]
        for test, same in grouped((t.test, t) for t in tables if not t.command).items():
            if len(same) > len({table.ranks for table in same}):
                places = listed([str(table.line) for table in same], _LISTED_TESTS)
                text = f"{len(same)} tables of {test} count as launches: lines {places}"
                run.warnings.append({"code": "tables-pooled", "text": text})
        runs.append(run)
    if text := _left_out(left_out):
        runs[0].warnings.append({"code": "benchmarks-ignored", "text": text})
    return runs


class Test(Record):
    """A test in a log: its name, ranks, sizes, how often it was run, and where it is first."""

    test: str
    ranks: int | None
    sizes: Sequence[int]
    launches: int
    line: int


def tests_in(path: Path, wanted: Wanted) -> tuple[list[Test], str]:
    """Return the tests in a log that are wanted, and what was not understood.

    Raises
    ------
    InputError
        As of `read_log`.
    """
    _, understood, left_out = _understood(path, wanted)
    groups = grouped(
        ((one.table.test, one.table.ranks or wanted.ranks), one)
        for one in _chosen(understood, wanted, path)
    )
    return [
        Test(
            test,
            ranks,
            sorted({s["bytes"] for one in alike for s in one.sweep.samples}),
            len(alike),
            alike[0].table.line,
        )
        for (test, ranks), alike in groups.items()
    ], _left_out(left_out)


def _left_out(tables: Sequence[tuple[Results, InputError]]) -> str:
    """Return a sentence about tables that were not understood; empty if there are none."""
    reasons = grouped(
        (error.what + f" ({error.hint})" * isinstance(error, NoRanksError), table)
        for table, error in tables
    )
    texts = [
        listed([f"{one.test} in line {one.line}" for one in alike], _LISTED_TESTS) + f": {why}"
        for why, alike in reasons.items()
    ]
    return printable(f"left out: {'; '.join(texts)}", 1000) if texts else ""


_Understood = tuple[Source, list[_Measured], list[tuple[Results, InputError]]]
"""A file, its tables that were understood, and those that were not."""


def _understood(path: Path, wanted: Wanted) -> _Understood:
    about = path.stat() if path.exists() else None
    key = about and (about.st_ino, about.st_size, about.st_mtime_ns)
    lists = {"tests": tuple(wanted.tests), "ops": tuple(wanted.ops), "launches": False}
    return _read_once(path, key, replace_members(wanted, **lists, formats=tuple(wanted.formats)))


@lru_cache(maxsize=1)
def _read_once(path: Path, key: tuple[int, ...] | None, wanted: Wanted) -> _Understood:
    """Read a file, which `show` needs twice; ``key`` tells whether it was changed since."""
    source = Source.open(path, "log")
    return source, *_measured(_tables(source, wanted))


_Reader = Tables[Any]
_Read = tuple[str, _Reader, Results]
"""A format, its reader, and a table of it."""


def _tables(source: Source, wanted: Wanted) -> list[_Read]:
    """Find the tables; what is not part of one is text of other programs and left out."""
    readers = _readers(source, wanted)
    tables: list[_Read] = []
    ranks = LogRanks()
    for text in lines_of(source):
        table = None
        for name, reader in readers:
            if (table := reader.begins(text)) is not None:
                table.command = ranks.command
                if table.ranks is None:
                    table.ranks = ranks.of(table.test)
                tables.append((name, reader, table))
                break
        if table is None:
            ranks.line(text)
        if tables:
            _, reader, last = tables[-1]
            reader.takes(last, text)
    return tables


def _readers(source: Source, wanted: Wanted) -> list[tuple[str, _Reader]]:
    """Return the names of the formats of which the file has the signature, with their readers.

    A format that the user names needs no signature.
    """
    data = plain(source.data)
    known = [(name, importers.load(name)) for name in wanted.formats or importers.names()]
    return [
        (name, one.tables(source, wanted))
        for name, one in known
        if one.signature is not None and (wanted.formats or one.signature.search(data))
    ]


def _measured(
    tables: Sequence[_Read],
) -> tuple[list[_Measured], list[tuple[Results, InputError]]]:
    """Return what was understood, and the tables that were not."""
    understood, left_out = [], []
    for name, reader, table in tables:
        if not (table.rows or table.faults or table.invalid):
            continue  # a title without a table, as of a benchmark that failed
        try:
            understood.append(_Measured(name, table, reader.sweep(table)))
        except InputError as error:
            left_out.append((table, error))
    return understood, left_out


def _chosen(understood: Sequence[_Measured], wanted: Wanted, path: Path) -> list[_Measured]:
    """Return the tables of the wanted tests, operations and numbers of ranks."""
    chosen = list(understood)
    if wanted.tests:
        names = {name.lower().removeprefix("osu_") for name in wanted.tests}
        chosen = [one for one in chosen if one.table.test.lower().removeprefix("osu_") in names]
    if wanted.ops:
        ops = {*wanted.ops}
        chosen = [one for one in chosen if not ops.isdisjoint(op for op, _ in one.sweep.curves)]
    if wanted.ranks and all(one.table.ranks for one in chosen):
        chosen = [one for one in chosen if one.table.ranks == wanted.ranks] or chosen
    if understood and not chosen:
        there = dict.fromkeys(_about(one) for one in understood)
        tests = [one.table.test for one in understood]
        hint = "".join(did_you_mean(test, tests) for test in wanted.tests[:1])
        raise InputError(
            "the file has no such test",
            where=path,
            hint=f"{hint}it has {listed([*there], _LISTED_TESTS)}",
        )
    return chosen


def _about(one: _Measured) -> str:
    return one.table.test + (f" on {one.table.ranks} ranks" if one.table.ranks else "")


def _nothing(source: Source, wanted: Wanted, errors: Sequence[InputError]) -> InputError:
    """Return the error to raise if no table was understood."""
    if errors:
        return next((error for error in errors if isinstance(error, NoRanksError)), errors[0])
    names = [*wanted.formats, *(name for name, _ in _readers(source, wanted))]
    says = importers.load(names[0]).says if names else "a benchmark"
    return source.fail(f"the file has no table of {says.removeprefix('the output of ')}")


def _grouped(chosen: Sequence[_Measured], launches: bool) -> list[tuple[list[_Measured], str]]:
    """Put tables of one kind together: each launch apart, or as repetitions."""
    groups: dict[tuple[object, ...], list[_Measured]] = {}
    again: Counter[tuple[object, ...]] = Counter()
    for one in chosen:
        curves = (one.form, one.sweep.kind, one.sweep.curves)
        launch = again[curves]
        again[curves] += 1
        if not launches:
            first = launch * (1 + max(sample.get("repeat", 0) for sample in one.sweep.samples))
            samples = [
                {**sample, "repeat": first + sample.get("repeat", 0)}
                for sample in one.sweep.samples
            ]
            one, launch = replace(one, sweep=replace(one.sweep, samples=samples)), 0
        groups.setdefault((*curves[:2], launch), []).append(one)
    return [(alike, alike[0].form) for alike in groups.values()]
