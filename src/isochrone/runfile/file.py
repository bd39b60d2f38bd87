"""The run file: one measurement, one JSON Lines file with all raw samples.

Format history
--------------
1
    First format. Line 1 is the ``run`` record; then one ``rank`` record for each rank, as found on
    the machine; then samples, each a flat object named after what it is (``pair``, ``sample``);
    ``warning`` records wherever the measurement was suspicious; last an ``end`` record. A file
    without the ``end`` record is a partial run. Times are seconds, sizes bytes. Unknown keys and
    unknown records are kept.
2
    Maps of many ranks, and sampled ones: the pairs are in ``pairs`` records of many each
    (`runfile.blocks`), with numbers and checksums, and a ``blocks`` record says how many there
    are. All else is as in format 1, and so are all other measurements.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from isochrone.base.errors import InputError, failing
from isochrone.base.files import check_ordinary, whole_file
from isochrone.base.format_version import check_format
from isochrone.base.record import Members
from isochrone.base.table import SparseError, TableBuilder, refuse_uneven
from isochrone.runfile import blocks, rules
from isochrone.runfile.fast_lines import columns_of
from isochrone.runfile.file_type import other_kind
from isochrone.runfile.header import header_of
from isochrone.runfile.records import End, Rank, converted
from isochrone.runfile.rules import DAMAGED
from isochrone.runfile.run import PLACES, Run

RUN_FORMAT = 2

MAX_RANKS = 1 << 22
"""Files with more ranks are damaged."""

MAX_UNKNOWN_RANKS = 4096
"""Ranks without ``rank`` records, as in files of other programs."""

MAX_LINE = 1 << 26
"""Bytes."""

NO_RUN_FILE = "run files come from 'isochrone measure' and 'isochrone import'"

BLOCK = 1 << 18
"""Bytes read at once; bounds the memory for records that are not yet columns."""

_MIN_INDEXED_LINES = 16
"""Lines of one name that are not worth the search for columns."""

_RANK_MEMBERS = {*Rank.__struct_fields__} - {"extra"}
_RANK_IF_KNOWN = _RANK_MEMBERS - {"rank", "host", "node", *PLACES}

_T = TypeVar("_T")

_DECODE = msgspec.json.Decoder(Members).decode


def read(path: str | Path) -> Run:
    """Read a run file.

    A file that was cut short, even within its last line, is a partial run and not an error.

    Raises
    ------
    InputError
        If the file cannot be opened, is not a run file, is of a newer format, or is damaged.
    """
    path = Path(path)
    check_ordinary(path)
    reader = _Reader(path)
    with failing("the file cannot be read", path):
        try:
            with path.open("rb") as stream:
                return reader.read(stream)
        except InputError:
            description, hint = ("", "") if reader.run.header else other_kind(path)
            if not description:
                raise
            raise InputError(description, where=path, hint=hint) from None


def write(run: Run, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a run file, atomically.

    Raises
    ------
    InputError
        If the file exists and ``overwrite`` is false, or it cannot be written.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise InputError("the file exists", where=path, hint="choose another name, or --force")
    with whole_file(path) as stream:
        stream.writelines(_lines(run))


def insert(path: str | Path, records: Iterable[Members], *, seconds: float) -> None:
    """Insert records before the end of a complete run file, atomically.

    Parameters
    ----------
    path
        The file; its other records are not changed.
    records
        With their names as ``record``.
    seconds
        Time it took to measure them, added to that of the run.

    Raises
    ------
    InputError
        If the file does not end with an ``end`` record, or cannot be read or written.
    """
    path = Path(path)
    with failing("the file cannot be read", path), path.open("rb") as old:
        start, end = _end_of(old, path)
        old.seek(0)
        with whole_file(path) as stream:
            while start and (block := old.read(min(BLOCK, start))):
                stream.write(block)
                start -= len(block)
            end["seconds"] = float(end.get("seconds", 0.0)) + seconds
            stream.writelines(map(_line, (*records, end)))


def _end_of(stream: BinaryIO, path: Path) -> tuple[int, Members]:
    """Return where the last record of a file starts, and the record."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - BLOCK))
    block = stream.read().rstrip(b"\n")
    last = block.rpartition(b"\n")[2]
    try:
        record = msgspec.json.decode(last, type=Members)
    except msgspec.DecodeError:
        record = {}
    if record.get("record") != "end":
        raise InputError("the file has no 'end' record", where=path)
    return max(0, size - BLOCK) + len(block) - len(last), record


