"""The calls of a recording in their order, as a trace that a description is derived from.

A trace knows fewer operations than MPI: modes of sending are one, a nonblocking collective is a
blocking one where it begins, blocks of several sizes are their mean, and a wait is for all that is
open. What has no place in it at all is left out, and said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

from isochrone.applications.traces.trace import Call, Gap, Loop, Trace
from isochrone.base.errors import InputError
from isochrone.base.operations import CALLED
from isochrone.base.text import printable
from isochrone.runfile.run import Run

KIND: Final = "recording"

UNLIKE: Final = 2.0
"""Computation before a loop that is this many times that within it, or so many times less, is not
of the loop."""

_SENDS: Final = ("send", "bsend", "ssend", "rsend")
_WAITS: Final = ("wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome")

_PYTHON: Final = re.compile(r"python[\d.]*")


@dataclass
class RecordedCall:
    """A call of the sequence as it was recorded: the members of its record.

    `gaps` are those from before all loops that begin with it, then those from the end of the
    innermost of them, of the next one …
    """

    op: str
    peer: int
    bytes: int
    source: int
    received: int
    root: int
    group: int
    open: bool
    calls: int
    seconds: float
    gaps: list[Gap]


@dataclass
class RecordedLoop:
    """A part that was repeated."""

    count: int
    body: list[RecordedCall | RecordedLoop] = field(default_factory=list)


_Node = RecordedCall | RecordedLoop
_Traced = Call | Loop


def calls_of(run: Run) -> list[list[_Node]]:
    """Return the sequence of each rank: of the thread that called MPI_Init.

    Raises
    ------
    InputError
        If the run is no recording, or its calls are damaged.
    """
    check_kind(run)
    found: list[list[_Node]] = [[] for _ in range(run.size)]
    known = len(groups(run))
    try:
        rows = sorted(
            (row for name in ("loop", "call") for row in _rows(run, name) if row["thread"] == 0),
            key=lambda row: (row["rank"], row["at"]),
        )
        around: list[list[_Node]] = []
        for row in rows:
            around = [found[row["rank"]]] if row["at"] == 0 else around
            del around[row["depth"] + 1 :]
            node = (
                _call(row, run.size, known)
                if "op" in row
                else RecordedLoop(_number(row["count"], least=1))
            )
            around[row["depth"]].append(node)
            if isinstance(node, RecordedLoop):
                around.append(node.body)
    except (KeyError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError("its 'call' and 'loop' records are damaged", where=run.where) from error
    return found


def groups(run: Run) -> list[tuple[int, ...]]:
    """Return the ranks of each group; that of number 0 are all.

    Raises
    ------
    InputError
        If the records are damaged.
    """
    found = {0: tuple(range(run.size))}
    try:
        for row in _rows(run, "group"):
            spans = [word.partition("-") for word in str(row["members"]).split()]
            ends = [(int(a), int(b or a)) for a, _, b in spans]
            if any(not 0 <= a <= b < run.size for a, b in ends) or len(ends) > run.size:
                raise ValueError("ranks that are not there")
            found[int(row["group"])] = tuple(r for a, b in ends for r in range(a, b + 1))
        return [found[k] for k in range(len(found))]
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError("its 'group' records are damaged", where=run.where) from error


def program(run: Run) -> str:
    """Return the name of the program: the file that was started, or the script that Python ran."""
    words = run.notes.get("command", "").split()
    if words and _PYTHON.fullmatch(PurePath(words[0]).name):
        scripts = [word for word in words[1:] if word.endswith(".py")]
        modules = [b for a, b in pairwise(words[1:]) if a == "-m"]
        words = [*scripts[:1], *modules[:1], *words]
    return PurePath(words[0]).name.removesuffix(".py") if words else "program"


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
        what = f"its records of calls are damaged: {printable(str(error), 80)}"
        raise InputError(what, where=run.where) from error


def check_kind(run: Run) -> None:
    """Refuse a run that is no recording."""
    if run.kind != KIND:
        raise InputError(
            f"this run is of '{run.experiment}'", where=run.where,
            hint="a recording is what 'isochrone record' writes",
        )  # fmt: skip


def _trace(run: Run) -> Trace:
    for warning in run.warnings:
        if warning.get("code") == "no-sequence":
            raise InputError(str(warning.get("text")), where=run.where)
    said = [w for w in run.warnings if w.get("code") in ("mean-sizes", "threads")]
    found = Trace([], groups(run), [], program(run), [str(w.get("text")) for w in said])
    left_out: Counter[str] = Counter()
    tails = {int(row["rank"]): float(row["tail"]) for row in _rows(run, "rank_time")}
    for rank, nodes in enumerate(calls_of(run)):
        made = _Making(left_out)
        calls, _ = _needed_waits(made.nodes(nodes, (), outermost=True), False)
        found.ranks.append(calls)
        found.tail.append(tails.get(rank, 0.0) + made.aside)
    for words, count in left_out.items():
        found.warnings.append(f"{words} ({count} calls)")
    return found


class _Making:
    """Makes the calls of one rank; `aside` is computation that belongs to none of them."""

    def __init__(self, left_out: Counter[str]) -> None:
        self.left_out = left_out
        self.aside = 0.0

    def nodes(
        self, nodes: Sequence[_Node], around: tuple[int, ...], *, outermost: bool = False
    ) -> list[_Traced]:
        """Make calls of a body; `around` are the rounds of the loops around it but the outermost.

        Completions that follow each other are one.
        """
        found: list[_Traced] = []
        for node in nodes:
            if isinstance(node, RecordedLoop):
                inner = () if outermost else (*around, node.count)
                body = self.nodes(node.body, inner)
                made: list[_Traced] = [Loop(node.count, body)] if body else []
            else:
                made = self.calls(node, around)
            for one in made:
                wait = _only_waits(one)
                before = found[-1] if found else None
                if wait and isinstance(before, Call) and before.op == "wait":
                    before.seconds += wait.seconds
                    self.aside += wait.gap.total
                else:
                    found.append(wait or one)
        return found

    def calls(self, node: RecordedCall, around: tuple[int, ...]) -> list[_Traced]:
        """Make the calls that one stands for."""
        gap, turns = self._gap(node, around)
        op, blocking = node.op, node.op.removeprefix("i")
        first = Call(op, node.peer, node.bytes, -1, 0, gap, node.seconds, turns)
        if node.peer < 0 and blocking in _SENDS:
            self.left_out["messages to processes of other programs are left out"] += node.calls
            self.aside += gap.total
            return []
        if blocking in _SENDS:
            first.op = "send" if op == blocking else "isend"
        elif op in _WAITS:
            first = Call("wait", gap=gap, seconds=node.seconds, turns=turns)
        elif op in ("sendrecv", "isendrecv"):
            return _exchange(node, first)
        elif op in CALLED or blocking in CALLED:
            if node.group < 0:
                raise ValueError(f"'{op}' of no group")
            first = Call(CALLED[op if op in CALLED else blocking], -1, node.bytes,
                         node.root, node.group, gap, node.seconds, turns)  # fmt: skip
            if op not in CALLED:
                self.left_out["nonblocking collectives stand where they begin"] += node.calls
        elif blocking != "recv":
            self.left_out[f"{op} has no place in a description and is left out"] += node.calls
            self.aside += gap.total
            return []
        return [first]

    def _gap(self, node: RecordedCall, around: tuple[int, ...]) -> tuple[Gap, list[Gap]]:
        """Return the computation before a call: all of it, and by round of the loops around."""
        first, *again = node.gaps
        whole = Gap()
        if again and first.count == 1 and _unlike(first, again[-1]):
            self.aside += first.total  # before the outermost loop, which is come to once
            first = Gap()
        for gap in (first, *again):
            whole.add(gap)
        rounds = _rounds(around) if around and again else []
        ways = [first, *again[: len(around)]]
        if len(again) > len(around):  # the outermost loop begins with it, too
            ways[0] = Gap()
            ways[0].add(first)
            ways[0].add(again[-1])
        # The way by which a round is come to: by the innermost loop that is not at its begin.
        taken = [next((k + 1 for k, at in enumerate(reversed(r)) if at), 0) for r in rounds]
        if any(way >= len(ways) for way in taken):
            return whole, []
        return whole, [_part(ways[way], taken.count(way)) for way in taken]


MOST_ROUNDS: Final = 4096


def _rounds(around: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List the rounds of nested loops in their order; empty if there are too many."""
    found: list[tuple[int, ...]] = [()]
    for count in around:
        if len(found) * count > MOST_ROUNDS:
            return []
        found = [(*before, k) for before in found for k in range(count)]
    return found


