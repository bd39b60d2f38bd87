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
from isochrone.latency_map.topology import Level, Placement, Slow, Topology
from isochrone.latency_map.what_is_slow import LEAST
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
from isochrone.runfile.run import Run
from isochrone.views.style import QUANTITIES
from isochrone.views.view import Options

MAX_SLOW = 12
"""Slow parts listed one by one; more are counted."""

MAX_MINOR = 3
"""The same of what is too little to act on."""

MAX_NODES = 16
"""Nodes whose number of ranks is listed, if it is not the same on all."""

MAP = "heatmap"
MAX_CELLS = 512
"""Cells a side of the still picture; the map to look into has them all."""

MAX_PAIRS = 20
MAX_SIZES = 12

NEAR = 1.005
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
        "Two ranks meet at the height of their round trip: low on a node, higher across the "
        "network. Dashed lines are the levels that were found.",
    ),
}
"""Figures of a map, each with its title and how it is read."""

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
        "start = MPI_Wtime()", "batch times:", "MPI_Send(message, to j)",
        "MPI_Recv(answer, from j)", "time = (MPI_Wtime() - start) / batch",
    ),
)  # fmt: skip
"""How a pair is measured, with the timed part stressed."""


def _analysed(run: Run, asked: Asked) -> Topology:
    return topology.analyse(run, asked.nbytes, LEAST if asked.least is None else asked.least)


def _document(run: Run, asked: Asked) -> Topology:
    found = _analysed(run, asked)
    slow = [replace(part, suspected=not part.retested or None) for part in found.slow]
    return replace(found, slow=slow)


