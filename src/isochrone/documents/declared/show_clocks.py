"""What ``show --json`` prints of clock synchronisation, and of a run that it cannot read."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import COUNT, by_name, described

__all__ = ["DOCUMENT"]

_SHAPE: Final = shown({"records": described(by_name(COUNT), "how many records of each name")})

DOCUMENT: Final = Document(
    "Clocks of the ranks; or a run of a kind that this version cannot read", _SHAPE, ("show",)
)
