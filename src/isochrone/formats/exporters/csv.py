"""A comma-separated table for pandas, R or a spreadsheet: one row per pair or sample, in seconds.

A sweep has one row for each repetition that counts, with the columns that ``fit`` reads,
``op,p,b,seconds``, and more, which also identify realisations on grids and their phases; its last
columns, ``stddev,p95,p99``, are the spread of all repetitions of the same point. A hot spot
likewise, with ``order,pa,pe,seconds`` and more. Emulated applications have a row for each iteration
and one for each rank of a launch. In all, ``origin`` is the origin of the times: ``measured``,
``simulated``, ``synthetic`` or ``imported``.
A map has one row a pair; one that was not measured has a row without values, so that nothing is
missing silently. With ``estimates`` it has an estimate, and ``source`` is ``estimated`` there. A
pair that was measured again, alone, has two rows; in the second, ``retest`` is true. Every message
size of the run is written unless one is chosen. An empty cell means not known.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import repeat
from pathlib import Path

import numpy as np

from isochrone.applications.emulation.recorded import KIND, RankTime, applications, launched
from isochrone.applications.results.records import records
from isochrone.base.csv_escape import cell_of
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.table import Table
from isochrone.collectives.results.grid_collectives import is_grid_run
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import DIRECTIONS, MAX_MATRIX_RANKS, Run
from isochrone.runfile.samples import counted, identity, points, summarise
from isochrone.sweep.curves import is_sweep, samples
from isochrone.sweep.overlap import MEMBERS

_STATISTICS = ("n", "mean", "stddev", "min", "median", "p95", "max", "low", "high")
_COLUMNS = ("i", "j", "host_i", "host_j", "bytes", *_STATISTICS, "retest")
_SWEEP = (
    "op",
    "p",
    "b",
    "seconds",
    "i",
    "j",
    "pairs",
    "root",
    "repeat",
    "rate",
    "again",
    "origin",
    "stddev",
    "p95",
    "p99",
)
_BY = ("threads", "entries")
"""More columns that tell the curves of some experiments apart."""

_SPREAD = ("stddev", "p95", "p99")
_ON_GRIDS = ("grid", "phase", "groups", "phase_op", "phase_p", "phase_bytes")
"""More columns of collective operations that were also measured on grids."""

_HOTSPOT = (
    "order",
    "hot",
    "pa",
    "pe",
    "intra",
    "in",
    "out",
    "bytes",
    "seconds",
    "repeat",
    "origin",
)
_EMULATED = (
    "launch",
    "repeat",
    "app",
    "beside",
    "iteration",
    "rank",
    "seconds",
    "communication",
    "asked",
    "delivered",
    "origin",
)
"""A row has an ``iteration``, and is of the slowest rank, or a ``rank``, and is of all iterations.
``beside`` names the concurrent applications of the launch, separated by blanks."""

Cells = tuple[str, ...]
"""The cells of a row, or the names of the columns."""

_BUSY = ("shape", "busy")
"""Additional columns of runs with busy ranks."""


def write(run: Run, path: Path, *, nbytes: int | None = None, estimates: bool = False) -> None:
    """Write pairs of a map, samples of a sweep or hot spot, or iterations and ranks of emulations.

    Pairs of a map that were not measured have ``estimates`` if asked for.

    Raises
    ------
    InputError
        If the run holds nothing of this size, or the file cannot be written.
    """
    if is_sweep(run):
        curves_to_export(run, nbytes)  # raises errors before the file is created
        beside = tuple(key for key in MEMBERS if key in run.tables["sample"])
        more = _ON_GRIDS if is_grid_run(run) else tuple(key for key in _BY if key in run.by)
        columns = (*_SWEEP, *more, *beside)
        _write(path, columns, _samples(run, nbytes, columns))
    elif run.kind == "hotspot" and "sample" in run.tables:
        busy_columns = tuple(key for key in _BUSY if key in run.tables["sample"])
        named = (*_HOTSPOT, *busy_columns)
        _write(path, named, _hotspot(run, nbytes, named))
    elif run.kind == KIND:
        rows = [tuple(map(_cell, row)) for row in _emulated(run)]
        _write(path, _EMULATED, rows)
    else:
        ways = tuple(key for key in DIRECTIONS if key in run.pairs())
        extra_columns = ("source",) if estimates else ()
        _write(path, (*_COLUMNS, *ways, *extra_columns), _pairs(run, nbytes, estimates=estimates))


def _write(path: Path, columns: Cells, rows: Iterable[Cells]) -> None:
    with (
        whole_file(path) as stream,
        io.TextIOWrapper(stream, encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def _samples(run: Run, nbytes: int | None, columns: Cells) -> Iterator[Cells]:
    """Yield the samples of a sweep; what a sample does not have is an empty cell."""
    table = samples(run)
    if nbytes is not None:
        table = table.where(table["bytes"] == nbytes)
    default_op = str(run.options.get("mode") or run.experiment)
    cells = {
        **{key: _cells(table, key) for key in columns},
        **_spread(run, table),
        "p": _cells(table, "p", 2),
        "b": _cells(table, "bytes"),
        "origin": repeat(run.origin, len(table)),
        "op": _texts(table, "op", default_op),
        **{key: _texts(table, key) for key in ("grid", "phase", "phase_op") if key in table},
    }
    return zip(*(cells[key] for key in columns), strict=True)


def _spread(run: Run, table: Table) -> dict[str, list[str]]:
    """Return for each row how the repetitions of its point are spread, as columns."""
    cells = {key: np.full(len(table), "", dtype=object) for key in _SPREAD}
    for rows in points(table, (*run.by, "bytes")).values():
        times = summarise(table, rows)
        for key, column in cells.items():
            column[rows] = _cell(getattr(times, key))
    return {key: column.tolist() for key, column in cells.items()}


def _hotspot(run: Run, nbytes: int | None, columns: Cells) -> Iterator[Cells]:
    """Yield the samples of a hot spot, with the columns that ``fit`` reads."""
    table = run.tables["sample"]
    table = counted(table, identity(table))
    if nbytes is not None:
        of_size = table["bytes"] == nbytes if "bytes" in table else np.zeros(len(table), bool)
        table = table.where(of_size)
    cells = {
        **{key: _cells(table, key) for key in columns},
        "origin": repeat(run.origin, len(table)),
        **{key: _texts(table, key, "") for key in ("order", "shape")},
    }
    return zip(*(cells[key] for key in columns), strict=True)


def _values(table: Table, key: str, missing: object) -> Iterator[object]:
    """Yield a column; NaN, which is not equal to itself, is a missing number."""
    return (missing if v is None or v != v else v for v in table[key].tolist())


def _cells(table: Table, key: str, missing: object = None) -> Iterable[str]:
    """Return the cells of one column."""
    if key not in table:
        return repeat(_cell(missing), len(table))
    if table[key].dtype.kind == "i":
        return map(str, table[key].tolist())
    return map(_cell, _values(table, key, missing))


def _texts(table: Table, key: str, missing: str | None = None) -> Iterable[str]:
    """Return the cells of a column of words, safe for any program; each word is looked at once."""
    safe = cache(cell_of)
    if key not in table:
        return repeat("" if missing is None else safe(missing), len(table))
    return ("" if v is None else safe(str(v)) for v in _values(table, key, missing))


def _cell(value: object) -> str:
    """Write one value; a column in which some records lack a count is one of floats inside.

    No program takes a text for anything else than text.
    """
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return cell_of(value) if isinstance(value, str) else repr(value)


def _pairs(run: Run, nbytes: int | None, *, estimates: bool) -> Iterator[Cells]:
    """Yield the pairs of a map, those that were not measured last."""
    sizes = run.message_sizes()
    if nbytes is not None:
        if nbytes not in sizes:
            raise run.no_such_pairs(nbytes)
        sizes = [nbytes]
    if run.size > MAX_MATRIX_RANKS:
        raise InputError(f"a map of {run.size} ranks is too large for this format")
    table = run.pairs()
    columns = dict(table.columns)
    if run.median_is_mean:
        del columns["median"]
    source = ["measured"] * estimates
    ways = [key for key in DIRECTIONS if key in table]
    yield from _rows(run, Table(columns).where(np.isin(table["bytes"], sizes)), ways, source)
    for size in sizes:
        done = np.tri(run.size, dtype=bool)
        of_size = table["bytes"] == size
        done[table["i"][of_size], table["j"][of_size]] = True
        i, j = np.nonzero(~done)
        cells = {"i": i, "j": j, "bytes": np.full(len(i), size)}
        if estimates:
            seconds, half = analyse(run, size).estimator.of(i, j)
            cells |= {"median": seconds, "low": seconds - half, "high": seconds + half}
            source = ["estimated"]
        yield from _rows(run, Table(cells), ways, source)


def _rows(
    run: Run, table: Table, ways: Sequence[str], extra_cells: Sequence[str]
) -> Iterator[Cells]:
    """Yield the rows of pairs, each with more cells at its end."""
    hosts = [cell_of(host) for host in run.hosts]
    i, j = (table[key].tolist() for key in ("i", "j"))
    return zip(
        map(str, i),
        map(str, j),
        [hosts[rank] for rank in i],
        [hosts[rank] for rank in j],
        *(_cells(table, key) for key in ("bytes", *_STATISTICS)),
        map(_cell, table.flag("retest").tolist()),
        *(_cells(table, key) for key in ways),
        *map(repeat, extra_cells),
        strict=False,
    )


def _emulated(run: Run) -> Iterator[tuple[object, ...]]:
    """Yield the rows; None where a row has no such value.

    Raises
    ------
    InputError
        If no application came to its end, or a record is damaged.
    """
    names = [app.name for app in applications(run)]
    launches = launched(run)
    if not launches:
        raise InputError("no application completed", where=run.where)
    about = {}
    for launch in launches:
        beside = " ".join(names[neighbour] for neighbour in launch.beside)
        about[launch.launch, launch.app] = (launch.launch, launch.repeat, names[launch.app], beside)
        for iteration, seconds in enumerate(launch.times.tolist()):
            key = about[launch.launch, launch.app]
            yield (*key, iteration, None, seconds, None, None, None, run.origin)
    for rank in records(run, "rank_time", RankTime):
        if (rank.launch, rank.app) in about:
            key = about[rank.launch, rank.app]
            times = (rank.seconds, rank.communication, rank.asked, rank.delivered)
            yield (*key, None, rank.rank, *times, run.origin)


EXPORTER = Exporter(
    suffix=".csv", holds=("latency-map", "sweep", "hotspot", "emulation"), write=write
)