def whole_records(path: Path) -> Iterator[Members]:
    """Yield the records of a run file up to the first damaged one; the last may be cut."""
    with path.open("rb") as stream:
        for line in stream:
            try:
                yield _DECODE(line)
            except msgspec.DecodeError:
                return


def _lines(run: Run) -> Iterator[bytes]:
    """Yield the lines of a run file, many pairs in blocks."""
    pairs = run.tables.get("pair")
    compact = pairs is not None and run.size >= blocks.COMPACT_RANKS and blocks.can_hold(pairs)
    yield _line({"record": "run", "format": RUN_FORMAT if compact else 1, **run.header})
    for rank in run.ranks:
        yield _line(
            {
                "record": "rank",
                "rank": rank.rank,
                "host": rank.host,
                "node": rank.node,
                **{key: getattr(rank, key) for key in PLACES},
                **{
                    k: value
                    for k in _RANK_IF_KNOWN
                    if (value := getattr(rank, k)) not in (-1, "", {})
                },
                **rank.extra,
            }
        )
    for name, table in run.tables.items():
        if compact and name == "pair":
            yield from blocks.lines_of(table)
        else:
            yield from (_line({"record": name, **row}) for row in table.rows())
    for warning in run.warnings:
        yield _line({"record": "warning", **warning})
    if run.end is not None:
        yield _line({"record": "end", **run.end})


def _line(record: Members) -> bytes:
    return msgspec.json.encode(record) + b"\n"


