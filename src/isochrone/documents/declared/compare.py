"""What ``compare --json`` prints: one comparison, or several by what was measured."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    NUMBER,
    PART,
    RATIO,
    SECONDS,
    TEXT,
    TEXTS,
    VALUE,
    by_name,
    described,
    either,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]

_VERDICT: Final = one_of("slower", "faster", "same", "unclear")
_DIFFERENCE: Final = {
    "ratio": described(RATIO, "B over A"), "low": maybe(RATIO), "high": maybe(RATIO),
    "p": described(maybe(NUMBER), "of the test for a difference"), "verdict": _VERDICT,
}  # fmt: skip
_KEY: Final = described(by_name(either(VALUE, list_of(VALUE))), "what the point is of")
_PART: Final = record({
    "kind": TEXT, "who": TEXT, "bytes": maybe(BYTES), "before": SECONDS, "after": SECONDS,
    "added": SECONDS, **_DIFFERENCE, "points": COUNT, "of": COUNT,
})  # fmt: skip
COMPARISON: Final = record({
    "experiment": TEXT,
    "counts": record(dict.fromkeys(("slower", "faster", "same", "unclear"), COUNT)),
    "points": list_of(record({"key": _KEY, "before": SECONDS, "after": SECONDS, **_DIFFERENCE})),
    "differences": described(
        list_of(record({"what": TEXT, "before": TEXT, "after": TEXT})),
        "what else differs: library, hosts, options",
    ),
    "explanations": described(
        list_of(record({
            "kind": one_of("setting", "library", "memory", "machine"), "what": TEXT,
            "before": TEXT, "after": TEXT,
        })),
        "those that explain a change of all ranks likely, the best first",
    ),
    "parts": described(list_of(_PART), "what changed, largest first"),
    "overall": maybe(record(_DIFFERENCE)),
    "launches": record({"before": COUNT, "after": COUNT}),
    "unit": described(TEXT, "what a repetition is: launch, or start if there is one only"),
    "margin": PART, "visible": described(maybe(PART), "smallest change that would be seen"),
    "notes": TEXTS,
    "failed": described(list_of(_KEY), "points that --fail-on means"),
    "failed_parts": list_of(_PART),
    "cannot_judge": described(TEXTS, "why --fail-on cannot be judged"),
})  # fmt: skip

DOCUMENT: Final = Document(
    "A comparison of two measurements, or several by the name of what was measured",
    either(COMPARISON, record({"comparisons": by_name(COMPARISON)})),
    ("compare",),
)
