"""Numbers with units, and formulas of them: ``30us``, ``4KiB``, ``2*n**2/p * t_op``.

A small grammar of its own, so that nothing else can be called::

    sum      product  + | - product ...
    product  signed   * | / | // | % signed ...
    signed   + | - signed, or power
    power    atom [** signed]                  2**3**2 is 2**(3**2), -2**2 is -4
    atom     NUMBER [UNIT] | NAME | FUNCTION(sum, ...) | (sum)

Numbers are floating-point numbers. Seconds and bytes are kept apart as far as it takes to refuse
their sum, or a size where a time is expected; a plain number goes with both.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from isochrone.applications.description.grids import balanced
from isochrone.base.text import printable
from isochrone.base.units import unit_of

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names of parameters."""

_MAX_EXPRESSION = 2000
_MAX_EXPRESSION_DEPTH = 40

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(?P<unit>[A-Za-zµμ_]\w*)?"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>\*\*|//|[-+*/%(),]))"
)


class ExpressionError(ValueError):
    """What is wrong with an expression, in one sentence."""


class UnknownNameError(ExpressionError):
    """A name that stands for nothing."""


@dataclass(frozen=True)
class Quantity:
    """A number, with the powers of seconds and of bytes in its unit."""

    value: float
    seconds: float = 0.0
    bytes: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether it has no unit."""
        return self.seconds == 0 and self.bytes == 0


Quantities = list[Quantity]

Function = Callable[[str, Quantities], Quantity]
"""Of its name, for errors, and its arguments."""


def evaluate(text: str, names: Mapping[str, Quantity]) -> Quantity:
    """Return what an expression is worth.

    Parameters
    ----------
    text
        Of at most 2,000 characters.
    names
        What the names in it stand for.

    Raises
    ------
    ExpressionError
        If it is none, names something unknown, or has no finite value.
    """
    if len(text) > _MAX_EXPRESSION:
        raise ExpressionError(f"the expression has more than {_MAX_EXPRESSION} characters")
    parser = _Parser(text, names)
    quantity = parser.sum()
    if parser.sign or parser.rest:
        raise ExpressionError(f"'{printable(text, 60)}' is not a complete expression")
    return quantity


_Token = tuple[str, str, str]
"""Number, name or sign (the others empty); a number's unit is in the place of the name."""


class _Parser:
    """Works out an expression while it reads it; `rest` are the tokens left, last first."""

    def __init__(self, text: str, names: Mapping[str, Quantity]) -> None:
        tokens: list[_Token] = []
        end, text = 0, text.rstrip()
        while end < len(text):
            match = _TOKEN.match(text, end)
            if match is None:
                raise ExpressionError(f"'{printable(text[end:], 20)}' is not allowed here")
            end = match.end()
            word = match["unit"] or match["name"] or ""
            tokens.append((match["number"] or "", word, match["sign"] or ""))
        if not tokens:
            raise ExpressionError("the expression is empty")
        self.rest = tokens[::-1]
        self.names = names
        self.depth = 0

    @property
    def sign(self) -> str:
        """The sign that is next; empty: none."""
        return self.rest[-1][2] if self.rest else ""

    def take(self) -> str:
        """Go beyond the sign that is next."""
        return self.rest.pop()[2]

    def sum(self) -> Quantity:
        """Work out terms that are added."""
        value = self.product()
        while self.sign in ("+", "-"):
            factor = -1.0 if self.take() == "-" else 1.0
            term = self.product()
            unit = _same_unit([value, term])
            value = _finite(value.value + factor * term.value, unit.seconds, unit.bytes)
        return value

    def product(self) -> Quantity:
        """Work out factors."""
        value = self.signed()
        while self.sign in ("*", "/", "//", "%"):
            value = _OPERATORS[self.take()](value, self.signed())
        return value

    def signed(self) -> Quantity:
        """Work out a power with its sign; all nesting goes through here."""
        self.depth += 1
        if self.depth > _MAX_EXPRESSION_DEPTH:
            raise ExpressionError(f"the expression has more than {_MAX_EXPRESSION_DEPTH} levels")
        if self.sign in ("+", "-"):
            factor = -1.0 if self.take() == "-" else 1.0
            value = self.signed()
            value = Quantity(factor * value.value, value.seconds, value.bytes)
        else:
            value = self.atom()
            if self.sign == "**":
                self.take()
                value = _power(value, self.signed())
        self.depth -= 1
        return value

    def atom(self) -> Quantity:
        """Work out a number, a name, a call, or what is in parentheses."""
        if not self.rest:
            raise ExpressionError("the expression is incomplete")
        number, word, sign = self.rest.pop()
        if number and not word:
            return _finite(float(number))
        if number:
            unit = unit_of(word)
            if unit is None:
                raise ExpressionError(
                    f"'{number}{word}' has no known unit; units are ns us ms s min h B KiB "
                    f"MiB GiB kB MB GB; a product is written {number}*{word}"
                )
            value, (factor, kind) = float(number), unit
            if kind != "time":
                return _finite(value * factor, bytes=1.0)
            # dividing is exact to the last digit: 30us is 3e-05
            amount = value / round(1 / factor) if factor < 1 else value * factor
            return _finite(amount, seconds=1.0)
        if word:
            if self.sign == "(":
                return self.call(word)
            if word not in self.names:
                names = ", ".join(self.names) or "none"
                raise UnknownNameError(f"there is no parameter '{word}' here; known: {names}")
            return self.names[word]
        if sign != "(":
            raise ExpressionError(f"the expression has '{sign}' instead of a number or a name")
        inner = self.sum()
        self.close()
        return inner

    def call(self, word: str) -> Quantity:
        """Work out a call of a function."""
        if word not in FUNCTIONS:
            raise ExpressionError(
                f"there is no function '{word}'; there are: {', '.join(FUNCTIONS)}"
            )
        self.take()
        arguments = [self.sum()]
        while self.sign == ",":
            self.take()
            arguments.append(self.sum())
        self.close()
        return FUNCTIONS[word](word, arguments)

    def close(self) -> None:
        """Go beyond a closing parenthesis."""
        if self.sign != ")":
            raise ExpressionError("a parenthesis is not closed")
        self.take()