class _Reader:
    """Reads and checks the records of one file; errors name the line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0
        self.run = Run({}, path=path)  # without a header until its record was read
        self.builders: dict[str, TableBuilder] = {}
        self.ranks_seen: set[int] = set()
        self.blocks_read = 0
        self.total: Members | None = None

    def read(self, stream: BinaryIO) -> Run:
        try:
            for block in self.blocks(stream):
                for _, same in groupby(block, lambda line: line[: line.find(b",")]):
                    lines = list(same)  # of one name
                    if len(lines) < _MIN_INDEXED_LINES or not self.take_samples(lines):
                        self.take_each(lines)
            tables = {name: builder.build() for name, builder in self.builders.items()}
        except SparseError as error:
            raise self.fail(str(error), line=False) from error
        if not self.run.header:
            raise InputError("the file is empty", where=self.path, hint=NO_RUN_FILE)
        self.run.tables = tables
        self.check_ranks()
        rules.check(self.run)
        self.warn_of_shared_processors()
        return self.run

    def blocks(self, stream: BinaryIO) -> Iterator[list[bytes]]:
        """Yield the lines of the file in blocks; lines above `MAX_LINE` are refused."""
        begun: list[bytes] = []
        length = 0
        while block := stream.read(BLOCK):
            complete, newline, remainder = block.rpartition(b"\n")
            if newline:
                yield BytesIO(b"".join([*begun, complete, newline])).readlines()
                begun, length = [], 0
            begun.append(remainder)
            length += len(remainder)
            if length > MAX_LINE:
                self.line += 1
                raise self.fail(f"the line has more than {MAX_LINE >> 20} MiB")
        if length:
            yield [b"".join(begun)]

    def warn_of_shared_processors(self) -> None:
        """Warn of ranks on one processor, as the probe does for latency maps."""
        shared = self.run.shared_processors
        warned = {"shared-processor", "oversubscribed"} & {w.get("code") for w in self.run.warnings}
        if shared and not warned:
            text = (
                f"ranks {' and '.join(map(str, shared[0][:2]))} shared a processor; bind the "
                "ranks, or start fewer"
            )
            self.run.warnings.append({"code": "shared-processor", "text": text})

    def take_samples(self, lines: Sequence[bytes]) -> bool:
        """Take lines if all are samples with the same members; return whether they are."""
        parsed = columns_of(lines) if self.run.header and self.run.end is None else None
        if parsed is not None:
            name, columns = parsed
            self.builders.setdefault(name, TableBuilder()).add_columns(len(lines), columns)
            self.line += len(lines)
        return parsed is not None

    def take_each(self, lines: Sequence[bytes]) -> None:
        """Take lines of any kind."""
        for text in lines:
            self.line += 1
            try:
                record = _DECODE(text)
            except RecursionError as error:
                raise self.fail("a record is nested too deeply") from error
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if self.run.header and not text.endswith(b"\n"):
                    break  # the writer was killed within this line
                hint = DAMAGED if self.run.header else NO_RUN_FILE
                raise self.fail(
                    f"the line is not a record of a run file: {error}", hint=hint
                ) from error
            self.take(record, text)

    def take(self, record: Members, text: bytes) -> None:
        kind = record.pop("record", None)
        if not self.run.header:
            self.start(kind, record)
        elif self.run.end is not None:
            raise self.fail("a record follows the 'end' record")
        elif kind == "run":
            raise self.fail("the file has a second 'run' record")
        elif kind == "rank":
            self.run.ranks.append(self.rank(record))
        elif kind == "warning":
            self.run.warnings.append(record)
        elif kind == "end":
            self.converted(record, End, "end")
            self.check_total()
            self.run.end = record
        elif kind == blocks.BLOCK:
            self.take_block(record, text.rstrip(b"\r\n"))
        elif kind == blocks.TOTAL:
            self.total = record
        elif isinstance(kind, str):
            if kind == "pair" and self.blocks_read:  # measured again: the columns of blocks
                record = {"batch": 1, "shared_cpu": False, "retest": False, **record}
            self.builders.setdefault(kind, TableBuilder()).add(record)
        else:
            raise self.fail("the record has no name")

    def take_block(self, record: Members, text: bytes) -> None:
        """Take many pairs."""
        if record.get("block") != self.blocks_read or self.total is not None:
            raise self.fail(f"'pairs' record {self.blocks_read} is missing")
        try:
            count, columns = blocks.columns_of(text, record)
        except blocks.BlockError as error:
            raise self.fail(f"'pairs' record {self.blocks_read}: {error}") from error
        self.blocks_read += 1
        self.builders.setdefault("pair", TableBuilder()).add_columns(count, columns)

    def check_total(self) -> None:
        """Refuse a complete file in which ``pairs`` records are missing."""
        total = self.total or {"blocks": 0}
        if total.get("blocks") != self.blocks_read:
            raise self.fail("'pairs' records are missing")

    def start(self, kind: object, record: Members) -> None:
        if kind != "run":
            raise self.fail(
                "the file is not a run file: it does not begin with a 'run' record",
                hint=NO_RUN_FILE,
            )
        try:
            check_format(record.pop("format", None), RUN_FORMAT, "the 'run' record")
        except InputError as error:
            raise self.fail(error.what, hint=error.hint or DAMAGED) from error
        ranks = record.get("ranks")
        if type(ranks) is not int or not 1 <= ranks <= MAX_RANKS:
            raise self.fail("the 'run' record has no valid number of 'ranks'")
        try:
            header_of(record)
        except InputError as error:
            raise self.fail(error.what) from error
        self.run.header = record

    def rank(self, record: Members) -> Rank:
        unknown = {key: record.pop(key) for key in record.keys() - _RANK_MEMBERS}
        rank = self.converted({**record, "extra": unknown}, Rank, "rank")
        if not 0 <= rank.rank < self.run.size:
            raise self.fail(f"'rank' is {rank.rank}, not a number from 0 to {self.run.size - 1}")
        if rank.rank in self.ranks_seen:
            raise self.fail(f"rank {rank.rank} appears twice")
        self.ranks_seen.add(rank.rank)
        return rank

    def converted(self, record: Members, kind: type[_T], name: str) -> _T:
        try:
            return converted(record, kind, name)
        except InputError as error:
            raise self.fail(error.what) from error

    def check_ranks(self) -> None:
        """Refuse more ranks than the file describes, which would take memory for each."""
        described, size = len(self.run.ranks), self.run.size
        try:
            refuse_uneven([rank.host for rank in self.run.ranks])
        except SparseError as error:
            raise self.fail(f"the names of hosts: {error}", line=False) from error
        if self.run.tables and described != size and (described or size > MAX_UNKNOWN_RANKS):
            raise self.fail(f"the run has {size} ranks, but describes {described}", line=False)

    def fail(self, problem: str, *, hint: str = DAMAGED, line: bool = True) -> InputError:
        where = f"{self.path}:{self.line}" if line else str(self.path)
        return InputError(problem, where=where, hint=hint)
