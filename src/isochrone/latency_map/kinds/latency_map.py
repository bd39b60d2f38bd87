"""What is said of a latency map: its levels, the placement of the ranks, what is slow."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.base.verdicts import POSSIBLY_SLOW, SLOW
from isochrone.latency_map import topology
from isochrone.latency_map.map_data import map_data
from isochrone.latency_map.thresholds import MIN_SLOWDOWN
from isochrone.latency_map.topology import Level, Placement, Slow, Topology
from isochrone.pages.page import (
    MIN_RANKS,
    Asked,
    Block,
    Code,
    Column,
    Kind,
    Later,
    Listing,
    LiveMap,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    Tiles,
    Tone,
    columns_of,
)
from isochrone.pages.words import of_ranks, ranges, warnings_of
from isochrone.runfile.clocks import clock_errors, has_clocks
from isochrone.runfile.run import DIRECTIONS, Run
from isochrone.views.style import check
from isochrone.views.view import Options

MAX_SLOW = 12
"""Slow parts listed one by one; more are counted."""

MAX_MINOR = 3
"""The same of what is too little to act on."""

MAX_UNEQUAL_NODES = 16
"""Nodes whose number of ranks is listed, if it is not the same on all."""

MAP = "heatmap"
MAX_STILL_CELLS = 512
"""Cells a side of the still picture; the map to look into has them all."""

MAX_SIZES = 12

MIN_SHOWN_FACTOR = 1.005
"""Factors below it would be written as 1.00x."""

_FIGURES = {
    MAP: (
        "Every pair of ranks",
        "Each cell is a pair; read a rank along its row or its column. Blocks of one colour along "
        "the diagonal are nodes, a bright cross is a slow rank or node.",
    ),
    "surface": (
        "The same as a surface",
        "Low is fast, high is slow. Valleys along the diagonal are nodes, walls are slow parts.",
    ),
    "levels": (
        "The hierarchy",
        "Two ranks meet at the height of their {}: low on a node, higher across the "
        "network. Dashed lines are the levels that were found.",
    ),
}
"""Figures of a map, each with its title and how it is read, of what the times of pairs are."""

_OF_BANDWIDTHS = {
    MAP: _FIGURES[MAP],
    "levels": (
        "The hierarchy",
        "Two ranks meet at the height of their bandwidth: low where it is high. Dashed lines are "
        "the levels that were found.",
    ),
}
"""The same of a map of bandwidths."""

_INNER = {
    "core": "on the same core (SMT siblings)",
    "l2": "on cores that share an L2 cache",
    "l3": "on cores that share an L3 cache",
    "numa": "in the same NUMA domain",
    "package": "on the same processor",
}
_BEYOND = {
    "core": "on the same node but on different cores",
    "l2": "on the same node but on cores that share no L2 cache",
    "l3": "on the same node but on cores that share no L3 cache",
    "numa": "on the same node but in different NUMA domains",
    "package": "on the same node but on different processors",
    "group": "on the same node but more distant",
}
_DEALT = {
    "block": "The ranks fill one node after the other",
    "cyclic": "The ranks are distributed round-robin over the nodes",
}

_LOOP = Code(
    """\
for each pair of ranks i < j, in the order named below:
    i wakes j; all others keep sleeping
    a few untimed round trips
    until there are enough samples:
        i and j exchange a handshake: j is about to receive
        for each of some samples:
            start = MPI_Wtime()
            batch times:                       once, unless the clock is coarse
                MPI_Send(message, to j)        j: MPI_Recv, then MPI_Send back
                MPI_Recv(answer, from j)
            time = (MPI_Wtime() - start) / batch
