"""The run file: one measurement, one JSON Lines file, raw enough to be judged again.

Format history
--------------
1
    First format. Line 1 is the ``run`` record; then one ``rank`` record for each rank, as found on
    the machine; then samples, each a flat object named after what it is (``pair``, ``sample``);
    ``warning`` records wherever the measurement was suspicious; last an ``end`` record. A file
    without the ``end`` record is a partial run. Times are seconds, sizes bytes. Unknown keys and
    unknown records are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.table import Table, TableBuilder
from isochrone.base.text import printable
from isochrone.runfile.columns import MAX_SECONDS
from isochrone.runfile.header import Clock, Header, Library, Option, header_of
from isochrone.runfile.samples import counting

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "FORMAT",
    "MAX_MATRIX_RANKS",
    "PAIR_QUANTITIES",
    "Rank",
    "Run",
    "read",
    "write",
]

FORMAT: Final = 1
MAX_RANKS: Final = 1 << 22
"""More ranks than any machine has: a damaged file."""

MAX_MATRIX_RANKS: Final = 8192
"""A map of more ranks than this is not held as N x N matrices (512 MiB each)."""

PAIR_QUANTITIES: Final = ("mean", "stddev", "min", "median", "p95", "max", "low", "high")


@dataclass(frozen=True)
class Rank:
    """Where one rank really ran, as found on the machine (not as asked for).

    Attributes
    ----------
    rank
        Number in the communicator.
    host
        Name of the node. It comes from elsewhere: escape it before showing it.
    node
        Index of the node, counted in the order in which the ranks meet new hosts.
    cpu, core, package, numa
        Where on the node; -1 where it was not found out.
    """

    rank: int
    host: str
    node: int
    cpu: int = -1
    core: int = -1
    package: int = -1
    numa: int = -1
    extra: dict[str, Any] = field(default_factory=dict, compare=False)


@dataclass(repr=False)
class Run:
    """One measurement, as read from a run file or an imported log.

    Attributes
    ----------
    header
        The ``run`` record: experiment, options, MPI library, clock, number of ranks.
    ranks
        One `Rank` each, in rank order; empty if the file was cut before they were written.
    tables
        The samples by record name, for example ``tables["pair"]``.
    warnings
        The ``warning`` records: dicts with ``code`` and ``text``.
    end
        The ``end`` record, or None for a partial run.
    path
        The file it was read from.
    """

    header: dict[str, Any]
    ranks: list[Rank] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    end: dict[str, Any] | None = None
    path: Path | None = None

    @property
    def about(self) -> Header:
        """The header with types.

        Raises
        ------
        InputError
            If a member of the header is not of its type.
        """
        try:
            return header_of(self.header)
        except InputError as error:
            raise InputError(error.what, where=self.where) from error

    @property
    def where(self) -> str:
        """The file it was read from, for an error message; empty if there is none."""
        return str(self.path or "")

    @property
    def experiment(self) -> str:
        """Name of the experiment, as the user typed it."""
        return self.about.experiment

    @property
    def kind(self) -> str:
        """Kind of result: ``latency-map``, ``sweep``, ``hotspot``, ``tile-io``, ``clocks``, or ''.

        It decides how the run is read; nothing else does.
        """
        return self.about.kind

    @property
    def by(self) -> tuple[str, ...]:
        """Members of a sample that tell the curves of a sweep apart."""
        return self.about.by

    @property
    def size(self) -> int:
        """Number of ranks."""
        return int(self.header["ranks"])

    @property
    def options(self) -> dict[str, Option]:
        """Options of the experiment, by name."""
        return self.about.options

    @property
    def library(self) -> Library:
        """The MPI library."""
        return self.about.mpi

    @property
    def quantity(self) -> str:
        """What the seconds of a sample are, in a few words; empty if the run does not say."""
        return self.about.quantity

    @property
    def clock(self) -> Clock:
        """The clock that took the times."""
        return self.about.clock

    @property
    def notes(self) -> dict[str, str]:
        """What was written down by whoever started it: launcher, preset, platform and more."""
        return self.about.notes

    @property
    def median_is_mean(self) -> bool:
        """Whether means stand in for medians that are not known."""
        return self.about.median_is_mean

    @property
    def complete(self) -> bool:
        """Whether the measurement came to its end."""
        return bool(self.end and self.end.get("complete"))

    @property
    def origin(self) -> str:
        """Where the times come from: ``measured``, ``simulated``, ``made up`` or ``imported``."""
        about = self.about
        if about.made_up:
            return "made up"
        if about.clock.simulated:
            return "simulated"
        return "measured" if about.imported is None else "imported"

    @property
    def hosts(self) -> list[str]:
        """Host name of each rank; empty strings where the file was cut before they were written."""
        found = {r.rank: r.host for r in self.ranks}
        return [found.get(rank, "") for rank in range(self.size)]

    def pairs(self) -> Table:
        """Return the table of pairs of a latency map.

        Raises
        ------
        InputError
            If this run holds no pairs.
        """
        table = self.tables.get("pair")
        if table is None or not len(table):
            raise InputError(
                "this run holds no pairs",
                where=self.where,
                hint="it is not a latency map, or was cut short before the first pair",
            )
        return table

    def message_sizes(self) -> list[int]:
        """List the message sizes of a latency map in bytes, smallest first."""
        return [int(size) for size in np.unique(self.pairs()["bytes"])]

    def matrix(
        self, what: str = "median", nbytes: int | None = None, *, retested: bool = True
    ) -> NDArray[np.float64]:
        """Return one statistic of the round trips of every pair as a matrix.

        Parameters
        ----------
        what
            ``mean``, ``stddev``, ``min``, ``median``, ``p95``, ``max`` or ``low`` and ``high``,
            the ends of the 95 % interval of the median.
        nbytes
            Message size; the smallest one measured if None.
        retested
            Where a pair was measured again alone, take that measurement.

        Returns
        -------
        ndarray of shape (N, N)
            Round-trip times in seconds, symmetric; NaN on the diagonal and where a pair was not
            measured.
        """
        table = self.pairs()
        if what not in table:
            raise InputError(f"the pairs have no '{what}'", where=self.where)
        if self.size > MAX_MATRIX_RANKS:
            raise InputError(f"a map of {self.size} ranks is too large to be held as a matrix")
        sizes = self.message_sizes()
        nbytes = sizes[0] if nbytes is None else nbytes
        if nbytes not in sizes:
            known = ", ".join(map(str, sizes))
            raise InputError(
                f"no pairs of {nbytes} bytes",
                where=self.where,
                hint=f"there are: {known}",
            )
        matrix = np.full((self.size, self.size), np.nan)
        first = ~table.flag("retest")
        keep = counting(table, ("i", "j", "bytes")) if retested else first
        keep &= table["bytes"] == nbytes
        i, j, value = table["i"][keep], table["j"][keep], table[what][keep]
        matrix[i, j] = matrix[j, i] = value
        return matrix

    def to_pandas(self, name: str | None = None) -> DataFrame:
        """Return the records of one name as a pandas DataFrame; seconds and bytes.

        Parameters
        ----------
        name
            Such as ``sample`` or ``pair``; the one that has most records if None.

        Raises
        ------
        InputError
            If pandas is not installed, or the run holds no such records.
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError(
                "a data frame needs pandas, which is not installed", hint="try: pip install pandas"
            ) from error
        known = ", ".join(self.tables)
        if name is None and self.tables:
            name = max(self.tables, key=lambda key: len(self.tables[key]))
        if name not in self.tables:
            raise InputError(
                f"the run holds no records '{name}'" if name else "the run holds no records",
                where=self.where,
                hint=f"there are: {known}" if known else "",
            )
        return pandas.DataFrame(self.tables[name].columns)

    def __repr__(self) -> str:
        state = "complete" if self.complete else "partial"
        held = ", ".join(f"{len(table)} {name}" for name, table in self.tables.items())
        ranks = f"{self.size} rank{'s' if self.size > 1 else ''}"
        return printable(f"<Run {self.experiment} on {ranks} ({state}): {held or 'no'} records>")

    def _repr_html_(self) -> str:
        state = "complete" if self.complete else "partial"
        return f"<b>{escape(self.experiment)}</b> on {self.size} ranks ({state})"


