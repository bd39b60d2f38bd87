"""Recording of a program's collective I/O: accessed bytes and times.

Calls whose pieces are the same, up to one shift of all ranks, are one pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

import numpy as np

from isochrone.base.documents import Hidden, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Members, Record
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.collective_io.predict.call_parts import PARTS, Parts
from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.accesses import Accesses, made
from isochrone.runfile.run import Run

KIND = "io-recording"

COLUMNS = ("rank", "offset", "length", "count", "stride")
"""Of pieces of a file."""


class RecordedCall(Record):
    """A collective access.

    Attributes
    ----------
    call
        Its number, in the order of the program.
    pattern
        Number of its pattern.
    shift
        Offset in bytes from the pieces of the pattern's first call.
    op
        ``write`` or ``read``.
    name
        Of the function.
    seconds
        The slowest rank.
    parts
        Seconds of the recorded phases: exchange of offsets and lengths before the first round
        (``offsets``); in all rounds, exchange of sizes (``counts``), data exchange (``exchange``)
        and file access (``file``); and the ``rest``: packing, copying, waiting for late ranks.
    rounds
        Of the exchange; None if not recorded.
    late
        Seconds between the arrival of the first and the last rank; None if not recorded.
    """

    call: int
    pattern: int
    shift: int
    op: str
    name: str
    seconds: float
    parts: Hidden[Mapping[str, float]]
    rounds: int | None
    late: float | None

    @property
    def nonblocking(self) -> bool:
        """Whether it is: it took from its start until the program completed it."""
        return self.name.startswith("MPI_File_i")

    @property
    @shown
    def all_parts(self) -> Annotated[Parts, "as parts"]:
        """The parts; None where they were not seen."""
        return Parts(**self.parts)


class RecordedPattern(Record):
    """Access pattern of one or more calls.

    Attributes
    ----------
    number, file
        Of the pattern, and of its file.
    op
        ``write`` or ``read``.
    bytes, calls
        Of one call, all ranks together; number of calls.
    contiguous
        Contiguous pieces of one call.
    ranks
        Number of ranks of the file.
    whole
        Whether all pieces are present.
    pieces
        `COLUMNS`, one entry for each run: ``count`` pieces of ``length`` bytes, ``stride`` apart,
        the first at ``offset``, accessed by ``rank`` (its number in the run).
    """

    number: Annotated[int, "as pattern"]
    file: int
    op: str
    bytes: int
    calls: int
    contiguous: Annotated[int, "as pieces"]
    ranks: int
    whole: bool
    pieces: Hidden[dict[str, Ints]]

    def accesses(self, file: RecordedFile, ranks: int) -> Accesses:
        """Return who touches which bytes of its file, in a job of so many ranks."""
        members = tuple(file.ranks.tolist()) if len(file.ranks) < ranks else None
        return made(**self.pieces, ranks=ranks, members=members)


class Independent(Record):
    """Accesses of single ranks to a file, which were only counted.

    Attributes
    ----------
    op
        ``write`` or ``read``.
    calls, bytes
        Of all ranks.
    ranks
        That made them.
    seconds
        Of the rank that spent most.
    """

    op: str
    calls: int
    bytes: int
    ranks: int
    seconds: float


class RecordedFile(Record):
    """A file that was opened.

    Attributes
    ----------
    number, name
        In the run; as given by the program.
    ranks
        That opened it, ascending.
    opens
        How often.
    hints, given
        Active, as reported by the library; given by the program.
    independent
        Accesses of single ranks.
    filesystem
        Its kind (``tmpfs``, ``lustre`` …), ``other``, or empty if unknown.
    """

    number: Annotated[int, "as file"]
    name: str
    ranks: Ints
    opens: int
    hints: dict[str, str]
    given: dict[str, str]
    independent: list[Independent]
    filesystem: str = ""


def files(run: Run) -> list[RecordedFile]:
    """List the files.

    Raises
    ------
    InputError
        If the run is not a recording of collective I/O, or damaged.
    """
    active, given_hints = _hints(run, "value"), _hints(run, "given")
    keys = ("op", "calls", "bytes", "ranks", "seconds")
    independent = grouped(
        (row["file"], Independent(*(row[key] for key in keys))) for row in _rows(run, "independent")
    )
    listed = []
    for row in _rows(run, "file"):
        number, ranks = row["file"], _ranks(run, row.get("ranks"))
        name = printable(row["name"], 4096)
        hints = active.get(number, {}), given_hints.get(number, {})
        system = row["filesystem"] if isinstance(row.get("filesystem"), str) else ""
        alone = independent.get(number, [])
        listed.append(RecordedFile(number, name, ranks, row["opens"], *hints, alone, system))
    return listed


def patterns(run: Run) -> list[RecordedPattern]:
    """List the patterns, by number.

    Raises
    ------
    InputError
        If the run is no recording of collective I/O, or damaged.
    """
    sizes = {file.number: len(file.ranks) for file in files(run)}
    pieces = run.tables.get("piece", Table())
    recorded = []
    for row in _rows(run, "pattern"):
        pattern_pieces = pieces.where(pieces["pattern"] == row["pattern"]) if pieces else pieces
        empty = np.zeros(0, np.int64)
        runs = {key: pattern_pieces[key] if pattern_pieces else empty for key in COLUMNS}
        of = row["pattern"], row["file"], row["op"], row["bytes"], row["calls"], row["pieces"]
        whole = row.get("whole") is not False
        recorded.append(RecordedPattern(*of, sizes[row["file"]], whole, runs))
    return sorted(recorded, key=lambda pattern: pattern.number)


def calls(run: Run) -> list[RecordedCall]:
    """List the calls, in the order of the program.

    Raises
    ------
    InputError
        If the run is no recording of collective I/O, or damaged.
    """
    ops = {pattern.number: pattern.op for pattern in patterns(run)}
    recorded = []
    for row in _rows(run, "call"):
        numbers, op = (row["call"], row["pattern"], row["shift"]), ops[row["pattern"]]
        name, seconds, parts = printable(row["name"], 80), row["seconds"], _parts(row, run.where)
        rounds = int(row["rounds"]) if "rounds" in row else None
        late = float(row["late"]) if "late" in row else None
        recorded.append(RecordedCall(*numbers, op, name, float(seconds), parts, rounds, late))
    return sorted(recorded, key=lambda call: call.call)


def seconds_by_pattern(made: Iterable[RecordedCall]) -> dict[int, float]:
    """Return how long the calls of each pattern took together, by its number."""
    by_pattern = grouped((call.pattern, call.seconds) for call in made)
    return {pattern: sum(seconds) for pattern, seconds in by_pattern.items()}


# --- records --------------------------------------------------------------------------------------


def _rows(run: Run, name: str) -> Iterator[Members]:
    """Return the records of a name, which were checked when the run was read."""
    if run.kind != KIND:
        raise InputError(
            f"a run of '{run.experiment}' has no collective I/O",
            where=run.where,
            hint="record it: isochrone record --collective-io",
        )
    return run.tables.get(name, Table()).rows()


def _ranks(run: Run, listed: object) -> Ints:
    """Return the ranks of a list such as ``0-3 8``; all if there is none."""
    if listed is None:
        return np.arange(run.size)
    ranks = []
    for span in str(listed).split():
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", span)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < run.size:
            raise InputError(f"a 'file' record has invalid ranks '{span}'", where=run.where)
        ranks.append(np.arange(first, last + 1))
    return np.concatenate(ranks) if ranks else np.zeros(0, np.int64)


def _parts(record: Members, where: str) -> dict[str, float]:
    recorded = {name: float(record[name]) for name in PARTS[:-1] if name in record}
    remainder = record["seconds"] - sum(recorded.values())
    if remainder < -1e-6 * record["seconds"] - 1e-9:
        raise InputError("the parts of a 'call' record take longer than the call", where=where)
    return {**recorded, "rest": max(0.0, remainder)} if recorded else {}


def _hints(run: Run, key: str) -> dict[int, dict[str, str]]:
    """Return what the hints of each file have of a key."""
    hints: dict[int, dict[str, str]] = {}
    for row in _rows(run, "hint"):
        if isinstance(row.get(key), str):
            hints.setdefault(row["file"], {})[printable(row["key"], 80)] = row[key]
    return hints
