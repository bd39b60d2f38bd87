"""An Apache Parquet file: the records of a run with their types, for data frames and databases.

Maps have a row a pair, sweeps and hot spots a row for each valid repetition. Columns are
those of the run file, in seconds and bytes, with the hosts of the ranks, ``op`` and ``p`` where a
sweep has none, and ``origin``: ``measured``, ``simulated``, ``synthetic`` or ``imported``. The
header of the run is in the metadata of the file under ``isochrone``. Needs pyarrow.
"""

from pathlib import Path

import numpy as np

from isochrone.base.arrays import Array
from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.runfile.arrow import arrow_table
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counted, identity
from isochrone.sweep.curves import is_sweep


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write pairs of a map, or samples of a sweep or hot spot.

    Raises
    ------
    InputError
        If pyarrow is not installed, the run holds nothing of this size, or the file cannot be
        written.
    """
    table = arrow_table(_columns(run, nbytes), run.header, run.where)
    from pyarrow import ArrowException, parquet

    try:
        with whole_file(path) as stream:
            parquet.write_table(table, stream)
    except ArrowException as error:
        raise InputError(f"Parquet refuses it: {printable(str(error))}", where=run.where) from error


def _columns(run: Run, nbytes: int | None) -> dict[str, Array]:
    """Return the columns of all rows that count, or of those of one size."""
    if is_sweep(run):
        curves_to_export(run, nbytes)  # raises errors
        columns = _counted(run, "sample")
        default_op = str(run.options.get("mode") or run.experiment)
        constants = {"op": default_op, "p": 2}
    elif run.kind == "hotspot" and "sample" in run.tables:
        columns, constants = _counted(run, "sample"), {}
    else:
        if nbytes is not None and nbytes not in run.message_sizes():
            raise run.no_such_pairs(nbytes)
        run.pairs()
        columns, constants = run.columns("pair"), {}
    constants["origin"] = run.origin
    rows = len(columns["bytes"])
    columns |= {
        name: np.full(rows, value, dtype=object)
        for name, value in constants.items()
        if name not in columns
    }
    if nbytes is None:
        return columns
    mine = columns["bytes"] == nbytes
    return {name: values[mine] for name, values in columns.items()}


def _counted(run: Run, name: str) -> dict[str, Array]:
    """Return the samples that count, with the hosts of their ranks."""
    table = Table(run.columns(name))
    return dict(counted(table, identity(table, run.by), run.where).columns)


EXPORTER = Exporter(suffix=".parquet", holds=("latency-map", "sweep", "hotspot"), write=write)
