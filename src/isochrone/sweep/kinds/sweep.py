"""A sweep over message sizes: a table for each curve, protocol switches, stragglers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import msgspec

from isochrone.base.documents import Hidden, IfKnown, Inline, Scalar, shown
from isochrone.base.record import Members
from isochrone.base.table import grouped
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.pages.options import varied
from isochrone.pages.page import (
    Asked,
    Block,
    Facts,
    Kind,
    Later,
    Listing,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    columns_of,
)
from isochrone.pages.words import (
    between,
    of_ranks,
    plural,
    ranges,
    warnings_of,
    with_hosts,
)
from isochrone.runfile.header import Option
from isochrone.runfile.origin import with_noun
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, Point, curves, is_sweep, of_size
from isochrone.sweep.rates import Rate
from isochrone.sweep.special import special_of
from isochrone.sweep.stragglers import Participant, late
from isochrone.sweep.switches import Switch, describe, switches

MAX_CURVES = 64
MAX_POINT_ROWS = 256
MAX_SWEEP_SENTENCES = 12
MAX_LATER = 3
"""Stragglers named for each curve; more are counted."""

BEHIND = "Later than the others"
MARK = "«"

MAX_SWEEP_LINES = 24
"""Lines in one picture."""

VIEWS = {
    "time": (
        "Time by message size",
        "Flat parts show the latency, slopes the cost per byte. Error bars are 95 % intervals of "
        "the medians within this run. Where it is shaded, the protocol changes.",
    ),
    "bandwidth": (
        "Bandwidth by message size",
        "Bytes per second, approaching the peak of the machine.",
    ),
    "distribution": (
        "Distribution of the repetitions",
        "The fraction of the repetitions that took at most this time, for the shortest and the "
        "longest message. A long tail to the right shows occasional disturbances.",
    ),
    "ranks": (
        "Time by number of ranks",
        "How the time grows with the number of ranks, at a few message sizes.",
    ),
}
"""The figures of sweeps, each with its title and how it is read."""

FAMILY = "hockney"
MIN_SIZES = 5
"""A line through fewer sizes fits anything."""


@dataclass(frozen=True)
class _Read:
    """A curve, the sizes of it that are shown, and its analysis."""

    curve: Hidden[Curve]
    chosen: Inline[Curve]
    switches: list[Switch]
    later: Hidden[list[Participant]]

    @property
    @shown
    def slowest(self) -> IfKnown[list[Participant]]:
        """The stragglers."""
        return self.later or None

    @property
    def title(self) -> str:
        if not self.curve.of_ranks:
            return self.curve.name
        return f"{self.curve.name}, {plural(self.curve.p, 'rank')}"


def _read(run: Run, nbytes: int | None) -> list[_Read]:
    """Read the curves; switches are searched among all sizes, not only those shown."""
    all_curves = curves(run)
    by_key = {(str(curve.key), curve.p): curve for curve in all_curves}
    read = []
    for chosen in of_size(all_curves, nbytes, run.where):
        curve = by_key[str(chosen.key), chosen.p]
        read.append(_Read(curve, chosen, switches(curve), late(curve, run.hosts)))
    return read


def _holds(run: Run) -> bool:
    return is_sweep(run) and len(run.tables.get("sample", ())) > 0


def _title(run: Run) -> str:
    return f"{run.experiment} sweep {of_ranks(run)}"


class _Shown(msgspec.Struct):
    """A sweep over message sizes: curves.

    Attributes
    ----------
    seconds_are
        Definition of the times.
    bystanders
        Ranks without a partner.
    """

    seconds_are: str
    options: dict[str, Option]
    curves: list[_Read]
    bystanders: list[int]
    grids: IfKnown[dict[str, list[dict[str, Scalar]]]] = None
    matching: IfKnown[dict[str, list[dict[str, Scalar]]]] = None


def _document(run: Run, asked: Asked) -> _Shown:
    special = special_of(run)
    extra: Members = {} if special is None else {special.key: special.document(run, asked.nbytes)}
    listed = _read(run, asked.nbytes)
    return _Shown(run.quantity, run.options, listed, bystanders(run), **extra)


def bystanders(run: Run) -> list[int]:
    """List the ranks that were idle in a bisection."""
    table = run.tables.get("bystander")
    if table is None or "rank" not in table or table["rank"].dtype.kind != "i":
        return []
    return [int(rank) for rank in table["rank"]]


def _sections(run: Run, asked: Asked) -> list[Section]:
    special = special_of(run)
    if special is None:
        return _of_curves(run, asked)
    pictures = _pictures_of([run], [curve for curve in curves(run) if curve.whole])
    return special.sections(run, asked.nbytes, _about(run), pictures)


def _of_curves(run: Run, asked: Asked) -> list[Section]:
    read = _read(run, asked.nbytes)
    shown = read[:MAX_CURVES]
    left = len(read) - len(shown)
    left_out = [Sentence(f"… and {plural(left, 'more curve')} (--json lists all)")] if left else []
    folded = len(shown) > MAX_SWEEP_SENTENCES
    numbers = [block for reading in shown for block in _numbers(run, reading, folded=folded)]
    return [
        Section("Summary", tuple(_overview(run, shown)), only="report"),
        Section("Summary", tuple(_about(run))),
        Section(
            "Pictures",
            tuple(_pictures_of([run], [reading.curve for reading in read])),
            only="report",
        ),
        Section("Model", tuple(_model(run, read)), only="report"),
        Section("Numbers", (*numbers, *left_out)),
        Section("How the times were taken", tuple(_how(read)), only="report"),
        Section("Summary", (warnings_of(run.warnings),)),
    ]


# --- summary --------------------------------------------------------------------------------------


def _about(run: Run) -> list[Block]:
    """Return the options, the definition of the times, and the idle ranks."""
    blocks: list[Block] = []
    options = varied(run)
    if options:
        blocks.append(Facts("", options, only="terminal"))
    if run.quantity:
        blocks.append(Sentence(f"  Definition of the times: {run.quantity}"))
    out = bystanders(run)
    if out:
        ending = "s" if len(out) > 1 else ""
        blocks.append(Sentence(f"  Idle: rank{ending} {ranges(out)} (odd number of ranks)"))
    return blocks


def _overview(run: Run, read: Sequence[_Read]) -> list[Block]:
    """Return the overview of a report: a few sentences."""
    blocks: list[Block] = [_sentence(reading.curve) for reading in read[:MAX_SWEEP_SENTENCES]]
    left = len(read) - MAX_SWEEP_SENTENCES
    if left > 0:
        are = "is" if left == 1 else "are"
        blocks.append(Sentence(f"{plural(left, 'more curve')} {are} in the tables below."))
    changes = [_switch(change, reading.title) for reading in read for change in reading.switches]
    if changes:
        blocks.append(Listing("Protocol switches", tuple(changes)))
    behind = [item for reading in read for item in _behind(run, reading, reading.title)]
    if behind:
        blocks.append(Listing(BEHIND, tuple(behind), "bad"))
    return blocks


def _sentence(curve: Curve) -> Sentence:
    """Return the times of the shortest and the longest message."""
    first, last = curve.points[0], curve.points[-1]
    best = max(curve.points, key=lambda point: point.bandwidth or 0.0)
    several = not curve.of_ranks or curve.key.get("pairs", 1) != 1
    name = curve.name if "op" in curve.key else curve.name[:1].upper() + curve.name[1:]
    name = f"{name} on {curve.p} ranks" if curve.of_ranks else name
    text = f"{name} {'take' if several else 'takes'} {format_seconds(first.median)}"
    if len(curve.points) > 1:
        text += (
            f" with {format_bytes(first.bytes)} and {format_seconds(last.median)} with "
            f"{format_bytes(last.bytes)}"
        )
    if curve.computes:
        costs = [point.t_op for point in curve.points if point.t_op]
        text += f"; an operation takes {format_seconds(min(costs))} to {format_seconds(max(costs))}"
    elif best.bandwidth:
        text += f"; the bandwidth is highest at {format_bytes(best.bytes)}: "
        text += format_rate(best.bandwidth)
    return Sentence(f"{text}.", stress=(name,))


def _switch(change: Switch, about: str = "") -> Sentence:
    return Sentence(f"Protocol switch {describe(change)}", about=about)


def _behind(run: Run, read: _Read, about: str = "") -> list[Sentence]:
    """Name the stragglers."""
    texts = []
    for participant in read.later[:MAX_LATER]:
        kind = "pair" if len(participant.who) > 1 else "rank"
        hosts = [host for rank, host in enumerate(run.hosts) if rank in participant.who]
        label = with_hosts("–".join(map(str, participant.who)), hosts)
        last = f"last in {100 * participant.last:.0f} % of the repetitions"
        texts.append(f"{kind} {label}: {participant.ratio:.2f}x the median, {last}")
    left = len(read.later) - len(texts)
    if left:
        texts.append(f"… and {left} more (--json lists all)")
    return [Sentence(text, about=about) for text in texts]


# --- numbers --------------------------------------------------------------------------------------


def _numbers(run: Run, read: _Read, *, folded: bool) -> list[Block]:
    """Return the table of a curve; on a terminal with its analysis directly below."""
    blocks: list[Block] = [_table(read, read.title if folded else "")]
    blocks += [
        Sentence(_switch(change).text, "strong", only="terminal") for change in read.switches
    ]
    if read.later:
        blocks.append(Listing(BEHIND, tuple(_behind(run, read)), "bad", only="terminal"))
    return blocks


def _table(read: _Read, fold: str) -> Table:
    points = read.chosen.points
    columns = [
        (title, member, write)
        for title, member, write in COLUMNS
        if any(getattr(point, member) is not None for point in points)
    ]
    marked = {change.before for change in read.switches}
    rows = []
    for point in points[:MAX_POINT_ROWS]:
        values = [(getattr(point, member), write) for _, member, write in columns]
        cells = ["–" if value is None else write(value) for value, write in values]
        mark = MARK if point.bytes in marked else ""
        rows.append(Row((*cells, mark), "strong" if mark else ""))
    left = len(points) - len(rows)
    return Table(
        read.title,
        columns_of(*(f">{title}" for title, _, _ in columns), ""),
        tuple(rows),
        f"and {plural(left, 'more size')} (--json lists all)" if left else "",
        fold,
    )


def _messages(rate: float) -> str:
    """Write messages per second: ``3.2 M/s``."""
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        if rate >= factor:
            return f"{rate / factor:.3g} {unit}/s"
    return f"{rate:.3g} /s"


def _percent(overlap: float, low: float, high: float) -> str:
    """Write an overlap and its interval, if that is known: ``62 % [58, 66]``."""
    ends = "" if isnan(low + high) else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return f"{100 * overlap:.0f} %{ends}"


def _efficiency(scaling: Rate) -> str:
    """Write an efficiency and its interval: ``0.97 (0.93 … 1.01)``."""
    value, *ends = scaling
    interval = "" if None in ends else f" ({ends[0]:.2f} … {ends[1]:.2f})"
    return f"{value:.2f}{interval}"


COLUMNS = (
    ("size", "bytes", format_bytes),
    ("median", "median", format_seconds),
    ("95 % interval", "interval", lambda ends: between(*ends)),
    ("min", "min", format_seconds),
    ("mean", "mean", format_seconds),
    ("stddev", "stddev", format_seconds),
    ("p95", "p95", format_seconds),
    ("p99", "p99", format_seconds),
    ("t_op", "t_op", format_seconds),
    ("bandwidth", "bandwidth", lambda rate: format_rate(rate) if rate else "–"),
    ("messages", "message_rate", _messages),
    ("efficiency", "scaling", _efficiency),
    ("skew", "skew", format_seconds),
    ("overlap", "hidden", lambda ends: _percent(*ends)),
    ("post", "post", format_seconds),
    ("complete", "complete", format_seconds),
    ("n", "n", str),
)
"""Columns of the table of a curve: title, member of `Point`, and how it is written.

