"""What a run of emulated applications holds, checked: applications, launches, ranks, events."""

from dataclasses import dataclass

import numpy as np

from isochrone.applications.results.records import records
from isochrone.base.arrays import Floats
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.base.text import printable, whole_number
from isochrone.runfile.run import Run

KIND = "emulation"

DESCRIPTION = "description"
"""The note of a run file that holds the description of its applications, as JSON."""


@dataclass(frozen=True)
class App:
    """One application.

    Attributes
    ----------
    number, name
        Its place in the description, from 0, and its name.
    ranks
        Ranks of the job that it ran on.
    iterations
        That were asked for; a background application does more beside others.
    background
        Whether it repeats until the others are done.
    phases
        Names of its phases, in order.
    """

    number: Hidden[int]
    name: str
    ranks: tuple[int, ...]
    iterations: int
    background: bool
    phases: tuple[str, ...]


@dataclass(frozen=True)
class Launched:
    """One application in one launch.

    Attributes
    ----------
    launch, repeat
        Which launch it was, and in which repetition of all of them.
    together
        All applications of the launch, by number and ascending.
    app
        The application.
    seconds, iterations
        Wall time, and the iterations that were done in it.
    overlap
        Part of this time in which all others of the launch were running.
    times
        Of each iteration, of its slowest rank, in seconds; empty if not recorded.
    """

    launch: int
    repeat: int
    together: tuple[int, ...]
    app: int
    seconds: float
    iterations: int
    overlap: float
    times: Floats


@dataclass(frozen=True)
class RankTime:
    """What one rank of an application did in one launch; times in seconds.

    Attributes
    ----------
    launch, app, rank
        The launch, the application and the rank in it.
    switches
        Involuntary context switches.
    seconds, communication
        Wall time, and the part of it spent in communication.
    asked, delivered
        Computation that was asked for, and how long it took.
    """

    launch: int
    app: int
    rank: int
    switches: int
    seconds: float
    communication: float
    asked: float
    delivered: float


@dataclass(frozen=True)
class PhaseSeconds:
    """One phase in one launch: seconds an iteration, mean and maximum over the ranks."""

    launch: int
    app: int
    phase: int
    mean: float
    max: float


@dataclass(frozen=True)
class Edge:
    """Messages from one rank of an application to another, in all its iterations."""

    app: int
    source: int
    to: int
    messages: int
    bytes: int


@dataclass(frozen=True)
class Event:
    """What a rank of an application did from ``begin`` to ``end``, in seconds of its launch."""

    launch: int
    app: int
    rank: int
    phase: int
    what: str
    begin: float
    end: float


def applications(run: Run) -> list[App]:
    """Return the applications in the order of the description.

    Raises
    ------
    InputError
        If the run is none of applications, or damaged.
    """
    if run.kind != KIND:
        raise InputError(
            f"this run is of '{run.experiment}'", where=run.where,
            hint="applications are emulated by 'isochrone emulate'",
        )  # fmt: skip
    table, where = run.tables.get("app"), run.where
    if table is None or not len(table):
        return []
    number = table["app"].tolist()
    if number != list(range(len(number))):
        raise InputError("the 'app' records are not numbered from 0 in order", where=where)
    phases = _phases(run, len(number))
    columns = zip(
        number, _names(table), _ranks(table, "ranks", where, "app"), table["iterations"].tolist(),
        table.flag("background").tolist(), strict=True,
    )  # fmt: skip
    return [App(k, name, ranks, n, bool(b), phases[k]) for k, name, ranks, n, b in columns]


