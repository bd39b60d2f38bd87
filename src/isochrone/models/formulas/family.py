"""What a family of models declares: the form of the formula, what it is for, when it fails."""

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cache

from isochrone.base import registry
from isochrone.base.errors import InputError, located
from isochrone.base.segmentation import LINE_VALUES
from isochrone.base.text import printable
from isochrone.models.data.terms import BYTES, variables_of


@dataclass(frozen=True)
class Form:
    """One formula: the sum of coefficient times term.

    Attributes
    ----------
    terms
        Names of the terms, as `isochrone.models` reads them.
    symbols
        The coefficient of each term as its source calls it.
    """

    terms: tuple[str, ...]
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """A family of models.

    One of one's own needs no more than forms, and a name that distinguishes it from others.

    Attributes
    ----------
    formula
        In LaTeX.
    source
        Where the formula comes from, as a short citation.
    limitations
        When not to use it, in full sentences.
    forms
        One or more formulas; each segment of a model takes the one that fits it best.
    splits
        Variables or products of them along which segments are looked for.
    operations
        Names of the operations it was made for; empty if for anything.
    min_values
        Fewest different values of the variable of a split in a segment.
    name
        As the user types it; that of a file in `families` is the name of the file.
    costs
        Whether each term is a cost: terms whose coefficient would be below zero are left out.
    fewest_values
        Fewest different values that a term of the ranks must have in the data: with two, a jump
        fits as well as steps.
    sum_of
        Pairs of families: each formula of the one and each of the other, added up, is a form.
    """

    formula: str = ""
    source: str = ""
    limitations: str = ""
    forms: tuple[Form, ...] = ()
    splits: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    min_values: int = LINE_VALUES
    costs: bool = False
    fewest_values: int = 0
    sum_of: tuple[tuple[str, str], ...] = ()
    name: str = "own"


_ADDEND = re.compile(r"(?:\[(.+?)\]|([^*\s]+))(?:\*(\S+))?(?: \+ |$)")


def forms_of(*formulas: str) -> tuple[Form, ...]:
    """Read formulas such as ``α + β*p*b``: sums of coefficients, each times its term.

    A coefficient that is a sum itself stands in square brackets.
    """
    return tuple(
        Form(
            tuple(term or "1" for _, _, term in addends),
            tuple(expression or symbol for expression, symbol, _ in addends),
        )
        for addends in map(_ADDEND.findall, formulas)
    )


def form_without(form: Form, terms: Container[str]) -> Form:
    """Return a formula without some of its terms."""
    pairs = zip(form.terms, form.symbols, strict=True)
    remaining = [(term, symbol) for term, symbol in pairs if term not in terms]
    return Form(tuple(term for term, _ in remaining), tuple(symbol for _, symbol in remaining))


def check_family(family: Family) -> None:
    """Refuse a declaration that cannot be fitted.

    Raises
    ------
    InputError
        If it has no forms, terms or splits are none of the grammar, or a form has not one symbol
        for each term; says which.
    """
    where = f"family '{printable(family.name, 40)}'"
    if not family.forms:
        raise InputError(
            "the family has no forms", where=where, hint='such as Form(("1", "b"), ("α", "β"))'
        )
    for number, form in enumerate(family.forms, 1):
        if not isinstance(form, Form) or isinstance(form.terms, str):
            raise InputError(
                f"form {number} is not a Form of several terms",
                where=where,
                hint='write Form(("1", "b"), ("α", "β")), a form of one Form(("b",), ("β",))',
            )
        terms, symbols = len(form.terms), len(form.symbols)
        if not terms or terms != symbols or isinstance(form.symbols, str):
            raise InputError(
                f"form {number} has no terms, or not one symbol for each",
                where=where,
                hint=f"terms: {', '.join(form.terms)}",
            )
        with located(f"{where}, form {number}"):
            variables_of(form.terms)
    with located(f"{where}, splits"):
        variables_of(family.splits)


def added(first: Form, second: Form) -> Form:
    """Return the sum of two formulas; coefficients of the same term are one."""
    symbols = dict(zip(first.terms, first.symbols, strict=True))
    for term, symbol in zip(second.terms, second.symbols, strict=True):
        symbols[term] = f"{symbols[term]} + {symbol}" if term in symbols else symbol
    return Form(tuple(symbols), tuple(symbols.values()))


# --- families in files ----------------------------------------------------------------------------

_FOLDER = "*.families"

_MOST_TERMS = 7
"""Of a sum of two formulas."""


@cache
def declaration(name: str) -> Family:
    """Return the declaration of a family.

    Raises
    ------
    InputError
        If there is none of this name; says which there are. If its file cannot be used; says why.
    """
    family = getattr(registry.load(_FOLDER, name), "FAMILY", None)
    where = str(registry.path_of(_FOLDER, name))
    if not isinstance(family, Family):
        raise InputError(
            "the file does not define FAMILY, an object of the class Family", where=where
        )
    try:
        with located(where):
            sums = {  # of the formulas of other families
                frozenset(total.terms): total
                for first, second in family.sum_of
                for a in declaration(first).forms
                for b in declaration(second).forms
                if len((total := added(a, b)).terms) <= _MOST_TERMS
            }
            extended = replace(family, forms=(*family.forms, *sums.values()), name=name)
            check_family(extended)
    except (AttributeError, TypeError) as error:  # a number in place of a tuple, for example
        raise InputError(f"FAMILY has a value of the wrong type ({error})", where=where) from error
    return extended


def declared() -> list[str]:
    """List the families whose files can be used."""
    return [name for name, reason in _tried() if not reason]


def of_bytes(family: Family) -> bool:
    """Whether all formulas of a family have such bytes."""
    return bool(family.forms) and all(
        not set(BYTES).isdisjoint(variables_of(form.terms)) for form in family.forms
    )


def within(family: Family, variables: Container[str]) -> Family:
    """Return a family with only those forms that need no other variables; perhaps none."""
    forms = (form for form in family.forms if all(v in variables for v in variables_of(form.terms)))
    return replace(family, forms=tuple(forms))


def fewest_coefficients(variables: Container[str]) -> int:
    """Return the number of coefficients of the shortest formula that needs no other variables."""
    forms = [form for name in declared() for form in within(declaration(name), variables).forms]
    return min((len(form.terms) for form in forms), default=0)


def broken() -> list[str]:
    """Say which files in the folder of the families cannot be used, and why, one sentence each."""
    return [f"a family of models was skipped: {reason}" for _, reason in _tried() if reason]


@cache
def _tried() -> list[tuple[str, str]]:
    """Return each family with the reason why its file cannot be used; empty if it can."""
    reasons = []
    for name in registry.names(_FOLDER):
        try:
            declaration(name)
        except InputError as error:
            reasons.append((name, str(error)))
        else:
            reasons.append((name, ""))
    return reasons
