"""Times of collectives that others measured are read as they wrote them, without options.

They lie in ``collectives`` below the folder that $ISOCHRONE_FIELD names, with our names of columns;
their authors' headers are here.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import missing
from isochrone.models.data.tables import read_csv

WRITTEN = {
    "course": ("Algorithm,Allocation,Processes,MessageSize,Latency", 1e6),
    "short": ("Processes,Size,Latency", 1e6),
    "spreadsheet": ("Processes;Size;Latency(us)", 1e6),
    "study": ("nprocs\tbytes\tavg_latency_us", 1e6),
    "osu": ("# ranks  Size  Avg Latency(us)", 1e6),
    "imb": ("#procs  #bytes  t_avg[usec]", 1e6),
    "ours": ("ranks,bytes,time_ms", 1e3),
    "nanoseconds": ("np,Size (bytes),ns", 1e9),
}
"""Names of columns, and how many of their units of time a second is."""


def field_tables() -> list[Path]:
    """Return the tables; skip or fail the test without them (`beds.mpis.missing`)."""
    named = os.environ.get("ISOCHRONE_FIELD")
    tables = sorted((Path(named or "") / "collectives").glob("*.csv"))
    if not named or not tables:
        missing("field", "ISOCHRONE_FIELD names no folder with collectives")
    return tables


@pytest.mark.parametrize("kind", WRITTEN)
def test_tables_of_others_are_read_as_they_are(kind: str, tmp_path: Path) -> None:
    """Ranks, sizes and seconds are those of the same table with our names."""
    header, units = WRITTEN[kind]
    mark = next((mark for mark in (",", ";", "\t") if mark in header), "  ")
    for path in field_tables():
        with path.open() as stream:
            rows = [
                [
                    *["x"] * (header.count(mark) - 2),
                    row["p"],
                    row["b"],
                    repr(float(row["seconds"]) * units),
                ]
                for row in csv.DictReader(stream)
            ]
        written = tmp_path / path.name
        text = "\r\n".join([header, *map(mark.join, rows), ""])
        written.write_bytes(text.encode("utf-8-sig"))
        found, own = read_csv(written), read_csv(path)
        assert found.variables["p"].tolist() == own.variables["p"].tolist()
        assert found.variables["b"].tolist() == own.variables["b"].tolist()
        assert np.allclose(found.seconds, own.seconds, rtol=1e-9, atol=0)
