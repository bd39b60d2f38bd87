"""What all figures share: size, ink, units, host names and where the hosts begin and end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from colorsys import hsv_to_rgb
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import printable
from isochrone.views.panel import panel
from isochrone.views.view import Axes, Figure

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable

# The report replaces these three by the colours of its theme, so no other element may use them.
INK = "#1f2430"
FAINT = "#6b7280"
SLOW = "#c8102e"

TITLE = 13.0
LABEL = 9.0
CAPTION = 8.0
"""Font sizes in points."""

_TEXT_WIDTH_SHARE = 0.85
"""Width of running text, of what `text_width` says: that is of the widest words."""

QUANTITIES = {
    "mean": "Mean {}",
    "median": "Median {}",
    "stddev": "Standard deviation of the {}",
}
"""What figures of maps draw, by the statistic, of what the times of pairs are."""

COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#8c510a",
    "#332288",
    "#00404a",
)
"""Colours of lines, bars and hosts, for a few of them; no red, since red means slow.

They are distinguishable with any colour vision (Okabe & Ito 2008, *Color universal design*, without
their reds and their yellow, which is hardly seen on white).
"""

COLOURS_OF_MAPS = "viridis"
"""From fast to slow; even steps look even, to colour-blind eyes, too."""

PALE = "#9aa5b1"
"""What is there for comparison only."""


class Unit(NamedTuple):
    """A unit of time for an axis: seconds / ``factor`` is the number to print."""

    factor: float
    name: str


class Rates(NamedTuple):
    """Bandwidths in place of times of messages: ``moved`` bytes over the time."""

    moved: float
    factor: float
    name: str

    @classmethod
    def of(cls, moved: float, seconds: Floats) -> Rates:
        """Choose the unit for times in which so many bytes are moved."""
        usual = moved / float(np.nanmedian(seconds)) if np.isfinite(seconds).any() else 1e9
        factor, name = next(
            (
                (factor, name)
                for factor, name in ((1e9, "GB/s"), (1e6, "MB/s"))
                if usual >= 0.3 * factor
            ),
            (1e3, "kB/s"),
        )
        return cls(moved, factor, name)

    def number(self, seconds: float) -> str:
        """Write the bandwidth of a time without its unit."""
        return f"{self.moved / seconds / self.factor:.3g}" if seconds > 0 else ""


class Segment(Record):
    """Neighbouring positions ``first`` … ``last`` that lie on the same host."""

    host: str
    first: int
    last: int

    @property
    def centre(self) -> float:
        """Middle of the segment, in positions."""
        return (self.first + self.last) / 2

    @property
    def width(self) -> int:
        """Number of positions."""
        return self.last - self.first + 1


def new_figure(width: float, height: float, dpi: float = 150) -> Figure:
    """Return an empty figure of this size in inches, with a transparent background.

    Raises
    ------
    InputError
        If matplotlib is not installed. All views come through here before they draw anything.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "figures need the package matplotlib",
            hint="try: pip install matplotlib pillow jinja2",
        ) from error
    return panel(width, height) or Figure(figsize=(width, height), dpi=dpi, facecolor="none")


def check(quantity: str, of_pairs: str) -> str:
    """Return a statistic in words, of a `Run.pair_quantity`: ``Median round trip``.

    Raises
    ------
    InputError
        If it is none of the quantities that are drawn.
    """
    names = list(QUANTITIES)[: 2 if of_pairs == "bandwidth" else None]
    if quantity not in names:
        hint = f"there are: {', '.join(names)}"
        raise InputError(f"there is no figure of '{quantity}'", hint=hint)
    return "Bandwidth" if of_pairs == "bandwidth" else QUANTITIES[quantity].format(of_pairs)


def time_unit(seconds: Floats) -> Unit:
    """Choose the unit in which the numbers of a picture are neither tiny nor huge."""
    positive = seconds[np.isfinite(seconds) & (seconds > 0)]
    middle = math.sqrt(float(positive.min()) * float(positive.max())) if len(positive) else 1e-6
    for unit in (Unit(1.0, "s"), Unit(1e-3, "ms"), Unit(1e-6, "µs")):
        if middle >= 0.3 * unit.factor:
            return unit
    return Unit(1e-9, "ns")


def host_segments(hosts: Sequence[str]) -> list[Segment]:
    """Cut a row of ranks wherever the host changes."""
    starts = [k for k, host in enumerate(hosts) if k == 0 or host != hosts[k - 1]]
    ends = [*starts[1:], len(hosts)]
    return [Segment(hosts[a], a, b - 1) for a, b in zip(starts, ends, strict=True)]


