"""Immutable records. A class of these is made in a fiftieth of the time of a frozen dataclass."""

from typing import Any, dataclass_transform

import msgspec

Members = dict[str, Any]
"""The members of a record or a document, by name."""


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, frozen=True, dict=True):
    """Fields by position or name; equal and hashed by their values."""
