"""Logs of Darshan, binary or as ``darshan-parser`` prints them: MPI-IO of a program as a recording.

A record of rank -1 has the sums over all ranks, and the times of the slowest and the fastest rank
(S. Snyder et al., Modular HPC I/O characterization with Darshan, ESPT 2016).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.record import Members
from isochrone.formats.darshan_text import text_of
from isochrone.formats.imported_recording import recording
from isochrone.formats.source import MAX_FILE_RANKS, Source, parse_number
from isochrone.runfile.importer import Importer
from isochrone.runfile.run import Run

_BINARY = re.compile(rb"\d\.\d\d\0{4}(75d\0{5}|\0{5}d57)", re.DOTALL)
"""Version and magic number, in the order of bytes of the machine that wrote the log."""
_HEADER = re.compile(r"# (exe|start_time|nprocs|run time): +(.*?)\s*")
_HOST = re.compile(r"# DXT, rank: (\d+), hostname: (\S+)\s*")
_FILE = re.compile(r"# DXT, file_id: (\d+), file_name: .*")
_INCOMPLETE = re.compile(r"# \*(?:ERROR|WARNING)\*: The (\S+) module contains incomplete data!\s*")

_MODULES = ("MPI-IO", "POSIX", "LUSTRE")
_STRIPES = {
    "LUSTRE_STRIPE_SIZE": "striping_unit",
    "LUSTRE_COMP1_STRIPE_SIZE": "striping_unit",
    "LUSTRE_STRIPE_WIDTH": "striping_factor",
    "LUSTRE_COMP1_STRIPE_COUNT": "striping_factor",
}
_KINDS = {
    "collective": ("COLL", "SPLIT"),
    "independent": ("INDEP",),
    "nonblocking": ("NB",),
}
_OPS = {"write": "WRITTEN", "read": "READ"}
_BINS = {
    "0_100": 100.0,
    "100_1K": 1e3,
    "1K_10K": 1e4,
    "10K_100K": 1e5,
    "100K_1M": 1e6,
    "1M_4M": 4e6,
    "4M_10M": 1e7,
    "10M_100M": 1e8,
    "100M_1G": 1e9,
    "1G_PLUS": float("inf"),
}
"""Bins of sizes, and the bytes below which their accesses are."""
_NOT_TOLD = (
    "a log of Darshan does not tell the effective hints, nor the pieces of file views, nor the "
    "time of MPI_File_sync (it is in that of writes)"
)
_LATENESS = (
    "; nor, unless DXT has all accesses to a file and all are collective, waiting for late ranks "
    "(it counts as exchange) and patterns"
)

_LATEST = 1 << 37
"""Seconds since 1970, in the year 6325."""
_MOST = 1 << 62
"""Counters have 64 bits."""

Counters = Mapping[str, float]
Segments = dict[int, list[tuple[int, int, float, float]]]
"""Offset, length, start and end of each access of a rank."""


class _Calls(NamedTuple):
    """Collective calls of a file: `Segments` as arrays of calls x ranks."""

    offset: Ints
    length: Ints
    start: Floats
    end: Floats


class _Log:
    """What is in the text, by module and file; rank -1 is all of them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.header: dict[str, str] = {}
        self.hosts: dict[int, str] = {}
        self.names: dict[str, tuple[str, str]] = {}
        self.counters: dict[str, dict[str, dict[int, dict[str, float]]]] = {
            module: {} for module in _MODULES
        }
        self.segments: dict[tuple[str, str], Segments] = {}
        file = ""
        log = text_of(source) if _BINARY.match(source.data) else source.data
        for text in source.each(log.decode("utf-8", "replace").splitlines()):
            if match := _HEADER.fullmatch(text):
                self.header.setdefault(match[1], match[2])
            elif match := _FILE.fullmatch(text):
                file = match[1]
            elif match := _HOST.fullmatch(text):
                source.same_host(self.hosts, int(match[1]), match[2])
            elif match := _INCOMPLETE.fullmatch(text):
                source.warn("incomplete", f"Darshan ran out of memory for its module {match[1]}")
            elif text.startswith(_MODULES):
                self._counter(text.split("\t"))
            elif text.lstrip().startswith("X_MPIIO"):
                self._segment(file, text.split())
        self.size = source.whole(self.header.get("nprocs", ""), "nprocs")
        if not 1 <= self.size <= MAX_FILE_RANKS:
            raise source.fail(f"the number of ranks {self.size} is not valid")
        ranks = {rank for records in self.counters["MPI-IO"].values() for rank in records}
        if max({*ranks, *self.hosts}, default=-1) >= self.size:
            raise source.fail(f"a record is of a rank that {self.size} ranks do not have")

    def _counter(self, words: list[str]) -> None:
        if len(words) < 8:
            raise self.source.fail(f"a counter has {len(words)} of 8 columns")
        module, rank, file, name, text = words[:5]
        value = parse_number(text)
        if value is None or value >= _MOST:
            if module == "LUSTRE" or name == "POSIX_RENAMED_FROM" or "_VARIANCE_" in name:
                return  # names of pools and patterns, the number of a file, squares of bytes
            raise self.source.fail(f"the value of {name[:40]!r} is no number that Darshan writes")
        number = -1 if rank == "-1" else self.source.whole(rank, "rank")
        self.names[file] = ("\t".join(words[5:-2]), words[-1])
        # -1 is what Darshan could not find out
        records = self.counters[module].setdefault(file, {})
        records.setdefault(number, {})[name.removeprefix("MPIIO_")] = max(0.0, value)

    def _segment(self, file: str, words: list[str]) -> None:
        if len(words) < 8 or words[2] not in _OPS:
            raise self.source.fail("a DXT row has too few columns")
        whole, number = self.source.whole, self.source.number
        offset = parse_number(words[4])
        if offset is None or offset < 0:
            return  # logs before DXT 2 have no offsets
        segments = self.segments.setdefault((file, words[2]), {})
        segments.setdefault(whole(words[1], "rank"), []).append(
            (
                whole(words[4], "offset"),
                whole(words[5], "length"),
                number(words[6], "start"),
                number(words[7], "end"),
            )
        )

    def accessing(self, file: str, op: str) -> float:
        """Return the POSIX seconds of the rank with most."""
        return max(
            (
                counters.get(f"POSIX_F_{op.upper()}_TIME", 0.0)
                * (_slowest_part(counters, "POSIX_") if rank < 0 else 1.0)
                for rank, counters in self.counters["POSIX"].get(file, {}).items()
            ),
            default=0.0,
        )

    def collective_calls(self, file: str, op: str, calls: float) -> _Calls | None:
        """Return the collective calls of all ranks; None if DXT did not see all of them."""
        segments = self.segments.get((file, op), {})
        each = [segments.get(rank, []) for rank in range(self.size)] if segments else []
        count = len(each[0]) if each else 0
        if not count or {len(one) for one in each} != {count} or count * self.size != calls:
            return None
        table = np.array(each, dtype=np.float64).transpose(2, 1, 0)
        exact = np.array([[s[:2] for s in one] for one in each], np.int64).transpose(2, 1, 0)
        return _Calls(exact[0], exact[1], table[2], np.maximum(table[2], table[3]))


