"""What a run of emulated applications holds, checked: applications, launches, ranks, events."""

import msgspec
import numpy as np

from isochrone.applications.results.records import records
from isochrone.base.arrays import Floats
from isochrone.base.documents import Hidden
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.runfile.records import Seconds
from isochrone.runfile.run import Run

KIND = "emulation"

DESCRIPTION = "description"
"""The note of a run file that holds the description of its applications, as JSON."""


Numbers = tuple[int, ...]
"""Of ranks, or of applications."""


class App(Record):
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
    ranks: Numbers
    iterations: int
    background: bool
    phases: tuple[str, ...]


class Launched(Record):
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
    together: Numbers
    app: int
    seconds: float
    iterations: int
    overlap: float
    times: Floats

    @property
    def beside(self) -> Numbers:
        """Those that the application ran beside."""
        return tuple(app for app in self.together if app != self.app)


class RankTime(Record):
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


class PhaseSeconds(Record):
    """One phase in one launch: seconds an iteration, mean and maximum over the ranks."""

    launch: int
    app: int
    phase: int
    mean: float
    max: float


class Edge(Record):
    """Messages from one rank of an application to another, in all its iterations."""

    app: int
    source: int
    to: int
    messages: int
    bytes: int


class Event(Record):
    """What a rank of an application did from ``begin`` to ``end``, in seconds of its launch."""

    launch: int
    app: int
    rank: int
    phase: int
    what: str
    begin: float
    end: float


class _App(Record):
    app: int
    name: str
    ranks: Numbers
    iterations: int


class _Launch(Record):
    launch: int
    repeat: int
    together: Numbers


def applications(run: Run) -> list[App]:
    """Return the applications in the order of the description.

    Raises
    ------
    InputError
        If the run is none of applications, or damaged.
    """
    if run.kind != KIND:
        raise InputError(
            f"this run is of '{run.experiment}'",
            where=run.where,
            hint="applications are emulated by 'isochrone emulate'",
        )
    app_records: list[_App] = records(run, "app", _App)
    if [record.app for record in app_records] != list(range(len(app_records))):
        raise InputError("the 'app' records are not numbered from 0 in order", where=run.where)
    phases: list[list[str]] = [[] for _ in app_records]
    for row in run.tables.get("phase", Table()).rows():
        if row["app"] >= len(app_records) or row["phase"] != len(phases[row["app"]]):
            raise InputError("the 'phase' records are not numbered in order", where=run.where)
        phases[row["app"]].append(printable(row["name"], 80))
    background = run.tables.get("app", Table()).flag("background").tolist()
    return [
        App(
            record.app,
            record.name,
            record.ranks,
            record.iterations,
            background[k],
            tuple(phases[k]),
        )
        for k, record in enumerate(app_records)
    ]


def launched(run: Run) -> list[Launched]:
    """Return each application in each launch that came to its end, in their order.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    launches: dict[int, _Launch] = {
        record.launch: record for record in records(run, "launch", _Launch)
    }
    count = len(run.tables.get("app", ()))
    if any(app >= count for record in launches.values() for app in record.together):
        raise InputError("a 'launch' record names an unknown application", where=run.where)
    times: dict[tuple[int, int], Floats] = {}
    for row in run.tables.get("iterations", Table()).rows():
        try:
            durations = msgspec.convert(row.get("seconds"), list[Seconds])
        except msgspec.ValidationError:
            raise InputError(
                "the 'seconds' of an 'iterations' record are not times", where=run.where
            ) from None
        times[row["launch"], row["app"]] = np.array(durations, dtype=np.float64)
    launched_apps = []
    for row in run.tables.get("wall", Table()).rows():
        launch, app = row["launch"], row["app"]
        overlap = min(row.get("overlap", 1.0), 1.0)  # 1 where a record does not say
        launched_apps.append(
            Launched(
                launch,
                launches[launch].repeat,
                launches[launch].together,
                app,
                float(row["seconds"]),
                row["iterations"],
                overlap,
                times.get((launch, app), np.empty(0)),
            )
        )
    return launched_apps
