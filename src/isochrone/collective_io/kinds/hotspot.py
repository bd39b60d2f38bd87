"""Report of a hot spot: points, participants, unreachable points, fitted model."""

from collections.abc import Sequence

import msgspec

from isochrone.base.table import grouped
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.results.hotspot import (
    KIND,
    STAR,
    GridPoint,
    Role,
    Unreachable,
    points,
    roles,
    unreachable,
)
from isochrone.pages.page import (
    Asked,
    Block,
    Kind,
    Later,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    Tiles,
    columns_of,
)
from isochrone.pages.words import (
    interval,
    left_out,
    of_size,
    on_ranks,
    plural,
    ranges,
    warnings_of,
    with_hosts,
)
from isochrone.runfile.header import Option
from isochrone.runfile.origin import with_noun
from isochrone.runfile.run import Run

MAX_HOTSPOT_ROWS = 128
MAX_STARS = 8
MAX_HOTSPOT_HOSTS = 6
MAX_REASONS = 3

TITLE = (
    "Messages of the hot node, within it, into it and out of it; pa = intra/2, pe = (in + out)/2"
)
CAPTION = (
    "The plane of the model as a family of lines, one for each number of messages; points are "
    "the medians."
)

_WORDS = {"intra": "inside", "inter": "on other nodes"}


class _Shown(msgspec.Struct):
    """A hot spot: times by messages within the node, in and out.

    ``pa`` and ``pe`` are pairs of messages within a node and with other nodes.
    """

    seconds_are: str
    options: dict[str, Option]
    points: list[GridPoint]
    unreachable: list[Unreachable]
    roles: list[Role]


def _document(run: Run, asked: Asked) -> _Shown:
    chosen = _chosen(run, asked.nbytes)
    return _Shown(run.quantity, run.options, chosen, unreachable(run), roles(run))


def _sections(run: Run, asked: Asked) -> list[Section]:
    measured = _chosen(run, asked.nbytes)
    numbers = _table(measured) if measured else Sentence("  The run contains no point")
    return [
        Section("Summary", tuple(_about(run, measured))),
        Section("Model", tuple(_model(run, measured)), only="report"),
        Section("Numbers", (numbers,)),
        Section("Summary", (*_unreachable(run), warnings_of(run.warnings))),
        Section(
            "How the times were taken",
            (
                Sentence(
                    "All messages of a point are sent at once, with receives posted before sends. "
                    "The time is the median over repetitions of the slowest participating rank. "
                    "pa is half the messages within the hot node, pe half of those into it and "
                    "out of it.",
                    stress=("slowest participating rank",),
                ),
            ),
            only="report",
        ),
    ]


def _chosen(run: Run, nbytes: int | None) -> list[GridPoint]:
    """Return the points that are shown: all, or those of the one size the user names."""
    nothing = f"nothing was measured with {nbytes} bytes"
    return of_size(points([run]), nbytes, nothing, run.where)


def _about(run: Run, measured: Sequence[GridPoint]) -> list[Block]:
    """Summarise: definition of a time, shortest and longest, participants."""
    by_time = sorted(measured, key=lambda point: point.times.median)
    tiles = [
        Tile(
            format_seconds(point.times.median),
            "fastest point" if point is by_time[0] else "slowest point",
            f"{point.intra} messages within the node, {point.into} in, {point.out} out; "
            f"{format_bytes(point.bytes)} each{', all nodes busy' * (point.shape != STAR)}",
        )
        for point in dict.fromkeys([*by_time[:1], *by_time[-1:]])
    ]
    blocks: list[Block] = [Tiles(tuple(tiles))] if tiles else []
    if run.quantity:
        blocks.append(Sentence(f"  Definition of the times: {run.quantity}"))
    stars = grouped((role.group, role) for role in roles(run))
    blocks += [_star(members) for members in list(stars.values())[:MAX_STARS]]
    omitted = len(stars) - MAX_STARS
    if omitted > 0:
        remainder = f"{omitted} more hot process{'es' if omitted > 1 else ''}"
        blocks.append(Sentence(f"… and {remainder} (--json lists all)"))
    return blocks


