"""A description of an application, derived from what a program was seen to do.

All calls of all ranks are put together where they meet (`rounds`), what is repeated is folded into
loops, and each place of the folded sequence becomes a phase. Calls that have no place in a
description are named; if they take more than `MOST_OMITTED` of the time, there is none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from isochrone.applications.traces import graphs
from isochrone.applications.traces.attributing import bring_forward, gather_small, settle
from isochrone.applications.traces.butterflies import with_butterflies
from isochrone.applications.traces.farms import Farm, without_farms
from isochrone.applications.traces.folding import Leaf, Loop, Node, fold
from isochrone.applications.traces.gaps import NOTHING, Spent, computation
from isochrone.applications.traces.places import (
    MOST_OMITTED,
    Again,
    Place,
    Tree,
    computed,
    flat,
    parts,
    total,
)
from isochrone.applications.traces.rounds import ANY, Round, Unknown, rounds
from isochrone.applications.traces.trace import RECEIVES, SENDS, Calls, Event, Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED

SET_UP = ("communicator", "probe")
"""Calls that move no data: what they take is not counted as omitted."""

MOST_CALLS = 4_000_000
"""Calls of all ranks."""

UNEVEN_BLOCKS = 2.0
"""By what blocks of one collective may differ: those of n and of n + 1 cells do at most by that."""

MOST_PHASES = 1000
"""Phases of a description; no one reads a longer one."""


Written = dict[str, Any]
"""Part of a description, as plain data."""


def describe(trace: Trace) -> tuple[Written, list[str]]:
    """Return a description as plain data, and warnings.

    Raises
    ------
    InputError
        If what the program does has no description; says why.
    """
    tree, farms, warnings = structure(trace)
    gather_small([list(flat(tree))])
    ranks = len(trace.ranks)
    loops = [node for node in tree if isinstance(node, Again)]
    around = [node for node in tree if isinstance(node, Place)]
    iterations, body = 1, tree
    if (  # a loop, and next to nothing around it
        len(loops) == 1
        and all(place.round.kind == "end" for place in around)
        and sum(map(computed, around)) <= MOST_OMITTED * sum(map(computed, flat(tree)))
    ):
        iterations, body = loops[0].times, loops[0].body
    app = {"name": named(trace.name), "ranks": ranks, "recorded": ranks, "iterations": iterations}
    omitted = omitted_share(trace)
    if omitted > 0:
        app["omitted"] = float(f"{omitted:.2g}")
        warnings.append(f"omitted: {', '.join(trace.omitted)}; {omitted:.2%} of the run time")
    app["phases"] = list(_phases(body, ranks, trace.groups, farms))
    return {"isochrone": "app/1", "apps": [app]}, warnings


def omitted_share(trace: Trace) -> float:
    """Return the share of the run time in calls that move data and are not described."""
    moved = sum(seconds for op, seconds in trace.omitted.items() if op not in SET_UP)
    return moved / max(trace.seconds, 1e-12)


def structure(
    trace: Trace, *, butterflies: bool = False
) -> tuple[Tree, list[Farm], list[str]]:  # fmt: skip
    """Return what is repeated of a trace, its farms of tasks, and warnings.

    With `butterflies`, exchanges along bits of the ranks are one, which is not what single ones
    are that happen to follow each other.

    Raises
    ------
    InputError
        If calls never meet, or too much has no place in a description.
    """
    warnings = list(trace.warnings)
    _check(trace)
    between = [_between_ranks(events, rank) for rank, events in enumerate(trace.ranks)]
    farms, ranks = without_farms(between, trace.groups)
    try:
        if any(e.peer == ANY for events in ranks for e in events if e.op == "recv"):
            raise Unknown("a receive from any source, which blocks, has no recorded sender")
        found = rounds(ranks, trace.groups)
    except Unknown as reason:
        raise InputError(f"no description can be derived: {reason}", where=trace.name) from reason
    if any(seconds > 0 for seconds in trace.tail):
        spent = {r: Spent.of([Event("", gap=gap)]) for r, gap in enumerate(trace.tail)}
        found.append(Round("end", list(spent), before=spent))
    settle(found)
    found = _merged(found)
    if butterflies:
        found = with_butterflies(found, len(trace.ranks))
    nodes = fold(_key(one) for one in found)
    count = len([*_with_inner(nodes, 1)])
    if count > min(MOST_PHASES, max(50, len(found) // 2)):
        nodes = fold(_key(one, by_bytes=False) for one in found)
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
    tree = _planted(nodes, found, 1)
    bring_forward(list(flat(tree)))
    return tree, farms, warnings


def _between_ranks(events: Calls, rank: int) -> Calls:
    """Leave out messages of a rank to itself, and waits for these alone.

    What a rank sends itself may be received by a receive from any source that is open then.
    """
    found: Calls = []
    carried, open_, unmet = 0.0, False, 0
    for event in events:
        own = event.op in (*SENDS, *RECEIVES) and event.peer == rank
        if event.op == "irecv" and own:
            unmet -= 1
        if event.op == "isend" and own:
            unmet += 1
        if event.op == "wait":
            for _ in range(unmet):
                _take_any_source(found)
            unmet = 0
        if own or (event.op == "wait" and not open_):
            carried += event.gap
            continue
        found.append(event._replace(gap=event.gap + carried) if carried else event)
        carried = 0.0
        open_ = event.op != "wait" and (open_ or event.op in ("isend", "irecv"))
    return found


def _take_any_source(calls: Calls) -> None:
    """Remove the last receive from any source of those that are open, if there is one."""
    for place in range(len(calls) - 1, -1, -1):
        if calls[place].op == "wait":
            return
        if calls[place].op == "irecv" and calls[place].peer == ANY:
            gone = calls.pop(place)
            if place < len(calls):
                after = calls[place]
                calls[place] = after._replace(gap=after.gap + gone.gap)
            return


def _check(trace: Trace) -> None:
    """Refuse a trace of nothing, too many calls, and one of which too much would be omitted."""
    calls = sum(map(len, trace.ranks))
    if not calls and not trace.omitted:
        raise InputError(
            "no description can be derived: the trace has no communication", where=trace.name
        )
    if calls > MOST_CALLS:
        raise InputError(
            f"the trace has {calls} calls, above the limit of {MOST_CALLS}", where=trace.name,
            hint="record fewer iterations",
        )  # fmt: skip
    whole = trace.seconds
    large = {
        op: seconds / whole
        for op, seconds in trace.omitted.items()
        if seconds > MOST_OMITTED * whole and op not in SET_UP
    }
    if large:
        shares = ", ".join(f"{op} ({share:.1%} of the time)" for op, share in large.items())
        raise InputError(
            f"no description can be derived: it cannot contain {shares}", where=trace.name
        )


def _key(one: Round, *, by_bytes: bool = True) -> object:
    call = one.call
    size = call.bytes if call and by_bytes else 0.0
    messages = sorted((a, b, round(size) if by_bytes else 0) for a, b, size in one.messages)
    among = tuple(map(tuple, one.among))
    return one.kind, tuple(messages), one.starter, call and (call.op, size, call.root), among


def _merged(found: list[Round]) -> list[Round]:
    """Put together what ranks without a common one do alike, if it can happen at the same time."""
    merged: list[Round] = []
    last: dict[int, int] = {}
    alike: dict[object, list[int]] = defaultdict(list)
    for one in found:
        one.among = [one.ranks] if one.call else []
        after = max((last.get(rank, -1) for rank in one.ranks), default=-1)
        call = one.call
        rooted = call is not None and (call.op in ROOTED or call.op == "farm")
        key = None if rooted else (one.kind, call and call.op)
        places = alike[key]
        later = [
            place for place in places[bisect_right(places, after) :]
            if key is not None and one.kind in ("collective", "exchange")
            and _as_large(call, merged[place].call)
        ]  # fmt: skip
        if later:
            place = later[0]
            other = merged[place]
            if call is not None and other.call is not None and call.bytes > other.call.bytes:
                other.call = call
            other.ranks = sorted({*other.ranks, *one.ranks})
            other.messages += one.messages
            other.among = sorted([*other.among, *one.among])
            other.sites.update(one.sites)
            other.before |= one.before
            other.within |= one.within
        else:
            place = len(merged)
            merged.append(one)
            places.append(place)
        last |= dict.fromkeys(one.ranks, place)
    return merged


def _as_large(one: Event | None, other: Event | None) -> bool:
    """Whether blocks are of the same size, or that of uneven parts: of n or of n + 1 cells."""
    sizes = sorted(call.bytes for call in (one, other) if call is not None)
    return not sizes or sizes[1] <= UNEVEN_BLOCKS * sizes[0]


# --- what is repeated -----------------------------------------------------------------------------


def _planted(nodes: Sequence[Node], found: Sequence[Round], period: int) -> Tree:
    """Return nodes with what happens there, the computation of all visits taken together."""
    tree: Tree = []
    for node in nodes:
        if isinstance(node, Loop):
            first = _before_loop(node, found)
            if first is not None:
                tree.append(first)
            tree.append(Again(node.count, _planted(node.body, found, node.count)))
            continue
        visits = [found[visit] for visit in node.visits]
        one = visits[0]
        for visit in visits[1:]:
            one.sites.update(visit.sites)
        one.before, one.within = (
            {
                rank: Spent.pooled([parts(v)[part].get(rank, NOTHING) for v in visits])
                for rank in sorted({rank for v in visits for rank in parts(v)[part]})
            }
            for part in (0, 1)
        )
        if len({size for v in visits for _, _, size in v.messages}) > 1 and one.messages:
            one.messages = _mean_messages(visits)
        tree.append(Place(one, len(visits), period))
    return tree


def _mean_messages(visits: Sequence[Round]) -> list[graphs.Message]:
    """Return the messages of several visits with their mean sizes."""
    sizes: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for visit in visits:
        number: Counter[tuple[int, int]] = Counter()
        for a, b, size in visit.messages:
            sizes[a, b, number[a, b]].append(size)
            number[a, b] += 1
    return [(a, b, sum(each) / len(each)) for (a, b, _), each in sizes.items()]


def _before_loop(loop: Loop, found: Sequence[Round]) -> Place | None:
    """Take out what ranks compute once, before the first turn of a loop.

    No call parts it from the computation of that turn; it is what is longer than in all others. In
    the first turn of a loop around it, there may be none.
    """
    extra = {}
    entries = 0
    first: dict[int, tuple[Leaf, int]] = {}
    for leaf, inner in _with_inner(loop.body, 1):
        for rank in found[leaf.visits[0]].before:
            first.setdefault(rank, (leaf, inner))
    for rank, (leaf, inner) in first.items():
        turn = loop.count * inner
        entry = leaf.visits[::turn]
        later = [found[v].before[rank] for k, v in enumerate(leaf.visits) if k % turn]
        if not later:
            continue
        usual = Spent.pooled(later)
        once = [found[v].before[rank] for v in entry]
        if median(spent.mean for spent in once) > max(2 * usual.gap.most, 1e-6):
            mean = sum(spent.mean for spent in once) / len(once) - usual.mean
            extra[rank] = Spent(Spent.pooled(once).gap, mean)
            entries = len(entry)
            for v in entry:
                found[v].before[rank] = Spent(usual.gap, usual.mean)
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


# --- as it is written -----------------------------------------------------------------------------


def named(name: str) -> str:
    """Return a name that a description may have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "program"


