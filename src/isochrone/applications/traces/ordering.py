"""Calls whose order is left to chance, put into one order, so that what repeats looks the same.

Whoever answers several others answers as they ask; receives that are begun together may be
completed in any order; and a receive from any source may not say whom it received from. None of
that is part of a description. The computation before a call stays at its place in time.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from isochrone.applications.traces.trace import MESSAGES, RECEIVES, SENDS, Calls
from isochrone.base.table import grouped


def in_order(events: Calls) -> Calls:
    """Return the calls of a rank with those put in order that could have come in another."""
    ordered: Calls = []
    start = 0
    while start < len(events):
        end = start  # of the questions and answers that begin here
        while (
            end + 1 < len(events)
            and (events[end].op, events[end + 1].op) == ("recv", "send")
            and events[end].peer in (-1, events[end + 1].peer)
        ):
            end += 2
        if end > start:
            ordered += _in_turn(events[start:end])
        elif events[start].op == "irecv":
            while end < len(events) and events[end].op == "irecv":
                end += 1
            ordered += _as_timed(sorted(events[start:end], key=lambda e: e.peer), events[start:end])
        else:
            end += 1
            ordered.append(events[start])
        start = end
    return ordered


def _in_turn(events: Calls) -> Calls:
    """Let those who ask as often as each other ask in turns."""
    of_peer = grouped(
        (answer.peer, (question._replace(peer=answer.peer), answer))
        for question, answer in zip(events[::2], events[1::2], strict=True)
    )
    if len({len(pairs) for pairs in of_peer.values()}) > 1:
        return events
    turns = zip(*(of_peer[peer] for peer in sorted(of_peer)), strict=True)
    return _as_timed([event for turn in turns for pair in turn for event in pair], events)


def _as_timed(events: Calls, timed: Calls) -> Calls:
    """Return calls with the times of those that were made in their places."""
    return [
        event._replace(gap=time.gap, seconds=time.seconds, seen=time.seen)
        for event, time in zip(events, timed, strict=True)
    ]


def with_sources(ranks: Sequence[Calls]) -> list[Calls]:
    """Say whom receives from any source received from.

    Between two collective operations of all ranks, messages that were sent to a rank and not
    received by name were received by those receives, in turns if there are several senders. Where
    their numbers differ, they stay open.
    """
    sections = [parts_of(events) for events in ranks]
    if len({len(of_rank) for of_rank in sections}) > 1:
        return [list(events) for events in ranks]
    for index in range(len(sections[0]) if sections else 0):
        sent: dict[int, Counter[int]] = defaultdict(Counter)
        for rank, of_rank in enumerate(sections):
            for event in of_rank[index]:
                if event.op in SENDS:
                    sent[event.peer][rank] += 1
        for rank, of_rank in enumerate(sections):
            of_rank[index] = _named(of_rank[index], sent[rank])
    return [[event for section in of_rank for event in section] for of_rank in sections]


def parts_of(events: Calls) -> list[Calls]:
    """Cut the calls of a rank after each collective operation of all ranks."""
    sections: list[Calls] = [[]]
    for event in events:
        sections[-1].append(event)
        if event.op not in MESSAGES and event.members == 0:
            sections.append([])
    return sections


def _named(events: Calls, sent: Counter[int]) -> Calls:
    received = Counter(e.peer for e in events if e.op in RECEIVES and e.peer >= 0)
    left = sent - received
    turns = [((k + 0.5) / count, peer) for peer, count in left.items() for k in range(count)]
    peers = [peer for _, peer in sorted(turns)]
    if len(peers) != sum(e.op in RECEIVES and e.peer < 0 for e in events):
        return events
    sources = iter(peers)
    return [
        event._replace(peer=next(sources)) if event.op in RECEIVES and event.peer < 0 else event
        for event in events
    ]
