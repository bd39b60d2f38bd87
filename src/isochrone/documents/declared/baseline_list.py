"""What ``baseline list --json`` prints: the runs of a folder, by what can be compared."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import BOOLEAN, COUNT, TEXT, by_name, described, list_of, record

__all__ = ["DOCUMENT", "GROUP"]

GROUP: Final = {
    "experiment": TEXT, "kind": TEXT, "ranks": COUNT,
    "setting": described(by_name(TEXT), "what they have in common"),
    "runs": list_of(record({"file": TEXT, "started": TEXT, "complete": BOOLEAN})),
}  # fmt: skip
"""Runs that can be held against each other."""

DOCUMENT: Final = Document(
    "The runs of a baseline, those that can be held against each other together",
    record({"folder": TEXT, "groups": list_of(record(GROUP))}),
    ("baseline list",),
)
