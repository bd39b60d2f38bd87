"""Records of a hot spot."""

from typing import Annotated

from msgspec import Meta

from isochrone.runfile.records import (
    Bytes,
    Declared,
    Groups,
    RankNumber,
    Result,
    Seconds,
    Whole,
)

_Messages = Annotated[int, Meta(ge=0, extra={"most": lambda ranks: 2 * ranks**2})]
"""One each way between each hot process and each rank."""


class Sample(Declared):
    """A repetition."""

    intra: _Messages
    in_: _Messages
    out: _Messages
    bytes: Bytes
    hot: Groups
    seconds: Seconds
    order: str
    shape: str = ""
    busy: Annotated[float, Meta(ge=0, le=1)] | None = None


class Role(Declared):
    """What a rank did."""

    rank: RankNumber
    group: Whole
    index: Whole
    role: str


class Unreachable(Declared):
    """A point that could not be measured."""

    why: str


RESULT = Result(
    {"sample": Sample, "role": Role, "unreachable": Unreachable},
    {"hotspot": {}},
    renamed={"grid": "points"},
)
