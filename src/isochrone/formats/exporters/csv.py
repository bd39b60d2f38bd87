"""A comma-separated table for pandas, R or a spreadsheet: one row per pair or sample, in seconds.

A sweep has one row for each repetition that counts, with the columns that ``fit`` reads,
``op,p,b,seconds``, and more, which also tell realisations on grids and their phases apart; its last
columns, ``stddev,p95,p99``, say how all repetitions of the same point are spread. A hot spot
likewise, with ``order,pa,pe,seconds`` and more. Emulated applications have a row for each iteration
and one for each rank of a launch. In all, ``origin`` says where the times come from: ``measured``,
``simulated``, ``made up`` or ``imported``.
A map has one row a pair; one that was not measured has a row without values, so that nothing is
missing silently. One that was measured again, alone, has two; in the second, ``retest`` is true.
Every message size of the run is written unless one is chosen. An empty cell means not known.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.cells import cell_of
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.table import Table
from isochrone.collectives.results.grid_collectives import is_grid_run
from isochrone.formats import exported_emulation
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run
from isochrone.runfile.samples import counted, identity, points, summarise
from isochrone.sweep.curves import is_sweep, samples

__all__ = ["EXPORTER", "write"]

_STATISTICS: Final = ("n", "mean", "stddev", "min", "median", "p95", "max", "low", "high")
_COLUMNS: Final = ("i", "j", "host_i", "host_j", "bytes", *_STATISTICS, "retest")
_SWEEP: Final = (
    "op", "p", "b", "seconds", "i", "j", "pairs", "root", "repeat", "rate", "again",
    "origin", "stddev", "p95", "p99",
)  # fmt: skip
_SPREAD: Final = ("stddev", "p95", "p99")
_ON_GRIDS: Final = ("grid", "phase", "groups", "phase_op", "phase_p", "phase_bytes")
"""More columns of collective operations that were also measured on grids."""

_HOTSPOT: Final = (
    "order", "hot", "pa", "pe", "intra", "in", "out", "bytes", "seconds", "repeat",
    "origin",
)  # fmt: skip
_BUSY: Final = ("shape", "busy")
"""More columns of runs that say who is busy."""


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write pairs of a map, samples of a sweep or hot spot, or iterations and ranks of emulations.

    Raises
    ------
    InputError
        If the run holds nothing of this size, or the file cannot be written.
    """
    if is_sweep(run):
        curves_to_export(run, nbytes)  # says what is wrong with it, before the file is begun
        columns = (*_SWEEP, *_ON_GRIDS) if is_grid_run(run) else _SWEEP
        _write(path, columns, _samples(run, nbytes, columns))
    elif run.kind == "hotspot" and "sample" in run.tables:
        known = tuple(key for key in _BUSY if key in run.tables["sample"])
        named = (*_HOTSPOT, *known)
        _write(path, named, _hotspot(run, nbytes, named))
    elif run.kind == exported_emulation.KIND:
        rows = [tuple(map(_cell, _safe(row))) for row in exported_emulation.rows(run)]
        _write(path, exported_emulation.COLUMNS, rows)
    else:
        _write(path, _COLUMNS, _pairs(run, nbytes))


def _write(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    with (
        whole_file(path) as stream,
        io.TextIOWrapper(stream, encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def _samples(run: Run, nbytes: int | None, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the samples of a sweep; what a sample does not have is an empty cell."""
    usual = str(run.options.get("mode") or run.experiment)
    table = samples(run)
    spread = _spread(run, table)
    for row, sample in enumerate(table.rows()):
        if nbytes is not None and sample["bytes"] != nbytes:
            continue
        sample = {"op": usual, "p": 2, **sample, "b": sample["bytes"], "origin": run.origin}
        sample |= spread[row]
        for key in ("op", "grid", "phase", "phase_op"):
            if key in sample:
                sample[key] = cell_of(str(sample[key]))
        yield tuple(_cell(sample.get(key)) for key in columns)


def _spread(run: Run, table: Table) -> dict[int, dict[str, float | None]]:
    """Return for each row how the repetitions of its point are spread."""
    found: dict[int, dict[str, float | None]] = {}
    for rows in points(table, (*run.by, "bytes")).values():
        times = summarise(table, rows)
        spread = {key: getattr(times, key) for key in _SPREAD}
        found.update((row, spread) for row in rows.tolist())
    return found


def _hotspot(run: Run, nbytes: int | None, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the samples of a hot spot, with the columns that ``fit`` reads."""
    table = run.tables["sample"]
    for sample in counted(table, identity(table)).rows():
        if nbytes is None or sample.get("bytes") == nbytes:
            sample["origin"] = run.origin
            for key in ("order", "shape"):
                sample[key] = cell_of(str(sample.get(key, "")))
            yield tuple(_cell(sample.get(key)) for key in columns)


def _safe(row: Iterable[object]) -> Iterator[object]:
    """Make texts of a row cells that no program takes for anything else than text."""
    return (cell_of(value) if isinstance(value, str) else value for value in row)


def _cell(value: object) -> str:
    """Write one value; a column in which some records lack a count is one of floats inside."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


def _pairs(run: Run, nbytes: int | None) -> Iterator[tuple[str, ...]]:
    """Yield the pairs of a map, those that were not measured last."""
    sizes = run.message_sizes()
    if nbytes is not None:
        if nbytes not in sizes:
            raise run.no_such_pairs(nbytes)
        sizes = [nbytes]
    if run.size > MAX_MATRIX_RANKS:
        raise InputError(f"a map of {run.size} ranks is too large for this format")
    yield from _measured(run, sizes)
    yield from _unmeasured(run, sizes)


def _measured(run: Run, sizes: list[int]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the run file, in its order."""
    table = run.pairs()
    keep = np.isin(table["bytes"], sizes)
    i, j, size = (table[key][keep].tolist() for key in ("i", "j", "bytes"))
    hosts = [cell_of(host) for host in run.hosts]
    unknown = {"median"} if run.median_is_mean else set()
    statistics = [_statistic(table, key, keep, unknown) for key in _STATISTICS]
    again = ("true" if flag else "false" for flag in table.flag("retest")[keep].tolist())
    yield from zip(
        map(str, i), map(str, j),
        (hosts[rank] for rank in i), (hosts[rank] for rank in j),
        map(str, size), *statistics, again,
        strict=True,
    )  # fmt: skip


def _unmeasured(run: Run, sizes: list[int]) -> Iterator[tuple[str, ...]]:
    """Yield a row without values for each pair that a partial run did not come to."""
    table = run.pairs()
    hosts = [cell_of(host) for host in run.hosts]
    for size in sizes:
        done = np.zeros((run.size, run.size), dtype=bool)
        of_size = table["bytes"] == size
        done[table["i"][of_size], table["j"][of_size]] = True
        for i in range(run.size):
            for j in (np.flatnonzero(~done[i, i + 1 :]) + i + 1).tolist():
                names = (str(i), str(j), hosts[i], hosts[j], str(size))
                yield (*names, *[""] * len(_STATISTICS), "false")


def _statistic(table: Table, key: str, keep: NDArray[np.bool_], unknown: set[str]) -> Iterable[str]:
    """Yield the cells of one column; ``repr`` writes as many digits as it takes to read it back."""
    if key not in table or key in unknown:
        return [""] * int(keep.sum())
    values = table[key][keep].tolist()
    if key == "n":  # a column in which some rows lack the count is a column of floats
        values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    return ("" if v is None or v != v else repr(v) for v in values)


EXPORTER: Final = Exporter(
    suffix=".csv", holds=("latency-map", "sweep", "hotspot", "emulation"), write=write
)
