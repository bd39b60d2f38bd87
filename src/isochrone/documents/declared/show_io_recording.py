"""What ``show --json`` prints of the recorded collective I/O of a program."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    CALL_PARTS,
    COUNT,
    INTEGER,
    RANKS,
    SECONDS,
    TEXT,
    by_name,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_ROUNDS: Final = described(list_of(COUNT), "rounds of messages and accesses, if they were seen")
_FILE: Final = record({
    "file": COUNT, "name": TEXT, "ranks": RANKS, "opens": COUNT, "hints": by_name(TEXT),
    "given": by_name(TEXT),
    "filesystem": described(TEXT, "that it is on: tmpfs, lustre, other; empty if not known"),
    "independent": list_of(record({
        "op": TEXT, "calls": COUNT, "bytes": BYTES, "ranks": COUNT, "seconds": SECONDS,
    })),
})  # fmt: skip
_PATTERN: Final = record({
    "pattern": COUNT, "file": COUNT, "op": TEXT, "bytes": BYTES, "pieces": COUNT, "calls": COUNT,
    "ranks": COUNT, "whole": BOOLEAN, "seconds": SECONDS, "parts": CALL_PARTS,
    "late": maybe(SECONDS), "rounds": _ROUNDS,
})  # fmt: skip
_CALL: Final = record({
    "call": COUNT, "pattern": COUNT, "shift": INTEGER, "op": TEXT, "name": TEXT,
    "seconds": SECONDS, "parts": CALL_PARTS, "late": maybe(SECONDS), "rounds": maybe(COUNT),
})  # fmt: skip
_SHAPE: Final = shown({
    "files": list_of(_FILE), "patterns": list_of(_PATTERN), "calls": list_of(_CALL),
})  # fmt: skip

DOCUMENT: Final = Document("Collective I/O of a program", _SHAPE, ("show",))
