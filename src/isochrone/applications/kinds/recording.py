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

MAX_RECORDING_ROWS = 40

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
        Picture("matrix", title, f"{CAPTION}.", (run,), Options(what=quantity))
        for quantity, title in (
            ("bytes", "Bytes from rank to rank"),
            ("messages", "Messages from rank to rank"),
        )
    ]
    return [
        Section("Summary", tuple(_summary(run))),
        Section("Who sends to whom", tuple(views) if edges(run) else (), only="report"),
        Section("Operations", (_operations(done, run),) if done else ()),
        Section("Positions", () if asked.nbytes else tuple(listing(run, MAX_RECORDING_ROWS))),
        Section("Summary", (warnings_of(run.warnings),)),
        Section(
            "How the times were taken",
            (
                Sentence(
                    f"Seconds are {run.quantity}."
                    if run.about.imported
                    else "Times in calls are wall-clock times, waiting included, summed over "
                    "ranks. Computation is processor time of the threads between their calls. A "
                    "call of a collective is counted at each rank; its size is the block of a "
                    "rank, the mean where blocks differ.",
                    stress=("waiting included", "processor time"),
                ),
            ),
            only="report",
        ),
    ]


def _chosen(run: Run, nbytes: int | None) -> list[Operation]:
    """Return the operations that are shown: all, or those of the one size the user names."""
    return of_size(operations(run), nbytes, f"nothing of {nbytes} bytes was recorded", run.where)


def _summary(run: Run) -> Iterator[Block]:
    """Say how long it took, how much of that was MPI, what recording cost, and what was sent."""
    times = sorted(rank_times(run), key=lambda rank_time: rank_time.share)
    low, high = times[0], times[-1]
    mean = sum(rank_time.share for rank_time in times) / len(times)
    seconds = format_seconds(max(rank_time.seconds for rank_time in times))
    pairs = edges(run)
    sent, count = format_amount(pairs["bytes"].sum()), int(pairs["messages"].sum())
    imported = run.about.imported is not None
    yield Tiles(
        (
            Tile(seconds, "from MPI_Init to MPI_Finalize", "wall-clock time, recording included"),
            Tile(
                f"{mean:.0%}", "of the time in MPI", f"{low.share:.0%} to {high.share:.0%}, by rank"
            ),
            *[Tile(sent, "in messages", f"{plural(count, 'message')} between ranks")]
            * (not imported),
        )
    )
    calls = sum(rank_time.calls for rank_time in times)
    made = f" and made {plural(calls, 'MPI call')}" if calls else ""
    yield Sentence(f"  It took {seconds}{made}")
    yield Sentence(
        f"  In MPI: {mean:.1%} of the time ({low.share:.1%} on rank {low.rank} to "
        f"{high.share:.1%} on rank {high.rank})"
    )
    computed = [rank_time.computation for rank_time in times]
    kind = "Outside MPI: {} per rank" if imported else "Computation: {} of processor time per rank"
    mean_computation = format_seconds(float(np.mean(computed)))
    yield Sentence(
        f"  {kind.format(mean_computation)} "
        f"({format_seconds(min(computed))} to {format_seconds(max(computed))})"
    )
    if imported:
        return
    spent = [(rank_time.recording, rank_time.seconds * rank_time.threads) for rank_time in times]
    cost = max((recording / total for recording, total in spent if total > 0), default=0.0)
    yield Sentence(f"  Recording took at most {cost:.2%} of the time of a rank")
    if not len(pairs):
        yield Sentence("  Only collective operations, no other messages")
        return
    partners = np.bincount(pairs["from"], minlength=run.size)
    fewest_partners, most_partners = partners.min(), partners.max()
    partner_count = (
        f"{fewest_partners}"
        if fewest_partners == most_partners
        else f"{fewest_partners} to {most_partners}"
    )
    yield Sentence(f"  Messages: {count:,} with {sent}; each rank sends to {partner_count} others")


def _operations(done: Sequence[Operation], run: Run) -> Table:
    """List the operations, those of several groups of as many ranks together."""
    together: dict[tuple[str, int, int, bool, str | None], Operation] = {}
    for record in done:
        key = (record.op, record.bytes, record.members, record.group >= 0, record.code)
        old = together.get(key)
        if old is not None:
            record = replace(
                record,
                calls=old.calls + record.calls,
                moved=old.moved + record.moved,
                seconds=old.seconds + record.seconds,
                most=max(old.most, record.most),
            )
        together[key] = record
    of_sites = any(record.code for record in done)
    total = sum(rank_time.seconds for rank_time in rank_times(run)) or 1.0
    columns = columns_of(
        "operation",
        ">size",
        ">ranks",
        ">calls",
        ">bytes in all",
        ">time in all",
        ">mean",
        ">longest",
        *[">share", "code"] * of_sites,
    )
    rows = [
        Row(
            (
                record.op,
                format_bytes(record.bytes) if record.moved else "–",
                str(record.members) if record.group >= 0 else "–",
                f"{record.calls:,}",
                format_amount(record.moved) if record.moved else "–",
                format_seconds(record.seconds),
                format_seconds(record.seconds / record.calls) if record.calls else "–",
                format_seconds(record.most) if record.most else "–",
                *[f"{record.seconds / total:.1%}", record.code or ""] * of_sites,
            )
        )
        for record in sorted(together.values(), key=lambda record: -record.seconds)
    ]
    left = len(rows) - MAX_RECORDING_ROWS
    return Table(
        "Operations, by their time on all ranks",
        columns,
        tuple(rows[:MAX_RECORDING_ROWS]),
        f"and {plural(left, 'more row')} (--json lists all)" if left > 0 else "",
    )


PAGE = Kind(
    title=lambda run: f"recording of {program(run)} {on_ranks(run)}",
    holds=lambda run: run.kind == KIND and "rank_time" in run.tables,
    sections=_sections,
    document=_document,
    place=5,
)
