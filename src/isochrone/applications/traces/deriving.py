"""A description of an application, derived from what a program was seen to do.

What is repeated is described: phases in order, as they follow from the calls. What came before
and after is left out, and how much that was is said. What cannot be told is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from statistics import median
from typing import Any, Final

from isochrone.applications.traces import graphs
from isochrone.applications.traces.folding import calls_in
from isochrone.applications.traces.gaps import Spent, computation
from isochrone.applications.traces.main_loop import MainLoop, Unknown, main_loop, once
from isochrone.applications.traces.rounds import Round, rounds
from isochrone.applications.traces.trace import SENDS, Call, Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED

SMALL: Final = 0.01
"""Share of the mean computation of a phase below which it is put to that of the next one."""

LITTLE: Final = 0.05
"""Share of what is computed within an exchange below which nothing is computed before it."""


def describe(trace: Trace) -> tuple[dict[str, Any], list[str]]:
    """Return a description as plain data, and warnings.

    Raises
    ------
    InputError
        If what the program does cannot be told in a description; says why.
    """
    warnings = list(trace.warnings)
    try:
        loop = main_loop(trace)
    except Unknown as reason:
        loop = once(trace, reason)
        warnings.append(f"not known: {reason}; all of its calls are written down as one iteration")
    try:
        found = rounds(loop.bodies, trace.groups)
    except Unknown as reason:
        raise InputError(f"not known: {reason}", where=trace.name) from reason
    warnings += _left_out(trace, loop)
    ranks = len(trace.ranks)
    _settle(found)
    _bring_forward(found)
    _gather_small(found, loop)
    app = {
        "name": _name(trace.name),
        "ranks": ranks,
        "iterations": loop.iterations,
        "phases": [phase for r in _together(found) for phase in _phases(r, ranks, trace.groups)],
    }
    return {"isochrone": "app/1", "apps": [app]}, warnings


def _name(name: str) -> str:
    """Return a name that a description may have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "program"


def _left_out(trace: Trace, loop: MainLoop) -> list[str]:
    """Say how much of the messages, bytes and computation is in the description, if not all is."""
    seen = [call for nodes in trace.ranks for call in calls_in(nodes)]
    kept = [(call, loop.iterations) for body in loop.bodies for call in body]
    parts = []
    amounts: dict[str, Callable[[Call], float]] = {
        "calls": lambda _: 1.0,
        "bytes sent": lambda call: call.bytes if call.op in SENDS else 0.0,
    }
    for what, amount in amounts.items():
        whole = sum(amount(call) * times for call, times in seen)
        if whole:
            parts.append((what, sum(amount(call) * times for call, times in kept) / whole))
    computed = sum(call.gap.total for call, _ in seen) + sum(trace.tail)
    if computed:
        inside = sum(call.gap.mean * times for call, times in kept)
        parts.append(("computation", min(1.0, inside / computed)))
    if all(share > 0.995 for _, share in parts):
        return []
    shares = ", ".join(f"{share:.1%} of its {what}" for what, share in parts)
    return [f"the description holds {shares}; the rest came before or after what is repeated"]


def _settle(found: list[Round]) -> None:
    """Tell apart what the calls of one rank leave open but those of others tell.

    Who only sends computes before an exchange and within it without a call in between; so does
    who only receives, after it.
    """
    for one in found:
        if one.kind in ("stream", "token"):
            whole = {rank: one.within[rank] for rank in one.within.keys() - one.before.keys()}
            for rank, spent in whole.items():
                one.before[rank], one.within[rank] = _parted(spent, one.before, one.within, whole)
    for number, one in enumerate(found):
        if one.kind == "stream":
            last = one.before.keys() - one.within.keys()
            for rank in last:
                order = [found[(number + k + 1) % len(found)] for k in range(len(found))]
                following = next(r for r in order if rank in r.ranks)
                later = {r: s for r, s in following.before.items() if r in one.within}
                following.before[rank], one.within[rank] = _parted(
                    following.before[rank], later, one.within, last
                )


def _parted(
    whole: Spent, before: Mapping[int, Spent], within: Mapping[int, Spent], out: Container[int]
) -> tuple[Spent, Spent]:
    """Part computation as that of the other ranks is parted, if it may be as theirs."""
    first = [spent.mean for rank, spent in before.items() if rank not in out]
    second = [spent.mean for rank, spent in within.items() if rank not in out]
    one = median(first) if first else 0.0
    two = median(second) if second else 0.0
    if one <= LITTLE * two or one == 0:
        return Spent([], 0.0), whole
    if whole.may_be(one + two):
        return Spent([], one), Spent([], two)
    two = min(two, whole.mean)
    return Spent(whole.gaps, whole.mean - two), Spent([], two)


