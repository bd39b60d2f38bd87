"""Tables in the layout of the OSU Micro-Benchmarks, for tools that parse their output.

Two columns, size and µs (or MB/s), below the header of the benchmark that measures the same:
``osu_latency``, ``osu_latency_mt``, ``osu_bw``, ``osu_bibw``, ``osu_put_latency``,
``osu_get_latency``, ``osu_multi_lat``, ``osu_mbw_mr`` and the collectives, of which only the
library's own are written. OSU prints means, so these are means, and for collectives, pairs at once
and threads those over the ranks, pairs or threads.
"""

from collections.abc import Iterator
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, Point

TITLES = {
    "barrier": "Barrier", "bcast": "Broadcast", "reduce": "Reduce", "allreduce": "Allreduce",
    "gather": "Gather", "scatter": "Scatter", "allgather": "Allgather",
    "alltoall": "All-to-All Personalized Exchange", "reduce_scatter_block": "Reduce_scatter_block",
    "scan": "Scan",
}  # fmt: skip
"""Collectives, as their tests are called in the header. OSU has no test of a scan."""

_MICRO = 1e6
_VERSION = "v5.8"  # whose layout this is
_ONE_SIDED = "# Window creation: MPI_Win_allocate\n# Synchronization: MPI_Win_flush\n"


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
    mode, rated, threads = run.options.get("mode"), _rated(run), curve.key.get("threads", 1)
    usual = " Bandwidth" if rated else " Multi-threaded Latency" if threads > 1 else " Latency"
    name = {"put": "_Put Latency", "get": "_Get Latency", "bidirectional": " Bi-Directional "
            "Bandwidth"}.get(str(mode), usual)  # fmt: skip
    yield _title(name, curve)
    if threads > 1:
        yield f"# Number of Sender threads: {threads}\n# Number of Receiver threads: {threads}\n"
    if mode in ("put", "get"):
        yield _ONE_SIDED
    yield f"{'# Size':<10}{'Bandwidth (MB/s)' if rated else 'Latency (us)':>18}\n"
    for point in curve.points:
        if not rated:
            yield _row(point, _mean(point) * _MICRO)
        elif point.bytes and point.bandwidth is not None:
            yield _row(point, point.bandwidth / _MICRO)


def _rated(run: Run) -> bool:
    """Whether OSU prints a bandwidth of such messages, and not a latency."""
    window = run.options.get("window", 1)
    return run.options.get("mode") == "bidirectional" or window != 1


def _pairs(run: Run, curve: Curve) -> Iterator[str]:
    if not _rated(run):
        yield _title(" Multi Latency", curve)
        yield f"{'# Size':<10}{'Latency (us)':>18}\n"
        yield from (_row(point, _mean(point) * _MICRO) for point in curve.points)
        return
    yield _title(" Multiple Bandwidth / Message Rate", curve)
    window = run.options.get("window", 1)
    yield f"# [ pairs: {curve.key['pairs']} ] [ window size: {window} ]\n"
    yield f"{'# Size':<10}{'MB/s':>18}{'Messages/s':>18}\n"
    for point in curve.points:
        if point.bytes and point.bandwidth is not None:
            row = _row(point, point.bandwidth / _MICRO).rstrip("\n")
            yield f"{row}{point.bandwidth / point.bytes:18.2f}\n"


def _collective(run: Run, curve: Curve) -> Iterator[str]:
    op = curve.key["op"]
    if op not in TITLES:
        operations = ", ".join(TITLES)
        raise InputError(
            f"OSU has no table of '{curve.name}'", where=run.where, hint=f"it has {operations}"
        )
    yield _title(f" {TITLES[op]} Latency", curve)
    if op == "barrier":
        yield "# Avg Latency(us)\n"
        yield from (f"{_mean(point) * _MICRO:17.2f}\n" for point in curve.points)
        return
    yield f"{'# Size':<10}{'Avg Latency(us)':>18}\n"
    yield from (_row(point, _mean(point) * _MICRO) for point in curve.points)


def _title(name: str, curve: Curve) -> str:
    return f"\n# OSU MPI{name} Test {_VERSION} by isochrone, {curve.p} ranks\n"


def _row(point: Point, value: float) -> str:
    return f"{point.bytes:<10d}{value:18.2f}\n"


def _mean(point: Point) -> float:
    """Return the mean over repetitions and ranks or pairs; of the slowest if no other is known."""
    return point.mean if point.rank_mean is None else point.rank_mean


EXPORTER = Exporter(suffix=".txt", holds=("sweep",), write=write)
