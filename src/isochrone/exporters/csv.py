"""A comma-separated table for pandas, R or a spreadsheet: one row a pair, times in seconds.

Every message size of the run is written unless one is chosen. An empty cell means not known. A pair
that was not measured has a row without values, so that nothing is missing silently. ``retest`` is
true for a pair that was measured again, alone: such a pair has two rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.errors import InputError
from isochrone.files import whole_file
from isochrone.run import MAX_MATRIX_RANKS, Run
from isochrone.table import Table

__all__ = ["SUFFIX", "write"]

SUFFIX: Final = ".csv"
_STATISTICS: Final = ("n", "mean", "stddev", "min", "median", "p95", "max", "low", "high")
_COLUMNS: Final = ("i", "j", "host_i", "host_j", "bytes", *_STATISTICS, "retest")
_FORMULA: Final = re.compile(r"'*[=+\-@]")


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write the pairs of a latency map as comma-separated values.

    Raises
    ------
    InputError
        If the run holds no pairs of this size, or the file cannot be written.
    """
    sizes = run.message_sizes()
    if nbytes is not None:
        if nbytes not in sizes:
            known = ", ".join(map(str, sizes))
            raise InputError(
                f"no pairs of {nbytes} bytes", where=str(run.path or ""), hint=f"there are: {known}"
            )
        sizes = [nbytes]
    if run.size > MAX_MATRIX_RANKS:
        raise InputError(f"a map of {run.size} ranks is too large for this format")
    with (
        whole_file(path) as stream,
        io.TextIOWrapper(stream, encoding="utf-8", newline="") as text,
    ):
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(_COLUMNS)
        rows.writerows(_measured(run, sizes))
        rows.writerows(_unmeasured(run, sizes))


def _measured(run: Run, sizes: list[int]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the run file, in its order."""
    table = run.pairs()
    keep = np.isin(table["bytes"], sizes)
    i, j, size = (table[key][keep].tolist() for key in ("i", "j", "bytes"))
    hosts = [_cell_of_host(host) for host in run.hosts]
    unknown = {"median"} if run.header.get("median_is_mean") else set()
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
    hosts = [_cell_of_host(host) for host in run.hosts]
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


def _cell_of_host(host: str) -> str:
    """Make a host name a cell that no program takes for anything else than text.

    A host name comes from elsewhere, and a spreadsheet runs a cell that begins with ``= + - @`` as
    a formula, quoted or not. An apostrophe in front marks it as text. No valid host name begins so
    (RFC 1123), so a real file is never changed; and the importer takes the apostrophe away again,
    which is why a name that has apostrophes before such a sign gets one more. Control characters,
    which could part the line for simpler readers, become ``_``.
    """
    plain = "".join(c if c.isprintable() else "_" for c in host)
    return f"'{plain}" if _FORMULA.match(plain) else plain