def _sections(run: Run, asked: Asked) -> list[Section]:
    found = _analysed(run, asked)
    true_median = "median" in run.pairs() and not run.median_is_mean
    what = "median" if true_median else "mean"
    levels = list(_levels(found, run.hosts))
    return [
        Section("Summary", (_tiles(levels), *_prose(run, levels, found.placement))),
        Section("Pictures", tuple(_pictures(run, what, found, levels)), only="report"),
        Section("Numbers", (_table(run, found.nbytes, levels),)),
        Section("Summary", tuple(_findings(run, found))),
        Section("Numbers", (Later(lambda: [*_numbers(run, what, found)]),), only="report"),
        Section("How the times were taken", tuple(_how(run, what)), only="report"),
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
    words = [where(levels, k, hosts) for k in range(len(levels))]
    return [
        text if words.count(text) == 1 else f"{text} ({len(level.groups)} groups)"
        for text, level in zip(words, levels, strict=True)
    ]


def _between(counts: Iterable[int]) -> str:
    """Write the least and the greatest number: ``2 to 8``, or ``8`` where they are the same."""
    sizes = sorted(counts)
    least, greatest = sizes[0], sizes[-1]
    return str(least) if least == greatest else f"{least} to {greatest}"


class _Level(NamedTuple):
    """A level in words.

    ``where`` its ranks are, its round trip, half of it, and the time over that of the closest
    level: ``8.2×``; empty for that one.
    """

    of: Level
    where: str
    trip: str
    one_way: str
    ratio: str


def _levels(found: Topology, hosts: Sequence[str]) -> Iterator[_Level]:
    """Put each level into words, from the closest to the farthest."""
    closest = 0.0
    for level, words in zip(found.levels, captions(found.levels, hosts), strict=True):
        ratio = ""
        if level.pairs and closest:
            over = level.median / closest
            ratio = f"{over:{'.0f' if over >= 100 else '.2g' if over >= 10 else '.1f'}}×"
        elif level.pairs:
            closest = level.median
        trip, one_way = level.in_words(level.median), format_seconds(level.median / 2)
        yield _Level(level, words, trip, one_way, ratio)


def _tiles(levels: Sequence[_Level]) -> Tiles:
    """Show the round trip of each level."""
    return Tiles(tuple(
        Tile(one.trip, one.where, _compared(one))
        for one in levels if one.of.pairs
    ))  # fmt: skip


def _compared(one: _Level) -> str:
    """Say what the number of a level is, against that of the closest one."""
    if one.of.bandwidth is not None:
        return "bandwidth" + f", messages take {one.ratio} the closest" * bool(one.ratio)
    return "round trip" + f", {one.ratio} the closest" * bool(one.ratio)


def _prose(run: Run, levels: Sequence[_Level], placement: Placement) -> Iterator[Sentence]:
    """Say of each level, and of the placement, what a terminal shows in a table and a line."""
    for one in levels:
        if one.of.pairs and run.bandwidth:
            text = f"Ranks {one.where} have a bandwidth of {one.trip}"
            text += f": messages take {one.ratio} the time of the closest." if one.ratio else "."
            yield Sentence(text, stress=(one.trip,), only="report")
        elif one.of.pairs:
            text = f"Ranks {one.where} have a round trip of {one.trip} ({one.one_way} one way)"
            text += f", {one.ratio} the time of the closest ranks." if one.ratio else "."
            stress = (one.trip, one.ratio) if one.ratio else (one.trip,)
            yield Sentence(text, stress=stress, only="report")
    yield Sentence(placement_in_words(placement), only="report")


def _table(run: Run, nbytes: int, levels: Sequence[_Level]) -> Table:
    """List the levels, from the closest to the farthest."""
    half = not run.bandwidth
    title = f"Round trip of {format_bytes(nbytes)} (half of it is one way)"
    return Table(
        title if half else "Bandwidth in each direction",
        (
            Column("level"), Column("ranks that are", only="report"), Column("median", right=True),
            *[Column("half", right=True)] * half,
            Column("against the closest", right=True, only="report"),
            Column("pairs", right=True), Column("groups"),
        ),
        tuple(
            Row((
                f"{one.of.level}  {one.of.name}", one.where, one.trip, *[one.one_way] * half,
                one.ratio or "1", str(one.of.pairs), _groups(one.of.groups),
            ))
            for one in levels
        ),
    )  # fmt: skip


def _groups(groups: Sequence[Sequence[int]]) -> str:
    """Write groups of ranks briefly: ``all ranks``, ``0-3 | 4-7``, ``64 groups of 16``."""
    if len(groups) == 1:
        return "all ranks"
    if len(groups) <= 8 and sum(map(len, groups)) <= 64:
        return " | ".join(ranges(group) for group in groups)
    return f"{len(groups)} groups of {_between(map(len, groups))}"


# --- placement, slow parts, warnings --------------------------------------------------------------


def _findings(run: Run, found: Topology) -> Iterator[Block]:
    """Say how the ranks were placed, what is slow, what is doubtful, and what else there is."""
    counts = [*map(str, found.placement.ranks_per_node)]
    each = counts[0] if len({*counts}) == 1 else ", ".join(counts[:MAX_NODES])
    more = " …" if each != counts[0] and len(counts) > MAX_NODES else ""
    kind = found.placement.kind
    yield Sentence(f"Placement: {kind}, ranks per node: {each}{more}", only="terminal")
    yield from _slow(found)
    if found.advice:
        yield Sentence(f"Next: {found.advice}.", "strong")
    said = () if found.slow else found.blind
    yield warnings_of([one for one in found.warnings if one.get("text") not in said])
    others = [format_bytes(size) for size in run.message_sizes() if size != found.nbytes]
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
    each = f"{low} on each" if low == high else f"between {low} and {high} on one"
    how = _DEALT.get(placement.kind, "The ranks are spread over the nodes irregularly")
    return f"{how}: {len(counts)} nodes, {each} ({placement.kind} placement)."


def _slow(found: Topology) -> Iterator[Sentence | Listing]:
    """Name what is slow, what is possibly slow, and what is unexplained."""
    count, low, high = found.not_understood
    least = f"{found.least:.0%}".replace("%", " %")
    if count:
        yield Sentence(
            f"Unexplained pairs: {count} {'differs' if count == 1 else 'differ'} by "
            f"{_factors(low, high)} from what levels and slow components explain. "
            "This analysis may be wrong.",
            "strong",
        )
    elif found.blind and not found.slow:
        why = printable("; ".join(found.blind), 400)
        yield Sentence(f"Unclear whether any component is slow: {why}.", "strong")
    elif not found.slow:
        yield Sentence(f"No slow components (threshold {least})", "good")
    confirmed = [part for part in found.slow if part.retested]
    suspected = [part for part in found.slow if not part.retested]
    yield from _parts(f"{SLOW.capitalize()} compared with peers", confirmed, "bad")
    yield from _parts(f"{POSSIBLY_SLOW.capitalize()} (not yet confirmed)", suspected, "strong")
    yield from _parts(f"Below the threshold of {least}", found.minor, "faint", MAX_MINOR)


def _factors(low: float, high: float) -> str:
    """Write between which factors times differ: ``1.03x to 1.4x``, ``up to 1.4x``, ``1.4x``."""
    least, most = _factor(low), _factor(high)
    return most if least == most else f"up to {most}" if low < NEAR else f"{least} to {most}"


def _factor(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 1.1 else f"{ratio:.1f}x"


def _parts(
    title: str, parts: Sequence[Slow], tone: Tone, most: int = MAX_SLOW
) -> Iterator[Listing]:
    """List parts, if any, each with its ratio and the evidence."""
    items = []
    for part in parts[:most]:
        ratio = _factor(part.ratio)
        items.append(Sentence(f"{ratio}  {part.evidence}", about=part.name, stress=(ratio,)))
    left_out = len(parts) - most
    more = f"and {left_out} more (--json lists all)" if left_out > 0 else ""
    if items:
        yield Listing(title, tuple(items), tone, more)


# --- for the report: pictures, more tables, how it was measured -----------------------------------


def _pictures(run: Run, what: str, found: Topology, levels: Sequence[_Level]) -> Iterator[Block]:
    size = format_bytes(found.nbytes)
    shown = "bandwidth" if run.bandwidth else QUANTITIES[what].lower()
    yield Sentence(f"All of them show the {shown} of {size} messages.", "faint")
    options = Options(what, (found.nbytes,), cells=MAX_CELLS, analysis=found)
    for view, (title, caption) in (_OF_BANDWIDTHS if run.bandwidth else _FIGURES).items():
        alt = f"{title}: {shown} between {run.size} ranks"
        picture = Picture(view, title, caption, (run,), options, alt)
        if view == MAP and not run.bandwidth:
            places = [one.where for one in levels]
            yield LiveMap(picture, partial(map_data, run, found, what, places))
        elif run.size >= MIN_RANKS:
            yield picture


def _numbers(run: Run, what: str, found: Topology) -> Iterator[Table]:
    sizes = run.message_sizes()
    if len(sizes) > 1 and not run.bandwidth:
        left_out = len(sizes) - MAX_SIZES
        yield Table(
            f"{what.capitalize()} round trip of each level by message size",
            columns_of("message", *(f">level {level.level}" for level in found.levels)),
            tuple(
                Row(
                    (
                        format_bytes(k),
                        *map(format_seconds, topology.medians_of_levels(run, what, k, found)),
                    )
                )
                for k in sizes[:MAX_SIZES]
            ),
            f"and {left_out} larger sizes, which are in the run file" if left_out > 0 else "",
        )
    listed = topology.slowest_pairs(run, what, found, MAX_PAIRS)
    if listed:
        yield _slowest(run, what, listed)


def _slowest(run: Run, what: str, listed: Sequence[topology.Pair]) -> Table:
    """List pairs against their levels, with both measurements where there are two."""
    hosts = run.hosts
    known = any(pair.low is not None for pair in listed)
    again = any(pair.retested for pair in listed)
    title = f"All {len(listed)} pairs, the slowest for their level first."
    if run.size * (run.size - 1) // 2 > MAX_PAIRS:
        title = (
            f"The {len(listed)} pairs that are slowest for their level. Being listed does not "
            "make a pair slow: some pair is always the slowest."
        )
    columns = ["ranks", "hosts", "level", ">against level",
               ">bandwidth" if run.bandwidth else f">{what}"]  # fmt: skip
    write = format_seconds
    if run.bandwidth:
        moved = 2 * run.message_sizes()[0]
        write = partial(_rate, moved)
    columns += [">95 % interval"] * known
    columns += [">measured", ">re-measured"] * again
    rows = []
    for pair in listed:
        on = " – ".join(dict.fromkeys((hosts[pair.i], hosts[pair.j])))
        cells = [f"{pair.i}–{pair.j}", on, str(pair.level), f"{pair.ratio:.2f}×",
                 write(pair.seconds)]  # fmt: skip
        ends = () if pair.low is None or pair.high is None else (pair.low, pair.high)
        cells += [" to ".join(map(write, ends)) or "–"] * known
        cells += [write(pair.first), cells[4] if pair.retested else "–"] * again
        rows.append(Row(tuple(cells)))
    return Table(title, columns_of(*columns), tuple(rows))


def _rate(moved: float, seconds: float) -> str:
    return format_rate(moved / seconds)


def _how(run: Run, what: str) -> Iterator[Block]:
    sizes = [format_bytes(size) for size in run.message_sizes()[:MAX_SIZES]]
    listed = sizes[0] if len(sizes) == 1 else f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    if run.bandwidth:
        yield Sentence(
            "The bandwidths are those of the file, in bytes per second of one direction. Where it "
            "has both directions of a pair, the sizes of both messages over the sum of their times "
            "are shown."
        )
        return
    text = (
        "A round trip is the time from just before one rank sends a message until it has received "
        "an answer of the same length, by blocking MPI_Send and MPI_Recv. Half a round trip is one "
        f"way; other tools often call that “latency”. The messages are of {listed}."
    )
    if what == "median":
        text += " The time of a pair is the median of its repetitions; the 95 % interval is that "
        text += "of this run's repetitions, which follow each other closely: it does not cover how "
        text += "times differ from one moment or start to another."
    yield Sentence(text, stress=("round trip", "Half a round trip"))
    if run.origin in ("measured", "simulated"):
        yield _LOOP


PAGE = Kind(
    title=lambda run: f"{'bandwidth' if run.bandwidth else 'latency'} map {of_ranks(run)}",
    holds=lambda run: len(run.tables.get("pair", ())) > 0,
    sections=_sections, document=_document, place=0,
)  # fmt: skip
