"""JSON output of iperf3 (``iperf3 -J``): the bandwidth that the receiver saw.

A message is a block (``-l``); all streams together send them.
"""

import re
from pathlib import Path
from typing import Annotated

import msgspec

from isochrone.formats.imported_sweep import Sweep
from isochrone.formats.source import Source
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e18)]


class _Test(msgspec.Struct):
    blksize: Annotated[int, msgspec.Meta(gt=0, le=1 << 40)]
    protocol: str = ""


class _Start(msgspec.Struct):
    test_start: _Test


class _Sum(msgspec.Struct):
    bits_per_second: _Positive


class _End(msgspec.Struct):
    sum_received: _Sum | None = None
    sum: _Sum | None = None


class _Document(msgspec.Struct):
    start: _Start
    end: _End


def read(path: Path) -> Run:
    """Read a bandwidth as a sweep of one size.

    Raises
    ------
    InputError
        If it cannot be read, or is no complete test.
    """
    source = Source.open(path, "iperf3")
    document = source.json(_Document, "test of iperf3")
    result = document.end.sum_received or document.end.sum
    if result is None:
        raise source.fail("the test has no result")
    size, rate = document.start.test_start.blksize, result.bits_per_second / 8
    sample = {"i": 0, "j": 1, "bytes": size, "seconds": size / rate, "rate": rate, "repeat": 0}
    return Sweep("point-to-point", "message of a window", 2, [sample]).run(source)


IMPORTER = Importer(
    holds="sweep",
    read=read,
    says="the output of iperf3",
    signature=re.compile(rb'\A\s*\{\s*"start":\s*\{\s*"connected":'),
)
