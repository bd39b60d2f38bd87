"""Many pairs of a map as one record: columns in base64, numbered and with a checksum.

A ``pairs`` record holds ``count`` pairs of one message size. Its members are whole numbers
(`NUMBERS`: 32 bits, or one number where it is the same for all) and times in seconds (`TIMES`: 32
bit floats), little-endian; those of a direction (`WAYS`) are 0 where not known, and only in maps
that measured them. ``block`` counts the records of a file, ``crc`` is the CRC-32 of what stands
before it on the line. A ``blocks`` record after the last one says how many there were.
"""

import binascii
import zlib
from collections.abc import Iterator

import msgspec
import numpy as np

from isochrone.base.arrays import Array
from isochrone.base.record import Members
from isochrone.base.stats import distinct
from isochrone.base.table import Table

BLOCK = "pairs"
TOTAL = "blocks"

COMPACT_RANKS = 256
"""Ranks from which on a map is written in blocks."""

MAX_COUNT = 1 << 16
"""Pairs of one record, at most."""

ENDS = ("i", "j")
FLAGS = ("shared_cpu", "retest")
NUMBERS = (*ENDS, "n", "batch", *FLAGS)
TIMES = ("mean", "stddev", "min", "median", "p95", "max", "low", "high")
WAYS = ("forward", "reverse")

_PAIRS = 512
"""Pairs of one record that is written here; the probe writes as many."""

_CHECKSUM = b',"crc":"'


class BlockError(ValueError):
    """A record that is damaged."""


def columns_of(line: bytes, record: Members) -> tuple[int, dict[str, Array]]:
    """Return how many pairs a ``pairs`` record holds, and their members as columns.

    Parameters
    ----------
    line
        The line of the file.
    record
        What it holds.

    Raises
    ------
    BlockError
        If it is damaged.
    """
    end = line.rfind(_CHECKSUM)
    if end < 0 or record.get("crc") != f"{zlib.crc32(memoryview(line)[:end]):08x}":
        raise BlockError("the checksum is wrong")
    count, nbytes = record.get("count"), record.get("bytes")
    if type(count) is not int or not 1 <= count <= MAX_COUNT or type(nbytes) is not int:
        raise BlockError("'count' or 'bytes' is not valid")
    if not 0 <= nbytes < 2**62:
        raise BlockError("it has no valid 'count' or 'bytes'")
    columns = {}
    for key in ENDS:
        numbers = _words(record, key, count, "<u4")
        # products of two ranks fit into the type then
        columns[key] = numbers.astype(np.int32 if numbers.max() < 2**15 else np.int64)
    size = np.int64(nbytes) if nbytes >= 2**31 else np.int32(nbytes)
    columns["bytes"] = np.broadcast_to(size, count)
    for key in NUMBERS[len(ENDS) :]:
        value, kind = record.get(key), np.bool_ if key in FLAGS else np.int32
        if type(value) is int and 0 <= value < 2**31:
            columns[key] = np.broadcast_to(kind(value), count)
        else:
            columns[key] = _words(record, key, count, "<u4").astype(np.int32).astype(kind)
    for key in (*TIMES, *(key for key in WAYS if key in record)):
        seconds = _words(record, key, count, "<f4").astype(np.float32, copy=False)
        if not np.isfinite(seconds).all():
            raise BlockError(f"'{key}' has values that are not times")
        known = seconds if key in TIMES else np.where(seconds != 0, seconds, np.float32(np.nan))
        columns[key] = known
    return count, columns


def _words(record: Members, key: str, count: int, kind: str) -> Array:
    try:
        packed = msgspec.convert(record[key], bytes)  # five times as fast as `binascii`
    except (KeyError, ValueError) as error:
        raise BlockError(f"'{key}' is not a column") from error
    if len(packed) != 4 * count:
        raise BlockError(f"'{key}' does not have {count} values")
    return np.frombuffer(packed, kind)


def can_hold(table: Table) -> bool:
    """Whether blocks hold all that a table of pairs does."""
    members = {*ENDS, "bytes", *NUMBERS, *TIMES, *WAYS}
    return members >= table.columns.keys() >= {*ENDS, "bytes", "n", *TIMES}


def lines_of(table: Table) -> Iterator[bytes]:
    """Yield the lines of a table of pairs."""
    block = 0
    sizes = distinct(table["bytes"])
    for size in sizes.tolist():
        rows = np.flatnonzero(table["bytes"] == size)
        for start in range(0, len(rows), _PAIRS):
            yield _line(table.where(rows[start : start + _PAIRS]), block, size)
            block += 1
    total = {"record": TOTAL, "blocks": block, "pairs": len(table)}
    yield msgspec.json.encode(total) + b"\n"


def _line(table: Table, block: int, nbytes: int) -> bytes:
    record = {"record": BLOCK, "block": block, "count": len(table), "bytes": nbytes}
    for key in NUMBERS:
        values = table.flag(key) if key in FLAGS else table[key] if key in table else np.ones(1)
        same = key not in ENDS and len(distinct(values)) == 1
        record[key] = int(values[0]) if same else _text(values.astype("<u4"))
    for key in (*TIMES, *(key for key in WAYS if key in table)):
        record[key] = _text(np.nan_to_num(table[key]).astype("<f4"))
    body = msgspec.json.encode(record)[:-1]
    return body + _CHECKSUM + f'{zlib.crc32(body):08x}"}}\n'.encode()


def _text(values: Array) -> str:
    return binascii.b2a_base64(values.tobytes(), newline=False).decode()