One is shown where it is known of a size; JSON has the members under their names.
"""


# --- for the report -------------------------------------------------------------------------------


def _model(run: Run, read: Sequence[_Read]) -> list[Later]:
    """Return a fitted formula, for a single pair of ranks."""
    if len(read) != 1 or read[0].curve.of_ranks or len(read[0].curve.points) < MIN_SIZES:
        return []
    title = f"{with_noun(run.origin).capitalize()} and the formula"
    picture = Picture(
        "fit",
        title,
        "Points are medians, lines the formula, the band its 95 % interval.",
        (run,),
        alt=f"{title}, view fit.",
    )

    def make() -> list[Block]:
        from isochrone.models.pages.model import fitted  # nothing but a report needs models

        return fitted(run, FAMILY, picture)

    return [Later(make)]


def _how(read: Sequence[_Read]) -> list[Sentence]:
    """Return what the numbers mean."""
    text = "The time of a size is the median of its repetitions."
    enclosed = [p for reading in read for p in reading.chosen.points if p.has_interval]
    if enclosed:
        text += f" {_interval_basis(enclosed)}"
    if any(reading.switches for reading in read):
        text += (
            " A protocol switch is reported where two straight lines fit better than one. They "
            "differ significantly, and by at least 2 % (a jump) or 1 % (a bandwidth)."
        )
    return [Sentence(text)]


def _interval_basis(enclosed: Sequence[Point]) -> str:
    """Return what the intervals of points are computed from, and what they cover."""
    passes = [point.passes for point in enclosed]
    if min(passes) > 0:
        return (
            f"The 95 % interval is computed from the medians of {min(passes)} or more passes, and "
            "covers the variation within this run. Another launch may differ by more."
        )
    return (
        "The 95 % interval is computed from the repetitions of this run. It does not cover "
        "variation between passes or launches."
    )


def _together(runs: Sequence[Run]) -> list[Section]:
    """Put the runs whose curves are of the same things into common pictures."""
    sections = []
    for members in grouped((run.by, run) for run in runs).values():
        if len(members) < 2:
            continue
        drawn = [curve for run in members for curve in curves(run) if curve.whole]
        pictures = _pictures_of(members, drawn)
        title = f"{len(members)} {_experiments(members)} runs together"
        sections += [Section(title, tuple(pictures), only="report")] if pictures else []
    return sections


def _pictures_of(runs: Sequence[Run], drawn: Sequence[Curve]) -> list[Picture]:
    """Name the figures that have something to show."""
    if len(drawn) > MAX_SWEEP_LINES * (1 if len(runs) > 1 else 2):
        return []
    wanted = []
    if any(len(curve.points) > 1 for curve in drawn) or len(runs) > 1:
        wanted.append("time")
        if any(point.bandwidth for curve in drawn for point in curve.points):
            wanted.append("bandwidth")
    if len({curve.p for curve in drawn if curve.of_ranks}) > 1:
        wanted.append("ranks")
    if any(point.p95 is not None for curve in drawn for point in curve.points):
        wanted.append("distribution")
    of = f"{len(runs)} runs" if len(runs) > 1 else f"{runs[0].size} ranks"
    return [
        Picture(
            view,
            *VIEWS[view],
            tuple(runs),
            alt=f"{VIEWS[view][0]}: {_experiments(runs)}, {of}, view {view}.",
        )
        for view in wanted
    ]


def _experiments(runs: Sequence[Run]) -> str:
    """Name the experiments of some runs, each once."""
    return " and ".join(dict.fromkeys(run.experiment.replace("-", " ") for run in runs))


PAGE = Kind(
    title=_title,
    holds=_holds,
    sections=_sections,
    document=_document,
    together=_together,
    place=1,
)