def _seconds(counters: Counters, prefix: str = "") -> float:
    return sum(counters.get(f"{prefix}F_{name}_TIME", 0.0) for name in ("READ", "WRITE", "META"))


def _slowest_part(counters: Counters, prefix: str = "") -> float:
    """Return the part of all seconds of a shared record that its slowest rank has."""
    total = _seconds(counters, prefix)
    return min(1.0, counters.get(f"{prefix}F_SLOWEST_RANK_TIME", 0.0) / total) if total else 0.0


def _parts(counters: Counters, size: int) -> Floats:
    """Return the parts of the seconds of a shared record by rank: two are known, others equal."""
    total = _seconds(counters)
    parts = np.full(size, 1.0 / size)
    known = {
        int(counters.get(f"{name}_RANK", -1)): counters.get(f"F_{name}_RANK_TIME", 0.0)
        for name in ("FASTEST", "SLOWEST")
    }
    if total > 0 and len(known) == 2 and all(0 <= rank < size for rank in known):
        parts[:] = max(0.0, total - sum(known.values())) / max(1, size - 2)
        parts[[*known]] = [*known.values()]
        parts /= parts.sum() or 1.0
    return parts


def _share_of_bytes(counters: Counters, op: str, count: int, every: int) -> float:
    """Return the part of the bytes that so many of all accesses have, by their sizes.

    These are all those of one kind of call; if just as many are smaller, or larger, than a size of
    the histogram, they are these. Of equal sizes, as of the most frequent ones, bytes are known.
    """
    if not 0 < count < every:
        return float(count == every and count > 0)
    histogram = [counters.get(f"SIZE_{op.upper()}_AGG_{name}", 0.0) for name in _BINS]
    below = np.cumsum(histogram)
    total = max(1.0, counters.get(f"BYTES_{_OPS[op]}", 0.0))
    for few in (count, every - count):
        (ends,) = np.nonzero(below == few)
        if not len(ends):
            continue
        limits = [*_BINS.values()][: ends[0] + 1]
        nbytes = sum(n * limit / 2 for n, limit in zip(histogram, limits, strict=False))
        for k in range(1, 5):
            size, times = (counters.get(f"ACCESS{k}_{of}", 0.0) for of in ("ACCESS", "COUNT"))
            if times == few and size < limits[-1]:
                nbytes = few * size
        part = min(1.0, nbytes / total)
        return part if few == count else 1 - part
    return count / every


