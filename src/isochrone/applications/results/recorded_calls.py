"""The calls of a recording in their order, as a trace that a description is derived from.

A trace knows fewer operations than MPI: modes of sending are one, a nonblocking collective is a
blocking one where it is completed, blocks of several sizes are their mean, and a wait is for all
that is open. The time of calls that have no place in it is kept by their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath

from isochrone.applications.traces.trace import Event, Gap, Site, Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import DESCRIBED
from isochrone.base.record import Members
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.runfile.run import Run

KIND = "recording"

NOTHING_COMPUTED = "no computation was recorded; smpirun needs --cfg=smpi/simulate-computation:yes"

_SENDS = ("send", "bsend", "ssend", "rsend")
_WAITS = ("wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome")

_ASIDE = ("probe", "communicator", "put", "get", "accumulate", "window", "file")
"""Calls that are counted, but are no part of the sequence."""

_PYTHON = re.compile(r"python[\d.]*")


@dataclass
class RecordedCall:
    """A call of the sequence as it was recorded: the members of its record.

    `gaps` are those from before all loops that begin with it, then those from the end of the
    innermost of them, of the next one … `site` is an index into `sites` of the recording.
    `requests` are those that a wait completes, `open` says whether others remain.
    """

    op: str
    peer: int
    bytes: int
    source: int
    received: int
    root: int
    group: int
    any: bool
    calls: int
    seconds: float
    gaps: list[Gap]
    site: int = -1
    requests: int = 0
    open: bool = False


@dataclass
class RecordedLoop:
    """A part that was repeated."""

    count: int
    body: list[RecordedCall | RecordedLoop] = field(default_factory=list)


_Node = RecordedCall | RecordedLoop


def calls_of(run: Run) -> list[list[_Node]]:
    """Return the sequence of each rank: of the thread that called MPI_Init.

    Raises
    ------
    InputError
        If the run is no recording, or its calls are damaged.
    """
    check_kind(run)
    sequences: list[list[_Node]] = [[] for _ in range(run.size)]
    group_count = len(groups(run))
    numbers = _site_numbers(run)
    try:
        rows = sorted(
            (row for name in ("loop", "call") for row in _rows(run, name) if row["thread"] == 0),
            key=lambda row: (row["rank"], row["at"]),
        )
        around: list[list[_Node]] = []
        for row in rows:
            around = [sequences[row["rank"]]] if row["at"] == 0 else around
            del around[row["depth"] + 1 :]
            node = (
                _call(row, run.size, group_count, numbers)
                if "op" in row
                else RecordedLoop(_number(row["count"], minimum=1))
            )
            around[row["depth"]].append(node)
            if isinstance(node, RecordedLoop):
                around.append(node.body)
    except (KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError("the 'call' and 'loop' records are damaged", where=run.where) from error
    return sequences


def groups(run: Run) -> list[tuple[int, ...]]:
    """Return the ranks of each group; that of number 0 are all.

    Raises
    ------
    InputError
        If the records are damaged.
    """
    members = {0: tuple(range(run.size))}
    try:
        for row in _rows(run, "group"):
            spans = [span.partition("-") for span in str(row["members"]).split()]
            ends = [(int(a), int(b or a)) for a, _, b in spans]
            if any(not 0 <= a <= b < run.size for a, b in ends) or len(ends) > run.size:
                raise ValueError("a record names unknown ranks")
            members[int(row["group"])] = tuple(r for a, b in ends for r in range(a, b + 1))
        return [members[k] for k in range(len(members))]
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError("the 'group' records are damaged", where=run.where) from error


def sites(run: Run) -> list[Site]:
    """Return the places in the program's code that calls were made from, each once.

    Raises
    ------
    InputError
        If the records are damaged.
    """
    return list(dict.fromkeys((str(row["file"]), int(row["offset"])) for row in _rows(run, "site")))


def _site_numbers(run: Run) -> dict[tuple[int, int], int]:
    """Return the index in `sites` of each number that a rank gives to one."""
    index = {site: k for k, site in enumerate(sites(run))}
    return {
        (int(row["rank"]), int(row["site"])): index[str(row["file"]), int(row["offset"])]
        for row in _rows(run, "site")
    }


def program(run: Run) -> str:
    """Return the name of the program: the file that was started, or the script that Python ran."""
    arguments = run.notes.get("command", "").rpartition("smpimain ")[2].split()
    if arguments and _PYTHON.fullmatch(PurePath(arguments[0]).name):
        scripts = [argument for argument in arguments[1:] if argument.endswith(".py")]
        modules = [b for a, b in pairwise(arguments[1:]) if a == "-m"]
        arguments = [*scripts[:1], *modules[:1], *arguments]
    return PurePath(arguments[0]).name.removesuffix(".py") if arguments else "program"


def trace(run: Run) -> Trace:
    """Return what the ranks did, in the few operations that a trace knows.

    Raises
    ------
    InputError
        If the run is no recording or damaged, or the sequence of a rank was given up.
    """
    check_kind(run)
    try:
        return _trace(run)
    except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        problem = f"its records of calls are damaged: {printable(str(error), 80)}"
        raise InputError(problem, where=run.where) from error


def check_kind(run: Run) -> None:
    """Refuse a run that is no recording."""
    if run.kind != KIND:
        raise InputError(
            f"this run is of '{run.experiment}'",
            where=run.where,
            hint="a recording is what 'isochrone record' writes",
        )


def _trace(run: Run) -> Trace:
    for warning in run.warnings:
        if warning.get("code") == "no-sequence":
            raise InputError(str(warning.get("text")), where=run.where)
    caveats = [w for w in run.warnings if w.get("code") in ("mean-sizes", "no-finalize", "threads")]
    recorded = Trace([], groups(run), [], program(run), [str(w.get("text")) for w in caveats])
    recorded.sites = sites(run)
    times = list(_rows(run, "rank_time"))
    if run.origin == "simulated" and all(r["computation"] < 1e-3 * r["seconds"] for r in times):
        recorded.warnings.append(NOTHING_COMPUTED)
    counted: Counter[str] = Counter()
    recorded.whole = max((float(row["seconds"]) for row in times), default=0.0)
    tails = {int(row["rank"]): float(row["tail"]) for row in times}
    for rank, nodes in enumerate(calls_of(run)):
        if length(nodes) > MAX_WALKED_CALLS:
            raise InputError(
                f"rank {rank} makes more than {MAX_WALKED_CALLS} calls",
                where=run.where,
                hint="record fewer iterations",
            )
        making = _Making(recorded, counted)
        for call, way in _reached(nodes, 0):
            making.take(call, way)
        making.complete(Event("wait"))
        recorded.ranks.append(making.events)
        recorded.tail.append(tails.get(rank, 0.0) + making.carried)
    for row in _rows(run, "operation"):
        if row["op"] == "partitioned":  # the time of its messages is in waits that are not its own
            raise InputError("not known: partitioned messages", where=run.where)
        if row["op"] in _ASIDE:
            recorded.omitted[row["op"]] = recorded.omitted.get(row["op"], 0.0) + float(
                row["seconds"]
            )
    recorded.warnings += [f"{text} ({count} calls)" for text, count in counted.items()]
    return recorded


MAX_WALKED_CALLS = 4_000_000
"""Calls of one rank that are looked at one after another."""


def length(nodes: Sequence[_Node]) -> int:
    """Return how many calls nodes are, repetition counted."""
    return sum(n.count * length(n.body) if isinstance(n, RecordedLoop) else 1 for n in nodes)


def _heads(node: _Node) -> int:
    """Return how many loops begin with the first call of a node."""
    return 1 + _heads(node.body[0]) if isinstance(node, RecordedLoop) and node.body else 0


def _reached(nodes: Sequence[_Node], way: int) -> Iterator[tuple[RecordedCall, int]]:
    """Yield calls in the order in which they were made, and by which way each was reached."""
    for position, node in enumerate(nodes):
        first = 0 if position else way
        if isinstance(node, RecordedLoop):
            again = _heads(node)
            for turn in range(node.count):
                yield from _reached(node.body, again if turn else first)
        else:
            yield node, first


class _Making:
    """Makes the calls of one rank.

    Attributes
    ----------
    carried
        Computation before calls that were left out, which is added to that before the next one.
    messages
        Number of messages that are open.
    pending
        Nonblocking collectives that were begun: they are placed where they are completed, so that
        what is computed meanwhile comes before.
    """

    def __init__(self, trace: Trace, counted: Counter[str]) -> None:
        self.trace = trace
        self.counted = counted
        self.events: list[Event] = []
        self.carried = 0.0
        self.open = False
        self.messages = 0
        self.pending: list[Event] = []

    def take(self, node: RecordedCall, way: int) -> None:
        """Take the next call."""
        seen = node.gaps[way] if way < len(node.gaps) and node.gaps[way].count else node.gaps[0]
        op, blocking = node.op, node.op.removeprefix("i")
        call_event = Event(
            op,
            node.peer,
            node.bytes,
            -1,
            0,
            seen.mean,
            node.seconds / max(node.calls, 1),
            seen,
            node.any,
            node.site,
        )
        if op in _WAITS:
            self.complete(call_event, messages=node.open and 0 < node.requests <= self.messages)
        elif op in ("sendrecv", "isendrecv"):
            self._both(node, call_event)
        elif blocking in _SENDS and node.peer < 0:
            self.counted["messages to processes of other programs are left out"] += 1
            self._omit(op, call_event)
        elif blocking in _SENDS:
            self._keep(call_event._replace(op="send" if op == blocking else "isend"))
        elif op in DESCRIBED or blocking in DESCRIBED:
            if node.group < 0:
                raise ValueError(f"'{op}' has no group")
            kind = op if op in DESCRIBED else blocking
            call_event = call_event._replace(op=kind, peer=-1, root=node.root, members=node.group)
            if op in DESCRIBED:
                self._keep(call_event)
            else:
                self.counted["nonblocking collectives are taken as blocking where they end"] += 1
                self.pending.append(call_event._replace(gap=0.0, seen=None))
                self.carried += call_event.gap
        elif blocking == "recv":
            self._keep(call_event)
        else:
            self._omit(op, call_event)

    def complete(self, wait: Event, *, messages: bool = False) -> None:
        """Take the completion of what is open, or of the messages among it."""
        if not self.open and not self.pending:
            self.carried += wait.gap
            if self.events:
                last = self.events[-1]
                self.events[-1] = last._replace(seconds=last.seconds + wait.seconds)
            return
        for call in [] if messages else self.pending:
            self._keep(call._replace(gap=wait.gap, seen=wait.seen, seconds=wait.seconds))
            wait = wait._replace(gap=0.0, seen=None, seconds=0.0)
        self.pending = self.pending if messages else []
        if self.open:
            self._keep(wait._replace(op="wait", peer=-1, bytes=0.0))

    def _keep(self, event: Event) -> None:
        if self.carried:
            event = event._replace(gap=event.gap + self.carried)
            self.carried = 0.0
        self.events.append(event)
        self.messages += event.op in ("isend", "irecv")
        self.messages *= event.op != "wait"
        self.open = event.op != "wait" and (self.open or event.op in ("isend", "irecv"))

    def _omit(self, op: str, event: Event) -> None:
        self.carried += event.gap
        self.trace.omitted[op] = self.trace.omitted.get(op, 0.0) + event.seconds

    def _both(self, node: RecordedCall, call_event: Event) -> None:
        """Take a send and a receive in one call as both; PROC_NULL is no partner."""
        begun = []
        if node.peer >= 0:
            begun.append(Event("isend", node.peer, node.bytes, site=node.site))
        if node.source >= 0 or node.any:
            begun.append(Event("irecv", node.source, node.received, any=node.any, site=node.site))
        self.carried += call_event.gap
        for k, event in enumerate(begun):
            self._keep(event if k else event._replace(seen=call_event.seen))
        if begun and node.op == "sendrecv":
            self._keep(Event("wait", seconds=call_event.seconds, site=node.site))


def _rows(run: Run, name: str) -> Iterator[Members]:
    return run.tables.get(name, Table()).rows()


def _number(value: float | str, end: int = 2**53, minimum: int = 0) -> int:
    """Return a whole number below an end.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not minimum <= int(value) < end:
        raise ValueError(f"{value} is not from {minimum} to {end - 1}")
    return int(value)


