"""The curves of a sweep figure: their selection, labels and scale."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, curves, no_such_size
from isochrone.sweep.labels import Labels, distinguish
from isochrone.sweep.switches import switches
from isochrone.views.head import taken
from isochrone.views.lines import ChartText, Line, draw_lines
from isochrone.views.scales import Scale, evenly_spaced, tick_bytes
from isochrone.views.view import Figure, Options

SCALES = ("log", "linear")

Drawn = list[tuple[Run, Curve]]


def collect(runs: Sequence[Run], ops: Sequence[str] = ()) -> Drawn:
    """Return the curves of all runs, or those of some operations.

    Of a run with grids those of whole operations: its phases are drawn by ``--view grids``.

    Raises
    ------
    InputError
        If a run is not a sweep, or none has such an operation.
    """
    if not runs:
        raise InputError("no run is given", hint="give at least one run file")
    drawn = [(run, curve) for run in runs for curve in curves(run) if curve.whole]
    if not ops:
        return drawn
    measured_ops = {str(curve.key.get("op", "")) for _, curve in drawn} - {""}
    unknown = [op for op in ops if op not in measured_ops]
    if unknown:
        hint = (
            f"choose from {', '.join(sorted(measured_ops))}"
            if measured_ops
            else "these runs have none"
        )
        raise InputError(f"the runs have no operation '{unknown[0]}'", hint=printable(hint))
    return [(run, curve) for run, curve in drawn if curve.key.get("op") in ops]


def chosen_scale(scale: str | None, drawn: Drawn) -> Scale:
    """Return the scale the user wants, or the one that suits the sizes.

    Raises
    ------
    InputError
        If there is no such scale.
    """
    if scale is not None and scale not in SCALES:
        raise InputError(f"there is no scale '{scale}'", hint=f"choose {' or '.join(SCALES)}")
    if scale is None:
        sizes = np.concatenate([curve.bytes for _, curve in drawn])
        return "linear" if evenly_spaced(sizes) else "log"
    return "log" if scale == "log" else "linear"


def by_size(
    runs: Sequence[Run],
    drawn: Drawn,
    options: Options,
    columns: tuple[str, str, str],
    *,
    title: str,
    fact: str,
    bar: str,
    tick: Callable[[float], str],
) -> Figure:
    """Draw a quantity of the points, and the ends of its interval, over their sizes.

    Parameters
    ----------
    runs, drawn, options
        What is drawn, and how.
    columns
        Members of the points: the quantity, and both ends.
    title, fact, bar
        The title, what is said of the quantity, and of the error bars if there are any.
    tick
        Writes a value of the quantity.
    """
    labels = distinguish(drawn)
    text = ChartText(
        title=title,
        facts=facts(runs, labels, fact, bars(drawn, bar)),
        below="message size",
        tick_x=tick_bytes,
        tick_y=tick,
        of=runs,
    )
    lines = []
    for (_, curve), name in zip(drawn, labels.each, strict=True):
        value, low, high = map(curve.column, columns)
        lines.append(
            Line(
                name,
                curve.bytes.astype(np.float64),
                value,
                low,
                high,
                [(switch.after, switch.before) for switch in switches(curve)],
            )
        )
    return draw_lines(lines, text, chosen_scale(options.scale, drawn))


def facts(runs: Sequence[Run], labels: Labels, *notes: str) -> list[str]:
    """List what is written below the title."""
    partial = sum(not run.complete for run in runs)
    texts = [*labels.common, *notes, *taken(runs)]
    if partial:
        texts.append("partial run" if len(runs) == 1 else f"{partial} of {len(runs)} runs partial")
    return [fact for fact in texts if fact]


def bars(drawn: Drawn, note: str) -> str:
    """Return the note on error bars; nothing where no point has an interval."""
    has_intervals = any(point.has_interval for _, curve in drawn for point in curve.points)
    return note if has_intervals else ""


def meaning(runs: Sequence[Run]) -> str:
    """Return the definition of the times, if all runs share it: ``time: …``."""
    quantities = {run.quantity for run in runs}
    quantity = printable(quantities.pop(), 60) if len(quantities) == 1 else ""
    return f"time: {quantity}" if quantity else ""


def chosen_sizes(by_curve: Sequence[Collection[int]], requested: Sequence[int]) -> list[int]:
    """Return the sizes that are asked for; else those that all curves hold, one or more.

    Raises
    ------
    InputError
        If one was not measured.
    """
    all_sizes = sorted({size for sizes in by_curve for size in sizes})
    for size in requested:
        if size not in all_sizes:
            raise no_such_size(size, all_sizes)
    several = [sizes for sizes in by_curve if len(sizes) > 1]  # a barrier has no sizes
    shared = [size for size in all_sizes if all(size in sizes for sizes in several)]
    return list(dict.fromkeys(requested)) or shared or all_sizes
