"""Lines that hold records of one shape become columns without a dict for each record.

Nearly all lines of a run file are such: 523 776 pairs of a map, each with the same twelve members.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal

import msgspec
import numpy as np

from isochrone.base.arrays import Array
from isochrone.base.table import column
from isochrone.runfile import blocks

_OWN = ("run", "rank", "warning", "end", blocks.BLOCK, blocks.TOTAL)
"""Records that are no samples, or many of them."""

Members = tuple[tuple[str, type | None], ...]
"""Names of the members of a record in order, each with ``int`` or ``float`` if it is a number."""


def columns_of(lines: Sequence[bytes]) -> tuple[str, dict[str, Array]] | None:
    """Read samples of one name with the same members.

    Returns
    -------
    tuple or None
        The name and the columns; None if any line holds something else, or is damaged.
    """
    try:
        first = msgspec.json.decode(lines[0])
        if not isinstance(first, dict):
            return None
        name = first.pop("record", None)
        if not isinstance(name, str) or name in _OWN:
            return None
        kinds = {key: type(value) for key, value in first.items()}
        members = tuple((k, kind if kind in (int, float) else None) for k, kind in kinds.items())
        records = list(map(_decoder(name, members).decode, lines))
        return name, dict(_columns(members, records))
    except (msgspec.DecodeError, RecursionError, ValueError, OverflowError):
        return None


def _columns(members: Members, records: Sequence[object]) -> Iterator[tuple[str, Array]]:
    for k, (key, number_type) in enumerate(members):
        values = map(attrgetter(f"_{k}"), records)
        if number_type:
            yield key, np.fromiter(values, number_type, len(records))
        else:
            yield key, column(list(values))


@lru_cache(maxsize=8)
def _decoder(name: str, members: Members) -> msgspec.json.Decoder[msgspec.Struct]:
    """Make a decoder that takes records with exactly these members.

    Attributes are numbered, because a member of a record may have a name that Python reserves.
    """
    attributes: list[tuple[str, Any]] = [("name", Literal[name])]
    attributes += [(f"_{k}", number_type or Any) for k, (_, number_type) in enumerate(members)]
    keys = {f"_{k}": key for k, (key, _) in enumerate(members)} | {"name": "record"}
    shape = msgspec.defstruct(
        "Shape", attributes, rename=keys, forbid_unknown_fields=True, gc=False
    )
    return msgspec.json.Decoder(shape)
