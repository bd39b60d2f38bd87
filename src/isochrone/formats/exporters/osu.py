"""Tables in the layout of the OSU Micro-Benchmarks, for tools that parse their output.

Two columns, size and µs (or MB/s), below the header of the benchmark that measures the same:
``osu_latency``, ``osu_bw``, ``osu_bibw``, ``osu_mbw_mr``, one-sided ones such as ``osu_put_bw``,
and the collectives, of which only the library's own are written. OSU prints means, so these are
means, and for collectives those over the ranks.
"""

from collections.abc import Iterator
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.files import write_text
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.formats.osu_access import ABOUT_ACCESS, CALLS
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
        yield from _pairs(curve)
    else:
        yield from _pair(run, curve)


def _pair(run: Run, curve: Curve) -> Iterator[str]:
    mode, window = str(run.options.get("mode")), run.options.get("window")
    both_ways = mode.startswith("bidirectional")
    rated = both_ways or (isinstance(window, int) and window > 1)
    call = f"_{CALLS[mode]}" if mode in CALLS else ""
    quantity = "Bi-Directional Bandwidth" if both_ways else "Bandwidth" if rated else "Latency"
    yield _title(f"{call} {quantity}", curve)
    for line, (option, names) in ABOUT_ACCESS.items():
        value = str(run.options.get(option))
        if call and value in names:
            yield f"# {line}: {names[value]}\n"
    yield f"{'# Size':<10}{'Bandwidth (MB/s)' if rated else 'Latency (us)':>18}\n"
    for point in curve.points:
        if not rated:
            yield _row(point, point.mean * _MICRO)
        elif point.bytes and point.bandwidth is not None:
            yield _row(point, point.bandwidth / _MICRO)


def _pairs(curve: Curve) -> Iterator[str]:
    yield _title(" Multiple Bandwidth / Message Rate", curve)
    yield f"# [ pairs: {curve.key['pairs']} ] [ window size: 1 ]\n"
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
    """Return the mean over repetitions and ranks; of the slowest rank if no other is known."""
    return point.mean if point.rank_mean is None else point.rank_mean


EXPORTER = Exporter(suffix=".txt", holds=("sweep",), write=write)
