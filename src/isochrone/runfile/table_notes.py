"""What a table or matrix of pairs does not say of itself, and the user does.

A command that takes such files sets `NOTES` from its options; the readers of tables look there.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.text import printable

TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
"""Seconds of units of time."""

RATES = {
    "GB/s": 1e9,
    "MB/s": 1e6,
    "kB/s": 1e3,
    "B/s": 1.0,
    "GiB/s": 2.0**30,
    "MiB/s": 2.0**20,
    "Gbit/s": 1e9 / 8,
    "Mbit/s": 1e6 / 8,
    "Gb/s": 1e9 / 8,
    "Mb/s": 1e6 / 8,
}
"""Bytes per second of units of bandwidth."""


class TableNotes(Record):
    """What the user says of a table of pairs.

    Attributes
    ----------
    unit
        Of its numbers, one of `TIMES` or `RATES`; empty if the file says it.
    nbytes
        Message size; None if not known.
    one_way
        Whether its times are those of one message from i to j, and not round trips.
    hosts
        Host of each rank; empty if not known.
    matrix
        Words in the title of the matrix that is wanted; empty: the first.
    columns, factors
        Variable by name of a column of a table, such as ``src``: ``i``; and factor to seconds,
        bytes or bytes per second by variable.
    """

    unit: str = ""
    nbytes: int | None = None
    one_way: bool = False
    hosts: tuple[str, ...] = ()
    matrix: str = ""
    columns: Mapping[str, str] = MappingProxyType({})
    factors: Mapping[str, float] = MappingProxyType({})


NOTES = ContextVar("NOTES", default=TableNotes())  # noqa: B039 - a record is immutable
"""What the user says of the tables that are read."""


def read_unit(text: str) -> str:
    """Read a unit of times or rates, in any case if that is clear.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    units = TIMES | RATES
    alike = [name for name in units if name.lower() == text.lower()]
    if text in units or len(alike) == 1:
        return text if text in units else alike[0]
    raise InputError(
        f"'{printable(text, 20)}' is not a unit of pairs", hint=f"there are: {', '.join(units)}"
    )
