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
    found = [(run, curve) for run in runs for curve in curves(run) if curve.whole]
    if not ops:
        return found
    known = {str(curve.key.get("op", "")) for _, curve in found} - {""}
    unknown = [op for op in ops if op not in known]
    if unknown:
        hint = f"choose from {', '.join(sorted(known))}" if known else "these runs have none"
        raise InputError(f"the runs have no operation '{unknown[0]}'", hint=printable(hint))
    return [(run, curve) for run, curve in found if curve.key.get("op") in ops]


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
    runs: Sequence[Run], drawn: Drawn, options: Options, columns: tuple[str, str, str], *,
    title: str, fact: str, bar: str, tick: Callable[[float], str],
) -> Figure:  # fmt: skip
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
    words = ChartText(
        title=title, facts=facts(runs, labels, fact, bars(drawn, bar)), below="message size",
        tick_x=tick_bytes, tick_y=tick, of=runs,
    )  # fmt: skip
    lines = []
    for (_, curve), name in zip(drawn, labels.each, strict=True):
        value, low, high = map(curve.column, columns)
        lines.append(Line(
            name, curve.bytes.astype(np.float64), value, low, high,
            [(switch.after, switch.before) for switch in switches(curve)],
        ))  # fmt: skip
    return draw_lines(lines, words, chosen_scale(options.scale, drawn))


def facts(runs: Sequence[Run], labels: Labels, *more: str) -> list[str]:
    """List what is written below the title."""
    partial = sum(not run.complete for run in runs)
    found = [*labels.common, *more, *taken(runs)]
    if partial:
        found.append("partial run" if len(runs) == 1 else f"{partial} of {len(runs)} runs partial")
    return [fact for fact in found if fact]


def bars(drawn: Drawn, words: str) -> str:
    """Return the note on error bars; nothing where no point has an interval."""
    known = any(point.has_interval for _, curve in drawn for point in curve.points)
    return words if known else ""


def meaning(runs: Sequence[Run]) -> str:
    """Return the definition of the times, if all runs share it: ``time: …``."""
    words = {run.quantity for run in runs}
    known = printable(words.pop(), 60) if len(words) == 1 else ""
    return f"time: {known}" if known else ""


def chosen_sizes(held: Sequence[Collection[int]], asked: Sequence[int]) -> list[int]:
    """Return the sizes that are asked for; else those that all curves hold, one or more.

    Raises
    ------
    InputError
        If one was not measured.
    """
    known = sorted({size for sizes in held for size in sizes})
    for size in asked:
        if size not in known:
            raise no_such_size(size, known)
    several = [sizes for sizes in held if len(sizes) > 1]  # a barrier has no sizes
    shared = [size for size in known if all(size in sizes for sizes in several)]
    return list(dict.fromkeys(asked)) or shared or known
