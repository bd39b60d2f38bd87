"""A program as it was recorded, position by position: calls, sizes, partners, time, code.

Positions are those of the description that follows from the recording: what ranks do together, and
the loops around it. Where none follows, they are those of the calls of single ranks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from isochrone.applications.results.recorded_calls import (
    RecordedCall,
    RecordedLoop,
    calls_of,
    length,
    trace,
)
from isochrone.applications.traces.places import Again, Place, Tree, computed
from isochrone.applications.traces.structure import structure
from isochrone.base.errors import InputError
from isochrone.base.operations import ROOTED
from isochrone.base.record import Record
from isochrone.runfile.run import Run

MAX_LISTED_CALLS = 100_000
"""Calls of all ranks that are put together for a listing: a few seconds."""


class Position(Record):
    """What happens at one position of a program.

    Attributes
    ----------
    position
        Number in the loop around it, after the position of that: ``2.1``.
    call
        What is called: ``allreduce``, ``exchange`` (messages that are begun and waited for),
        ``loop`` …
    bytes, most
        The smallest and the largest message or block.
    peers
        With whom, in words.
    times
        How often it is done in all; of a loop, how often that is repeated each time.
    ranks
        That take part.
    seconds
        In the calls, waiting included, of all ranks together.
    computation
        Seconds of all ranks before the calls, and between the first and the last of them.
    sites
        Where it is in the program's code: indices of `sites`, that with most time first.
    """

    position: str
    call: str
    bytes: float
    most: float
    peers: str
    times: int
    ranks: int
    seconds: float
    computation: float
    sites: tuple[int, ...]


def positions(run: Run) -> tuple[list[Position], str]:
    """Return the positions of a recording, and why they are those of single ranks; else nothing.

    Raises
    ------
    InputError
        If the run is no recording, or damaged.
    """
    calls = calls_of(run)
    if sum(map(length, calls)) > MAX_LISTED_CALLS:
        return list(_of_ranks(calls)), f"there are more than {MAX_LISTED_CALLS:,} calls"
    try:
        tree = structure(trace(run)).tree
    except InputError as error:
        return list(_of_ranks(calls)), error.what
    return list(_of_tree(tree, run.size, "", 1)), ""


MOST_LINES = 4
"""Lines of code of a position that are shown: those where most time is spent."""


def where(lines: Sequence[str], position: Position) -> str:
    """Return the lines of code where a position spends most time, by file."""
    by_file: dict[str, dict[str, None]] = defaultdict(dict)
    for site in position.sites[:MOST_LINES]:
        name, _, line = lines[site].rpartition(":")
        by_file[name or lines[site]][line if name else ""] = None
    files = [f"{name}:{','.join(of)}" if any(of) else name for name, of in by_file.items()]
    return ", ".join(files) + (" …" if len(position.sites) > MOST_LINES else "")


# --- of ranks together ----------------------------------------------------------------------------


def _of_tree(tree: Tree, ranks: int, around: str, times: int) -> Iterator[Position]:
    number = 0
    for node in tree:
        if isinstance(node, Place) and node.round.kind == "end":
            continue  # computation alone
        number += 1
        label = f"{around}{number}"
        if isinstance(node, Again):
            yield Position(label, "loop", 0, 0, "", node.times, ranks, 0.0, 0.0, ())
            yield from _of_tree(node.body, ranks, f"{label}.", times * node.times)
        else:
            yield _place(node, label, ranks)


def _place(place: Place, label: str, ranks: int) -> Position:
    round_ = place.round
    call, messages = round_.call, round_.messages
    sizes = [size for _, _, size in messages] or [call.bytes if call else 0.0]
    if call is not None:
        peers = "all" if round_.among == [list(range(ranks))] else _groups(round_.among)
        if call.op in ROOTED:
            first, *others = round_.among
            peers += f", root {call.root if others or call.root < 0 else first[call.root]}"
    else:
        sent = Counter(a for a, _, _ in {(a, b, 0) for a, b, _ in messages})
        peers = f"{(others_sent := _range(sent.values()))} other{'s' * (others_sent != '1')}"
    return Position(
        label,
        call.op if call else round_.flow,
        min(sizes),
        max(sizes),
        peers,
        place.visits,
        len(round_.ranks),
        sum(round_.sites.values()),
        computed(place),
        tuple(site for site, _ in round_.sites.most_common() if site >= 0),
    )


def _groups(among: Sequence[Sequence[int]]) -> str:
    if not among:
        return "farm"
    return f"{len(among)} × {_range(map(len, among))}"


def _range(values: Iterable[int]) -> str:
    low, *_, high = sorted([*values, *values]) if (values := list(values)) else (0, 0)
    return f"{low}" if low == high else f"{low}–{high}"


# --- of single ranks ------------------------------------------------------------------------------


def _of_ranks(calls: Sequence[Sequence[RecordedCall | RecordedLoop]]) -> Iterator[Position]:
    """Yield the calls of ranks, those of several at the same position together."""
    at: dict[tuple[tuple[int, ...], str], list[tuple[int, RecordedCall | RecordedLoop]]]
    at = defaultdict(list)
    for rank, nodes in enumerate(calls):
        for numbers, node in _numbered(nodes, ()):
            at[numbers, "loop" if isinstance(node, RecordedLoop) else node.op].append((rank, node))
    for (numbers, op), entries in sorted(at.items()):
        label = ".".join(map(str, numbers))
        loops = [node.count for _, node in entries if isinstance(node, RecordedLoop)]
        if loops:
            yield Position(label, op, 0, 0, "", max(loops), len(entries), 0.0, 0.0, ())
            continue
        pairs = [(rank, node) for rank, node in entries if isinstance(node, RecordedCall)]
        steps = {node.peer - rank for rank, node in pairs if node.peer >= 0}
        step = f"rank {min(steps):+d}" if len(steps) == 1 else f"{len(steps)} distances"
        yield Position(
            label,
            op,
            min(node.bytes for _, node in pairs),
            max(node.bytes for _, node in pairs),
            step if steps else "",
            max(node.calls for _, node in pairs),
            len(pairs),
            sum(node.seconds for _, node in pairs),
            sum(gap.total for _, node in pairs for gap in node.gaps),
            tuple(
                dict.fromkeys(
                    node.site
                    for _, node in sorted(pairs, key=lambda pair: -pair[1].seconds)
                    if node.site >= 0
                )
            ),
        )


def _numbered(
    nodes: Sequence[RecordedCall | RecordedLoop], around: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], RecordedCall | RecordedLoop]]:
    for number, node in enumerate(nodes, 1):
        yield (*around, number), node
        if isinstance(node, RecordedLoop):
            yield from _numbered(node.body, (*around, number))