def _part(gap: Gap, parts: int) -> Gap:
    """Return an equal part of gaps that several rounds have in common."""
    counts = {tenth: round(count / parts) for tenth, count in gap.tenths.items()}
    return Gap(
        round(gap.count / parts), gap.total / parts, gap.least, gap.most,
        {tenth: count for tenth, count in counts.items() if count},
    )  # fmt: skip


def _unlike(gap: Gap, others: Gap) -> bool:
    """Whether a gap is none of those that others are."""
    return gap.total > UNLIKE * others.most or gap.total < others.least / UNLIKE


def _exchange(node: RecordedCall, first: Call) -> list[_Traced]:
    """Return a send and a receive in one call as both; PROC_NULL is no partner."""
    found: list[_Traced] = []
    if node.peer >= 0:
        found.append(Call("isend", node.peer, node.bytes))
    if node.source >= 0 or node.received > 0:
        found.append(Call("irecv", node.source, node.received))
    if node.op == "sendrecv":
        found.append(Call("wait", seconds=node.seconds))
    for k, call in enumerate(found):
        assert isinstance(call, Call)
        none = Gap(first.gap.count, 0.0, 0.0, 0.0, {-90: first.gap.count})
        call.gap, call.turns = (none, []) if k else (first.gap, first.turns)
    return found