def read(path: str | Path) -> Run:
    """Read a run file.

    A file that was cut short, even within its last line, is a partial run and not an error.

    Raises
    ------
    InputError
        If the file cannot be opened, is not a run file, is of a newer format, or is damaged.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            return _Reader(path).read(stream)
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=str(path)) from error


def write(run: Run, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a run file. The file appears whole or not at all.

    Raises
    ------
    InputError
        If the file exists and ``overwrite`` is false, or it cannot be written.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise InputError(
            "it exists already", where=str(path), hint="choose another name, or --force"
        )
    with whole_file(path) as stream:
        for record in _records(run):
            stream.write(msgspec.json.encode(record) + b"\n")


def _records(run: Run) -> Iterator[dict[str, Any]]:
    """List the records of a run in the order of the file."""
    yield {"record": "run", "format": FORMAT, **run.header}
    for rank in run.ranks:
        yield {
            "record": "rank", "rank": rank.rank, "host": rank.host, "cpu": rank.cpu,
            "core": rank.core, "package": rank.package, "numa": rank.numa, "node": rank.node,
            **rank.extra,
        }  # fmt: skip
    for name, table in run.tables.items():
        for row in table.rows():
            yield {"record": name, **row}
    for warning in run.warnings:
        yield {"record": "warning", **warning}
    if run.end is not None:
        yield {"record": "end", **run.end}


class _Reader:
    """Reads the records of one file, checks them, and says which line is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0
        self.run: Run | None = None
        self.builders: dict[str, TableBuilder] = {}
        self.ranks_seen: set[int] = set()

    def read(self, stream: Iterable[bytes]) -> Run:
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        for self.line, text in enumerate(stream, start=1):
            try:
                record = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if self.run is not None and not text.endswith(b"\n"):
                    break  # the writer was killed within this line
                raise self.fail(f"not a record of a run file: {error}") from error
            self.take(record)
        if self.run is None:
            raise InputError("the file is empty", where=str(self.path))
        self.run.tables = {name: builder.build() for name, builder in self.builders.items()}
        self.check_pairs()
        return self.run

    def take(self, record: dict[str, Any]) -> None:
        kind = record.pop("record", None)
        if self.run is None:
            self.start(kind, record)
        elif kind == "rank":
            self.run.ranks.append(self.rank(record))
        elif kind == "warning":
            self.run.warnings.append(record)
        elif kind == "end":
            self.run.end = record
        elif isinstance(kind, str):
            self.builders.setdefault(kind, TableBuilder()).add(record)
        else:
            raise self.fail("a record without a name")

    def start(self, kind: object, record: dict[str, Any]) -> None:
        if kind != "run":
            raise self.fail("not a run file: it does not begin with a 'run' record")
        version = record.pop("format", None)
        if type(version) is not int or version < 1:
            raise self.fail("the 'run' record has no valid 'format'")
        if version > FORMAT:
            raise self.fail(
                f"format {version} is newer than {FORMAT}, the newest this version reads",
                hint="update isochrone",
            )
        ranks = record.get("ranks")
        if type(ranks) is not int or not 1 <= ranks <= MAX_RANKS:
            raise self.fail("the 'run' record has no valid number of 'ranks'")
        try:
            header_of(record)
        except InputError as error:
            raise self.fail(error.what) from error
        self.run = Run(header=record, path=self.path)

    def rank(self, record: dict[str, Any]) -> Rank:
        assert self.run is not None
        number, host = record.pop("rank", None), record.pop("host", None)
        if type(number) is not int or not 0 <= number < self.run.size:
            raise self.fail(f"'rank' is {number!r}, not a number from 0 to {self.run.size - 1}")
        if number in self.ranks_seen:
            raise self.fail(f"rank {number} appears twice")
        self.ranks_seen.add(number)
        if not isinstance(host, str):
            raise self.fail("a 'rank' record without a 'host'")
        places = {}
        for key in ("node", "cpu", "core", "package", "numa"):
            places[key] = record.pop(key, -1)
            if not isinstance(places[key], int):
                raise self.fail(f"'{key}' is {places[key]!r}, not a whole number")
        return Rank(rank=number, host=host, extra=record, **places)

    def check_pairs(self) -> None:
        """Refuse pairs that cannot be: a latency map is used as a matrix everywhere."""
        assert self.run is not None
        table = self.run.tables.get("pair")
        if table is None:
            return
        for key in ("i", "j", "bytes"):
            if key not in table or table[key].dtype != np.int64:
                raise self.fail(f"a 'pair' record without a whole number '{key}'", line=False)
        i, j = table["i"], table["j"]
        if not np.all((i >= 0) & (i < j) & (j < self.run.size)):
            raise self.fail(f"a pair that is not 0 <= i < j < {self.run.size}", line=False)
        for key in (q for q in PAIR_QUANTITIES if q in table):
            values = table[key]
            if values.dtype != np.float64 and values.dtype != np.int64:
                raise self.fail(f"a 'pair' record whose '{key}' is not a number", line=False)
            if np.any((values < 0) | (values > MAX_SECONDS)) or (
                key == "median" and np.isnan(values).any()
            ):
                raise self.fail(f"a 'pair' record whose '{key}' is no time", line=False)

    def fail(self, what: str, *, hint: str = "", line: bool = True) -> InputError:
        where = f"{self.path}:{self.line}" if line else str(self.path)
        return InputError(what, where=where, hint=hint)
