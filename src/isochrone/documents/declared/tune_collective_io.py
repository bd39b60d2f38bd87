"""What ``tune collective-io --json`` prints, and writes as its report."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.launched import SPEEDUP
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    COUNT,
    PART,
    RATIO,
    SECONDS,
    TEXT,
    TEXTS,
    by_name,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_STARTS: Final = list_of(record({"calls": SECONDS, "whole": SECONDS}))
_WAY: Final = {
    "words": TEXT, "hints": by_name(TEXT), "environment": by_name(TEXT),
    "expected_seconds": maybe(SECONDS),
}  # fmt: skip
_TRIED: Final = {"dropped": described(maybe(TEXT), "why it was given up"), "starts": _STARTS}
_PATTERN: Final = record({
    "pattern": COUNT, "file": COUNT, "op": TEXT, "bytes": BYTES, "pieces": COUNT, "calls": COUNT,
    "seconds": SECONDS,
})  # fmt: skip
_IF_RECORDED: Final = {
    "whole_seconds": SECONDS,
    "call_seconds": SECONDS,
    "share": PART,
    "filesystems": TEXTS,
    "local_filesystems": described(TEXTS, "of one host: memory, local disks"),
}
_IF_CHOSEN: Final = {
    "library": TEXT, "model": record({"file": maybe(TEXT), "why": TEXT}),
    "advice": maybe(TEXT),
}  # fmt: skip
_DUEL: Final = {"calls": SECONDS, "whole": SECONDS, "starts": _STARTS}
_JUDGED: Final = {
    "given": record(_DUEL), "proposed": record({**_WAY, **_DUEL}), "gain": SPEEDUP,
    "whole_gain": SPEEDUP, "kept": maybe(TEXT), "use": TEXTS,
}  # fmt: skip
_KEPT_HINT: Final = record({
    "hint": TEXT, "value": TEXT, "words": TEXT, "hints": by_name(TEXT),
    "seconds": described(SECONDS, "of the collective calls, as given"),
    "expected_seconds": maybe(SECONDS), "gain": maybe(SPEEDUP),
    "why": described(TEXT, "it was not measured"),
})  # fmt: skip
_SHAPE: Final = record(
    {
        "command": TEXTS, "launches": COUNT, "complete": BOOLEAN, "patterns": list_of(_PATTERN),
        "parts": by_name(SECONDS),
        "best_possible": maybe(record({"gain": RATIO, "seconds": SECONDS, "why": TEXT})),
        "choices": list_of(record({"name": TEXT, **_WAY, **_TRIED}, optional=_TRIED)),
        "given": maybe(record(_DUEL)), "proposed": maybe(record({**_WAY, **_DUEL})),
        "gain": maybe(SPEEDUP), "whole_gain": maybe(SPEEDUP),
        "kept": described(maybe(TEXT), "the file to use"), "use": TEXTS, "why": TEXT,
        "starts": COUNT, "warnings": TEXTS,
        "portable": described(
            maybe(record({"name": maybe(TEXT), "why": TEXT, **_JUDGED}, optional=_JUDGED)),
            "where the gain rests on a file system of one host: the best setting that does not",
        ),
        "kept_hints": described(list_of(_KEPT_HINT), "what hints of the user cost"),
        **_IF_RECORDED, **_IF_CHOSEN,
    },
    optional=[*_IF_RECORDED, *_IF_CHOSEN],
)  # fmt: skip

DOCUMENT: Final = Document(
    "Collective I/O of a program, tuned by trying", _SHAPE, ("tune collective-io",)
)
