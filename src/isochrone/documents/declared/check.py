"""What ``check --json`` prints: the verdict on runs, and what it rests on."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    COUNT,
    HOSTS,
    RANKS,
    RATIO,
    TEXT,
    TEXTS,
    by_name,
    described,
    list_of,
    maybe,
    one_of,
    record,
)  # fmt: skip

__all__ = ["DOCUMENT"]

_VERDICT: Final = one_of("slow", "worse", "not known", "good")
_FINDING: Final = record({
    "verdict": one_of("slow", "worse", "suspect"), "kind": TEXT, "who": TEXT, "hosts": HOSTS,
    "ranks": RANKS, "level": maybe(COUNT), "bytes": maybe(BYTES), "ratio": RATIO,
    "limit": described(maybe(RATIO), "largest ratio that earlier runs leave room for"),
    "evidence": TEXT,
    "proved": described(BOOLEAN, "whether it proves its hosts bad"),
    "allowed": described(TEXT, "the rule that allows it; empty if none does"),
})  # fmt: skip
_RUN: Final = record({
    "file": TEXT, "experiment": TEXT, "kind": TEXT, "ranks": COUNT, "verdict": _VERDICT,
    "bad_hosts": HOSTS, "suspects": HOSTS, "findings": list_of(_FINDING),
    "doubts": described(TEXTS, "what cannot be judged, and what to measure"),
    "judged": described(TEXTS, "what the verdict rests on"),
    "earlier": described(maybe(COUNT), "comparable earlier runs; null without a baseline"),
    "left_out": list_of(record({"file": TEXT, "why": TEXT})),
    "visible": described(by_name(RATIO), "smallest ratio that would be seen, by kind"),
})  # fmt: skip

DOCUMENT: Final = Document(
    "The verdict on runs, and the hosts that are bad",
    record({
        "verdict": _VERDICT, "exit": described(COUNT, "exit code of the command"),
        "bad_hosts": HOSTS,
        "refused_hosts": described(TEXTS, "bad hosts whose names are none"),
        "suspects": described(
            HOSTS, "not confirmed, or ends of slow pairs: one of them, or what is between"
        ),
        "unused_rules": TEXTS, "runs": list_of(_RUN),
    }),
    ("check",),
)  # fmt: skip