def _finite(value: float, seconds: float = 0.0, bytes: float = 0.0) -> Quantity:
    """Return a quantity, unless its value is beyond all numbers."""
    if not math.isfinite(value):
        raise ExpressionError("a number in the expression is too large")
    return Quantity(value, seconds, bytes)


def _same_unit(quantities: Quantities) -> Quantity:
    """Return one of those with the unit of all; plain numbers go with every unit."""
    with_unit = [q for q in quantities if not q.plain]
    for quantity in with_unit[1:]:
        if (quantity.seconds, quantity.bytes) != (with_unit[0].seconds, with_unit[0].bytes):
            raise ExpressionError("times and sizes cannot be added or compared")
    return with_unit[0] if with_unit else quantities[0]


def _divided(function: Callable[[float, float], float]) -> Callable[[Quantity, Quantity], Quantity]:
    """Return a division, which divides units, too."""

    def call(a: Quantity, b: Quantity) -> Quantity:
        if b.value == 0:
            raise ExpressionError("the expression divides by zero")
        value = function(a.value, b.value)
        return _finite(value, a.seconds - b.seconds, a.bytes - b.bytes)

    return call


def _remainder(a: Quantity, b: Quantity) -> Quantity:
    _divided(operator.mod)(a, b)
    unit = _same_unit([a, b])
    return _finite(a.value % b.value, unit.seconds, unit.bytes)


def _power(a: Quantity, b: Quantity) -> Quantity:
    if not b.plain:
        raise ExpressionError("the exponent has a unit")
    if a.value == 0 and b.value < 0:
        raise ExpressionError("the expression divides by zero")
    try:
        value = math.pow(a.value, b.value)
    except OverflowError:
        raise ExpressionError("a number in the expression is too large") from None
    except ValueError:
        raise ExpressionError("the expression takes the root of a negative number") from None
    return _finite(value, a.seconds * b.value, a.bytes * b.value)


_OPERATORS = {
    "*": lambda a, b: _finite(a.value * b.value, a.seconds + b.seconds, a.bytes + b.bytes),
    "/": _divided(operator.truediv),
    "//": _divided(operator.floordiv),
    "%": _remainder,
}


def _one(name: str, arguments: Quantities) -> Quantity:
    if len(arguments) != 1:
        raise ExpressionError(f"{name} takes one number, not {len(arguments)}")
    return arguments[0]


def _rounding(function: Callable[[float], float]) -> Function:
    """Return a function that makes a number whole, and keeps its unit."""

    def call(name: str, arguments: Quantities) -> Quantity:
        argument = _one(name, arguments)
        return _finite(float(function(argument.value)), argument.seconds, argument.bytes)

    return call


def _log2(name: str, arguments: Quantities) -> Quantity:
    value = _one(name, arguments).value
    if value <= 0:
        raise ExpressionError("the argument of log2 must be above 0")
    return Quantity(math.log2(value))


def _extreme(function: Callable[[list[float]], float]) -> Function:
    """Return a function that chooses among numbers of one unit."""

    def call(name: str, arguments: Quantities) -> Quantity:
        unit = _same_unit(arguments)
        return Quantity(function([q.value for q in arguments]), unit.seconds, unit.bytes)

    return call


def _side(name: str, arguments: Quantities) -> Quantity:
    """Return a side of the most balanced grid of so many ranks."""
    values = [q.value for q in arguments]
    if len(values) != 3 or any(not q.plain or q.value != round(q.value) for q in arguments):
        raise ExpressionError(f"{name} takes three whole numbers: ranks, dimensions, side")
    ranks, dimensions, which = map(round, values)
    if not (1 <= ranks <= 2**20 and 1 <= dimensions <= 4 and 0 <= which < dimensions):
        raise ExpressionError(f"{name}({ranks}, {dimensions}, {which}): this side does not exist")
    return Quantity(float(balanced(ranks, dimensions)[which]))


FUNCTIONS = {
    "ceil": _rounding(math.ceil),
    "floor": _rounding(math.floor),
    "round": _rounding(lambda value: math.floor(value + 0.5)),
    "sqrt": lambda name, arguments: _power(_one(name, arguments), Quantity(0.5)),
    "log2": _log2,
    "min": _extreme(min),
    "max": _extreme(max),
    "side": _side,
}
"""What can be called; ``round`` takes halves up."""
