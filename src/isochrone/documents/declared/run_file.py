"""A line of a run file: one record."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import SURROUNDINGS
from isochrone.documents.shapes import (
    ANYTHING,
    BOOLEAN,
    BYTES,
    COUNT,
    INTEGER,
    NUMBER,
    OPTIONS,
    RANK,
    SECONDS,
    TEXT,
    TEXTS,
    Schema,
    by_name,
    described,
    either,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]


def _named(name: str, words: str) -> dict[str, Schema]:
    return {"record": described(one_of(name), words)}


_HEADER: Final = {
    "kind": described(TEXT, "kind of result, which decides how the file is read"),
    "by": described(TEXTS, "members of a sample that tell curves apart"),
    "made_up": BOOLEAN, "started": described(TEXT, "UTC, ISO 8601"), "options": OPTIONS,
    "seconds_are": described(TEXT, "what a time is, in words"),
    "mpi": record({"library": TEXT, "standard": TEXT}, optional=["library", "standard"]),
    "clock": record(
        {
            "source": TEXT, "granularity": maybe(SECONDS), "cost": maybe(SECONDS),
            "simulated": BOOLEAN,
        },
        optional=["source", "granularity", "cost", "simulated"],
    ),
    "probe": TEXT, "notes": by_name(TEXT),
    "imported": maybe(by_name(TEXT)), "median_is_mean": BOOLEAN,
    **SURROUNDINGS, "settings_more": described(COUNT, "variables there was no room for"),
}  # fmt: skip
_RUN: Final = record(
    {
        **_named("run", "the first line"), "format": INTEGER, "experiment": TEXT,
        "ranks": described(COUNT, "number of ranks"), **_HEADER,
    },
    optional=_HEADER,
)  # fmt: skip
_PLACES: Final = dict.fromkeys(("node", "cpu", "core", "package", "numa"), INTEGER)
_RANK: Final = {
    **record(
        {**_named("rank", "where a rank ran"), "rank": RANK, "host": TEXT, **_PLACES},
        optional=_PLACES,
    ),
    "additionalProperties": either(NUMBER, TEXT, BOOLEAN),
}  # fmt: skip
_STATISTICS: Final = dict.fromkeys(
    ("mean", "stddev", "min", "median", "p95", "max", "low", "high"), SECONDS
)
_MARKS: Final = {
    "n": COUNT, "batch": COUNT, "shared_cpu": BOOLEAN, "retest": BOOLEAN,
}  # fmt: skip
_PAIR: Final = record(
    {
        **_named("pair", "round trips of two ranks"), "i": RANK, "j": RANK, "bytes": BYTES,
        **_STATISTICS, **_MARKS,
    },
    optional=[*_STATISTICS, *_MARKS],
)  # fmt: skip
_WARNING: Final = {
    **record({**_named("warning", "what makes the numbers doubtful"), "code": TEXT, "text": TEXT}),
    "additionalProperties": ANYTHING,
}
_END: Final = {
    **record(
        {
            **_named("end", "the last line of a run that came to its end"), "complete": BOOLEAN,
            "seconds": described(NUMBER, "how long it took"),
        },
        optional=["seconds"],
    ),
    "additionalProperties": ANYTHING,
}  # fmt: skip
_KNOWN: Final = ("run", "rank", "pair", "warning", "end")
_OTHER: Final[Schema] = {
    "type": "object", "description": "a sample, or what else its experiment writes",
    "properties": {"record": {"type": "string", "not": {"enum": list(_KNOWN)}}},
    "required": ["record"], "additionalProperties": ANYTHING,
}  # fmt: skip

DOCUMENT: Final = Document(
    "A line of a run file", either(_RUN, _RANK, _PAIR, _WARNING, _END, _OTHER)
)
