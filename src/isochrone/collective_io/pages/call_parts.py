"""Names of the phases of a collective access, and the sentence on the slowest one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from isochrone.base.units import format_seconds
from isochrone.pages.page import Sentence

LABELS: Final = {
    "offsets": "offsets and lengths",
    "counts": "sizes",
    "exchange": "exchange",
    "file": "file",
    "rest": "rest",
}
"""What the parts are called in tables."""

LATE: Final = "late"

_DONE: Final = {
    "offsets": "is the exchange of offsets and lengths before the first round",
    "counts": "is the exchange of message sizes in each round",
    "exchange": "is the data exchange between ranks",
    "file": "is file access",
    "rest": "is the remainder: packing and copying in the ranks",
    LATE: "is waiting for the last rank, which no hint changes",
}


def slow(name: str, whole: float, parts: Mapping[str, float]) -> Sentence | None:
    """Sentence on the longest phase of ``whole`` seconds; None if none is known.

    ``parts`` may include `LATE`, which is part of the remainder.
    """
    if not parts or whole <= 0:
        return None
    own = dict(parts)
    if LATE in own and "rest" in own:
        own[LATE] = min(own[LATE], own["rest"])
        own["rest"] -= own[LATE]
    if "exchange" not in own:  # communication inside the library is in the remainder
        done = {**_DONE, "rest": "is communication inside the library"}
    else:
        done = _DONE
    most = max(own, key=lambda part: own[part])
    time = format_seconds(own[most])
    share = own[most] / whole
    text = f"Of {format_seconds(whole)} in {name}, {time} ({share:.0%}) {done[most]}."
    return Sentence(text, stress=(time,))
