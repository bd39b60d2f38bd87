"""The model file, which ``fit --json`` prints, too."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    COUNT,
    NUMBER,
    ORIGIN,
    PART,
    TEXT,
    TEXTS,
    VALUE,
    by_name,
    described,
    list_of,
    maybe,
    one_of,
    record,
)
from isochrone.documents.structs import shapes_of
from isochrone.models.extension import kept
from isochrone.models.model import Backtest
from isochrone.models.regime import Regime

__all__ = ["DOCUMENT"]

(_REGIME, _BACKTEST, *_KEPT), _DEFS = shapes_of(
    Regime, Backtest, *(kind.struct for kind in kept().values())
)
_DEVIATION: Final = record({"minimum": PART, "average": PART, "maximum": PART, "points": COUNT})
_QUALITY: Final = record(
    {
        "points": COUNT, "samples": COUNT, "r2": maybe(NUMBER), "deviation": _DEVIATION,
        "groups": by_name(by_name(_DEVIATION)), "held_out": by_name(_DEVIATION),
    },
)  # fmt: skip
_WHERE: Final = by_name(VALUE)
_TRIED: Final = record(
    {
        "family": TEXT, "held_out": maybe(PART), "sicc": maybe(NUMBER), "pieces": COUNT,
        "coefficients": COUNT, "reason": described(TEXT, "why it cannot be fitted"),
    },
    optional=["sicc", "pieces", "coefficients", "reason"],
)  # fmt: skip
_EXPLAINED: Final = record({
    "where": _WHERE, "sentences": TEXTS,
    "measure": described(maybe(by_name(NUMBER)), "the point to measure next"),
})  # fmt: skip
_KEYS: Final = {
    "record": one_of("model"), "format": COUNT, "family": TEXT, "weights": TEXT,
    "quality": _QUALITY,
    "ranking": list_of(record({"where": _WHERE, "families": list_of(_TRIED)})),
    "backtests": list_of(_BACKTEST), "source": TEXT, "notes": TEXTS, "warnings": TEXTS,
    "made_from": list_of(record({"path": TEXT, "sha256": TEXT})), "origin": ORIGIN,
    "constant": by_name(NUMBER), "full_node": COUNT, "experiment": TEXT,
    "sizes": list_of(NUMBER), **dict(zip(kept(), map(list_of, _KEPT), strict=True)),
    "explanation": list_of(_EXPLAINED),
    "pieces": described(list_of(_REGIME), "formulas, each with where it holds"),
    "sha256": described(TEXT, "of the document without it, as JSON with sorted keys, no blanks"),
}  # fmt: skip
_ALWAYS: Final = ("record", "format", "family", "pieces")

DOCUMENT: Final = Document(
    "A model: formulas for times of communication",
    {**record(_KEYS, optional=[key for key in _KEYS if key not in _ALWAYS]), "$defs": _DEFS},
    ("fit",),
)
