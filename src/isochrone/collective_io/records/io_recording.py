"""Records of a recorded collective I/O; times in seconds."""

from isochrone.runfile.records import (
    Declared,
    Operation,
    Positive,
    RankNumber,
    Result,
    Seconds,
    Signed,
    Whole,
)


class File(Declared):
    """A file of the program."""

    file: Whole
    opens: Whole
    name: str


class Hint(Declared):
    """A hint of an open file."""

    file: Whole
    key: str


class Pattern(Declared):
    """An access pattern."""

    refers = ("file",)

    pattern: Whole
    file: Whole
    bytes: Whole
    calls: Whole
    pieces: Whole
    op: Operation


class Piece(Declared):
    """Equally long blocks of a rank in a pattern."""

    pattern: Whole
    offset: Whole
    length: Whole
    stride: Whole
    rank: RankNumber
    count: Positive


class Call(Declared):
    """A collective call."""

    refers = ("pattern",)

    call: Whole
    pattern: Whole
    shift: Signed
    seconds: Seconds
    name: str
    rounds: Whole | None = None
    late: Seconds | None = None
    offsets: Seconds | None = None
    counts: Seconds | None = None
    exchange: Seconds | None = None
    file: Seconds | None = None


class CallTime(Declared):
    """Calls of one name of a rank."""

    refers = ("file",)

    rank: RankNumber
    file: Whole
    last: Whole
    calls: Positive
    seconds: Seconds
    waiting: Seconds
    access: Seconds
    late: Seconds
    call: str
    bytes: Whole | None = None
    pieces: Whole | None = None
    span: Whole | None = None
    empty: Whole | None = None


class Independent(Declared):
    """Calls that are not collective."""

    file: Whole
    calls: Whole
    bytes: Whole
    ranks: Whole
    seconds: Seconds
    op: Operation


RESULT = Result(
    {
        "file": File,
        "hint": Hint,
        "pattern": Pattern,
        "piece": Piece,
        "call": Call,
        "time": CallTime,
        "independent": Independent,
    },
    {"io-recording": {}},
)