def launched(run: Run) -> list[Launched]:
    """Return each application in each launch that came to its end, in their order.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    table = run.tables.get("wall")
    if table is None or not len(table):
        return []
    launches, times = _launches(run), _times(run)
    walls, done = table["seconds"].astype(np.float64).tolist(), table["iterations"].tolist()
    # parts of a launch; 1 where a record does not say
    overlaps = np.nan_to_num(table.columns.get("overlap", np.ones(len(table))), nan=1.0)
    found = []
    for (launch, app), wall, n, overlap in zip(
        _pairs(table), walls, done, np.minimum(overlaps, 1.0).tolist(), strict=True
    ):
        repeat, together = launches[launch]
        own = times.get((launch, app), np.empty(0))
        found.append(Launched(launch, repeat, together, app, wall, n, overlap, own))
    return found


def rank_times(run: Run) -> list[RankTime]:
    """Return what each rank did in each launch; empty if it was not recorded.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    return records(run, "rank_time", RankTime)


def phase_seconds(run: Run) -> list[PhaseSeconds]:
    """Return the time of each phase in each launch; empty if it was not recorded.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    return records(run, "phase_time", PhaseSeconds)


def events(run: Run) -> list[Event]:
    """Return what was recorded of single iterations; empty if nothing was.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    return records(run, "event", Event)


def edges(run: Run) -> list[Edge]:
    """Return who sent how much to whom; empty if nobody did.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    return records(run, "edge", Edge)


# --- columns --------------------------------------------------------------------------------------


def _pairs(table: Table) -> list[tuple[int, int]]:
    """Return launch and application of each record."""
    return list(zip(table["launch"].tolist(), table["app"].tolist(), strict=True))


def _names(table: Table) -> list[str]:
    return [printable(name, 80) for name in table["name"].tolist()]


def _phases(run: Run, count: int) -> list[tuple[str, ...]]:
    """Return the names of the phases of each application."""
    found: list[list[str]] = [[] for _ in range(count)]
    table, where = run.tables.get("phase"), run.where
    if table is not None and len(table):
        app, phase = (table[key].tolist() for key in ("app", "phase"))
        for a, k, name in zip(app, phase, _names(table), strict=True):
            if a >= count or k != len(found[a]):
                raise InputError("the 'phase' records are not numbered in order", where=where)
            found[a].append(name)
    return [tuple(names) for names in found]


def _launches(run: Run) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Return the repetition and the applications of each launch."""
    table, where = run.tables.get("launch"), run.where
    if table is None or not len(table):
        return {}
    number, repeat = (table[key].tolist() for key in ("launch", "repeat"))
    together = _ranks(table, "together", where, "launch")
    count = len(run.tables.get("app", ()))
    if any(app >= count for apps in together for app in apps):
        raise InputError("a 'launch' record names an unknown application", where=where)
    return {k: (r, apps) for k, r, apps in zip(number, repeat, together, strict=True)}


def _times(run: Run) -> dict[tuple[int, int], Floats]:
    """Return the times of the iterations by launch and application."""
    table, where = run.tables.get("iterations"), run.where
    if table is None or not len(table):
        return {}
    lists = table["seconds"].tolist() if "seconds" in table else [None] * len(table)
    found = {}
    for pair, values in zip(_pairs(table), lists, strict=True):
        numbers_only = isinstance(values, list) and {*map(type, values)} <= {int, float}
        times = np.asarray(values if numbers_only else [None])
        if times.dtype.kind not in "if" or not np.all((times >= 0) & np.isfinite(times)):
            raise InputError("the 'seconds' of an 'iterations' record are not times", where=where)
        found[pair] = times.astype(np.float64)
    return found


def _ranks(table: Table, key: str, where: str, record: str) -> list[tuple[int, ...]]:
    """Return lists of whole numbers that are written as text: ``3 4 5``."""
    found = []
    column = table[key].tolist() if key in table else [None]
    for text in column:
        words = text.split() if isinstance(text, str) else ["?"]
        numbers = tuple(n for word in words if (n := whole_number(word)) is not None)
        if len(numbers) < len(words):
            raise InputError(f"the '{key}' of a '{record}' record are not numbers", where=where)
        found.append(numbers)
    return found
