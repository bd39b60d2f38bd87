"""The JSON document of `place orders`: orders, expected and measured.

Format history
--------------
1
    First format: one JSON object. Derived values (deviations, ranks, regret) are for scripts;
    reading recomputes them.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from isochrone.base.documents import plain
from isochrone.base.errors import InputError
from isochrone.base.files import check_ordinary, write_text
from isochrone.base.format_version import check_format
from isochrone.base.text import printable
from isochrone.collective_io.orders.compared_orders import FORMAT, ComparedOrder, ComparedOrders
from isochrone.runfile.columns import MAX_SECONDS

_BEGIN: Final = re.compile(rb'\s*\{\s*"record":\s*"orders"')


class _Order(msgspec.Struct):
    """An order as the document has it."""

    order: list[int]
    hosts: list[str]
    nodes: list[int]
    predicted: float
    names: list[str] = []
    low: float | None = None
    high: float | None = None
    times: list[float] = []


class _Document(msgspec.Struct):
    """Fields that are read."""

    orders: list[_Order]
    what: str = "nodes"
    op: str = "write"
    expected: str = "exchange"
    timed: str = "exchange"
    origin: str | None = None
    model_origin: str | None = None
    warnings: list[str] = []


def looks_like_one(path: Path) -> bool:
    """Whether a file begins like such a document."""
    try:
        check_ordinary(path)
        with path.open("rb") as stream:
            return _BEGIN.match(stream.read(200)) is not None
    except (OSError, InputError):
        return False


def write(path: Path, document: object) -> None:
    """Write a document; it appears whole or not at all."""
    write_text(
        path,
        json.dumps(plain(document), indent=1, allow_nan=False)
        + "\
",
    )


def read(path: Path) -> ComparedOrders:
    """Read a document.

    Raises
    ------
    InputError
        If it is unreadable, not such a document, of a newer format, or damaged.
    """
    where = str(path)
    check_ordinary(path)
    try:
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        if content.get("record") != "orders":
            raise InputError("no orders", hint="isochrone place orders -o writes them")
        check_format(content.get("format"), FORMAT, "the document of orders")
        return _checked(msgspec.convert(content, type=_Document))
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", where=where) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"damaged: {printable(error)}", where=where) from error
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from error


def _checked(found: _Document) -> ComparedOrders:
    if not found.orders:
        raise InputError("damaged: no orders")
    orders = [_order(one) for one in found.orders]
    if len({len(one.times) for one in orders}) > 1:
        raise InputError("damaged: orders differ in their number of launches")
    return ComparedOrders(
        orders, found.what, found.op, found.expected, found.timed, found.origin or "measured",
        found.model_origin or "", found.warnings,
    )  # fmt: skip


def _order(one: _Order) -> ComparedOrder:
    if not len(one.order) == len(one.hosts) == len(one.nodes) > 0:
        raise InputError("damaged: an order with different numbers of hosts and nodes")
    ends = [value for value in (one.low, one.high) if value is not None]
    if not all(0 < value <= MAX_SECONDS for value in (one.predicted, *one.times, *ends)):
        raise InputError("damaged: a time is not positive")
    low, high = (math.nan if value is None else value for value in (one.low, one.high))
    return ComparedOrder(
        one.names, one.order, one.hosts, one.nodes, one.predicted, low, high, one.times
    )
