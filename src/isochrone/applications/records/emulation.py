"""Records of emulated applications; times in seconds."""

from typing import Annotated

from msgspec import Meta

from isochrone.base.units import MAX_SECONDS, MIN_SECONDS
from isochrone.runfile.records import (
    Declared,
    Positive,
    Result,
    Seconds,
    Time,
    Whole,
)


class App(Declared):
    """An application."""

    app: Whole
    iterations: Whole
    name: str
    ranks: str


class Phase(Declared):
    """A phase of an application."""

    refers = ("app",)

    app: Whole
    phase: Whole
    name: str


class Launch(Declared):
    """Applications that ran together."""

    launch: Whole
    repeat: Whole
    together: str


class Wall(Declared):
    """Time of an application in a launch."""

    refers = ("launch", "app")

    launch: Whole
    app: Whole
    iterations: Positive
    seconds: Annotated[float, Meta(ge=MIN_SECONDS, le=MAX_SECONDS)]
    overlap: Seconds | None = None


class Iterations(Declared):
    """Times of the iterations."""

    refers = ("app",)

    launch: Whole
    app: Whole


class RankTime(Declared):
    """Where the time of a rank went."""

    ordered = (("p50", "p99", "p999"),)
    refers = ("app",)

    launch: Whole
    app: Whole
    rank: Whole
    switches: Whole
    seconds: Seconds
    communication: Seconds
    asked: Seconds
    delivered: Seconds
    p50: Time | None = None
    p99: Time | None = None
    p999: Time | None = None


class PhaseTime(Declared):
    """Time of a phase, over the ranks."""

    ordered = (("mean", "max"),)
    refers = ("app",)

    launch: Whole
    app: Whole
    phase: Whole
    mean: Seconds
    max: Seconds


class Event(Declared):
    """A phase of a rank in one iteration, or what else took time."""

    ordered = (("begin", "end"),)
    refers = ("app",)

    launch: Whole
    app: Whole
    rank: Whole
    phase: Whole
    begin: Seconds
    end: Seconds
    what: str


class Edge(Declared):
    """Messages from a rank to another."""

    refers = ("app",)

    app: Whole
    from_: Whole
    to: Whole
    messages: Whole
    bytes: Whole


RESULT = Result(
    {
        "app": App,
        "phase": Phase,
        "launch": Launch,
        "wall": Wall,
        "iterations": Iterations,
        "rank_time": RankTime,
        "phase_time": PhaseTime,
        "event": Event,
        "edge": Edge,
    },
    {"app": {}},
)