def _bring_forward(found: list[Round]) -> None:
    """Let ranks that sit out a round compute before it what the others do, if it may be that.

    No call of theirs says on which side of the round they computed.
    """
    for number, one in enumerate(found):
        usual = [spent.mean for spent in one.before.values() if spent.mean > 0]
        if len(usual) < len(one.ranks):
            continue
        for following in found[number + 1 :]:
            for rank in [r for r in following.before if r not in one.before]:
                if any(rank in r.ranks for r in found[number : found.index(following)]):
                    continue
                others = [s.mean for r, s in following.before.items() if r in one.before]
                whole, later = following.before[rank], median(others) if others else 0.0
                if whole.may_be(median(usual) + later):
                    one.before[rank] = Spent([] if later else whole.gaps, median(usual))
                    following.before[rank] = Spent([], later)


def _gather_small(found: list[Round], loop: MainLoop) -> None:
    """Put computation too short for a phase of its own to the next one that is not."""
    total = sum(call.gap.mean for body in loop.bodies for call in body)
    places = [(one, part) for one in found for part in (one.before, one.within)]
    large = [
        sum(s.mean for s in part.values()) * (one.answers if part is one.within else 1)
        > SMALL * total / len(found)
        for one, part in places
    ]
    carried: dict[int, Spent] = {}
    for (one, part), kept in [*zip(places, large, strict=True)] * (2 if any(large) else 1):
        for rank in list(part):
            if not kept:
                spent = part.pop(rank)
                if part is one.within:
                    spent = Spent(spent.gaps, spent.mean * one.answers)
                carried[rank] = carried[rank] + spent if rank in carried else spent
            elif rank in carried and not (part is one.within and one.answers > 1):
                part[rank] += carried.pop(rank)


def _together(found: list[Round]) -> list[Round]:
    """Put operations of communicators without common ranks together, if all are the same."""
    merged: list[Round] = []
    for one in found:
        last = merged[-1] if merged else None
        if (
            last is not None and last.call is not None and one.call is not None
            and not set(last.ranks) & set(one.ranks) and one.call.op not in ROOTED
            and (last.call.op, last.call.bytes) == (one.call.op, one.call.bytes)
        ):  # fmt: skip
            last.ranks = last.ranks + one.ranks
            last.among.append(one.ranks)
            for rank, spent in one.before.items():
                last.before[rank] = spent + last.before.get(rank, Spent([], 0.0))
        else:
            one.among = [one.ranks]
            merged.append(one)
    return merged


def _phases(one: Round, ranks: int, groups: list[tuple[int, ...]]) -> Iterable[dict[str, Any]]:
    """Yield the phases of a round: its computation, if any, and what it is."""
    if any(spent.mean > 0 for spent in one.before.values()):
        yield {"compute": _plain(computation(one.before, ranks))}
    if one.call is not None:
        yield {one.call.op: _collective(one, one.call, groups)}
    elif one.messages:
        yield {"exchange": _exchange(one, ranks)}


def _plain(value: dict[str, Any]) -> Any:
    """Return a time alone, where nothing else is said."""
    return value["time"] if value.keys() == {"time"} and isinstance(value["time"], str) else value


def _collective(one: Round, call: Call, groups: list[tuple[int, ...]]) -> dict[str, Any]:
    found: dict[str, Any] = {} if call.op == "barrier" else {"bytes": round(call.bytes)}
    if call.op in ROOTED and call.root > 0:
        found["root"] = call.root
    if one.among != [list(groups[0])]:
        found["among"] = one.among
    return found


def _exchange(one: Round, ranks: int) -> dict[str, Any]:
    """Return the value of a key ``exchange``."""
    found: dict[str, Any] = {}
    messages = _in_order(one)
    if one.kind == "request":
        asked = [m for m in messages if m[1] == one.starter]
        told = [m for m in messages if m[0] == one.starter]
        size = graphs.bytes_of(asked) or _mean(asked)
        answer = graphs.bytes_of(told) or _mean(told)
        topology = graphs.named(messages, one.kind, ranks)
        listed = {"edges": [[a, b] for a, b, _ in asked]}
        found = {"topology": topology or listed, "flow": "request", "bytes": size}
        found |= {} if answer == size else {"reply": answer}
    else:
        common = graphs.bytes_of(messages)
        topology = None if common is None else graphs.named(messages, one.kind, ranks)
        if topology is None:
            listed_edges, common = graphs.edges(messages)
            topology = {"edges": listed_edges}
        found = {"topology": topology, "flow": one.kind, "bytes": common}
    computing = {r: s for r, s in one.within.items() if r in one.ranks}
    if one.kind == "request":
        computing = {one.starter: computing[one.starter]} if one.starter in computing else {}
    if any(spent.mean > 0 for spent in computing.values()):
        value = computation(computing, ranks)
        if one.kind == "request":  # no one else computes in it
            value.pop("imbalance", None)
        found["compute"] = _plain(value)
    return found


def _mean(messages: list[tuple[int, int, float]]) -> int:
    return round(sum(size for _, _, size in messages) / len(messages))


def _in_order(one: Round) -> list[tuple[int, int, float]]:
    """Return the messages; those of a token in the order in which it goes."""
    if one.kind != "token":
        return one.messages
    by_source = {message[0]: message for message in one.messages}
    found, rank = [], one.starter
    for _ in one.messages:
        found.append(by_source[rank])
        rank = by_source[rank][1]
    return found
