"""Why the MPI-IO of a recorded program takes its time: one table of rules, by seconds.

A rule explains seconds that a remedy could save at most, on the mean rank. There is no threshold
but `accesses.SMALL`: what explains few seconds comes last.

What cannot be saved is no part of a cause: a file is opened once, ``n`` calls that can be made one
leave ``1 / n`` of their time, and ``n`` pieces of a call that can be made one likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.causes.accesses import Access, Recorded, recorded_accesses
from isochrone.collective_io.results.io_recording import RecordedFile
from isochrone.collective_io.results.io_times import ALONE, METADATA, SHARED, account
from isochrone.pages.words import plural
from isochrone.runfile.run import Run


class Explained(NamedTuple):
    """Seconds of the mean rank that a rule explains, the numbers for that, and a sentence.

    ``most`` are the seconds of the slowest rank, if they may be more.
    """

    seconds: float
    numbers: Mapping[str, float]
    words: str
    most: float = 0.0


class Rule(NamedTuple):
    """A cause.

    Attributes
    ----------
    name
        Of the cause.
    drishti
        Codes of the insights of Drishti on the same.
    find
        Explains seconds.
    remedy
        What to change in the program.
    romio, ompio
        Settings of ROMIO and of Open MPI to try.
    """

    name: str
    drishti: str
    find: Callable[[Recorded], Explained | None]
    remedy: str
    romio: tuple[str, ...] = ()
    ompio: tuple[str, ...] = ()


class Cause(Record):
    """Why MPI-IO takes long.

    Attributes
    ----------
    name
        Of the rule.
    drishti
        Codes of the insights of Drishti on the same; empty if there are none.
    seconds
        Of the mean rank, which the remedy saves at most.
    share
        Part of the seconds of MPI-IO.
    gain
        How many times as fast the program becomes at most; null if not known.
    why, numbers
        What the cause rests on.
    remedy
        What to change.
    settings
        Hints of ROMIO, or variables of Open MPI, to try; ``isochrone tune collective-io`` does.
    """

    name: str
    drishti: str
    seconds: float
    share: float
    gain: float | None
    why: str
    numbers: Mapping[str, float]
    remedy: str
    settings: list[str]


def causes(run: Run) -> list[Cause]:
    """Return the causes, that with most seconds first; none of a recording without times."""
    total = account(run)
    if total is None:
        return []
    recorded = recorded_accesses(run)
    romio = any("romio_cb_write" in file.hints for file in recorded.files.values())
    imported = "imported" in run.header  # a log of Darshan does not tell the library
    found = []
    for rule in RULES:
        explained = rule.find(recorded)
        if explained is None or explained.seconds <= 0:
            continue
        seconds, numbers, words, most = explained
        left = total.whole - max(seconds, most)
        gain, share = total.whole / left if left > 0 else None, seconds / total.mean
        settings = [*rule.romio * (romio or imported), *rule.ompio * (not romio)]
        of_rule = rule.name, rule.drishti, seconds, share, gain
        found.append(Cause(*of_rule, words, numbers, rule.remedy, settings))
    return sorted(found, key=lambda cause: -cause.seconds)


# --- rules ---------------------------------------------------------------------------------------


def _late(recorded: Recorded) -> Explained | None:
    seconds = sum(row.waiting for row in recorded.times) / recorded.size
    by_rank = grouped((row.rank, row) for row in recorded.times if row.last)
    if not by_rank:
        return None
    rank = max(by_rank, key=lambda key: sum(row.late for row in by_rank[key]))
    rows = by_rank[rank]
    late, calls = sum(row.late for row in rows), sum(row.last for row in rows)
    every = sum(row.calls for row in recorded.times if row.rank == rank and row.call not in ALONE)
    most = max(rows, key=lambda row: row.late)
    return Explained(
        seconds,
        {"rank": rank, "calls": calls, "late_seconds": late},
        f"Ranks wait for others to enter the same call. Rank {rank} is last in {calls} of {every} "
        f"calls, {format_seconds(late / calls)} after the mean of the others, "
        f"mostly in {most.call} calls of {_named(recorded.files[most.file])}.",
    )


def _repeated(kinds: Sequence[str], doing: str) -> Callable[[Recorded], Explained | None]:
    """Return a rule for calls that can be made once."""

    def find(recorded: Recorded) -> Explained | None:
        rows = [row for row in recorded.times if row.call in kinds]
        by_rank = grouped(((row.rank, row.call), row) for row in rows)
        seconds = 0.0
        for listed in by_rank.values():
            calls = sum(row.calls for row in listed)
            seconds += sum(row.seconds - row.waiting for row in listed) * (calls - 1) / calls
        if not rows:
            return None
        most = {
            kind: max(
                (sum(r.calls for r in each) for (_, k), each in by_rank.items() if k == kind),
                default=0,
            )
            for kind in kinds
        }
        files = len({row.file for row in rows})
        listing = ", ".join(f"{count} × {kind}" for kind, count in most.items() if count)
        return Explained(
            seconds / recorded.size,
            {**most, "files": files},
            f"A rank {doing}: {listing}, of {plural(files, 'file')}.",
        )

    return find


def _summed(
    seconds: Callable[[Access], float], words: str
) -> Callable[[Recorded], Explained | None]:
    """Return a rule that adds up over all accesses; ``words`` are on that with most seconds."""

    def find(recorded: Recorded) -> Explained | None:
        explained = [
            (value, access) for access in recorded.accesses if (value := seconds(access)) > 0
        ]
        if not explained:
            return None
        _, longest = max(explained, key=lambda pair: pair[0])
        numbers = {
            "calls": longest.calls,
            "ranks": longest.ranks,
            "active_ranks": longest.active,
            "bytes": longest.size,
            "pieces": longest.pieces,
            "span": longest.span,
            "exchange_seconds": longest.exchange,
            "access_seconds": longest.access,
            "misaligned": longest.misaligned,
        }
        others = len(explained) - 1
        more = f" (and {plural(others, 'kind')} of access more)" if others else ""
        few = longest.ranks < recorded.size
        by = f", which {plural(longest.ranks, 'rank')} of {recorded.size} access" * few
        sentence = words.format_map(_facts(longest) | {"by": by}) + more + "."
        most = sum(value * access.slowest for value, access in explained)
        return Explained(sum(value for value, _ in explained), numbers, sentence, most)

    return find


def _facts(access: Access) -> dict[str, str]:
    """Return what the words of rules say of an access, by name."""
    return {
        "op": access.op,
        "file": _named(access.file),
        "filesystem": access.file.filesystem or "unknown file system",
        "stripe": access.file.hints.get("striping_unit", ""),
        "calls": f"{access.calls:,.0f}",
        "ranks": str(access.ranks),
        "active": f"{access.active:.0f}",
        "size": format_bytes(round(access.size)),
        "pieces": f"{access.pieces:,.0f}",
        "piece": format_bytes(access.piece),
        "sieved": f"{access.span / max(1.0, access.size):,.1f}",
        "exchange": format_seconds(access.exchange),
        "access": format_seconds(access.access * access.slowest) if access.access else "not seen",
        "misaligned": f"{access.misaligned:.0%}",
    }


def _shared_pointer(recorded: Recorded) -> Explained | None:
    rows = [row for row in recorded.times if row.call in SHARED]
    calls = sum(row.calls for row in rows)
    return Explained(
        sum(row.seconds - row.waiting for row in rows) / recorded.size,
        {"calls": calls},
        f"{plural(calls, 'access')} at the pointer that all ranks share.",
    )


def _bound(access: Access) -> float:
    """Seconds of access that neither calls nor pieces explain."""
    if access.unseen or (access.small and (access.alone or not access.strided)):
        return 0.0
    return access.access if access.alone else access.part * access.access


def _named(file: RecordedFile) -> str:
    return printable(file.name.rpartition("/")[2] or file.name, 40)


_OFF = ("romio_cb_write=disable", "romio_cb_read=disable")
_WITHOUT_AGGREGATORS = ("OMPI_MCA_fcoll=individual",)

RULES = (
    Rule(
        "late-ranks",
        "P19",
        _late,
        "Balance what the program does before these calls; no hint changes that.",
    ),
    Rule(
        "metadata",
        "P17",
        _repeated(METADATA, "opens, closes or changes files often"),
        "Open a file once and leave it open; set its size and its view once.",
    ),
    Rule(
        "sync",
        "",
        _repeated(("sync",), "calls MPI_File_sync often"),
        "Call MPI_File_sync once, before another program reads the file; MPI_File_close does it.",
    ),
    Rule(
        "small-independent",
        "P05 P06 P15 P16 M02 M03",
        _summed(
            lambda access: (
                access.access * (access.calls - 1) / access.calls
                if access.alone and access.small and not access.strided
                else 0.0
            ),
            "A rank makes {calls} independent {op}s of {size} to {file}",
        ),
        "Collect what a rank accesses, or access it collectively with one file view "
        "(MPI_File_write_all, MPI_File_read_all).",
    ),
    Rule(
        "strided-independent",
        "M02 M03",
        _summed(
            lambda access: (
                access.access * (access.pieces - 1) / access.pieces
                if access.alone and access.strided
                else 0.0
            ),
            "An independent {op} of {file} has {pieces} pieces of {piece}; data sieving moves "
            "{sieved} times its bytes",
        ),
        "Access collectively (MPI_File_write_all, MPI_File_read_all), or switch data sieving.",
        ("romio_ds_write=disable", "romio_ds_read=disable"),
        ("OMPI_MCA_fbtl_posix_write_datasieving=0", "OMPI_MCA_fbtl_posix_read_datasieving=0"),
    ),
    Rule(
        "shared-pointer",
        "",
        _shared_pointer,
        "Compute all offsets once (MPI_Exscan), and access with MPI_File_write_at; a collective "
        "operation for each access would take longer.",
    ),
    Rule(
        "size-imbalance",
        "P18",
        _summed(
            lambda access: (
                0.0 if access.alone else (1 - access.part) * (access.exchange + access.access)
            ),
            "{active} of {ranks} ranks have data in collective {op}s of {file}, {size} each",
        ),
        "Let those ranks access independently (MPI_File_write_at), or spread the data.",
        _OFF,
        _WITHOUT_AGGREGATORS,
    ),
    Rule(
        "small-collective",
        "P05 P06 P15 P16",
        _summed(
            lambda access: (
                access.part * (access.exchange + access.access) * (access.calls - 1) / access.calls
                if not access.alone and access.small and not (access.strided or access.unseen)
                else 0.0
            ),
            "{calls} collective {op}s of {file}, each with a single piece of {size} of a rank",
        ),
        "Make fewer calls: one call with a file view for all pieces; or switch collective "
        "buffering off.",
        _OFF,
        _WITHOUT_AGGREGATORS,
    ),
    Rule(
        "contiguous-exchange",
        "",
        _summed(
            lambda access: (
                0.0
                if access.alone or access.small or access.unseen
                else access.part * access.exchange
            ),
            "Ranks exchange offsets or data in collective {op}s of {file}, although pieces of a "
            "rank are as large as {piece}",
        ),
        "Switch collective buffering off: pieces are large enough for the file system.",
        _OFF,
        _WITHOUT_AGGREGATORS,
    ),
    Rule(
        "exchange",
        "M08 M09",
        _summed(
            lambda access: (
                0.0 if access.alone or not access.strided else access.part * access.exchange
            ),
            "Collective {op}s of {file} exchange {pieces} pieces of {piece} of each rank: "
            "{exchange}; access to the file: {access}",
        ),
        "Change number, order or buffers of the aggregators, or switch collective buffering off; "
        "or give each rank large pieces of the file by an exchange of your own before the call.",
        ("cb_nodes", "cb_config_list", "cb_buffer_size", *_OFF),
        ("OMPI_MCA_fcoll", "OMPI_MCA_io_ompio_num_aggregators"),
    ),
    Rule(
        "unseen-pieces",
        "",
        _summed(
            lambda access: access.part * (access.exchange + access.access) * access.unseen,
            "Collective {op}s of {file} move {size} of a rank in a call; the log does not tell in "
            "how many pieces, which its file views decide",
        ),
        "Record the program (isochrone record), which sees the pieces.",
    ),
    Rule(
        "misaligned",
        "P08",
        _summed(
            lambda access: access.misaligned * _bound(access),
            "{misaligned} of the pieces of collective {op}s of {file} begin within a stripe "
            "of {stripe} bytes",
        ),
        "Let pieces begin at multiples of the stripe (H5Pset_alignment, nc_header_align_size).",
        ("romio_min_fdomain_size",),
    ),
    Rule(
        "file-system",
        "",
        _summed(
            lambda access: (1 - access.misaligned) * _bound(access),
            "The file system needs {access} for {calls} {op}s of {size} of a rank to {file} "
            "({filesystem}){by}",
        ),
        "On a parallel file system, stripe the file over as many targets as there are nodes.",
        ("striping_factor",),
    ),
)
"""All causes; every second of an access is in one of them at most."""