def _call(
    row: Members, ranks: int, groups: int, sites: Mapping[tuple[int, int], int]
) -> RecordedCall:
    numbers = {key: _number(row[key]) for key in ("bytes", "received", "calls", "requests")}
    ends = {"peer": ranks, "source": ranks, "root": ranks, "group": groups}
    # Below zero they stand for none, or for any.
    numbers |= {key: _number(row[key], end, -(2**31)) for key, end in ends.items()}
    gaps = [row["gap"], *(gap for key, gap in row.items() if key.startswith("gap_"))]
    return RecordedCall(
        op=str(row["op"]),
        any=bool(row.get("any")),
        open=bool(row.get("open")),
        seconds=float(row["seconds"]),
        gaps=list(map(_read_gap, gaps)),
        **numbers,
        site=sites.get((row["rank"], row.get("site", -1)), -1),
    )


MOST_TENTHS = 200
"""Tenths of powers of ten of a second: from 1e-20 to 1e20."""


def _read_gap(values: Sequence[float]) -> Gap:
    count, total, shortest, longest, *tenths = values
    pairs = zip(tenths[::2], tenths[1::2], strict=True)
    histogram = {int(tenth): float(counted) for tenth, counted in pairs}
    if any(abs(tenth) > MOST_TENTHS for tenth in histogram):
        raise ValueError("a gap is too long")
    if not count:
        return Gap()
    return Gap(int(count), float(total), float(shortest), float(longest), histogram)
