"""One measurement: its header, its ranks, its samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isochrone.base.arrays import Array, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.record import Members
from isochrone.base.stats import distinct
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.runfile.header import Clock, Header, Library, Option, header_of
from isochrone.runfile.origin import Origin
from isochrone.runfile.records import Rank as Rank
from isochrone.runfile.records import result
from isochrone.runfile.samples import counting

if TYPE_CHECKING:
    import pyarrow
    from pandas import DataFrame
    from xarray import DataArray

MAX_MATRIX_RANKS = 8192
"""A map of more ranks than this is not held as N x N matrices (512 MiB each)."""

SMALL_MATRIX = 1 << 20
CELLS_PER_PAIR = 400
"""Cells of a matrix: at most the first number, plus the second for each measured pair. Memory and
time follow from what a file holds, not from what it claims."""

LAUNCH = "launch"
"""Note with the number of a run among several launches: ``2 of 5``."""

NO_END = "the measurement is not complete"
"""The message for a partial run."""

NO_RESULT = "the run has no result"
"""The message for a run that ended before anything was measured."""

PAIR_QUANTITIES = ("mean", "stddev", "min", "median", "p95", "max", "low", "high")

DIRECTIONS = ("forward", "reverse")
"""Seconds of one message from i to j, and from j to i, of pairs of which both are known."""

PLACES = ("cpu", "core", "package", "numa", "l2", "l3")
"""Keys that say where on its node a rank ran; -1 where unknown."""


@dataclass(repr=False)
class Run:
    """One measurement, read from a run file or from output of another program.

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

    header: Members
    ranks: list[Rank] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    warnings: list[Members] = field(default_factory=list)
    end: Members | None = None
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
        """Kind of result, see `runfile.records.kinds`; empty if not known."""
        return self.about.kind

    @property
    def by(self) -> tuple[str, ...]:
        """Keys of a sample that say to which curve it belongs, such as ``op``."""
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
        """Definition of the times; empty if not recorded."""
        return self.about.quantity

    @property
    def clock(self) -> Clock:
        """The clock that took the times."""
        return self.about.clock

    @property
    def notes(self) -> dict[str, str]:
        """Launcher, preset, platform and other notes of the start."""
        return self.about.notes

    @property
    def median_is_mean(self) -> bool:
        """Whether medians are unknown, so that means are used instead."""
        return self.about.median_is_mean

    @property
    def pair_quantity(self) -> str:
        """What the times of pairs are, such as ``round trip``, ``bandwidth`` or ``put``."""
        return self.about.pair_quantity

    @property
    def bandwidth(self) -> bool:
        """Whether the times of pairs are shown as bandwidths."""
        return self.pair_quantity == "bandwidth"

    @property
    def complete(self) -> bool:
        """Whether the measurement is complete."""
        return bool(self.end and self.end.get("complete"))

    @property
    def origin(self) -> Origin:
        """Origin of the times, one of ``measured``, ``simulated``, ``synthetic``, ``imported``."""
        return self.about.origin

    @property
    def shared_processors(self) -> list[list[int]]:
        """Ranks that were on one processor when the run began, in groups.

        Always empty for kinds that check and separate each pair themselves, and for simulations.
        """
        if result(self.kind).separated or self.origin != "measured":
            return []
        by_processor = grouped(
            ((rank.node, rank.cpu), rank.rank) for rank in self.ranks if rank.cpu >= 0
        )
        return [ranks for ranks in by_processor.values() if len(ranks) > 1]

    @property
    def oversubscribed(self) -> bool:
        """Whether a node had fewer processors than ranks."""
        return any(warning.get("code") == "oversubscribed" for warning in self.warnings)

    @property
    def hosts(self) -> list[str]:
        """Host name of each rank; empty where not recorded."""
        host_of_rank = {r.rank: r.host for r in self.ranks}
        return [host_of_rank.get(rank, "") for rank in range(self.size)]

    def pairs(self) -> Table:
        """Return the table of pairs of a latency map.

        Raises
        ------
        InputError
            If this run holds no pairs, or too few for its number of ranks.
        """
        table = self.tables.get("pair")
        if table is None or not len(table):
            raise InputError(
                "the run has no pairs",
                where=self.where,
                hint="the run is not a latency map, or ended before the first pair",
            )
        if not self.options.get("sample"):  # a sample is analysed without a matrix
            self._refuse_few(table)
        return table

    def _refuse_few(self, table: Table) -> None:
        """Refuse pairs that a matrix of all of them would be far larger than."""
        limit = SMALL_MATRIX + CELLS_PER_PAIR * len(table)
        if self.size <= MAX_MATRIX_RANKS and self.size**2 > limit:
            raise InputError(
                f"{len(table)} measurements are too few for a map of {self.size} ranks",
                where=self.where,
                hint="measure again: the run ended early",
            )

    def statistic(self) -> str:
        """Return the statistic used as the round trip of a pair: ``median``; ``mean`` of mmpi logs.

        Raises
        ------
        InputError
            As `pairs`.
        """
        return "median" if "median" in self.pairs() else "mean"

    def message_sizes(self) -> list[int]:
        """List the message sizes of a latency map in bytes, smallest first."""
        return [int(size) for size in distinct(self.pairs()["bytes"])]

    def no_such_pairs(self, nbytes: int | None) -> InputError:
        """Return the error for a size that was not measured."""
        sizes = ", ".join(map(str, self.message_sizes()))
        return InputError(
            f"the run has no pairs of {nbytes} bytes",
            where=self.where,
            hint=f"measured sizes: {sizes}",
        )

    def matrix(
        self, what: str = "median", nbytes: int | None = None, *, retested: bool = True
    ) -> Floats:
        """Return the times of all pairs as a matrix.

        Parameters
        ----------
        what
            ``mean``, ``stddev``, ``min``, ``median``, ``p95``, ``max`` or ``low`` and ``high``,
            the ends of the 95 % interval of the median.
        nbytes
            Message size; if None, the smallest.
        retested
            If a pair was measured a second time, alone, use this measurement.

        Returns
        -------
        ndarray of shape (N, N)
            Seconds of round trips, or of what `pair_quantity` says, of both directions the mean;
            symmetric, NaN on the diagonal and where a pair was not measured.
        """
        if self.size > MAX_MATRIX_RANKS:
            raise InputError(f"a map of {self.size} ranks is too large for a matrix")
        i, j, value = self.cells(what, nbytes, retested=retested)
        self._refuse_few(self.pairs())
        matrix = np.full((self.size, self.size), np.nan)
        matrix[i, j] = matrix[j, i] = value
        return matrix

    def cells(
        self, what: str, nbytes: int | None = None, *, retested: bool = True
    ) -> tuple[Ints, Ints, Floats]:
        """Return three arrays with a value for each measured pair: both ranks, and the round trip.

        The parameters are those of `matrix`.
        """
        table = self.pairs()
        if what not in table:
            raise InputError(f"the pairs have no '{what}'", where=self.where)
        if table[what].dtype.kind not in "if":
            raise InputError(f"the '{what}' of a 'pair' record is not a number", where=self.where)
        of_size = table["bytes"] == (table["bytes"].min() if nbytes is None else nbytes)
        if not of_size.any():
            raise self.no_such_pairs(nbytes)
        keep = counting(table, ("i", "j", "bytes")) if retested else ~table.flag("retest")
        keep &= of_size
        return table["i"][keep], table["j"][keep], table[what][keep]

    def columns(self, name: str | None = None) -> dict[str, Array]:
        """Return the records of one name as columns, with the hosts of their ranks.

        Parameters
        ----------
        name
            Such as ``sample``, ``pair``, or ``rank`` for the locations of the ranks; if None, the
            most frequent record.

        Returns
        -------
        dict of ndarray
            The keys of the records, in seconds and bytes, and the hosts: ``host_i`` and ``host_j``
            for ``i`` and ``j``, and ``host`` for ``rank``; empty if a host is unknown. Pairs of a
            map also have ``seconds``, which is their median.

        Raises
        ------
        InputError
            If the run holds no such records.
        """
        if name == "rank" and self.ranks:
            keys = ("rank", "host", "node", *PLACES)
            return {key: np.array([getattr(rank, key) for rank in self.ranks]) for key in keys}
        names = ", ".join(self.tables)
        if name is None and self.tables:
            name = max(self.tables, key=lambda key: len(self.tables[key]))
        if name not in self.tables:
            raise InputError(
                f"the run has no '{name}' records" if name else "the run has no records",
                where=self.where,
                hint=f"choose from {names}" if names else "",
            )
        columns = dict(self.tables[name].columns)
        if "median" in columns:
            columns.setdefault("seconds", columns["median"])
        for key, host in (("i", "host_i"), ("j", "host_j"), ("rank", "host")):
            if key in columns and host not in columns and columns[key].dtype.kind == "i":
                ranks = columns[key]
                # a damaged rank has an empty text
                hosts = np.array([*self.hosts, ""], dtype=object)
                inside = (ranks >= 0) & (ranks < self.size)
                columns[host] = hosts[np.where(inside, ranks, self.size)]
        return columns

    def to_pandas(self, name: str | None = None) -> DataFrame:
        """Return the records of one name as a pandas DataFrame: `columns` as a data frame.

        Parameters
        ----------
        name
            As in `columns`.

        Raises
        ------
        InputError
            If pandas is not installed, or the run holds no such records.
        """
        from isochrone.base.frames import data_frame

        return data_frame(self.columns(name))

    def to_arrow(self, name: str | None = None) -> pyarrow.Table:
        """Return the records of one name as a table of Apache Arrow: `columns` by pyarrow."""
        from isochrone.runfile.arrow import arrow_table  # a package that few have

        return arrow_table(self.columns(name), self.header, self.where)

    def to_xarray(self, what: str = "median") -> DataArray:
        """Return a latency map as an array of xarray: message size, rank and rank, with hosts.

        Parameters
        ----------
        what
            As in `matrix`.

        Raises
        ------
        InputError
            If xarray is not installed, or as `matrix`.
        """
        try:
            from xarray import DataArray
        except ImportError as error:
            raise InputError(
                "data sets need the package xarray", hint="try: pip install xarray"
            ) from error
        sizes, ranks = self.message_sizes(), range(self.size)
        hosts = {"host_i": ("i", self.hosts), "host_j": ("j", self.hosts)}
        return DataArray(
            np.stack([self.matrix(what, size) for size in sizes]),
            name=what,
            dims=("bytes", "i", "j"),
            coords={"bytes": sizes, "i": ranks, "j": ranks, **hosts},
            attrs={"units": "s", "origin": str(self.origin)},
        )

    def plot(self, view: str | None = None, **options: object) -> Any:
        """Plot the run: `isochrone.plot`, with its options."""
        return import_module("isochrone.api").plot(self, view, **options)  # it knows runs

    def __repr__(self) -> str:
        state = "complete" if self.complete else "partial"
        records = ", ".join(f"{len(table)} {name}" for name, table in self.tables.items())
        ranks = f"{self.size} rank{'s' if self.size > 1 else ''}"
        return printable(f"<Run {self.experiment} on {ranks} ({state}): {records or 'no'} records>")

    def _repr_html_(self) -> str:
        state = "complete" if self.complete else "partial"
        from html import escape  # for notebooks only

        return f"<b>{escape(self.experiment)}</b> on {self.size} ranks ({state})"
