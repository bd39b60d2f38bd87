"""Records of the recorded MPI calls of a program; times in seconds."""

from isochrone.runfile.records import (
    Declared,
    RankNumber,
    Rate,
    Result,
    Seconds,
    Signed,
    Whole,
)


class Edge(Declared):
    """Messages from a rank to another."""

    from_: RankNumber
    to: RankNumber
    messages: Whole
    bytes: Whole
    seconds: Seconds


class Operation(Declared):
    """Calls of an operation; code: the call site, in recordings of mpiP."""

    bytes: Whole
    members: Whole
    calls: Whole
    seconds: Seconds
    most: Seconds
    group: Signed
    moved: Rate
    op: str
    code: str = ""


class RankTime(Declared):
    """Where the time of a rank went."""

    rank: RankNumber
    calls: Whole
    threads: Whole
    seconds: Seconds
    communication: Seconds
    computation: Seconds
    recording: Seconds


class Site(Declared):
    """A place in the program that calls MPI."""

    rank: RankNumber
    site: Whole
    offset: Whole
    file: str


RESULT = Result(
    {"edge": Edge, "operation": Operation, "rank_time": RankTime, "site": Site},
    {"recording": {}},
)
