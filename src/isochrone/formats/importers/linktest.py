"""The binary file of LinkTest 1: seconds of a message between all pairs of ranks.

A header of SIONlib says the order of bytes and the number of tasks. Then each rank has a record:
version, host, and its times with all others; that of rank 0 also has the message size, and the
slowest pairs with the times of a second measurement (``mpilinktest_output_sion.c`` of LinkTest 1.2,
``sion_metadata.c`` of SIONlib 1.7). LinkTest 2 has other records, and a reader of its own.
"""

import re
from pathlib import Path

import numpy as np

from isochrone.base.arrays import Array
from isochrone.base.text import printable
from isochrone.formats.imported_map import Pairs, both_ways
from isochrone.formats.source import Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run

_BIG_ENDIAN = b"\0\0\0\1"
_TASKS_AT = 24
"""Where the header has the order of bytes, from byte 4 on, and the number of tasks."""

_RECORD = re.compile(rb"LKTST(?:\x01\0{3}|\0{3}\x01)")
_HOST_AT, _TIMES_AT = 17, 289
_REPEATS, _BYTES, _ALL_TO_ALL, _SETTINGS = 0, 1, 2, 120
"""Numbers of rank 0 that precede its times: these come first, and all have so many bytes."""


def read(path: Path) -> Run:
    """Read a ``pingpong_results_bin.sion`` as a latency map.

    Raises
    ------
    InputError
        If it cannot be read, is of LinkTest 2, or is damaged.
    """
    source = Source.open(path, "linktest")
    order = ">" if source.data[4:8] == _BIG_ENDIAN else "<"

    def numbers(at: int, count: int, kind: str) -> Array:
        try:
            return np.frombuffer(source.data, order + kind, count, at)
        except ValueError as error:
            raise source.fail("the file of LinkTest is cut") from error

    ranks = int(numbers(_TASKS_AT, 1, "i4")[0])
    starts = [match.start() for match in _RECORD.finditer(source.data)]
    if not starts:
        hint = "write its times as a matrix of text, with linktest.readSION() of LinkTest 2"
        raise source.fail("the SION file has no records of LinkTest 1", hint=hint)
    if len(starts) != ranks or not 2 <= ranks <= MAX_MATRIX_RANKS:
        raise source.fail(f"the file has {len(starts)} records for {ranks} ranks")
    settings = numbers(starts[0] + _TIMES_AT, 10, "i4")
    shift = np.array([_SETTINGS, *[0] * (ranks - 1)])
    times = [numbers(start, ranks, "f8") for start in np.add(starts, shift) + _TIMES_AT]
    i, j = np.nonzero(~np.eye(ranks, dtype=bool))
    # behind the times of rank 0: its partners, times of all-to-all, and the second measurement
    after = starts[0] + _TIMES_AT + _SETTINGS + (12 + 8 * bool(settings[_ALL_TO_ALL])) * ranks
    ends = numbers(after + 16 * ranks, 2 * ranks, "i4").reshape(2, ranks)
    again = numbers(after, ranks, "f8")
    valid = (again > 0) & np.all((ends >= 0) & (ends < ranks), axis=0) & (ends[0] != ends[1])
    columns = {
        "i": np.concatenate([i, ends[0, valid]]),
        "j": np.concatenate([j, ends[1, valid]]),
        "mean": np.concatenate([np.array(times)[i, j], again[valid]]),
        "retest": np.arange(len(i) + np.sum(valid)) >= len(i),
    }
    columns = {key: column[columns["mean"] > 0] for key, column in columns.items()}
    columns["bytes"] = np.full(len(columns["i"]), int(settings[_BYTES]))
    hosts = [source.data[start + _HOST_AT :][:256].split(b"\0")[0] for start in starts]
    names = [printable(host.decode("ascii", "replace"), 256) for host in hosts]
    pairs = Pairs(ranks, dict(enumerate(names)), both_ways(columns, one_way=True))
    pairs.repeats = int(settings[_REPEATS]) if settings[_REPEATS] > 0 else None
    return pairs.run(source)


IMPORTER = Importer(
    holds="latency-map",
    read=read,
    says="a file of SIONlib",
    signature=re.compile(rb"\Asion\0{3}[\0\x01]"),
)
