"""What is repeated of a trace: a tree of places and the loops around them.

All calls of all ranks are put together where they meet (`rounds`), and what is repeated is folded
into loops. Calls that have no place in a description are named; if they take more than
`MOST_OMITTED` of the time, there is none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from isochrone.applications.thresholds import MOST_OMITTED, UNEVEN_BLOCKS
from isochrone.applications.traces.attributing import bring_forward, settle
from isochrone.applications.traces.farms import Farm, without_farms
from isochrone.applications.traces.folding import Leaf, Loop, Node, fold
from isochrone.applications.traces.gaps import NOTHING, Spent
from isochrone.applications.traces.offsets import Grid
from isochrone.applications.traces.ordering import with_sources
from isochrone.applications.traces.places import Again, Place, Tree, flat, parts
from isochrone.applications.traces.rounds import Round, Unknown, rounds
from isochrone.applications.traces.steps import set_levels
from isochrone.applications.traces.trace import RECEIVES, SENDS, Calls, Event, Trace
from isochrone.applications.traces.units import Message
from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED

SET_UP = ("communicator", "probe")
"""Calls that move no data: what they take is not counted as omitted."""

MAX_DERIVED_CALLS = 4_000_000
"""Calls of all ranks."""


MOST_PHASES = 1000
"""Phases of a description; no one reads a longer one."""


@dataclass
class Structure:
    """What is repeated in a trace, its farms of tasks, and warnings."""

    trace: Trace
    tree: Tree
    farms: list[Farm]
    warnings: list[str]

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.trace.ranks)

    @cached_property
    def seconds(self) -> float:
        """Of the slowest rank, without what is omitted."""
        return self.trace.longest

    @property
    def omitted(self) -> float:
        """Share of the run time in calls that move data and are not described."""
        moved = sum(seconds for op, seconds in self.trace.omitted.items() if op not in SET_UP)
        return moved / max(self.trace.seconds, 1e-12)


def structure(trace: Trace, by_step: Sequence[Grid] = (), *, by_bytes: bool = True) -> Structure:
    """Return what is repeated of a trace.

    With `by_step`, turns of a loop may differ in the roots of their operations, and in how far the
    ranks are apart that take part, on one of these grids or along bits. Without `by_bytes`, they
    may differ in sizes, as they may in any case where nothing is repeated otherwise.

    Raises
    ------
    InputError
        If calls never meet, or too much has no place in a description.
    """
    warnings = list(trace.warnings)
    _check(trace)
    farms, ranks = without_farms(trace.ranks, trace.groups)
    try:
        if any(e.peer < 0 for events in ranks for e in events if e.op == "recv"):
            raise Unknown("a receive from any source, which blocks, has no recorded sender")
        ranks = [_between_ranks(events, rank) for rank, events in enumerate(with_sources(ranks))]
        sequence = rounds(ranks, trace.groups)
    except Unknown as reason:
        raise InputError(f"no description can be derived: {reason}", where=trace.name) from reason
    if any(seconds > 0 for seconds in trace.tail):
        spent = {r: Spent.of([Event("", gap=gap)]) for r, gap in enumerate(trace.tail)}
        sequence.append(Round("end", list(spent), before=spent))
    settle(sequence)
    sequence = _merged(sequence)
    if by_step:
        set_levels(sequence, len(trace.ranks), by_step)
    of_steps = bool(by_step)
    nodes = fold(_key(round_, by_step=of_steps) for round_ in sequence)
    count = len([*_with_inner(nodes, 1)])
    if not by_bytes or count > min(MOST_PHASES, max(50, len(sequence) // 2)):
        nodes = fold(_key(round_, by_bytes=False, by_step=of_steps) for round_ in sequence)
        count = len([*_with_inner(nodes, 1)])
        if count <= MOST_PHASES:
            warnings.append(
                "sizes of messages differ from iteration to iteration: their means are kept"
            )
    if count > MOST_PHASES:
        raise InputError(
            f"no description can be derived: no repetition was found in {count} phases",
            where=trace.name,
        )
    tree = _planted(nodes, sequence, 1)
    if not by_step:
        bring_forward(list(flat(tree)))
    return Structure(trace, tree, farms, warnings)


def _between_ranks(events: Calls, rank: int) -> Calls:
    """Leave out messages of a rank to itself, and waits for these alone."""
    calls: Calls = []
    carried, open_ = 0.0, False
    for event in events:
        to_itself = event.op in (*SENDS, *RECEIVES) and event.peer == rank
        if to_itself or (event.op == "wait" and not open_):
            carried += event.gap
            continue
        calls.append(event._replace(gap=event.gap + carried) if carried else event)
        carried = 0.0
        open_ = event.op != "wait" and (open_ or event.op in ("isend", "irecv"))
    return calls


def _check(trace: Trace) -> None:
    """Refuse a trace of nothing, too many calls, and one of which too much would be omitted."""
    calls = sum(map(len, trace.ranks))
    if not calls and not trace.omitted:
        raise InputError(
            "no description can be derived: the trace has no communication", where=trace.name
        )
    if calls > MAX_DERIVED_CALLS:
        raise InputError(
            f"the trace has {calls} calls, above the limit of {MAX_DERIVED_CALLS}",
            where=trace.name,
            hint="record fewer iterations",
        )
    run_time = trace.seconds
    large = {
        op: seconds / run_time
        for op, seconds in trace.omitted.items()
        if seconds > MOST_OMITTED * run_time and op not in SET_UP
    }
    if large:
        shares = ", ".join(f"{op} ({share:.1%} of the time)" for op, share in large.items())
        raise InputError(
            f"no description can be derived: it cannot contain {shares}", where=trace.name
        )


def _key(round_: Round, *, by_bytes: bool = True, by_step: bool = False) -> object:
    call = round_.call
    if by_step and round_.family is not None:
        return round_.kind, round_.family, call and (call.op, call.bytes if by_bytes else 0.0)
    size = call.bytes if call and by_bytes else 0.0
    messages = sorted((a, b, round(size) if by_bytes else 0) for a, b, size in round_.messages)
    among = tuple(map(tuple, round_.among))
    root = call.root if call and not (by_step and call.op in ROOTED) else -1
    return round_.kind, tuple(messages), round_.starter, call and (call.op, size, root), among


def _merged(sequence: list[Round]) -> list[Round]:
    """Put together what ranks without a common one do alike, if it can happen at the same time."""
    merged: list[Round] = []
    last: dict[int, int] = {}
    alike: dict[object, list[int]] = defaultdict(list)
    for round_ in sequence:
        round_.among = [round_.ranks] if round_.call else []
        latest = max((last.get(rank, -1) for rank in round_.ranks), default=-1)
        call = round_.call
        farm = call is not None and call.op == "farm"
        key = None if farm else (round_.kind, call and (call.op, call.root))
        indices = alike[key]
        later = [
            index
            for index in indices[bisect_right(indices, latest) :]
            if key is not None
            and round_.kind in ("collective", "exchange")
            and _as_large(call, merged[index].call)
        ]
        if later:
            index = later[0]
            earlier = merged[index]
            if call is not None and earlier.call is not None and call.bytes > earlier.call.bytes:
                earlier.call = call
            earlier.ranks = sorted({*earlier.ranks, *round_.ranks})
            earlier.messages += round_.messages
            earlier.among = sorted([*earlier.among, *round_.among])
            earlier.sites.update(round_.sites)
            earlier.before |= round_.before
            earlier.within |= round_.within
        else:
            index = len(merged)
            merged.append(round_)
            indices.append(index)
        last |= dict.fromkeys(round_.ranks, index)
    return merged


def _as_large(first: Event | None, second: Event | None) -> bool:
    """Whether blocks are of the same size, or that of uneven parts: of n or of n + 1 cells."""
    sizes = sorted(call.bytes for call in (first, second) if call is not None)
    return not sizes or sizes[1] <= UNEVEN_BLOCKS * sizes[0]


# --- what is repeated -----------------------------------------------------------------------------


def _planted(nodes: Sequence[Node], sequence: Sequence[Round], period: int) -> Tree:
    """Return nodes with what happens there, the computation of all visits taken together."""
    tree: Tree = []
    for node in nodes:
        if isinstance(node, Loop):
            first = _before_loop(node, sequence)
            if first is not None:
                tree.append(first)
            tree.append(Again(node.count, _planted(node.body, sequence, node.count)))
            continue
        visits = [sequence[visit] for visit in node.visits]
        keys = [_key(visit, by_bytes=False) for visit in visits]
        turns = []
        if len(set(keys)) > 1:  # turns differ: all of them, if they do not repeat
            same = keys[:period] * (len(keys) // period) == keys
            turns = (
                [
                    replace(visit, messages=_mean_messages(visits[k::period]))
                    for k, visit in enumerate(visits[:period])
                ]
                if same
                else visits
            )
        round_ = visits[0]
        for visit in visits[1:]:
            round_.sites.update(visit.sites)
        round_.before, round_.within = (
            {
                rank: Spent.pooled([parts(v)[side].get(rank, NOTHING) for v in visits])
                for rank in sorted({rank for v in visits for rank in parts(v)[side]})
            }
            for side in (0, 1)
        )
        blocks = [v.call.bytes for v in visits if v.call is not None]
        if round_.call is not None and len({*blocks}) > 1:
            round_.call = round_.call._replace(bytes=round(sum(blocks) / len(blocks)))
        sizes = {size for v in visits for _, _, size in v.messages}
        if len(sizes) > 1 and round_.messages and not turns:
            round_.messages = _mean_messages(visits)
        tree.append(Place(round_, len(visits), period, turns))
    return tree


def _mean_messages(visits: Sequence[Round]) -> list[Message]:
    """Return the messages of several visits with their mean sizes."""
    sizes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for visit in visits:
        counts: Counter[tuple[int, int]] = Counter()
        for a, b, size in visit.messages:
            sizes[a, b, counts[a, b]].append(size)
            counts[a, b] += 1
    return [(a, b, sum(samples) / len(samples)) for (a, b, _), samples in sizes.items()]


def _before_loop(loop: Loop, sequence: Sequence[Round]) -> Place | None:
    """Take out what ranks compute once, before the first turn of a loop.

    No call parts it from the computation of that turn; it is what is longer than in all others. In
    the first turn of a loop around it, there may be none.
    """
    extra = {}
    entries = 0
    first: dict[int, tuple[Leaf, int]] = {}
    for leaf, inner in _with_inner(loop.body, 1):
        if len({tuple(sequence[v].ranks) for v in leaf.visits}) > 1:
            return None  # turns are of other ranks each
        for rank in sequence[leaf.visits[0]].before:
            first.setdefault(rank, (leaf, inner))
    for rank, (leaf, inner) in first.items():
        turn = loop.count * inner
        entry = leaf.visits[::turn]
        later = [sequence[v].before[rank] for k, v in enumerate(leaf.visits) if k % turn]
        if not later:
            continue
        typical = Spent.pooled(later)
        once = [sequence[v].before[rank] for v in entry]
        if median(spent.mean for spent in once) > max(2 * typical.gap.most, 1e-6):
            mean = sum(spent.mean for spent in once) / len(once) - typical.mean
            extra[rank] = Spent(Spent.pooled(once).gap, mean)
            entries = len(entry)
            for v in entry:
                sequence[v].before[rank] = Spent(typical.gap, typical.mean)
    if not extra:
        return None
    return Place(Round("end", sorted(extra), before=extra), entries, 1)


def _with_inner(nodes: Iterable[Node], inner: int) -> Iterator[tuple[Leaf, int]]:
    """Yield leaves, and how often each is visited in a turn of the loop around them."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from _with_inner(node.body, inner * node.count)
        else:
            yield node, inner
