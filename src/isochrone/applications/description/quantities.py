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

MAX_COMPUTATION = 1e6
"""Seconds of the longest computation."""

Scope = Mapping[str, Quantity]
"""What names stand for."""

Reader = Callable[[Given, Scope], float]
"""Reads one kind of number: `seconds`, `size` or `number`."""


def quantity(expression: Given, scope: Scope) -> Quantity:
    """Return what is given, with its unit.

    Raises
    ------
    InputError
        If it is no number, or no expression of known names with a finite value.
    """
    value = expression.value
    if isinstance(value, str):
        try:
            return evaluate(value, scope)
        except ExpressionError as error:
            hint = "add it to parameters" if isinstance(error, UnknownNameError) else ""
            raise expression.at.error(str(error), hint) from error
    try:
        plain = float(value)
    except OverflowError:
        plain = math.inf
    if not math.isfinite(plain):
        raise expression.at.error("the number is too large")
    return Quantity(plain)


def seconds(expression: Given, scope: Scope) -> float:
    """Return a time in seconds; only 0 needs no unit.

    Raises
    ------
    InputError
        If it has no unit, is a size, negative, or longer than eleven days.
    """
    amount = quantity(expression, scope)
    if amount.seconds != 1 and not amount.plain:
        raise expression.at.error(
            f"{_shown(expression)} is not a time", "write for example 30us or 1.5ms"
        )
    if amount.plain and amount.value > 0:
        raise expression.at.error(
            f"{_shown(expression)} is a time without a unit", "write 30us, 1.5ms or 2s"
        )
    if amount.value < 0:
        raise expression.at.error(f"a negative time: {_shown(expression)} is {amount.value:g} s")
    if amount.value > MAX_COMPUTATION:
        raise expression.at.error(
            f"{amount.value:g} s is too long", f"at most {MAX_COMPUTATION:g} s"
        )
    return amount.value


def size(expression: Given, scope: Scope) -> float:
    """Return a size as a whole number of bytes, the nearest one.

    Raises
    ------
    InputError
        If it is a time, negative, or more than 1 TiB.
    """
    amount = quantity(expression, scope)
    if amount.seconds != 0:
        raise expression.at.error(
            f"{_shown(expression)} is not a size", "write for example 64 or 4KiB"
        )
    if amount.value < 0:
        raise expression.at.error(f"a negative size: {_shown(expression)} is {amount.value:g} B")
    if amount.value > LARGEST:
        raise expression.at.error(f"{amount.value:g} B is too large", "at most 1 TiB")
    return float(math.floor(amount.value + 0.5))


def number(expression: Given, scope: Scope) -> float:
    """Return a number without a unit, from 0.

    Raises
    ------
    InputError
        If it has a unit or is negative.
    """
    amount = quantity(expression, scope)
    if not amount.plain:
        raise expression.at.error(
            f"{_shown(expression)} has a unit where a plain number is expected"
        )
    if amount.value < 0:
        raise expression.at.error(f"{_shown(expression)} is negative: {amount.value:g}")
    return amount.value


def share(expression: Given, scope: Scope) -> float:
    """Return a part of a whole, from 0 to 1.

    Raises
    ------
    InputError
        If it is none.
    """
    fraction = number(expression, scope)
    if fraction > 1:
        raise expression.at.error(f"{_shown(expression)} is {fraction:g}, but a share is at most 1")
    return fraction


def count(expression: Given, scope: Scope, minimum: int, maximum: int) -> int:
    """Return a whole number of a range.

    Raises
    ------
    InputError
        If it has a unit, is not whole, or is out of the range.
    """
    amount = quantity(expression, scope)
    rounded = round(amount.value)
    if not amount.plain or abs(amount.value - rounded) > 1e-9 * max(1, abs(rounded)):
        raise expression.at.error(
            f"{_shown(expression)} is not a whole number", "try ceil() or floor()"
        )
    if not minimum <= rounded <= maximum:
        raise expression.at.error(
            f"{_shown(expression)} is {rounded}, not from {minimum} to {maximum}"
        )
    return rounded


def _shown(expression: Given) -> str:
    return f"'{printable(expression.value, 60)}'"
