"""Latency maps of other programs, converted to runs with warnings on their defects."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from isochrone.base.arrays import Array
from isochrone.base.record import Members
from isochrone.base.table import Table, TableBuilder
from isochrone.base.units import MAX_SECONDS, MIN_SECONDS
from isochrone.formats.source import Source
from isochrone.runfile.file import MAX_UNKNOWN_RANKS
from isochrone.runfile.header import kind_of
from isochrone.runfile.records import Pair
from isochrone.runfile.rules import rules_of
from isochrone.runfile.run import DIRECTIONS, PAIR_QUANTITIES, Run
from isochrone.runfile.table_notes import NOTES

Columns = dict[str, Array]


NETWORK_SECONDS = 0.49e-6
"""Seconds of a message between two nodes by the fastest network: ranks that all are nearer share a
node (Ajima et al. 2018, *The Tofu interconnect D*, put latency)."""


OF_RATES: Members = {"seconds_are": "message at the bandwidth of the file"}
"""In the header of a run whose times come from bandwidths."""


def default_bytes(rate: bool) -> int:
    """Return the message size of a table that has none: as the user says, or a usual one."""
    return NOTES.get().nbytes or (1 << 20 if rate else 64)


@dataclass
class Pairs:
    """What an importer has understood of a file.

    Attributes
    ----------
    size
        Number of ranks.
    hosts
        Host name by rank, where known.
    columns
        ``i``, ``j``, ``bytes`` and the statistics in seconds; i < j and each pair but once, save
        for those measured again.
    repeats
        Repetitions of each pair, if they were the same for all.
    extra
        More for the header of the run.
    """

    size: int
    hosts: Mapping[int, str]
    columns: Columns
    repeats: int | None = None
    extra: Members = field(default_factory=dict)

    def run(self, source: Source) -> Run:
        """Return them as a run; pairs that are missing make it a partial one."""
        if not len(self.columns["i"]):
            raise source.fail("the file has no measured pair of ranks")
        self._check_times(source)
        self._name_hosts(source)
        self._check_hosts(source)
        missing = self._missing(source)
        mean_for_median = self._complete_median(source)
        options = {"bytes": np.unique(self.columns["bytes"]).tolist()}
        if self.repeats is not None:
            options["repeats"] = self.repeats
        header = {
            "experiment": "latency-map",
            **kind_of("latency-map"),
            "ranks": self.size,
            "options": options,
            "mpi": {},
            "clock": {},
            "imported": source.origin(),
            **self.extra,
        }
        if mean_for_median:
            header["median_is_mean"] = True
        return Run(
            header=header,
            ranks=source.ranks(self.hosts),
            tables={"pair": Table(_known(self.columns))},
            warnings=source.warnings,
            end=None if missing or source.cut else {"complete": True},
            path=source.path,
        )

    def _check_times(self, source: Source) -> None:
        """Refuse what a run file could not hold: times that no clock can show."""
        for key in (q for q in PAIR_QUANTITIES if q in self.columns):
            values = self.columns[key]
            wrong = rules_of(Pair)[key].fault(values, self.size) & ~np.isnan(values)
            for at in np.flatnonzero(wrong)[:1]:
                i, j = int(self.columns["i"][at]), int(self.columns["j"][at])
                raise source.fail(
                    f"the {key} of ranks {i} and {j} is {values[at]:g} s",
                    hint=f"valid: {MIN_SECONDS:g} to {MAX_SECONDS:g} s; check the unit",
                )

    def _name_hosts(self, source: Source) -> None:
        """Take the hosts that the user gives; ranks nearer than any network are on one."""
        given = NOTES.get().hosts
        if given and len(given) != self.size:
            raise source.fail(f"--hosts has {len(given)} names, but there are {self.size} ranks")
        seconds = [self.columns[key] for key in ("median", "mean") if key in self.columns]
        if given:
            self.hosts = dict(enumerate(given))
        elif (
            not (self.hosts or self.extra == OF_RATES)
            and np.nanmax(np.concatenate(seconds)) < 2 * NETWORK_SECONDS
        ):
            self.hosts = dict.fromkeys(range(self.size), "node")
            source.warn(
                "one-node-assumed",
                "all times are below those of any network: the ranks are taken to be on one node",
            )

    def _check_hosts(self, source: Source) -> None:
        """Drop the hosts if one is unknown: a run describes all of its ranks or none."""
        named = len(self.hosts)
        if named == self.size:
            return
        if self.size > MAX_UNKNOWN_RANKS:
            raise source.fail(
                f"the map has {self.size} ranks, but hosts for only {named} of them",
                hint=f"above {MAX_UNKNOWN_RANKS} ranks, give all hosts",
            )
        if named:
            self.hosts = {}
            source.warn(
                "hosts-unknown",
                f"only {named} of {self.size} ranks have a host: all hosts are ignored",
            )

    def _complete_median(self, source: Source) -> bool:
        """Use the mean in place of an unknown median."""
        mean = self.columns.get("mean", self.columns.get("median", np.zeros(0)))
        median = self.columns.setdefault("median", np.full(len(mean), np.nan))
        unknown = np.isnan(median)
        if not unknown.any():
            return False
        self.columns["median"] = np.where(unknown, mean, median)
        source.use_means()
        return True

    def _missing(self, source: Source) -> int:
        """Count the pairs that were not measured, and warn of them."""
        i, j, size = (self.columns[key] for key in ("i", "j", "bytes"))
        sizes, which = np.unique(size, return_inverse=True)
        present = len(np.unique((which * self.size + i) * self.size + j))
        wanted = self.size * (self.size - 1) // 2 * len(sizes)
        if present < wanted:
            source.warn("missing-pairs", f"{wanted - present} of {wanted} pairs are missing")
        return wanted - present


def both_ways(columns: Columns, *, one_way: bool, rate: bool = False) -> Columns:
    """Return pairs with i < j: those that are given from i to j and from j to i become one.

    Its time is the mean of both; a round trip of two messages that are timed one by one is their
    sum, or twice the only one. If they differ, ``forward`` and ``reverse`` are the seconds of a
    message from i to j, and from j to i.

    Parameters
    ----------
    columns
        As of `Pairs`, with each ``i`` and ``j`` in any order, but once, save for those measured
        again.
    one_way, rate
        Whether times are those of one message, and not round trips; whether they stay so, as those
        of bandwidths do.
    """
    i, j = columns["i"], columns["j"]
    swapped, low, high = i > j, np.minimum(i, j), np.maximum(i, j)
    again = columns.get("retest", np.zeros(len(i), dtype=bool))
    keys = (again, columns["bytes"], high, low)
    order = np.lexsort((swapped, *keys))
    one, two = order[:-1], order[1:]
    alike = np.all([key[one] == key[two] for key in keys], axis=0)
    couple = alike & ~swapped[one] & swapped[two]
    one, two = one[couple], two[couple]
    joined: Columns = {"i": low, "j": high}
    for key in columns.keys() - {"i", "j"}:
        values = joined[key] = columns[key].copy()
        if key in PAIR_QUANTITIES:
            values[one] = (values[one] + values[two]) / 2
            values *= 2 if one_way and not rate else 1
        elif key == "n":
            values[one] = np.fmin(values[one], values[two])
    statistics = [columns[name] for name in ("median", "mean") if name in columns]
    seconds = np.where(np.isnan(statistics[0]), statistics[-1], statistics[0])
    if np.any(seconds[one] != seconds[two]):
        for key, rows in zip(DIRECTIONS, (one, two), strict=True):
            joined.setdefault(key, np.full(len(i), np.nan))[one] = seconds[rows] / (
                1 if one_way or rate else 2
            )
    keep = np.setdiff1d(np.arange(len(i)), two)
    return {key: values[keep] for key, values in joined.items()}


def pairs_once(source: Source, rows: TableBuilder) -> Columns:
    """Return columns of rows with a member ``line``: a pair said twice alike is taken once.

    The second measurements of pairs do not count.

    Raises
    ------
    InputError
        If a pair is said twice with different numbers; names the second line. If there are no rows.
    """
    columns = dict(rows.build().columns)
    if not columns:
        raise source.fail("the file has no measured pair of ranks")
    lines = columns.pop("line")
    again = columns.get("retest", np.zeros(len(lines), dtype=bool))
    single = np.flatnonzero(~again)
    names = [key for key in ("j", "i", "bytes") if key in columns]
    # stable: of equal pairs, the earlier line stays first
    order = single[np.lexsort([columns[key][single] for key in names])]
    earlier, later = order[:-1], order[1:]
    same = np.all([columns[key][earlier] == columns[key][later] for key in names], axis=0)
    for key in ("n", *PAIR_QUANTITIES):
        if key in columns:
            a, b = columns[key][earlier], columns[key][later]
            for at in np.flatnonzero(same & (a != b) & ~(np.isnan(a) & np.isnan(b)))[:1]:
                i, j = int(columns["i"][later[at]]), int(columns["j"][later[at]])
                raise source.fail(
                    f"ranks {i} and {j} appear twice, with different {key}",
                    int(lines[later[at]]),
                    hint=f"the first is on line {int(lines[earlier[at]])}",
                )
    keep = np.setdiff1d(np.arange(len(lines)), later[same])
    return {key: column[keep] for key, column in columns.items()}


def _known(columns: Columns) -> Columns:
    """Leave out the columns in which nothing is known; make counts whole numbers again."""
    filled = {}
    for key, column in columns.items():
        if column.dtype.kind == "f" and np.isnan(column).all():
            continue
        if key == "retest" and not column.any():
            continue
        is_count = key == "n" and column.dtype.kind == "f" and not np.isnan(column).any()
        filled[key] = column.astype(np.int64) if is_count else column
    return filled
