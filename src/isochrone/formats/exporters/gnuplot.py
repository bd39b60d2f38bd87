"""Data of a sweep, and a gnuplot script next to it that draws time and bandwidth as SVG.

The data file names all its columns with their units. Each curve is a block, parted from the next by
two blank lines, as gnuplot's ``index`` wants it. Times are seconds, as everywhere.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.files import whole_file
from isochrone.base.text import printable
from isochrone.formats.exported_sweep import curves_to_export
from isochrone.formats.exporter import Exporter
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve
from isochrone.views.scales import evenly_spaced, tick_bytes, where_ticks

SCRIPT = ".gp"
"""Suffix of the script, which is written next to the data."""

_COLUMNS = (
    ("bytes", "bytes", "B"),
    ("n", "n", "1"),
    ("median", "median", "s"),
    ("low", "low", "s"),
    ("high", "high", "s"),
    ("min", "min", "s"),
    ("mean", "mean", "s"),
    ("max", "max", "s"),
    ("bandwidth", "bandwidth", "B/s"),
    ("bandwidth_low", "bandwidth_low", "B/s"),
    ("bandwidth_high", "bandwidth_high", "B/s"),
)
_UNSAFE = re.compile(r"[^\w .,:;/()+–-]")
_COLUMN_WIDTH = 14


def write(run: Run, path: Path, *, nbytes: int | None = None) -> None:
    """Write data and script; both appear, or neither.

    Raises
    ------
    InputError
        If the run is not a sweep or holds no such size, or a file cannot be written.
    """
    curves = curves_to_export(run, nbytes)
    if not curves:
        raise InputError(
            "the run has only phases on grids, no whole operation",
            where=run.where,
            hint="use --to csv",
        )
    script = path.with_suffix(SCRIPT)
    if script == path:
        raise InputError(
            "the suffix is reserved for the gnuplot script",
            where=path,
            hint="choose another suffix",
        )
    if not path.name.isprintable() or "\\" in path.name or "''" in path.name:
        raise InputError("gnuplot cannot read a file with this name", where=repr(str(path)))
    with ExitStack() as stack:
        data, text = (stack.enter_context(whole_file(name)) for name in (path, script))
        data.writelines(line.encode() for line in _data(run, curves))
        text.writelines(line.encode() for line in _script(run, curves, path))


def _data(run: Run, curves: list[Curve]) -> Iterator[str]:
    """Yield the lines of the data file."""
    meaning = printable(run.quantity or "see the run file", 80)
    yield f"# {_safe(run.experiment)} of {run.size} ranks, written by isochrone\n"
    yield f"# times are: {meaning}; low and high: 95 % interval of the median\n"
    names = [f"{title}[{unit}]" for _, title, unit in _COLUMNS]
    widths = [max(_COLUMN_WIDTH, len(name)) for name in names]
    yield "# " + " ".join(n.rjust(w) for n, w in zip(names, widths, strict=True))[2:] + "\n"
    for index, curve in enumerate(curves):
        yield "\n\n" * bool(index) + f"# index {index}: {_title(curve)}\n"
        for point in curve.points:
            cells = [_cell(getattr(point, key)) for key, _, _ in _COLUMNS]
            yield " ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True)) + "\n"


def _cell(value: float | None) -> str:
    """Write a number with 7 significant digits, more than any clock has."""
    if value is None or value != value:
        return "NaN"
    return str(value) if isinstance(value, int) else f"{value:.6e}"


def _script(run: Run, curves: list[Curve], path: Path) -> Iterator[str]:
    """Yield the lines of the script."""
    yield f"# Draws {_safe(path.name)} with gnuplot 5 or newer. In its folder, run:\n"
    yield f"#   gnuplot {_safe(path.with_suffix('.gp').name)}\n"
    yield "set encoding utf8\nset terminal svg size 900,600 font 'sans-serif,14'\n"
    yield "set key outside right noenhanced\nset grid ytics\nset border 3\nset tics nomirror\n"
    sizes = np.concatenate([curve.bytes for curve in curves])
    logarithmic = not evenly_spaced(sizes)
    ticks = where_ticks(sizes, "log" if logarithmic else "linear", tick_bytes)
    places = [2**place if logarithmic else place for place in ticks.places]
    named = ", ".join(f"'{text}' {at:.9g}" for text, at in zip(ticks.texts, places, strict=True))
    yield f"set xlabel 'message size'\nset xtics ({named})\n"
    if logarithmic:
        yield "set logscale x 2\nset logscale y 10\n"
    else:
        yield "set yrange [0:*]\n"
    meaning = _quoted(run.quantity or run.experiment)
    drawn = [(k, c) for k, c in enumerate(curves) if not logarithmic or c.bytes.max() > 0]
    if drawn and not np.ptp(sizes):  # gnuplot warns of an axis without extent
        yield f"set xrange [{sizes[0] / 2}:{sizes[0] * 2}]\n"
    if drawn:
        yield from _plot(path, "time", "%.1s %cs", meaning, "1:3:4:5", drawn)
    moving = [(k, c) for k, c in drawn if np.nanmax([*c.column("bandwidth"), 0.0]) > 0]
    if moving:
        yield from _plot(path, "bandwidth", "%.1s %cB/s", "'bandwidth'", "1:9:10:11", moving)
    if not drawn:
        yield "# a barrier has no message size: nothing to plot\n"


def _plot(
    path: Path,
    quantity: str,
    ticks: str,
    title: str,
    columns: str,
    drawn: list[tuple[int, Curve]],
) -> Iterator[str]:
    """Yield the lines that draw one picture."""
    yield f"\nset output {_file(f'{path.stem}-{quantity}.svg')}\n"
    yield f"set ylabel {title} noenhanced\nset format y '{ticks}'\n"
    yield _range(columns, drawn)
    yield "plot \\\n"
    lines = [
        f"  {_file(path.name)} index {k} using {_with(columns, curve)} pointtype 7 pointsize 0.5 "
        f"title {_quoted(_title(curve))}"
        for k, curve in drawn
    ]
    yield ", \\\n".join(lines) + "\n"


def _with(columns: str, curve: Curve) -> str:
    """Return which columns are drawn, and how: without error bars where no interval is known."""
    if any(point.has_interval for point in curve.points):
        return f"{columns} with yerrorlines"
    return f"{':'.join(columns.split(':')[:2])} with linespoints"


def _range(columns: str, drawn: list[tuple[int, Curve]]) -> str:
    """Return a range for an axis on which all values are the same, else the one gnuplot chooses."""
    keys = [_COLUMNS[int(column) - 1][0] for column in columns.split(":")[1:]]
    values = np.concatenate([curve.column(key) for _, curve in drawn for key in keys])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return f"set yrange [{low / 2}:{low * 2}]\n" if low == high > 0 else ""


def _title(curve: Curve) -> str:
    return _safe(curve.name if "pair" in curve.key else f"{curve.name}, {curve.p} ranks")


def _safe(text: object) -> str:
    """Keep letters, digits and a few signs: text of a file never becomes a command of gnuplot."""
    return _UNSAFE.sub("_", printable(text, 60))


def _quoted(text: str) -> str:
    """Quote text for gnuplot, which replaces nothing within single quotes but two of them.

    At four in a row gnuplot 5.4 ends the text, and takes the rest for commands: they become others.
    """
    return "'" + printable(text).replace("'", "’") + "'"


def _file(name: str) -> str:
    """Quote the name of a file, which begins with its folder.

    Else gnuplot would take one that begins with ``<`` or ``|`` for a command, which it would run;
    and ``-``, ``+`` and ``$…`` for data of its own.
    """
    return "'./" + name.replace("'", "''") + "'"


EXPORTER = Exporter(suffix=".dat", holds=("sweep",), write=write, beside=(SCRIPT,))
