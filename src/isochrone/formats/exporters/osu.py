"""Tables in the layout of the OSU Micro-Benchmarks, for tools that parse their output.

Two columns, size and µs (or MB/s), below the header of the benchmark that measures the same:
``osu_latency``, ``osu_latency_mt``, ``osu_bw``, ``osu_bibw``, ``osu_multi_lat``, ``osu_mbw_mr``,
one-sided ones such as ``osu_put_bw``, and the collectives, of which only the library's own are
written. Those of nonblocking operations have the columns of the overlap. OSU prints means, so these
are means, and for collectives, pairs at once and threads those over the ranks, pairs or threads.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.base.operations import COLLECTIVES, OPERATIONS
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.formats.osu_access import ABOUT_ACCESS, CALLS
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, Point


def _title_of(name: str) -> str:
    """Return what OSU calls an operation in the header of its test."""
    title = OPERATIONS[name].title.replace("Neighbor_", "Neighborhood ")
    if title == "Bcast":
        return "Broadcast"
    return re.sub(r"[Aa]lltoall(\w?)", r"All-to-All\1 Personalized Exchange", title)


TITLES = {
    form.format(name): title.format(_title_of(name))
    for name in COLLECTIVES
    for form, title in (
        ("{}", "{}"),
        ("i{}", "Non-blocking {}"),
        ("{}_persistent", "{} Persistent"),
    )
}
"""Collectives, as their tests are called in the header. OSU has no test of scans."""

_MICROSECONDS = 1e6
_VERSION = "v5.8"  # whose layout this is


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write one table a curve.

    Raises
    ------
    InputError
        If the run is not a sweep, holds no such size or an operation OSU's tables have no name for,
        or the file cannot be written.
    """
    curves = [
        curve
        for curve in curves_to_export(run, nbytes)
        if curve.key.get("grid", "library") == "library"
    ]
    write_text(path, "".join(line for curve in curves for line in _table(run, curve)))


def _table(run: Run, curve: Curve) -> Iterator[str]:
    """Yield the lines of one table; OSU prints a blank line before each."""
    if "op" in curve.key:
        yield from _collective(run, curve)
    elif "pairs" in curve.key:
        yield from _pairs(run, curve)
    else:
        yield from _pair(run, curve)


def _pair(run: Run, curve: Curve) -> Iterator[str]:
    mode, rated, threads = str(run.options.get("mode")), _rated(run), curve.key.get("threads", 1)
    call = f"_{CALLS[mode]}" if mode in CALLS else ""
    kind = (
        " Multi-threaded"
        if threads > 1 and not rated
        else " Partitioned"
        if mode == "partitioned"
        else ""
    )
    both_ways = mode.startswith("bidirectional")
    quantity = "Bi-Directional Bandwidth" if both_ways else "Bandwidth" if rated else "Latency"
    persistent = " Persistent" if mode.endswith("persistent") else ""
    yield _title(f"{call}{kind} {quantity}{persistent}", curve)
    if threads > 1:
        yield f"# Number of Sender threads: {threads}\n# Number of Receiver threads: {threads}\n"
    for line, (option, names) in ABOUT_ACCESS.items():
        value = str(run.options.get(option))
        if call and value in names:
            yield f"# {line}: {names[value]}\n"
    yield f"{'# Size':<10}{'Bandwidth (MB/s)' if rated else 'Latency (us)':>18}\n"
    for point in curve.points:
        if not rated:
            yield _row(point, _mean(point) * _MICROSECONDS)
        elif point.bytes and point.mean_bandwidth is not None:
            yield _row(point, point.mean_bandwidth / _MICROSECONDS)


def _rated(run: Run) -> bool:
    """Whether OSU prints a bandwidth of such messages, and not a latency."""
    window = run.options.get("window", 1)
    return str(run.options.get("mode")).startswith("bidirectional") or window != 1


def _pairs(run: Run, curve: Curve) -> Iterator[str]:
    if not _rated(run):
        yield _title(" Multi Latency", curve)
        yield f"{'# Size':<10}{'Latency (us)':>18}\n"
        yield from (_row(point, _mean(point) * _MICROSECONDS) for point in curve.points)
        return
    yield _title(" Multiple Bandwidth / Message Rate", curve)
    window = run.options.get("window", 1)
    yield f"# [ pairs: {curve.key['pairs']} ] [ window size: {window} ]\n"
    yield f"{'# Size':<10}{'MB/s':>18}{'Messages/s':>18}\n"
    for point in curve.points:
        if point.bytes and point.mean_bandwidth is not None:
            row = _row(point, point.mean_bandwidth / _MICROSECONDS).rstrip("\n")
            yield f"{row}{point.mean_bandwidth / point.bytes:18.2f}\n"


def _collective(run: Run, curve: Curve) -> Iterator[str]:
    op = curve.key["op"]
    if op not in TITLES:
        raise InputError(
            f"OSU has no table of '{curve.name}'",
            where=run.where,
            hint="it has those of measure collective --op",
        )
    yield _title(f" {TITLES[op]} Latency", curve)
    if all(point.overlap is not None for point in curve.points) and op.startswith("i"):
        yield from _overlapped(run, curve)
        return
    if op.removesuffix("_persistent") == "barrier":
        yield "# Avg Latency(us)\n"
        yield from (f"{_mean(point) * _MICROSECONDS:17.2f}\n" for point in curve.points)
        return
    yield f"{'# Size':<10}{'Avg Latency(us)':>18}\n"
    yield from (_row(point, _mean(point) * _MICROSECONDS) for point in curve.points)


def _overlapped(run: Run, curve: Curve) -> Iterator[str]:
    """Yield columns and rows of a nonblocking operation; OSU tests persistent ones alone."""
    table = run.tables["sample"]
    sized = curve.points[0].bytes != curve.points[-1].bytes or curve.points[0].bytes > 0
    names = ("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)")
    yield "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
    first = f"{'# Size':<10}{names[0]:>18}" if sized else f"# {names[0]}"
    yield f"{first}{''.join(f'{name:>18}' for name in names[1:])}\n"
    for point in curve.points:
        rows = (table["op"] == curve.key["op"]) & (table["p"] == curve.p)
        rows &= table["bytes"] == point.bytes
        means = (table[key][rows].mean() for key in ("overall", "compute"))
        overall, compute, pure = (*means, _mean(point))
        values = [_MICROSECONDS * seconds for seconds in (overall, compute, pure)]
        values.append(100 * max(0.0, 1 - (overall - compute) / pure))  # OSU's definition
        size = f"{point.bytes:<10d}" if sized else ""
        yield size + "".join(f"{value:18.2f}" for value in values) + "\n"


def _title(name: str, curve: Curve) -> str:
    return f"\n# OSU MPI{name} Test {_VERSION} by isochrone, {curve.p} ranks\n"


def _row(point: Point, value: float) -> str:
    return f"{point.bytes:<10d}{value:18.2f}\n"


def _mean(point: Point) -> float:
    """Return the mean over repetitions and ranks or pairs; of the slowest if no other is known."""
    return point.mean if point.rank_mean is None else point.rank_mean


EXPORTER = Exporter(suffix=".txt", holds=("sweep",), write=write)
