"""A recording: who sends to whom, operations by time, the share of communication of the ranks."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from isochrone.applications.pages.positions import listing
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
    done = _chosen(run, asked.nbytes)
    views = [
        Picture("matrix", title, f"{CAPTION}.", (run,), Options(what=what))
        for what, title in (("bytes", "Bytes from rank to rank"),
                            ("messages", "Messages from rank to rank"))
    ]  # fmt: skip
    return [
        Section("Summary", tuple(_summary(run))),
        Section("Who sends to whom", tuple(views) if edges(run) else (), only="report"),
        Section("Operations", (_operations(done),) if done else ()),
        Section("Positions", () if asked.nbytes else tuple(listing(run, MAX_ROWS))),
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


def _summary(run: Run) -> Iterator[Block]:
    """Say how long it took, how much of that was MPI, what recording cost, and what was sent."""
    times = sorted(rank_times(run), key=lambda one: one.share)
    low, high = times[0], times[-1]
    mean = sum(one.share for one in times) / len(times)
    seconds = format_seconds(max(one.seconds for one in times))
    found = edges(run)
    sent, count = format_amount(found["bytes"].sum()), int(found["messages"].sum())
    yield Tiles((
        Tile(seconds, "from MPI_Init to MPI_Finalize", "wall-clock time, recording included"),
        Tile(f"{mean:.0%}", "of the time in MPI", f"{low.share:.0%} to {high.share:.0%}, by rank"),
        Tile(sent, "in messages", f"{plural(count, 'message')} between ranks"),
    ))  # fmt: skip
    calls = sum(one.calls for one in times)
    yield Sentence(f"  It took {seconds} and made {plural(calls, 'MPI call')}")
    yield Sentence(
        f"  In MPI: {mean:.1%} of the time ({low.share:.1%} on rank {low.rank} to "
        f"{high.share:.1%} on rank {high.rank})"
    )
    computed = [one.computation for one in times]
    yield Sentence(
        f"  Computation: {format_seconds(float(np.mean(computed)))} of processor time per rank "
        f"({format_seconds(min(computed))} to {format_seconds(max(computed))})"
    )
    spent = [(one.recording, one.seconds * one.threads) for one in times]
    cost = max((recording / whole for recording, whole in spent if whole > 0), default=0.0)
    yield Sentence(f"  Recording took at most {cost:.2%} of the time of a rank")
    if not len(found):
        yield Sentence("  Only collective operations, no other messages")
        return
    partners = np.bincount(found["from"], minlength=run.size)
    few, many = partners.min(), partners.max()
    number = f"{few}" if few == many else f"{few} to {many}"
    yield Sentence(f"  Messages: {count:,} with {sent}; each rank sends to {number} others")


def _operations(done: Sequence[Operation]) -> Table:
    """List the operations, those of several groups of as many ranks together."""
    together: dict[tuple[Any, ...], Operation] = {}
    for one in done:
        key = (one.op, one.bytes, one.members, one.group >= 0)
        old = together.get(key)
        if old is not None:
            one = replace(
                one, calls=old.calls + one.calls, moved=old.moved + one.moved,
                seconds=old.seconds + one.seconds, most=max(old.most, one.most),
            )  # fmt: skip
        together[key] = one
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
        for one in sorted(together.values(), key=lambda one: -one.seconds)
    ]  # fmt: skip
    more = len(rows) - MAX_ROWS
    return Table(
        "Operations, by their time on all ranks", columns,
        tuple(rows[:MAX_ROWS]), f"and {plural(more, 'more row')} (--json lists all)"
        if more > 0 else "",
    )  # fmt: skip


PAGE = Kind(
    title=lambda run: f"recording of {program(run)} {on_ranks(run)}",
    holds=lambda run: run.kind == KIND and "rank_time" in run.tables,
    sections=_sections, document=_document, place=5,
)  # fmt: skip
