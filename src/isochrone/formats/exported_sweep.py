"""The curves of a sweep, all sizes or one, for the formats that hold sweeps."""

from isochrone.base.errors import InputError
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, curves, of_size
from isochrone.sweep.switches import Switch, switches

_MODES = ("blocking", "nonblocking", "persistent")


def curves_to_export(run: Run, nbytes: int | None) -> list[Curve]:
    """Return the curves with all their sizes, or with the one size the user names.

    Of a run with grids these are the whole operations; its phases are in a CSV.

    Raises
    ------
    InputError
        If the run is not a sweep, or nothing was measured with this size.
    """
    return of_size([curve for curve in curves(run) if curve.whole], nbytes, run.where)


def single_messages(run: Run, nbytes: int | None) -> list[Curve]:
    """Return the curves of a point-to-point run with one message at a time, from rank to rank.

    Raises
    ------
    InputError
        If the run is not a sweep, of something else, or nothing was measured with this size.
    """
    exported_curves = curves_to_export(run, nbytes)
    options = run.options
    single = options.get("mode", "blocking") in _MODES and options.get("window", 1) == 1
    if not single or not all("pair" in curve.key for curve in exported_curves):
        raise InputError(
            "the run has no times of single messages between two ranks",
            where=run.where,
            hint="use isochrone measure point-to-point without --window",
        )
    timed = [curve for curve in exported_curves if points_of(curve)[0]]
    if not timed:
        raise InputError("all times of the run are zero", where=run.where)
    return timed


def points_of(curve: Curve) -> tuple[list[int], list[float]]:
    """Return sizes, and medians above zero."""
    timed = [(point.bytes, point.median) for point in curve.points if point.median > 0]
    return [size for size, _ in timed], [seconds for _, seconds in timed]


def leaves_at_once(curve: Curve) -> int | None:
    """Return the largest size that is sent eagerly; None if there is no such switch.

    A larger one waits until it is asked for, which costs latency: the first switch after which an
    empty message would take longer.
    """
    return next((switch.after for switch in switches(curve) if _more_latency(switch) > 0), None)


def _more_latency(switch: Switch) -> float:
    """Return by how many seconds the new line begins above the old one."""
    slopes = [
        0.0 if rate is None else 1 / rate
        for rate in (switch.bandwidth_before, switch.bandwidth_after)
    ]
    return switch.jump + (slopes[0] - slopes[1]) * switch.before
