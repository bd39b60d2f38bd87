"""Records of tile I/O."""

from typing import Literal

from isochrone.runfile.records import (
    Bytes,
    Declared,
    Operation,
    RankNumber,
    Ranks,
    Result,
    Seconds,
    Whole,
)


class Sample(Declared):
    """A collective call, or the exchange alone; times in seconds."""

    p: Ranks
    bytes: Bytes
    seconds: Seconds
    op: Operation
    phase: Literal["file", "exchange"]
    rounds: Whole | None = None
    open: Seconds | None = None
    offsets: Seconds | None = None
    counts: Seconds | None = None
    exchange: Seconds | None = None
    file: Seconds | None = None
    close: Seconds | None = None
    total: Seconds | None = None


class Aggregator(Declared):
    """A rank that accesses the file for others."""

    rank: RankNumber
    domain: Whole
    node: Whole
    source: str


class FileIo(Declared):
    """Bytes that a rank wrote or read itself."""

    rank: RankNumber
    bytes: Bytes
    node: Whole
    op: Operation


class Node(Declared):
    """Messages of a node."""

    node: Whole
    intra: Whole
    in_: Whole
    out: Whole


class Hint(Declared):
    """A hint of the open file."""

    key: str
    value: str


RESULT = Result(
    {
        "sample": Sample,
        "aggregator": Aggregator,
        "file-io": FileIo,
        "node": Node,
        "hint": Hint,
    },
    {"tile-io": {}},
)