class _Tables:
    """Records of a recording, made file by file."""

    def __init__(self, log: _Log) -> None:
        self.log = log
        self.run_time = log.source.number(log.header.get("run time", "0"), "run time")
        self.tables: dict[str, list[Members]] = {}
        self.lateness_unseen = False
        self.patterns: dict[tuple[bytes | int | str, ...], Members] = {}
        for file, (name, records) in enumerate(log.counters["MPI-IO"].items()):
            self._file(file, name, records)
        self._shorten()

    def add(self, record: str, /, **members: object) -> Members:
        self.tables.setdefault(record, []).append(members)
        return members

    def _file(self, file: int, name: str, records: dict[int, dict[str, float]]) -> None:
        size = self.log.size
        opens = {r: c.get("COLL_OPENS", 0) + c.get("INDEP_OPENS", 0) for r, c in records.items()}
        most = max(-(-opens[rank] // size) if rank < 0 else opens[rank] for rank in records)
        row = self.add(
            "file",
            file=file,
            name=self.log.names[name][0],
            opens=int(most),
            filesystem=self.log.names[name][1],
        )
        if -1 not in records and len(records) < size:
            row["ranks"] = " ".join(map(str, sorted(records)))
        for counters in self.log.counters["LUSTRE"].get(name, {}).values():
            for key, hint in _STRIPES.items():
                if counters.get(key):
                    self.add("hint", file=file, key=hint, value=f"{counters[key]:.0f}")
            break
        for rank, counters in records.items():
            parts = _parts(counters, size) if rank < 0 else np.ones(1)
            seconds = counters.get("F_META_TIME", 0.0)
            self._spread(
                seconds,
                max(int(opens[rank]), seconds > 0),
                0,
                parts,
                max(0, rank),
                file=file,
                call="open",
            )
        for op in _OPS:
            self._accesses(file, name, op, records)

    def _accesses(
        self, file: int, name: str, op: str, records: dict[int, dict[str, float]]
    ) -> None:
        """Add the calls; bytes and seconds of a record are divided by the numbers of calls."""
        counted = {
            kind: {
                rank: int(sum(counters.get(f"{k}_{op.upper()}S", 0) for k in keys))
                for rank, counters in records.items()
            }
            for kind, keys in _KINDS.items()
        }
        together = sum(counted["collective"].values())
        total = sum(sum(each.values()) for each in counted.values())
        views = any(counters.get("VIEWS") for counters in records.values())
        calls = self.log.collective_calls(name, op, together) if together == total else None
        if 0 < together < total:
            self.log.source.warn(
                "divided",
                "the log has sums over collective and other calls: they are divided by the sizes "
                "of accesses, if these differ, else by the numbers of calls",
            )
        access = self.log.accessing(name, op) * together / max(1, total)
        for kind, each in counted.items():
            first = len(self.tables.get("time", []))
            for rank, count in each.items():
                counters = records[rank]
                every = sum(n[rank] for n in counted.values())
                share = _share_of_bytes(counters, op, count, every)
                nbytes = round(share * counters.get(f"BYTES_{_OPS[op]}", 0))
                parts = _parts(counters, self.log.size) if rank < 0 else np.ones(1)
                if rank < 0 and calls and (durations := (calls.end - calls.start).sum(0)).sum() > 0:
                    parts = durations / durations.sum()
                self._spread(
                    share * counters.get(f"F_{op.upper()}_TIME", 0.0),
                    count,
                    nbytes,
                    parts,
                    max(0, rank),
                    file=file,
                    call=kind,
                    op=op,
                )
            rows = self.tables.get("time", [])[first:]
            for row in rows:
                row["access"] = (
                    min(row["seconds"], access) if kind == "collective" else (row["seconds"])
                )
                if kind == "collective" and views and not calls:
                    row["pieces"] = 0  # a view may have any
            self.lateness_unseen |= bool(rows) and kind == "collective" and not calls
            if rows and kind == "collective" and calls:
                self._lateness(calls, rows)
                self._patterns(file, op, calls, views)
            elif rows and kind != "collective":
                self.add(
                    "independent",
                    file=file,
                    op=op,
                    calls=sum(each.values()),
                    bytes=sum(row["bytes"] for row in rows),
                    ranks=len(rows),
                    seconds=max(row["seconds"] for row in rows),
                )

    def _spread(
        self, seconds: float, calls: int, nbytes: int, parts: Floats, first: int, **of: object
    ) -> None:
        """Add times of a record, whose ranks begin with ``first``; sums stay what they are."""
        ranks = np.sort(np.argsort(-parts, kind="stable")[:calls])
        total = parts[ranks].sum()
        count = len(ranks)
        for k, rank in enumerate(ranks.tolist()):
            part = parts[rank] / total if total > 0 else 1.0 / count
            made, moved = (n * (k + 1) // count - n * k // count for n in (calls, nbytes))
            data = {"bytes": moved, "pieces": made, "span": moved, "empty": 0} if "op" in of else {}
            self.add(
                "time",
                rank=first + rank,
                **of,
                calls=made,
                seconds=float(seconds * part),
                waiting=0.0,
                access=0.0,
                last=0,
                late=0.0,
                **data,
            )

    def _shorten(self) -> None:
        """Scale the seconds of ranks that would be in MPI-IO for longer than the program ran.

        The split of sums over calls and ranks gave them too many.
        """
        rows = self.tables.get("time", [])
        busy = np.zeros(self.log.size)
        for row in rows:
            busy[row["rank"]] += row["seconds"]
        for row in rows:
            if self.run_time and busy[row["rank"]] > self.run_time:
                for part in ("seconds", "waiting", "access"):
                    row[part] *= float(self.run_time / busy[row["rank"]])

    def _lateness(self, calls: _Calls, rows: list[Members]) -> None:
        """Take the waiting for the last rank from the starts of the calls."""
        entered = calls.start.max(1, keepdims=True)
        waiting = np.clip(np.minimum(entered, calls.end) - calls.start, 0, None).sum(0)
        last = calls.start.argmax(1)
        others = (calls.start.sum(1) - entered[:, 0]) / max(1, self.log.size - 1)
        for row in rows:
            rank = row["rank"]
            mine = last == rank
            row["waiting"] = min(float(waiting[rank]), row["seconds"])
            row["access"] = min(row["access"], row["seconds"] - row["waiting"])
            row["last"] = int(mine.sum())
            row["late"] = float((entered[mine, 0] - others[mine]).sum())

    def _patterns(self, file: int, op: str, calls: _Calls, views: bool) -> None:
        """Put calls together whose pieces are the same, up to a shift."""
        for offset, length, start, end in zip(*calls, strict=True):
            shift = int(offset.min())
            key = (file, op, (offset - shift).tobytes(), length.tobytes())
            pattern = self.patterns.get(key)
            if pattern is None:
                number = len(self.patterns)
                pattern = self.patterns[key] = self.add(
                    "pattern",
                    pattern=number,
                    file=file,
                    op=op,
                    bytes=int(length.sum()),
                    pieces=int((length > 0).sum()),
                    calls=0,
                    whole=not views,
                )
                pattern["first"] = shift
                for rank, (at, nbytes) in enumerate(zip(offset, length, strict=True)):
                    self.add(
                        "piece",
                        pattern=number,
                        rank=rank,
                        offset=int(at),
                        count=1,
                        stride=0,
                        length=int(nbytes),
                    )
            pattern["calls"] += 1
            self.add(
                "call",
                call=len(self.tables.get("call", [])),
                pattern=pattern["pattern"],
                shift=shift - pattern["first"],
                name=f"MPI_File_{op}_all",
                seconds=float(end.max() - start.min()),
                late=float(start.max() - start.min()),
            )


def read(path: Path) -> Run:
    """Read the counters, and the accesses of DXT if the text has them, as a recording.

    Raises
    ------
    InputError
        If it cannot be read, contradicts itself, or is of a program without MPI-IO.
    """
    source = Source.open(path, "darshan")
    log = _Log(source)
    if not log.counters["MPI-IO"]:
        hint = "record a program that uses MPI-IO"
        if log.segments:
            hint = "add the output of darshan-parser to that of darshan-dxt-parser, or give the log"
        raise source.fail("the log has no counters of MPI-IO", hint=hint)
    made = _Tables(log)
    source.warnings[:] = {warning["text"]: warning for warning in source.warnings}.values()
    source.warn("log-limits", _NOT_TOLD + (_LATENESS if made.lateness_unseen else ""))
    for pattern in made.patterns.values():
        del pattern["first"]
    started = source.whole(log.header.get("start_time", "0"), "start_time")
    if started > _LATEST:
        raise source.fail(f"the start_time {started} is not valid")
    return recording(
        source,
        "io-recording",
        log.hosts,
        made.tables,
        ranks=log.size,
        command=log.header.get("exe", ""),
        seconds_are="MPI-IO, from counters of Darshan",
        seconds=made.run_time,
        started=f"{datetime.fromtimestamp(started, UTC):%Y-%m-%dT%H:%M:%SZ}",
    )


IMPORTER = Importer(
    holds="io-recording",
    read=read,
    says="a log of Darshan",
    signature=re.compile(rb"^# darshan log version: |\A" + _BINARY.pattern, re.MULTILINE),
)
