"""A recording of a program: who sent how much to whom, its operations, the time of each rank."""

import numpy as np

from isochrone.applications.results.recorded_calls import KIND, check_kind, groups, program, trace
from isochrone.applications.results.records import records
from isochrone.base.arrays import Floats, Ints
from isochrone.base.documents import IfKnown, shown
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import Table
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run

__all__ = [
    "KIND",
    "WHAT",
    "Operation",
    "RankTime",
    "Sent",
    "edges",
    "groups",
    "matrix",
    "operations",
    "program",
    "rank_times",
    "sent",
    "trace",
]

WHAT = ("bytes", "messages", "seconds")
"""What is known of the messages from one rank to another; seconds: of the sender, in the calls."""


class Sent(Record):
    """What ranks sent to others: bytes, messages or seconds, never nothing; each pair once."""

    source: Ints
    target: Ints
    amount: Floats


class Operation(Record):
    """Calls of one operation of one size, of all ranks together.

    Attributes
    ----------
    op
        As MPI names it: ``isend``, ``allreduce`` …
    bytes
        Of a message, or of the block of a collective.
    group
        Number of the group of ranks of a collective; -1 of messages and what is only counted.
    members
        Ranks that take part in one operation.
    calls
        Of all ranks: one allreduce of 4 ranks is 4 calls.
    moved
        Bytes of all calls.
    seconds, most
        In the calls, summed; the longest call.
    code
        The place in the program; empty if calls of all places are together.
    """

    op: str
    bytes: int
    group: int
    members: int
    calls: int
    moved: float
    seconds: float
    most: float
    code: IfKnown[str] = None


class RankTime(Record):
    """What one rank did from MPI_Init to MPI_Finalize.

    Attributes
    ----------
    seconds
        Wall-clock time.
    communication
        In calls of MPI, summed over threads.
    computation
        Processor time between the calls.
    recording
        That recording itself took.
    calls, threads
        Number of calls, and of threads that made them.
    """

    rank: int
    seconds: float
    communication: float
    computation: float
    recording: float
    calls: int
    threads: int

    @property
    @shown
    def share(self) -> float:
        """Share of the time in calls of MPI, 0 to 1, of a thread."""
        total = self.seconds * self.threads
        return min(1.0, self.communication / total) if total > 0 else 0.0


def edges(run: Run) -> Table:
    """Return who sent to whom: columns ``from``, ``to``, ``messages``, ``bytes`` and ``seconds``.

    Raises
    ------
    InputError
        If the run is no recording, or damaged.
    """
    check_kind(run)
    none = np.zeros(0, np.int64)
    return run.tables.get("edge") or Table(dict.fromkeys(("from", "to", *WHAT), none))


def sent(run: Run, what: str = "bytes") -> Sent:
    """Return what ranks sent to others: each pair that did so once.

    Raises
    ------
    InputError
        If the run is no recording or damaged, or ``what`` is none of `WHAT`.
    """
    if what not in WHAT:
        raise InputError(f"there is no matrix of '{what}'", hint=f"there are: {', '.join(WHAT)}")
    pairs = edges(run)
    key, inverse = np.unique(pairs["from"] * run.size + pairs["to"], return_inverse=True)
    amount = np.bincount(inverse, pairs[what], len(key)).astype(np.float64)
    nonzero = amount > 0
    return Sent(key[nonzero] // run.size, key[nonzero] % run.size, amount[nonzero])


def matrix(run: Run, what: str = "bytes") -> Floats:
    """Return what each rank sent to each other one as a matrix: rows are senders.

    Raises
    ------
    InputError
        As of `sent`, or if there are too many ranks.
    """
    if run.size > MAX_MATRIX_RANKS:
        raise InputError(f"a matrix of {run.size} ranks is too large for memory")
    pairs = sent(run, what)
    values = np.zeros((run.size, run.size))
    values[pairs.source, pairs.target] = pairs.amount
    return values


def operations(run: Run) -> list[Operation]:
    """List the operations, those that took most time first.

    Raises
    ------
    InputError
        If the run is no recording, or damaged.
    """
    check_kind(run)
    rows = records(run, "operation", Operation)
    return sorted(rows, key=lambda operation: -operation.seconds)


def rank_times(run: Run) -> list[RankTime]:
    """List the times of the ranks.

    Raises
    ------
    InputError
        If the run is no recording, or damaged.
    """
    check_kind(run)
    return records(run, "rank_time", RankTime)