def _phases(
    tree: Tree, ranks: int, groups: list[tuple[int, ...]], farms: Sequence[Farm]
) -> Iterator[Written]:
    """Yield the phases of loops and rounds: the computation of each, if any, and what it is."""
    for node in tree:
        if isinstance(node, Again):
            inner = list(_phases(node.body, ranks, groups, farms))
            if inner:
                yield {"repeat": {"times": node.times, "phases": inner}}
            continue
        one = node.round
        if total(one.before) > 0:
            yield {"compute": plain(computation(one.before, ranks, node.period))}
        if one.call is not None and one.call.op == "farm":
            yield {"exchange": farms[one.call.root].exchange(ranks)}
        elif one.call is not None:
            op = one.call.op
            found: Written = {} if op == "barrier" else {"bytes": round(one.call.bytes)}
            if op in ROOTED and one.call.root > 0:
                found["root"] = one.call.root
            if one.among != [list(groups[0])]:
                found["among"] = one.among
            yield {op: found}
        elif one.messages:
            yield {"exchange": _exchange(one, ranks, node.period)}


def plain(value: Written) -> Any:
    """Return a time alone, where nothing else is said."""
    return value["time"] if value.keys() == {"time"} and isinstance(value["time"], str) else value


def _exchange(one: Round, ranks: int, period: int) -> Written:
    """Return the value of a key ``exchange``."""
    messages = one.messages
    if one.kind == "token":  # in the order in which it goes
        by_source = {message[0]: message for message in messages}
        messages, rank = [], one.starter
        while len(messages) < len(one.messages):
            messages.append(by_source[rank])
            rank = by_source[rank][1]
    request = one.kind == "request"
    if request:
        asked = [m for m in messages if m[1] == one.starter]
        size, answer = _mean(asked), _mean([m for m in messages if m[0] == one.starter])
        topology = graphs.named(messages, one.kind, ranks)
        listed = {"edges": [[a, b] for a, b, _ in asked]}
        found = {"topology": topology or listed, "flow": "request", "bytes": size}
        found |= {} if answer == size else {"reply": answer}
    else:
        common, *others = {round(size) for _, _, size in messages}
        topology = None if others else graphs.named(messages, one.kind, ranks)
        if topology is None:
            listed_edges, common = graphs.edges(messages)
            topology = {"edges": listed_edges}
        found = {"topology": topology, "flow": one.flow, "bytes": common}
    who = [one.starter] if request else one.ranks
    computing = {rank: spent for rank, spent in one.within.items() if rank in who}
    if total(computing) > 0:
        value = computation(computing, ranks, 0 if request else period)
        if request:  # no one else computes in it
            value.pop("imbalance", None)
        found["compute"] = plain(value)
    return found


def _mean(messages: list[graphs.Message]) -> int:
    return round(sum(size for _, _, size in messages) / len(messages))
