"""What is given in a description, as seconds, bytes and counts."""

import math
from collections.abc import Callable, Mapping

from isochrone.applications.description.expression import (
    ExpressionError,
    Quantity,
    UnknownNameError,
    evaluate,
)
from isochrone.applications.description.shapes import Given
from isochrone.base.text import printable

LARGEST = 2**40
"""Bytes of the largest message."""

LONGEST = 1e6
"""Seconds of the longest computation."""

Scope = Mapping[str, Quantity]
"""What names stand for."""

Reader = Callable[[Given, Scope], float]
"""Reads one kind of number: `seconds`, `size` or `number`."""


def quantity(given: Given, scope: Scope) -> Quantity:
    """Return what is given, with its unit.

    Raises
    ------
    InputError
        If it is no number, or no expression of known names with a finite value.
    """
    value = given.value
    if isinstance(value, str):
        try:
            return evaluate(value, scope)
        except ExpressionError as error:
            hint = "add it to parameters" if isinstance(error, UnknownNameError) else ""
            raise given.at.error(str(error), hint) from error
    try:
        plain = float(value)
    except OverflowError:
        plain = math.inf
    if not math.isfinite(plain):
        raise given.at.error("the number is too large")
    return Quantity(plain)


def seconds(given: Given, scope: Scope) -> float:
    """Return a time in seconds; only 0 needs no unit.

    Raises
    ------
    InputError
        If it has no unit, is a size, negative, or longer than eleven days.
    """
    found = quantity(given, scope)
    if found.seconds != 1 and not found.plain:
        raise given.at.error(f"{_shown(given)} is not a time", "write for example 30us or 1.5ms")
    if found.plain and found.value > 0:
        raise given.at.error(f"{_shown(given)} is a time without a unit", "write 30us, 1.5ms or 2s")
    if found.value < 0:
        raise given.at.error(f"a negative time: {_shown(given)} is {found.value:g} s")
    if found.value > LONGEST:
        raise given.at.error(f"{found.value:g} s is too long", f"at most {LONGEST:g} s")
    return found.value


def size(given: Given, scope: Scope) -> float:
    """Return a size as a whole number of bytes, the nearest one.

    Raises
    ------
    InputError
        If it is a time, negative, or more than 1 TiB.
    """
    found = quantity(given, scope)
    if found.seconds != 0:
        raise given.at.error(f"{_shown(given)} is not a size", "write for example 64 or 4KiB")
    if found.value < 0:
        raise given.at.error(f"a negative size: {_shown(given)} is {found.value:g} B")
    if found.value > LARGEST:
        raise given.at.error(f"{found.value:g} B is too large", "at most 1 TiB")
    return float(math.floor(found.value + 0.5))


def number(given: Given, scope: Scope) -> float:
    """Return a number without a unit, from 0.

    Raises
    ------
    InputError
        If it has a unit or is negative.
    """
    found = quantity(given, scope)
    if not found.plain:
        raise given.at.error(f"{_shown(given)} has a unit where a plain number is expected")
    if found.value < 0:
        raise given.at.error(f"{_shown(given)} is negative: {found.value:g}")
    return found.value


def share(given: Given, scope: Scope) -> float:
    """Return a part of a whole, from 0 to 1.

    Raises
    ------
    InputError
        If it is none.
    """
    found = number(given, scope)
    if found > 1:
        raise given.at.error(f"{_shown(given)} is {found:g}, but a share is at most 1")
    return found


def count(given: Given, scope: Scope, least: int, most: int) -> int:
    """Return a whole number of a range.

    Raises
    ------
    InputError
        If it has a unit, is not whole, or is out of the range.
    """
    found = quantity(given, scope)
    whole = round(found.value)
    if not found.plain or abs(found.value - whole) > 1e-9 * max(1, abs(whole)):
        raise given.at.error(f"{_shown(given)} is not a whole number", "try ceil() or floor()")
    if not least <= whole <= most:
        raise given.at.error(f"{_shown(given)} is {whole}, not from {least} to {most}")
    return whole


def _shown(given: Given) -> str:
    return f"'{printable(given.value, 60)}'"
