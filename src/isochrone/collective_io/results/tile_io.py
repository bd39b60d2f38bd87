"""Summary of collective I/O of tiles: phases, ranks that accessed the file, messages of nodes."""

from typing import Any

import numpy as np

from isochrone.base.documents import IfKnown, Inline, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.collective_io.predict import call_parts
from isochrone.runfile.run import Run
from isochrone.runfile.samples import Times, counted, identity, times_of

KIND = "tile-io"

PARTS = ("open", "seconds", *call_parts.PARTS, "close", "total")
"""Times of an access, by the keys of the run file; ``seconds`` is the access itself, followed by
its phases where recorded."""


class Rates(Record):
    """Bytes a second of an access, and their 95 % interval; None if unknown."""

    bandwidth: float | None = None
    bandwidth_low: float | None = None
    bandwidth_high: float | None = None


class Phase(Record):
    """Repetitions of one operation on the file, or of its exchange alone.

    Attributes
    ----------
    op
        ``write`` or ``read``.
    phase
        ``file`` or ``exchange``.
    p
        Number of ranks.
    bytes
        Of the whole file.
    rounds
        Rounds of the exchange; None where they were not seen, or repetitions differ.
    times
        By the names of `PARTS`, as far as they were measured.
    """

    op: str
    phase: str
    p: int
    bytes: int
    rounds: IfKnown[int]
    times: dict[str, Times]

    @property
    @shown
    def n(self) -> int:
        """Repetitions."""
        return self.times["seconds"].n

    @property
    @shown
    def rates(self) -> Inline[Rates]:
        """Bytes per second of the access and its 95 % interval; unknown with a coarse clock."""
        access = self.times["seconds"]
        if access.median <= 0 or access.low <= 0:
            return Rates()
        ends = [access.median, access.high, access.low][: 3 if access.has_interval else 1]
        return Rates(*(self.bytes / end for end in ends))


def phases(run: Run) -> list[Phase]:
    """Summarise what was timed: the file before the exchange alone, in the order of the run.

    Raises
    ------
    InputError
        If the run is of something else, or damaged.
    """
    if run.kind != KIND:
        raise InputError(
            f"this is a run of '{run.experiment}'",
            where=run.where,
            hint="tiles are what 'isochrone measure tile-io' measures",
        )
    table = run.tables.get("sample")
    if not table:
        return []
    same = grouped(
        ((row["op"], row["phase"], row["p"], row["bytes"]), row)
        for row in counted(table, identity(table)).rows()
    )
    timed = []
    for (op, phase, p, size), rows in same.items():
        rounds = {row.get("rounds") for row in rows}
        round_count = rounds.pop() if len(rounds) == 1 else None
        times = {
            part_name: np.array([row[part_name] for row in rows if part_name in row], float)
            for part_name in PARTS
        }
        part_times = {
            part_name: times_of(column) for part_name, column in times.items() if len(column)
        }
        timed.append(
            Phase(op, phase, p, size, None if round_count is None else int(round_count), part_times)
        )
    return sorted(timed, key=lambda timed_phase: timed_phase.phase == "exchange")


def aggregators(run: Run) -> list[Any]:
    """List who serves which part of the file, in the order of the parts."""
    records = _records(run, "aggregator", "domain", "rank", "node", "source")
    return sorted(records, key=lambda record: int(record["domain"]))


def file_io(run: Run) -> list[Any]:
    """List the ranks whose process really read or wrote the file, and about how many bytes."""
    return _records(run, "file-io", "rank", "node", "bytes", "op")


def nodes(run: Run) -> list[Any]:
    """List the messages of each node when writing; ``hot``: most messages to and from others."""
    records = _records(run, "node", "node", "intra", "in", "out")
    highest = max((node["in"] + node["out"] for node in records), default=0)
    for node in records:
        node["hot"] = highest > 0 and node["in"] + node["out"] == highest
    return records


def hints(run: Run) -> dict[str, str]:
    """Return the hints that the library reported for the open file."""
    rows = run.tables.get("hint", Table()).rows()
    return {printable(row["key"], 80): row["value"] for row in rows}


def _records(run: Run, record: str, *keys: str) -> list[Any]:
    """Return records with these keys, texts safe to be shown, and the host of their node."""
    hosts = {rank.node: rank.host for rank in run.ranks}
    return [
        {
            **{k: printable(row[k], 80) if isinstance(row[k], str) else row[k] for k in keys},
            "host": hosts.get(row["node"], ""),
        }
        for row in run.tables.get(record, Table()).rows()
    ]
