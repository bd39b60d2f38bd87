"""JSON of nccl-tests (``-J FILE``): the rows of its table; with ``-I 1``, each iteration."""

import re
from pathlib import Path
from typing import Annotated

import msgspec

from isochrone.formats.importers.nccl_tests import reader_of
from isochrone.formats.source import MAX_FILE_RANKS, Source
from isochrone.runfile.importer import Importer, Wanted
from isochrone.runfile.run import Run

_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Whole = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]


class _Time(msgspec.Struct):
    time: float | str | None = None
    cpu_time: float | str | None = None
    alg_bw: float | str = 0.0
    bus_bw: float | str = 0.0
    nwrong: float | None = None


class _Iterations(msgspec.Struct):
    times_us: list[float]


class _Result(msgspec.Struct):
    size: _Whole
    count: _Whole
    type: _Name
    redop: _Name
    root: _Name
    out_of_place: _Time | None = None
    in_place: _Time | None = None
    out_of_place_per_iter: _Iterations | None = None


class _Device(msgspec.Struct):
    rank: _Whole
    hostname: _Name


class _Config(msgspec.Struct):
    devices: list[_Device]
    nthreads: _Whole = 1
    ngpus: _Whole = 1


class _Document(msgspec.Struct):
    args: list[str]
    config: _Config
    results: list[_Result]
    nccl_version: int = 0


def read(path: Path, ranks: int | None = None) -> Run:
    """Read the times out of place as a sweep; those of each iteration, where the file has them.

    Raises
    ------
    InputError
        If it cannot be read, or is no complete file of nccl-tests.
    """
    source = Source.open(path, "nccl-tests")
    document = source.json(_Document, "file of nccl-tests")
    test = (document.args or [""])[0].rpartition("/")[2]
    tables, table = reader_of(
        source, Wanted(ranks=ranks), test, _hosts(document.config), document.nccl_version
    )
    for result in document.results:
        timed = result.out_of_place or result.in_place
        if timed is None:
            continue
        each = result.out_of_place_per_iter
        seconds = each.times_us if each else [timed.time or timed.cpu_time]
        for value in seconds:
            words = (
                result.size,
                result.count,
                result.type,
                result.redop,
                result.root.strip(),
                value,
                timed.alg_bw,
                timed.bus_bw,
            )
            table.take(source, [str(word) for word in words], valid=not timed.nwrong)
    sweep = tables.sweep(table)
    sweep.means = not any(result.out_of_place_per_iter for result in document.results)
    table.warn(source)
    return sweep.run(source)


def _hosts(config: _Config) -> dict[int, str]:
    """Return the host of each rank; nccl-tests lists the first device of each process only."""
    each = config.nthreads * config.ngpus
    if any(device.rank % max(1, each) for device in config.devices):
        each = 1
    if each * len(config.devices) > MAX_FILE_RANKS:
        return {}
    return {device.rank + k: device.hostname for device in config.devices for k in range(each)}


IMPORTER = Importer(
    holds="sweep",
    read=read,
    takes_ranks=True,
    says="the JSON file of nccl-tests",
    signature=re.compile(rb'\A\s*\{\s*"version":\s*\d+,\s*"start_time":'),
)