def short_names(hosts: Sequence[str], limit: int = 22) -> dict[str, str]:
    """Shorten host names: without the domain they share, and no longer than ``limit``.

    The end of a name is kept, because nodes of one machine differ in their last digits.
    """
    clean = {host: printable(host) or "?" for host in dict.fromkeys(hosts)}
    # the ends of the names, from the last part on
    ends = [name.split(".")[:0:-1] for name in clean.values()]
    alike = takewhile(lambda same: len({*same}) == 1, zip(*ends, strict=False))
    common = len([*alike]) if len(ends) > 1 else 0
    names = {}
    for host, name in clean.items():
        short = name.rsplit(".", common)[0]
        if len(short) > limit:
            short = short[: limit // 2 - 1] + "…" + short[-(limit - limit // 2) :]
        names[host] = short
    return names


def host_colours(hosts: Sequence[str]) -> dict[str, str]:
    """Give each host a colour that differs from its neighbours' (never red)."""
    names = list(dict.fromkeys(hosts))
    if len(names) <= len(COLOURS):
        return dict(zip(names, COLOURS, strict=False))
    colours = {}
    for k, name in enumerate(names):
        # Steps of the golden ratio never come close to one of the last few hues.
        hue = 0.08 + 0.84 * ((0.55 + k * 0.6180339887) % 1)
        channels = hsv_to_rgb(hue, 0.50, (0.80, 0.62)[k % 2])
        colours[name] = "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
    return colours


def nice_ranks(n: int, limit: int = 9) -> list[int]:
    """Choose the ranks to number on an axis: all of a few, else steps of a power of two."""
    step = 1
    while (n - 1) // step + 1 > limit:
        step *= 2
    return list(range(0, n, step))


def text_width(text: str, size: float) -> float:
    """Estimate the width of a text in inches; a little too wide rather than too narrow."""
    wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return (len(text) + 0.6 * wide) * size * 0.64 / 72


def shortened(text: str, size: float, width: float, suffix: str = "") -> str:
    """Cut a text so that it and ``suffix`` fit a width in inches, with … where it is cut."""
    room = width / _TEXT_WIDTH_SHARE - text_width(suffix, size)
    if text_width(text, size) > room:
        text = text[: max(1, int(room / text_width("x", size)) - 1)].rstrip() + "…"
    return text + suffix


def axes_at(
    figure: Figure, left: float, bottom: float, width: float, height: float, **options: Any
) -> Axes:
    """Return axes at a place in inches from the lower left corner of the figure."""
    wide, high = figure.get_figwidth(), figure.get_figheight()
    return figure.add_axes((left / wide, bottom / high, width / wide, height / high), **options)


def plain_axes(
    axes: Axes,
    below: str = "",
    beside: str = "",
    *,
    size: float = LABEL,
    title: str = "",
    pad: float = 6,
    grid: str = "",
    frame: Sequence[str] = ("left", "bottom"),
) -> None:
    """Dress axes as all figures have them: faint ticks and frame, and what is along them.

    Parameters
    ----------
    axes
        The axes.
    below, beside
        What is along the horizontal and the vertical one.
    size
        Of what is written at the ticks, in points.
    title, pad
        What is above them, and how many points above.
    grid
        The axis, ``x`` or ``y``, whose ticks have lines; none if empty.
    frame
        The sides where a line is drawn.
    """
    axes.set_facecolor("none")
    axes.tick_params(which="both", labelsize=size, labelcolor=INK, color=FAINT, length=3)
    axes.set_xlabel(below, size=LABEL, color=FAINT)
    axes.set_ylabel(beside, size=LABEL, color=FAINT)
    for side, spine in axes.spines.items():
        spine.set_visible(side in frame)
        spine.set_color(FAINT)
    if title:
        axes.set_title(title, size=LABEL, color=INK, loc="left", pad=pad, parse_math=False)
    if grid:
        axes.grid(visible=True, axis=grid, color=FAINT, alpha=0.22, linewidth=0.6)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


def plain_legend(axes: Axes, *lines: Any, **options: Any) -> None:
    """Say which line is which; names and title are written as they are."""
    legend = axes.legend(*lines, frameon=False, fontsize=CAPTION, labelcolor=INK, **options)
    legend.get_title().set(size=CAPTION, color=FAINT)
    for text in legend.get_texts():
        text.set_parse_math(False)


def dress_space(axes: Any, titles: Sequence[str], size: float) -> None:
    """Dress axes in three dimensions, and say along each what it is."""
    for axis, text in zip((axes.xaxis, axes.yaxis, axes.zaxis), titles, strict=True):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.06))
        axis.set_label_text(text, size=size, color=FAINT)
        axis.line.set_color(FAINT)
        axis._axinfo["grid"].update(color="#88888855", linewidth=0.5)
        axis.set_tick_params(labelsize=size, labelcolor=INK, color=FAINT, pad=0)


