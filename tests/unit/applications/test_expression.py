"""Expressions of descriptions: worth what Python says, and nothing else can be called."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.applications.description.expression import ExpressionError, Quantity, evaluate

NAMES = {"n": Quantity(1024.0), "p": Quantity(4.0), "t_op": Quantity(1.2e-9, seconds=1)}


IT_IS_WORTH = [
    ("30us", 3e-5, (1, 0)),
    ("30 us", 3e-5, (1, 0)),
    ("1.2ns", 1.2e-9, (1, 0)),
    ("2min", 120.0, (1, 0)),
    ("4KiB", 4096.0, (0, 1)),
    ("1.5kB", 1500.0, (0, 1)),
    ("1e3", 1000.0, (0, 0)),
    (".5", 0.5, (0, 0)),
    ("2*n**2/p * t_op", 2 * 1024**2 / 4 * 1.2e-9, (1, 0)),
    ("2*n/p*(n-1)*t_op", 2 * 1024 / 4 * 1023 * 1.2e-9, (1, 0)),
    ("-2**2", -4.0, (0, 0)),
    ("2**3**2", 512.0, (0, 0)),
    ("2**-1", 0.5, (0, 0)),
    ("7//2 + 7%4", 6.0, (0, 0)),
    ("8 * ceil(n/p/100)", 24.0, (0, 0)),
    ("round(2.5)", 3.0, (0, 0)),
    ("max(1us, 3us, 0)", 3e-6, (1, 0)),
    ("min(p, n) + log2(n) + sqrt(p) + floor(1.9)", 17.0, (0, 0)),
    ("1KiB * 1us / 1KiB", 1e-6, (1, 0)),
]


def test_what_it_is_worth(subtests: pytest.Subtests) -> None:
    for text, value, unit in IT_IS_WORTH:
        with subtests.test(str((text, value, unit))):
            found = evaluate(text, NAMES)
            assert found.value == pytest.approx(value, rel=1e-15)
            assert (found.seconds, found.bytes) == unit


IT_CANNOT_BE = [
    ("", "empty"),
    ("1 +", "incomplete"),
    ("(1", "not closed"),
    ("1)", "not a complete"),
    ("n n", "not a complete"),
    ("1/0", "the expression divides by zero"),
    ("1//0", "the expression divides by zero"),
    ("1%(p-4)", "the expression divides by zero"),
    ("0**-1", "the expression divides by zero"),
    ("1e400", "too large"),
    ("10**400", "too large"),
    ("2**2**2**2**2**2", "too large"),
    ("1e308*10", "too large"),
    ("(-8)**0.5", "root"),
    ("sqrt(-1)", "root"),
    ("log2(0)", "must be above 0"),
    ("2**1us", "unit"),
    ("1us + 1KiB", "added"),
    ("max(1us, 1KiB)", "added"),
    ("3n", "3*n"),
    ("m", "there is no parameter 'm'"),
    ("exp(1)", "there is no function 'exp'"),
    ("sqrt(1, 2)", "one number"),
    ("min()", "instead of"),
    ("n.real", "not allowed here"),
    ("n[0]", "not allowed here"),
    ("'n'", "not allowed here"),
    ("lambda: 1", "not allowed here"),
    ("__import__('os')", "not allowed here"),
    ("p(1)", "no function"),
    ("1 if n else 2", "'1if' has no known unit"),
    ("(" * 5000 + "1", "more than"),
    ("(" * 100 + "1" + ")" * 100, "the expression has more than"),
    ("-" * 1000 + "1", "the expression has more than"),
    ("2" + "**2" * 500, "the expression has more than"),
    ("1+" * 2000 + "1", "more than"),
]


def test_what_it_cannot_be(subtests: pytest.Subtests) -> None:
    """One sentence, and no exception of Python's own."""
    for text, expected in IT_CANNOT_BE:
        with subtests.test(str((text, expected))):
            with pytest.raises(ExpressionError) as caught:
                evaluate(text, NAMES)
            assert expected in str(caught.value)


def formulas() -> st.SearchStrategy[str]:
    """Return formulas that are Python, too; without whole numbers, which have no limit there."""
    whole = st.integers(0, 99).map(lambda number: f"{number}.0")
    leaf = st.one_of(whole, st.sampled_from(["n", "p", "0.5", "1e-3"]))

    def longer(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        two = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), inner)
        return st.one_of(
            two.map(" ".join),
            two.map(lambda parts: f"({' '.join(parts)})"),
            inner.map(lambda one: f"-{one}"),
            inner.map(lambda one: f"max({one}, 2.0)"),
        )

    return st.recursive(leaf, longer, max_leaves=8)


@given(formulas())
def test_it_is_calculated_as_python_does(text: str) -> None:
    """Precedence and association are those everyone knows."""
    try:
        expected = float(eval(text, {"n": 1024.0, "p": 4.0, "max": max}))
    except (ZeroDivisionError, OverflowError, TypeError):  # float() of a complex number
        expected = math.nan
    try:
        found = evaluate(text, NAMES).value
    except ExpressionError:
        found = math.nan
    if math.isfinite(expected) and abs(expected) < 1e300 and math.isfinite(found):
        assert found == pytest.approx(expected, rel=1e-9)
    else:
        assert math.isnan(found) or abs(found) > 1e290


@given(st.text(max_size=40))
def test_any_text_is_worth_something_or_refused(text: str) -> None:
    """Never anything but an ExpressionError."""
    try:
        assert math.isfinite(evaluate(text, NAMES).value)
    except ExpressionError as error:
        assert str(error)
