"""Measured calls from run files of `measure tile-io` and of recorded programs."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from isochrone.base.errors import InputError
from isochrone.base.stats import known, median_of
from isochrone.base.text import whole_number
from isochrone.collective_io.predict.call_parts import INDEPENDENT, LATE, PARTS
from isochrone.collective_io.predict.whole_call import MeasuredCall, scatter_of
from isochrone.collective_io.results import io_recording, tile_io
from isochrone.collective_io.workload import AccessPattern
from isochrone.collective_io.workload.call import Call, call_of
from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.runfile.header import Option
from isochrone.runfile.run import Run
from isochrone.runfile.samples import counted, identity


def measured_calls(runs: Iterable[Run]) -> list[MeasuredCall]:
    """Return the collective calls that runs hold.

    Raises
    ------
    InputError
        If a run is of something else, or holds none.
    """
    measured = []
    for run in runs:
        if run.kind not in KINDS:
            raise InputError(
                f"this run is of '{run.experiment}'",
                where=run.where,
                hint="collective calls are in runs of 'isochrone measure tile-io --file F' and "
                "of 'isochrone record --collective-io'",
            )
        mine = KINDS[run.kind](run)
        if not mine and run.kind == io_recording.KIND and io_recording.calls(run):
            raise InputError(
                "the aggregators of the recorded calls are not known, as with OMPIO",
                where=run.where,
                hint="record the program with ROMIO: Open MPI with --mca io romio341 (or romio321)",
            )
        if not mine:
            raise InputError("the run contains no collective file access", where=run.where)
        measured += mine
    return measured


def _of_tiles(run: Run) -> list[MeasuredCall]:
    """Return the write and the read of tiles, each the median of its repetitions."""
    table = run.tables.get("sample")
    if table is None or not len(table):
        return []
    table = counted(table, identity(table))
    phase, op = table["phase"], table["op"]
    pattern, hints = _tiles(run.options, run.size, run.where), tile_io.hints(run)
    if "" in run.hosts:
        raise InputError("the run does not record the hosts of its ranks", where=run.where)
    measured = []
    for name in ("write", "read"):
        mine = table.where((phase == "file") & (op == name))
        if not len(mine):
            continue
        times = {key: known(mine[key]).tolist() for key in ("seconds", *PARTS) if key in mine}
        call = call_of(pattern, hints, reading=name == "read")
        ranks = []  # no aggregators: each rank accesses the file independently
        if call.exchanges:
            ranks = [aggregator["rank"] for aggregator in tile_io.aggregators(run)]
            if not ranks and not hints and run.library.library.startswith("Open MPI"):
                call = replace(call, driver="ompio")
                ranks = call.of_ompio()
            if not ranks:
                message = "the run does not record its aggregators"
                raise InputError(message, where=run.where)
            if not all(0 <= rank < run.size for rank in ranks):
                raise InputError("a recorded aggregator is not a rank of the run", where=run.where)
        measured.append(_typical(call, run.hosts, ranks, times))
    return measured


def _of_recording(run: Run) -> list[MeasuredCall]:
    """Return each pattern of a program, the median of its calls."""
    files = {file.number: file for file in io_recording.files(run)}
    calls, hosts = io_recording.calls(run), run.hosts
    measured = []
    for pattern in io_recording.patterns(run):
        mine = [call for call in calls if call.pattern == pattern.number and not call.nonblocking]
        file = files[pattern.file]
        if (
            not mine
            or not len(pattern.pieces["rank"])
            or not pattern.whole
            or "cb_config_list" not in file.hints
        ):
            continue  # without ROMIO's hints the aggregators are unknown
        call = call_of(pattern.accesses(file, run.size), file.hints, reading=pattern.op == "read")
        ranks = []
        if call.exchanges:
            # as ROMIO lists the aggregators among the ranks of a file, or by its rules
            listed = file.hints.get("romio_aggregator_list", "").split()
            most = whole_number(file.hints.get("cb_nodes", "")) or None
            within = [n for rank_text in listed if (n := whole_number(rank_text)) is not None]
            if len(listed) == len(within) == most and max(within) < len(file.ranks):
                ranks = file.ranks[within].tolist()
            else:
                ranks = call.aggregators(hosts, file.hints["cb_config_list"], most)
        times = {name: [call.parts.get(name) for call in mine] for name in PARTS}
        times |= {"seconds": [call.seconds for call in mine], LATE: [call.late for call in mine]}
        measured.append(_typical(call, hosts, ranks, times))
    return measured


def _typical(
    call: Call, hosts: list[str], ranks: list[int], times: Mapping[str, Sequence[float | None]]
) -> MeasuredCall:
    """Return the median of equal calls, for each recorded phase."""
    seen = {name: [time for time in column if time is not None] for name, column in times.items()}
    middle = {name: median_of(column) for name, column in seen.items() if column}
    scatter = {name: scatter_of(column) for name, column in seen.items() if column}
    scatter[INDEPENDENT] = scatter["seconds"]
    total = middle.pop("seconds")
    if "exchange" not in middle:
        middle.pop(LATE, None)
    return MeasuredCall(call, hosts, ranks, total, middle, scatter)


def _tiles(options: Mapping[str, Option], ranks: int, where: str) -> AccessPattern:
    """Return the tiles of a run; its options were checked by the probe that ran them."""
    try:
        # default: the probe's own choice of tiles
        y = next(n for n in range(int(ranks**0.5), 0, -1) if ranks % n == 0)
        x, y = _pair(options.get("tiles", f"{ranks // y}x{y}"))
        width, height = _pair(options["tile"])
        overlap = _pair(options.get("overlap", "0x0"))
        element = int(options["element"])  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("the options of this run do not define its tiles", where=where) from error
    return Grid((Axis(y, height, overlap[1]), Axis(x, width, overlap[0])), element)


def _pair(option: Option) -> tuple[int, int]:
    first, second = str(option).split("x")
    return int(first), int(second)


KINDS = {tile_io.KIND: _of_tiles, io_recording.KIND: _of_recording}
"""What reads the calls of a run, by its kind."""