def time_ticks(axis: Axis, max_ticks: int, *, wide: bool) -> None:
    """Put plain numbers on an axis of times, as on a logarithmic one if its range is ``wide``."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high < 1000 * low else (1,)
    axis.set_major_locator(LogLocator(subs=subs) if wide else MaxNLocator(max_ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def rate_ticks(axis: Axis, unit: Unit, rates: Rates) -> None:
    """Put bandwidths on an axis of times in ``unit``: 1, 2 and 5 of each power of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    low, high = (max(end, 1e-12) for end in sorted(axis.get_view_interval()))
    least, most = (rates.moved / (end * unit.factor) / rates.factor for end in (high, low))
    powers = 10.0 ** np.arange(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps = (powers[:, None] * [1, 2, 5]).ravel()
    if np.sum((steps >= least) & (steps <= most)) < 3:
        steps = np.array([one for one in MaxNLocator(6).tick_values(least, most) if one > 0])
    steps = steps[(steps >= 0.999 * least) & (steps <= 1.001 * most)]
    places = rates.moved / (steps * rates.factor) / unit.factor
    axis.set_major_locator(FixedLocator(places.tolist()))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: rates.number(value * unit.factor)))


def colour_bar(axes: Axes, mappable: ScalarMappable, label: str) -> bool:
    """Draw a bar of colours; return whether they are logarithmic, which is written next to it."""
    from matplotlib.colors import LogNorm

    logarithmic = isinstance(mappable.norm, LogNorm)
    axes.get_figure().colorbar(mappable, cax=axes).outline.set_visible(False)  # type: ignore[union-attr]
    axes.tick_params(labelsize=LABEL, labelcolor=INK, color=FAINT, length=3)
    scale = ", logarithmic colours" if logarithmic else ""
    axes.set_ylabel(f"{label}{scale}", size=LABEL, color=FAINT)
    return logarithmic


def print_numbers(
    axes: Axes,
    values: Floats,
    picture: NDArray[np.uint8],
    write: Callable[[float], str],
    size: float,
) -> None:
    """Write values into the cells of a picture, dark on light and light on dark; not NaN."""
    for i, j in np.argwhere(~np.isnan(values)):
        red, green, blue = picture[i, j, :3] / 255
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
        axes.text(
            j,
            i,
            write(values[i, j]),
            size=size,
            ha="center",
            va="center",
            color="#ffffff" if dark else "#101418",
        )


def host_strip(
    axes: Axes,
    segments: Sequence[Segment],
    colours: dict[str, str],
    near: float,
    far: float,
    *,
    upright: bool = False,
    **options: Any,
) -> None:
    """Draw the host of each rank as a colour along a picture, between two places across."""
    from matplotlib.collections import PolyCollection

    boxes = [
        [(s.first - 0.5, near), (s.last + 0.5, near), (s.last + 0.5, far), (s.first - 0.5, far)]
        for s in segments
    ]
    if upright:
        boxes = [[(y, x) for x, y in corners] for corners in boxes]
    strip = PolyCollection(
        boxes,
        facecolors=[colours[s.host] for s in segments],
        linewidths=0,
        clip_on=False,
        **options,
    )
    axes.add_collection(strip, autolim=False)


def wrapped(notes: Sequence[str], width: float) -> list[str]:
    """Join notes in the size of a caption to lines of at most this width in inches."""
    lines: list[str] = []
    for note in notes:
        longer = " · ".join([*lines[-1:], note])
        if lines and _TEXT_WIDTH_SHARE * text_width(longer, CAPTION) <= width:
            lines[-1] = longer
        else:
            lines.append(note)
    return lines


def pool(matrix: Floats, limit: int) -> tuple[Floats, int]:
    """Shrink a matrix to at most ``limit`` cells a side; each keeps the largest of its block.

    The largest, because one slow rank among many must not disappear.

    Returns
    -------
    tuple
        The smaller matrix, and the number of ranks in a cell.
    """
    n = len(matrix)
    block = -(-n // limit)
    if block == 1:
        return matrix, 1
    cells = -(-n // block)
    padded = np.full((cells * block, cells * block), -np.inf)
    padded[:n, :n] = np.where(np.isnan(matrix), -np.inf, matrix)
    largest = padded.reshape(cells, block, cells, block).max(axis=(1, 3))
    return np.where(np.isneginf(largest), np.nan, largest), block


def stops(count: int) -> list[str]:
    """Return so many colours from fast to slow, as ``#rrggbb``.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colours = colormaps[COLOURS_OF_MAPS]
    return [to_hex(colours(k / (count - 1))) for k in range(count)]