def _only_waits(node: _Traced) -> Call | None:
    """Return the wait that a wait is, or a loop of one."""
    while isinstance(node, Loop) and len(node.body) == 1:
        node = node.body[0]
    return node if isinstance(node, Call) and node.op == "wait" else None


def _needed_waits(nodes: Sequence[_Traced], open_: bool) -> tuple[list[_Traced], bool]:
    """Leave out waits when no message is open; return the rest, and whether one is at the end."""
    found: list[_Traced] = []
    for node in nodes:
        if isinstance(node, Loop):
            _, at_end = _needed_waits(node.body, open_)
            body, open_ = _needed_waits(node.body, open_ or at_end)
            found += [Loop(node.count, body)] if body else []
        elif node.op == "wait":
            found += [node] if open_ else []
            open_ = False
        else:
            open_ = open_ or node.op in ("isend", "irecv")
            found.append(node)
    return found, open_


def _rows(run: Run, name: str) -> Iterator[dict[str, Any]]:
    table = run.tables.get(name)
    return iter(()) if table is None else table.rows()


def _number(value: Any, end: int = 2**53, least: int = 0) -> int:
    """Return a whole number below an end.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not least <= int(value) < end:
        raise ValueError(f"{value} is not from {least} to {end - 1}")
    return int(value)


def _call(row: dict[str, Any], ranks: int, groups: int) -> RecordedCall:
    gaps = [_read_gap(row["gap"])]
    while (key := f"gap_{len(gaps)}") in row:
        gaps.append(_read_gap(row[key]))
    counts = {key: _number(row[key]) for key in ("bytes", "received", "calls")}
    ends = {"peer": ranks, "source": ranks, "root": ranks, "group": groups}
    # Below zero they stand for none, or for any.
    places = {key: _number(row[key], end, -(2**31)) for key, end in ends.items()}
    return RecordedCall(
        op=str(row["op"]), open=bool(row["open"]), seconds=float(row["seconds"]), gaps=gaps,
        **counts, **places,
    )  # fmt: skip


MOST_TENTHS: Final = 200
"""Tenths of powers of ten of a second: from 1e-20 to 1e20."""


def _read_gap(values: Sequence[float]) -> Gap:
    count, total, least, most, *tenths = values
    pairs = zip(tenths[::2], tenths[1::2], strict=True)
    found = {int(tenth): int(counted) for tenth, counted in pairs}
    if any(abs(tenth) > MOST_TENTHS for tenth in found):
        raise ValueError("a gap beyond any time")
    if not count:
        return Gap()
    return Gap(int(count), float(total), float(least), float(most), found)
