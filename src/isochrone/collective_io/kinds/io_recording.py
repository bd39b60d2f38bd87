"""Report of recorded collective I/O: access patterns, times by phase, hints."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_rate, format_seconds
from isochrone.collective_io.causes.rules import Cause, causes
from isochrone.collective_io.pages.whole_call import best_gains, slow
from isochrone.collective_io.predict.best_possible import NAMES
from isochrone.collective_io.predict.call_parts import LATE, PARTS, Parts
from isochrone.collective_io.results.io_recording import (
    KIND,
    RecordedCall,
    RecordedFile,
    RecordedPattern,
    calls,
    files,
    patterns,
)
from isochrone.collective_io.results.io_times import (
    TOGETHER,
    Account,
    CallTime,
    account,
    call_times,
)
from isochrone.pages.page import (
    Asked,
    Block,
    Facts,
    Kind,
    Row,
    Section,
    Sentence,
    Table,
    Tile,
    Tiles,
    columns_of,
)
from isochrone.pages.words import left_out, of_size, on_ranks, plural, warnings_of
from isochrone.runfile.run import Run

MAX_PATTERN_ROWS = 20
MAX_FILES = 8
MAX_CAUSE_SENTENCES = 3

_OF_USE = (
    "cb_nodes",
    "cb_config_list",
    "cb_buffer_size",
    "romio_cb_write",
    "romio_cb_read",
    "striping_factor",
    "striping_unit",
    "romio_aggregator_list",
    "num_aggregators",
    "collective_buffering",
)
"""Hints that decide how a collective access is done; --json has all."""


class Timed(NamedTuple):
    """A pattern with the times of its calls summed; parts that were seen in all of them."""

    pattern: Inline[RecordedPattern]
    calls: Hidden[list[RecordedCall]]
    seconds: float
    parts: Hidden[dict[str, float]]
    late: float | None

    @property
    def bytes(self) -> int:
        """Bytes of one call."""
        return self.pattern.bytes

    @property
    @shown
    def all_parts(self) -> Annotated[Parts, "as parts"]:
        """The parts; null where they were not seen in all calls."""
        return Parts(**self.parts)

    @property
    @shown
    def rounds(self) -> list[int]:
        """Different numbers of rounds of its calls, ascending."""
        return sorted({call.rounds for call in self.calls if call.rounds is not None})


def _title(run: Run) -> str:
    command = str(run.notes.get("command", ""))
    name = printable(command.split(" ")[0].rpartition("/")[2], 40)
    return f"collective I/O of {name or 'a program'} {on_ranks(run)}"


def _timed(run: Run, nbytes: int | None) -> list[Timed]:
    """Sum up the calls of each pattern; most expensive first."""
    calls_by_pattern = grouped((call.pattern, call) for call in calls(run))
    timed = []
    for pattern in patterns(run):
        made = calls_by_pattern.get(pattern.number, [])
        columns = {name: [c.parts[name] for c in made if name in c.parts] for name in PARTS}
        # parts that were seen in all calls
        totals = {name: sum(seen) for name, seen in columns.items() if 0 < len(seen) == len(made)}
        late = [call.late for call in made if call.late is not None]
        seconds = sum(call.seconds for call in made)
        timed.append(Timed(pattern, made, seconds, totals, sum(late) if late else None))
    timed.sort(key=lambda total: -total.seconds)
    return of_size(timed, nbytes, f"no call accesses {nbytes} bytes", run.where) if timed else []


class _Shown(msgspec.Struct):
    """Collective I/O of a program."""

    account: Account | None
    causes: list[Cause]
    files: list[RecordedFile]
    patterns: list[Timed]
    calls: list[RecordedCall]
    times: list[CallTime]


def _document(run: Run, asked: Asked) -> _Shown:
    timed = _timed(run, asked.nbytes)
    return _Shown(account(run), causes(run), files(run), timed, calls(run), call_times(run))


def _sections(run: Run, asked: Asked) -> list[Section]:
    timed = _timed(run, asked.nbytes)
    opened = files(run)
    together = any(row.call in (*TOGETHER, "ordered") for row in call_times(run))
    return [
        Section("Summary", (*_account(account(run)), *_causes(causes(run)))),
        Section("Summary", (*_tiles(timed), *_slow(timed))),
        Section("Summary", (*best_gains(run), *_independent(opened, timed, together=together))),
        Section("Patterns", tuple(_table(timed, opened))),
        Section("File systems", tuple(_filesystems(opened))),
        Section("Hints", tuple(_hints(opened))),
        Section("Summary", (warnings_of(run.warnings),)),
        Section(
            "How the times were taken",
            (
                Sentence(
                    "The time of a call is that of its slowest rank. Phases are summed over "
                    "rounds: of an exchange of sizes the shortest time of all ranks counts (the "
                    "last rank does not wait), of messages and file accesses the longest.",
                    stress=("slowest rank",),
                ),
            ),
            only="report",
        ),
    ]


_PARTS = {
    "waiting": "waiting for late ranks",
    "exchange": "exchange",
    "access": "file access",
    "metadata": "open, close, view, size",
    "sync": "sync",
}


def _account(found: Account | None) -> list[Block]:
    """Tabulate what all of MPI-IO needs time for."""
    if found is None:
        return []
    rows = tuple(
        Row((_PARTS[p.part], *map(format_seconds, (p.most, p.total)), f"{p.share:.0%}"))
        for p in found.parts
        if p.total > 0
    )
    title = (
        f"MPI-IO takes {format_seconds(found.seconds)} of {format_seconds(found.whole)} on the "
        "slowest rank"
    )
    return [Table(title, columns_of("part", ">slowest rank", ">sum of ranks", ">share"), rows)]


def _causes(found: Sequence[Cause]) -> list[Block]:
    """Tabulate the causes; of those that explain most, say why, and the remedy."""
    seen = [cause for cause in found if round(100 * cause.share) > 0]
    if not seen:
        return []
    columns = columns_of("cause", ">a rank could save", ">share", ">program at most")
    rows, lines = [], []
    for cause in seen:
        gain = "" if cause.gain is None else f"{cause.gain:.2f} times as fast"
        rows.append(Row((cause.name, format_seconds(cause.seconds), f"{cause.share:.0%}", gain)))
        settings = f" Settings to try: {', '.join(cause.settings)}." if cause.settings else ""
        lines.append(Sentence(f"{cause.why} {cause.remedy}{settings}", about=cause.name))
    return [Table("Causes", columns, tuple(rows)), *lines[:MAX_CAUSE_SENTENCES]]


def _tiles(timed: Sequence[Timed]) -> list[Block]:
    tiles = tuple(
        Tile(
            format_seconds(total.seconds),
            f"in {_name(total)}",
            f"{plural(len(total.calls), 'call')}, {format_bytes(total.bytes)} each",
        )
        for total in timed[:MAX_CAUSE_SENTENCES]
    )
    return [Tiles(tiles)] if tiles else []


def _name(one: Timed) -> str:
    """Name the function that was called; the most frequent, if there are several."""
    names = [call.name for call in one.calls]
    return max(dict.fromkeys(names), key=names.count) if names else one.pattern.op


def _slow(timed: Sequence[Timed]) -> list[Sentence]:
    """Name the longest phase of the most expensive patterns."""
    sentences = []
    for total in timed[:MAX_CAUSE_SENTENCES]:
        late = {} if total.late is None else {LATE: total.late}
        name = (
            f"{plural(len(total.calls), 'call')} of {_name(total)} (pattern {total.pattern.number})"
        )
        seen = total.parts if "exchange" in total.parts else {}
        sentence = slow(name, total.seconds, seen | late if seen else {})
        sentences += [sentence] if sentence else []
    return sentences


def _independent(
    opened: Sequence[RecordedFile], timed: Sequence[Timed], *, together: bool
) -> list[Sentence]:
    """Report independent accesses, which do not depend on aggregators.

    ``together`` is whether there are collective ones.
    """
    lines = [
        Sentence(
            f"Independent access to {_file(file)}: {plural(access.calls, access.op)} by "
            f"{plural(access.ranks, 'rank')}, {format_bytes(access.bytes)} in total, "
            f"{format_seconds(access.seconds)} on the slowest rank"
        )
        for file in opened
        for access in file.independent
    ][:MAX_FILES]
    if not timed:
        what = "pattern of a collective access" if together else "collective access to a file"
        lines.append(Sentence(f"No {what} was recorded."))
    return lines


def _file(file: RecordedFile) -> str:
    return printable(file.name.rpartition("/")[2] or file.name, 40)


def _table(timed: Sequence[Timed], opened: Sequence[RecordedFile]) -> list[Block]:
    """Tabulate the patterns, with the parts that were seen of any."""
    if not timed:
        return []
    seen = [name for name in PARTS if any(name in total.parts for total in timed)]
    names = {file.number: _file(file) for file in opened}
    titles = "pattern,op,file,>bytes per call,>pieces,>rounds,>calls,>total time,>bandwidth"
    columns = columns_of(*titles.split(","), *(f">{NAMES[n]}" for n in seen))
    rows = []
    for total in timed[:MAX_PATTERN_ROWS]:
        pattern, moved, seconds = total.pattern, total.bytes * len(total.calls), total.seconds
        parts = [format_seconds(total.parts[n]) if n in total.parts else "–" for n in seen]
        cells = (
            str(pattern.number),
            pattern.op,
            names.get(pattern.file, ""),
            format_bytes(total.bytes),
            f"{pattern.contiguous:,}",
            " … ".join(dict.fromkeys(map(str, [*total.rounds[:1], *total.rounds[-1:]]))) or "–",
            f"{pattern.calls:,}",
            format_seconds(seconds),
            format_rate(moved / seconds) if seconds > 0 else "",
        )
        rows.append(Row((*cells, *parts)))
    title = "Patterns of collective access, most expensive first"
    return [Table(title, columns, tuple(rows), left_out(len(timed), len(rows), "more pattern"))]


def _filesystems(opened: Sequence[RecordedFile]) -> list[Facts]:
    """List the known file systems of the files."""
    pairs = tuple((_file(file), file.filesystem) for file in opened if file.filesystem)
    omitted = len(pairs) - MAX_PATTERN_ROWS
    title = (
        f"File systems (and {omitted} more: --json lists all)" if omitted > 0 else "File systems"
    )
    return [Facts(title, pairs[:MAX_PATTERN_ROWS])] if pairs else []


def _hints(opened: Sequence[RecordedFile]) -> list[Facts]:
    """List the hints that matter, and all that the program gave."""
    facts = []
    for file in opened[:MAX_FILES]:
        pairs = [(key, file.hints[key]) for key in _OF_USE if key in file.hints]
        pairs += [(f"given: {key}", value) for key, value in file.given.items()]
        if pairs:
            facts.append(Facts(f"Active hints for {_file(file)}", tuple(pairs)))
    return facts


PAGE = Kind(
    title=_title,
    holds=lambda run: run.kind == KIND,
    sections=_sections,
    document=_document,
    place=4,
)
