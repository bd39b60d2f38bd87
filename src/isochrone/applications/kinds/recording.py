"""A recording: who sends to whom, operations by time, the share of communication of the ranks."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from isochrone.applications.results.recording import (
    KIND,
    Operation,
    RankTime,
    edges,
    operations,
    program,
    rank_times,
)
from isochrone.base.units import format_amount, format_bytes, format_seconds
from isochrone.pages.page import (
    Asked,
    Block,
    Kind,
    Picture,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    Tiles,
    columns_of,
)
from isochrone.pages.words import of_size, on_ranks, plural, warnings_of
from isochrone.runfile.run import Run
from isochrone.views.view import Options

MAX_ROWS = 40

CAPTION = "Rows are senders, columns receivers; messages of collective operations are not in"


def _holds(run: Run) -> bool:
    return run.kind == KIND and "rank_time" in run.tables


def _title(run: Run) -> str:
    return f"recording of {program(run)} {on_ranks(run)}"


class _Edge:
    from_: int
    to: int
    messages: int
    bytes: float
    seconds: float


class _Shown(msgspec.Struct):
    """What a program communicated."""

    program: str
    edges: list[_Edge]
    operations: list[Operation]
    rank_times: list[RankTime]


def _document(run: Run, asked: Asked) -> _Shown:
    sent: list[Any] = list(edges(run).rows())
    return _Shown(program(run), sent, _chosen(run, asked.nbytes), rank_times(run))


def _sections(run: Run, asked: Asked) -> list[Section]:
    times = rank_times(run)
    done = _chosen(run, asked.nbytes)
    views = [
        Picture("matrix", title, f"{CAPTION}.", (run,), Options(what=what))
        for what, title in (("bytes", "Bytes from rank to rank"),
                            ("messages", "Messages from rank to rank"))
    ]  # fmt: skip
    return [
        Section("Summary", (_tiles(run, times), *_times(times), *_messages(run))),
        Section("Who sends to whom", tuple(views) if len(edges(run)) else (), only="report"),
        Section("Operations", (_operations(done),) if done else ()),
        Section("Summary", (warnings_of(run.warnings),)),
        Section("How the times were taken", (Sentence(
            "Times in calls are wall-clock times, waiting included, summed over ranks. Computation "
            "is processor time of the threads between their calls. A call of a collective is "
            "counted at each rank; its size is the block of a rank, the mean where blocks differ.",
            stress=("waiting included", "processor time"),
        ),), only="report"),
    ]  # fmt: skip


def _chosen(run: Run, nbytes: int | None) -> list[Operation]:
    """Return the operations that are shown: all, or those of the one size the user names."""
    return of_size(operations(run), nbytes, f"nothing of {nbytes} bytes was recorded", run.where)


def _tiles(run: Run, times: Sequence[RankTime]) -> Tiles:
    shares = [one.share for one in times]
    found = edges(run)
    sent = format_amount(found["bytes"].sum())
    messages = plural(int(found["messages"].sum()), "message")
    return Tiles((
        Tile(format_seconds(max(one.seconds for one in times)), "from MPI_Init to MPI_Finalize",
             "wall-clock time, recording included"),
        Tile(f"{np.mean(shares):.0%}", "of the time in MPI",
             f"{min(shares):.0%} to {max(shares):.0%}, by rank"),
        Tile(sent, "in messages", f"{messages} between ranks"),
    ))  # fmt: skip


def _times(times: Sequence[RankTime]) -> list[Block]:
    """Say how long it took, how much of that was MPI, and what recording cost."""
    shares = sorted(times, key=lambda one: one.share)
    low, high = shares[0], shares[-1]
    seconds = max(one.seconds for one in times)
    mean = sum(one.share for one in times) / len(times)
    calls = sum(one.calls for one in times)
    spent = [(one.recording, one.seconds * one.threads) for one in times]
    cost = max((recording / whole for recording, whole in spent if whole > 0), default=0.0)
    computed = [one.computation for one in times]
    parts = [
        f"  It took {format_seconds(seconds)}, and {plural(calls, 'call')} of MPI",
        f"  In MPI: {mean:.1%} of the time, {low.share:.1%} at rank {low.rank} to "
        f"{high.share:.1%} at rank {high.rank}",
        f"  Computation: {format_seconds(float(np.mean(computed)))} of processor time a rank, "
        f"{format_seconds(min(computed))} to {format_seconds(max(computed))}",
        f"  Recording took at most {cost:.2%} of the time of a rank",
    ]
    return [Sentence(text) for text in parts]


def _messages(run: Run) -> list[Block]:
    """Say how many messages there were, and between how many ranks."""
    found = edges(run)
    if not len(found):
        return [Sentence("  Only collective operations, no other messages")]
    partners = np.bincount(found["from"], minlength=run.size)
    few, many = int(partners.min()), int(partners.max())
    number = f"{few}" if few == many else f"{few} to {many}"
    total = format_amount(found["bytes"].sum())
    text = (
        f"  Messages: {int(found['messages'].sum()):,} with {total}; each rank sends to {number} "
        "others"
    )
    return [Sentence(text)]


def _operations(done: Sequence[Operation]) -> Table:
    columns = columns_of(
        "operation", ">size", ">ranks", ">calls", ">bytes in all", ">time in all", ">mean",
        ">longest",
    )  # fmt: skip
    rows = [
        Row((
            one.op, format_bytes(one.bytes) if one.moved else "–",
            str(one.members) if one.group >= 0 else "–", f"{one.calls:,}",
            format_amount(one.moved) if one.moved else "–", format_seconds(one.seconds),
            format_seconds(one.seconds / one.calls if one.calls else 0.0),
            format_seconds(one.most),
        ))
        for one in _together(done)
    ]  # fmt: skip
    more = len(rows) - MAX_ROWS
    return Table(
        "Operations, those that took most time first; all ranks together", columns,
        tuple(rows[:MAX_ROWS]), f"and {plural(more, 'more row')} (--json lists all)"
        if more > 0 else "",
    )  # fmt: skip


def _together(done: Sequence[Operation]) -> list[Operation]:
    """Put operations of several groups of as many ranks together."""
    found: dict[tuple[Any, ...], Operation] = {}
    for one in done:
        key = (one.op, one.bytes, one.members, one.group >= 0)
        old = found.get(key)
        found[key] = one if old is None else Operation(
            one.op, one.bytes, one.group, one.members, old.calls + one.calls,
            old.moved + one.moved, old.seconds + one.seconds, max(old.most, one.most),
        )  # fmt: skip
    return sorted(found.values(), key=lambda one: -one.seconds)


PAGE = Kind(title=_title, holds=_holds, sections=_sections, document=_document, place=5)
