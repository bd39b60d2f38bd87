"""Records of a sweep."""

from typing import Annotated

from msgspec import Meta

from isochrone.base.units import MAX_SECONDS
from isochrone.runfile.records import (
    MAX_RATE,
    Bytes,
    Count,
    Declared,
    Groups,
    RankNumber,
    Ranks,
    Result,
    Time,
)

_Pairs = Annotated[int, Meta(ge=1, extra={"most": lambda ranks: ranks // 2})]
_Rate = Annotated[float, Meta(ge=0, le=MAX_RATE, extra={"above_zero": 1 / MAX_SECONDS})]


class Sample(Declared):
    """A repetition of a sweep, or statistics of several; times in seconds."""

    ordered = (("min", "mean", "max"),)

    bytes: Bytes
    seconds: Time
    i: RankNumber = 0
    j: RankNumber = 0
    p: Ranks | None = None
    pairs: _Pairs | None = None
    grid: str = ""
    phase: str = ""
    groups: Groups = 0
    n: Count | None = None
    operations: Bytes | None = None
    rate: _Rate | None = None
    phase_p: Ranks | None = None
    phase_bytes: Bytes | None = None
    min: Time | None = None
    mean: Time | None = None
    max: Time | None = None
    overall: Time | None = None
    compute: Time | None = None
    post: Time | None = None
    complete: Time | None = None


RESULT = Result(
    {"sample": Sample},
    {
        "point-to-point": {"by": ("i", "j")},
        "bisection": {"by": ("p", "pairs")},
        "collective": {"by": ("op", "p")},
    },
    foreign=("pair",),
    curves=True,
)