the slowest pairs and those with the widest spread are measured again, alone;
so are pairs of what would be called slow, by another start of the job""",
    stress=(
        "start = MPI_Wtime()",
        "batch times:",
        "MPI_Send(message, to j)",
        "MPI_Recv(answer, from j)",
        "time = (MPI_Wtime() - start) / batch",
    ),
)
"""How a pair is measured, with the timed part stressed."""


def _analysed(run: Run, asked: Asked) -> Topology:
    return topology.analyse(run, asked.nbytes, MIN_SLOWDOWN if asked.least is None else asked.least)


def _document(run: Run, asked: Asked) -> Topology:
    analysis = _analysed(run, asked)
    slow = [
        replace(component, suspected=not component.retested or None) for component in analysis.slow
    ]
    return replace(analysis, slow=slow)


def _sections(run: Run, asked: Asked) -> list[Section]:
    analysis = _analysed(run, asked)
    true_median = "median" in run.pairs() and not run.median_is_mean
    statistic = "median" if true_median else "mean"
    levels = list(_levels(analysis, run))
    return [
        Section("Summary", (_tiles(levels), *_prose(run, levels, analysis.placement))),
        Section("Pictures", tuple(_pictures(run, statistic, analysis, levels)), only="report"),
        Section("Numbers", (_table(run, analysis.nbytes, levels),)),
        Section("Summary", tuple(_findings(run, analysis))),
        Section("Numbers", (Later(lambda: [*_numbers(run, statistic, analysis)]),), only="report"),
        Section("How the times were taken", tuple(_how(run, statistic)), only="report"),
    ]


# --- the levels -----------------------------------------------------------------------------------


def where(levels: Sequence[Level], k: int, hosts: Sequence[str]) -> str:
    """Say which ranks are as far apart as level ``k`` and no closer: ``on the same node``."""
    name, groups = levels[k].name, levels[k].groups
    closer = next((level for level in reversed(levels[:k]) if level.pairs), None)
    if name in _INNER:
        return _INNER[name]
    if name == "node":
        return _BEYOND.get(closer.name, "on the same node") if closer else "on the same node"
    ranks = f"{_between(map(len, groups))} ranks"
    if not all(hosts):
        return f"in the same group of {ranks}" if len(groups) > 1 else "farthest from each other"
    spans = [len({hosts[rank] for rank in group}) for group in groups]
    if max(spans) == 1:
        return f"in the same group of {ranks} within a node"
    wide_before = closer is not None and any(
        len({hosts[rank] for rank in group}) > 1 for group in closer.groups
    )
    if len(groups) == 1:
        return "in different groups of nodes" if wide_before else "on different nodes"
    return f"on different nodes of one group of {_between(spans)} nodes, perhaps behind one switch"


def captions(levels: Sequence[Level], hosts: Sequence[str]) -> list[str]:
    """Say `where` the ranks of each level are; no two levels have the same words."""
    texts = [where(levels, k, hosts) for k in range(len(levels))]
    return [
        text if texts.count(text) == 1 else f"{text} ({len(level.groups)} groups)"
        for text, level in zip(texts, levels, strict=True)
    ]


def _between(counts: Iterable[int]) -> str:
    """Write the least and the greatest number: ``2 to 8``, or ``8`` where they are the same."""
    sizes = sorted(counts)
    smallest, greatest = sizes[0], sizes[-1]
    return str(smallest) if smallest == greatest else f"{smallest} to {greatest}"


class _Level(NamedTuple):
    """A level in words.

    ``where`` its ranks are, its round trip or other ``quantity``, half of it, and the time over
    that of the closest level: ``8.2×``; empty for that one.
    """

    of: Level
    where: str
    trip: str
    one_way: str
    ratio: str
    quantity: str


def _levels(analysis: Topology, run: Run) -> Iterator[_Level]:
    """Put each level into words, from the closest to the farthest."""
    closest = 0.0
    for level, caption in zip(analysis.levels, captions(analysis.levels, run.hosts), strict=True):
        ratio = ""
        if level.pairs and closest:
            over = level.median / closest
            ratio = f"{over:{'.0f' if over >= 100 else '.2g' if over >= 10 else '.1f'}}×"
        elif level.pairs:
            closest = level.median
        trip, one_way = level.in_words(level.median), format_seconds(level.median / 2)
        yield _Level(level, caption, trip, one_way, ratio, run.pair_quantity)


def _tiles(levels: Sequence[_Level]) -> Tiles:
    """Show the round trip of each level."""
    return Tiles(tuple(Tile(row.trip, row.where, _compared(row)) for row in levels if row.of.pairs))


def _compared(one: _Level) -> str:
    """Say what the number of a level is, against that of the closest one."""
    messages = "messages take " * (one.of.bandwidth is not None)
    return one.quantity + f", {messages}{one.ratio} the closest" * bool(one.ratio)


def _prose(run: Run, levels: Sequence[_Level], placement: Placement) -> Iterator[Sentence]:
    """Say of each level, and of the placement, what a terminal shows in a table and a line."""
    for row in levels:
        if row.of.pairs and run.bandwidth:
            text = f"Ranks {row.where} have a bandwidth of {row.trip}"
            text += f": messages take {row.ratio} the time of the closest." if row.ratio else "."
            yield Sentence(text, stress=(row.trip,), only="report")
        elif row.of.pairs:
            text = f"Ranks {row.where} have a round trip of {row.trip} ({row.one_way} one way)"
            if row.quantity != "round trip":
                text = f"Ranks {row.where} take {row.trip} for one {row.quantity}"
            text += f", {row.ratio} the time of the closest ranks." if row.ratio else "."
            stress = (row.trip, row.ratio) if row.ratio else (row.trip,)
            yield Sentence(text, stress=stress, only="report")
    yield Sentence(placement_in_words(placement), only="report")


def _table(run: Run, nbytes: int, levels: Sequence[_Level]) -> Table:
    """List the levels, from the closest to the farthest."""
    half = run.pair_quantity == "round trip"
    size = format_bytes(nbytes)
    title = f"Round trip of {size} (half of it is one way)"
    if run.bandwidth:
        title = "Bandwidth" + f" of {size} messages" * (run.origin != "imported")
        title += " in each direction"
    elif not half:
        title = f"{run.quantity.capitalize()}, {size}"
    return Table(
        title,
        (
            Column("level"),
            Column("ranks that are", only="report"),
            Column("median", right=True),
            *[Column("half", right=True)] * half,
            Column("against the closest", right=True, only="report"),
            Column("pairs", right=True),
            Column("groups"),
        ),
        tuple(
            Row(
                (
                    f"{row.of.level}  {row.of.name}",
                    row.where,
                    row.trip,
                    *[row.one_way] * half,
                    row.ratio or "1",
                    str(row.of.pairs),
                    _groups(row.of.groups),
                )
            )
            for row in levels
        ),
    )


def _groups(groups: Sequence[Sequence[int]]) -> str:
    """Write groups of ranks briefly: ``all ranks``, ``0-3 | 4-7``, ``64 groups of 16``."""
    if len(groups) == 1:
        return "all ranks"
    if len(groups) <= 8 and sum(map(len, groups)) <= 64:
        return " | ".join(ranges(group) for group in groups)
    return f"{len(groups)} groups of {_between(map(len, groups))}"


# --- placement, slow parts, warnings --------------------------------------------------------------


def _findings(run: Run, analysis: Topology) -> Iterator[Block]:
    """Say how the ranks were placed, what is slow, what is doubtful, and what else there is."""
    counts = [*map(str, analysis.placement.ranks_per_node)]
    per_node = counts[0] if len({*counts}) == 1 else ", ".join(counts[:MAX_UNEQUAL_NODES])
    ellipsis = " …" if per_node != counts[0] and len(counts) > MAX_UNEQUAL_NODES else ""
    kind = analysis.placement.kind
    yield Sentence(f"Placement: {kind}, ranks per node: {per_node}{ellipsis}", only="terminal")
    if has_clocks(run) and DIRECTIONS[0] in run.pairs():
        yield Sentence(
            f"Clocks are off by up to {format_seconds(sum(clock_errors(run)))}; no direction is "
            "called slow that this explains."
        )
    yield from _slow(analysis)
    if analysis.advice:
        yield Sentence(f"Next: {analysis.advice}.", "strong")
    blind = () if analysis.slow else analysis.blind
    yield warnings_of(
        [warning for warning in analysis.warnings if warning.get("text") not in blind]
    )
    others = [format_bytes(size) for size in run.message_sizes() if size != analysis.nbytes]
    if others:
        yield Sentence(f"Also in this run: {', '.join(others)} (see --bytes)", only="terminal")


def placement_in_words(placement: Placement) -> str:
    """Say how the ranks were distributed over the nodes."""
    hosts, counts = placement.hosts, placement.ranks_per_node
    if not all(hosts):
        return "The hosts of the ranks were not recorded."
    if len(counts) == 1:
        return f"All {counts[0]} ranks ran on one node, {hosts[0]}."
    if max(counts) == 1:
        return f"Each of the {len(counts)} ranks ran on its own node."
    low, high = min(counts), max(counts)
    per_node = f"{low} on each" if low == high else f"between {low} and {high} on one"
    how = _DEALT.get(placement.kind, "The ranks are spread over the nodes irregularly")
    return f"{how}: {len(counts)} nodes, {per_node} ({placement.kind} placement)."


def _slow(analysis: Topology) -> Iterator[Sentence | Listing]:
    """Name what is slow, what is possibly slow, and what is unexplained."""
    count, low, high = analysis.not_understood
    threshold = f"{analysis.least:.0%}".replace("%", " %")
    if count:
        yield Sentence(
            f"Unexplained pairs: {count} {'differs' if count == 1 else 'differ'} by "
            f"{_factors(low, high)} from what levels and slow components explain. "
            "This analysis may be wrong.",
            "strong",
        )
    elif analysis.blind and not analysis.slow:
        why = printable("; ".join(analysis.blind), 400)
        yield Sentence(f"Unclear whether any component is slow: {why}.", "strong")
    elif not analysis.slow:
        yield Sentence(f"No slow components (threshold {threshold})", "good")
    confirmed = [component for component in analysis.slow if component.retested]
    suspected = [component for component in analysis.slow if not component.retested]
    yield from _parts(f"{SLOW.capitalize()} compared with peers", confirmed, "bad")
    yield from _parts(f"{POSSIBLY_SLOW.capitalize()} (not yet confirmed)", suspected, "strong")
    yield from _parts(f"Below the threshold of {threshold}", analysis.minor, "faint", MAX_MINOR)


def _factors(low: float, high: float) -> str:
    """Write between which factors times differ: ``1.03x to 1.4x``, ``up to 1.4x``, ``1.4x``."""
    lower, upper = _factor(low), _factor(high)
    return (
        upper
        if lower == upper
        else f"up to {upper}"
        if low < MIN_SHOWN_FACTOR
        else f"{lower} to {upper}"
    )


def _factor(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 1.1 else f"{ratio:.1f}x"


def _parts(
    title: str, components: Sequence[Slow], tone: Tone, limit: int = MAX_SLOW
) -> Iterator[Listing]:
    """List parts, if any, each with its ratio and the evidence."""
    items = []
    for component in components[:limit]:
        ratio = _factor(component.ratio)
        items.append(
            Sentence(f"{ratio}  {component.evidence}", about=component.name, stress=(ratio,))
        )
    left_out = len(components) - limit
    remainder = f"and {left_out} more (--json lists all)" if left_out > 0 else ""
    if items:
        yield Listing(title, tuple(items), tone, remainder)


# --- for the report: pictures, more tables, how it was measured -----------------------------------


def _pictures(
    run: Run, statistic: str, analysis: Topology, levels: Sequence[_Level]
) -> Iterator[Block]:
    size = format_bytes(analysis.nbytes)
    shown = check(statistic, run.pair_quantity).lower()
    yield Sentence(f"All of them show the {shown} of {size} messages.", "faint")
    options = Options(statistic, (analysis.nbytes,), cells=MAX_STILL_CELLS, analysis=analysis)
    for view, (title, caption) in (_OF_BANDWIDTHS if run.bandwidth else _FIGURES).items():
        alt = f"{title}: {shown} between {run.size} ranks"
        caption = caption.format(run.pair_quantity)
        picture = Picture(view, title, caption, (run,), options, alt)
        if view == MAP and not run.bandwidth:
            where_texts = [row.where for row in levels]
            yield LiveMap(picture, partial(map_data, run, analysis, statistic, where_texts))
        elif run.size >= MIN_RANKS:
            yield picture


def _numbers(run: Run, statistic: str, analysis: Topology) -> Iterator[Table]:
    sizes = run.message_sizes()
    if len(sizes) > 1:
        left_out = len(sizes) - MAX_SIZES
        rows = []
        for size in sizes[:MAX_SIZES]:
            medians = topology.medians_of_levels(run, statistic, size, analysis)
            shown = [
                format_rate(size / seconds) if run.bandwidth else format_seconds(seconds)
                for seconds in medians
            ]
            rows.append(Row((format_bytes(size), *shown)))
        yield Table(
            f"{check(statistic, run.pair_quantity)} of each level by message size",
            columns_of("message", *(f">level {level.level}" for level in analysis.levels)),
            tuple(rows),
            f"and {left_out} larger sizes, which are in the run file" if left_out > 0 else "",
        )


def _how(run: Run, statistic: str) -> Iterator[Block]:
    sizes = [format_bytes(size) for size in run.message_sizes()[:MAX_SIZES]]
    listed = sizes[0] if len(sizes) == 1 else f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    if run.pair_quantity != "round trip":
        measured = f"What is measured is “{run.quantity}”, of {listed}."
        yield Sentence(measured if run.origin != "imported" else "The numbers are those of a file.")
        yield Sentence(
            "Where both directions of a pair were measured one by one, the time of a message is "
            "the mean of both."
        )
        return
    text = (
        "A round trip is the time from just before one rank sends a message until it has received "
        "an answer of the same length, by blocking MPI_Send and MPI_Recv. Half a round trip is one "
        f"way; other tools often call that “latency”. The messages are of {listed}."
    )
    if statistic == "median":
        text += " The time of a pair is the median of its repetitions; the 95 % interval is that "
        text += "of this run's repetitions, which follow each other closely: it does not cover how "
        text += "times differ from one moment or start to another."
    yield Sentence(text, stress=("round trip", "Half a round trip"))
    if run.origin in ("measured", "simulated"):
        yield _LOOP


PAGE = Kind(
    title=lambda run: f"{run.pair_quantity} map {of_ranks(run)}".replace("round trip", "latency"),
    holds=lambda run: len(run.tables.get("pair", ())) > 0,
    sections=_sections,
    document=_document,
    place=0,
)