def _star(members: Sequence[Role]) -> Sentence:
    """Name a hot process and its partners."""
    clauses = [f"  Hot: {_who(members, 'hot')}"]
    for role, relation in _WORDS.items():
        if any(member.role == role for member in members):
            clauses.append(f"partners {relation}: {_who(members, role)}")
    return Sentence(" · ".join(clauses))


def _who(members: Sequence[Role], role: str) -> str:
    """Name ranks and their hosts: ``ranks 4,8 (n1, n2)``."""
    matching = [member for member in members if member.role == role]
    hosts = list(dict.fromkeys(member.host for member in matching if member.host))
    host_names = hosts[:MAX_HOTSPOT_HOSTS] + ["…"] * (len(hosts) > MAX_HOTSPOT_HOSTS)
    suffix = "s" if len(matching) > 1 else ""
    return f"rank{suffix} {with_hosts(ranges([member.rank for member in matching]), host_names)}"


def _model(run: Run, measured: Sequence[GridPoint]) -> list[Block]:
    """Fit the best model and draw its plane."""
    if not measured:
        return [Sentence("No formula could be fitted: no point was measured.")]
    if all(point.shape != STAR for point in measured):
        return [Sentence("No plane of a hot node: all nodes are busy at every point.")]
    points = with_noun(run.origin, "points").capitalize()
    alt = f"{points} of the hot spot on {run.size} ranks, view plane."
    plane = Picture("plane", "The fitted plane", CAPTION, (run,), alt=alt)
    bare = Picture(
        "plane",
        f"The {points.lower()}",
        "Points are medians, error bars the 95 % intervals of this run's repetitions.",
        (run,),
        alt=alt,
    )

    def make() -> list[Block]:
        from isochrone.models.pages.model import fitted  # only a report needs models

        return fitted(run, "auto", plane, bare)

    return [Later(make)]


def _table(found: Sequence[GridPoint]) -> Table:
    shaped = any(point.shape != STAR for point in found)
    titles = (">intra", ">in", ">out", ">pa", ">pe", "order", ">hot", *["busy"] * shaped)
    columns = columns_of(*titles, ">size", ">n", ">median", ">95 % interval", ">min")
    rows = []
    for point in found[:MAX_HOTSPOT_ROWS]:
        times, busy = point.times, "one node" if point.shape == STAR else "all nodes"
        counts = (str(count) for count in (point.intra, point.into, point.out))
        pairs = (f"{point.pa:g}", f"{point.pe:g}", point.order, str(point.hot), *[busy] * shaped)
        seconds = (format_seconds(times.median), interval(times), format_seconds(times.min))
        rows.append(Row((*counts, *pairs, format_bytes(point.bytes), str(times.n), *seconds)))
    omitted = left_out(len(found), len(rows), "more point")
    fold = f"All {plural(len(found), 'point')}" if len(found) > 1 else ""
    return Table(TITLE, columns, tuple(rows), omitted, fold=fold)


def _unreachable(run: Run) -> list[Sentence]:
    """Sum up the points of the grid that the machine was too small for."""
    missed = unreachable(run)
    if not missed:
        return []
    count = plural(sum(reason.points for reason in missed), "point")
    why = "; ".join(f"{reason.why} ({reason.points})" for reason in missed[:MAX_REASONS])
    omitted = len(missed) - MAX_REASONS
    others = f"; {plural(omitted, 'more reason')}" if omitted > 0 else ""
    return [Sentence(f"Not reachable: {count} of the grid: {why}{others}")]


PAGE = Kind(
    title=lambda run: f"hot spot {on_ranks(run)}",
    holds=lambda run: run.kind == KIND,
    sections=_sections,
    document=_document,
    place=2,
)
