"""The declarations of the families of models; a file that holds none does not hinder the others."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from functools import cache
from typing import Final

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.models.family import Family, Form, added, check_family
from isochrone.models.terms import variables_of

__all__ = ["broken", "declaration", "declared", "fewest_coefficients", "within"]

_FOLDER: Final = "*.families"

_MOST_TERMS: Final = 7
"""Of a sum of two formulas."""


@cache
def declaration(name: str) -> Family:
    """Return the declaration of a family.

    Raises
    ------
    InputError
        If there is none of this name; says which there are. If its file cannot be used; says why.
    """
    found = getattr(registry.load(_FOLDER, name), "FAMILY", None)
    where = str(registry.path_of(_FOLDER, name))
    if not isinstance(found, Family):
        raise InputError("it declares no Family called FAMILY", where=where)
    try:
        whole = replace(found, forms=(*found.forms, *_sums(found)), name=name)
        check_family(whole)
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from error
    except (AttributeError, TypeError) as error:  # a number in place of a tuple, for example
        raise InputError(f"its FAMILY is none: {error}", where=where) from error
    return whole


def _sums(found: Family) -> list[Form]:
    """Write out the sums of the formulas of other families."""
    sums = {
        frozenset(total.terms): total
        for one, other in found.sum_of
        for a in declaration(one).forms
        for b in declaration(other).forms
        for total in [added(a, b)]
        if len(total.terms) <= _MOST_TERMS
    }
    return list(sums.values())


def declared() -> list[str]:
    """List the families whose files can be used."""
    return [name for name, reason in _tried() if not reason]


def within(family: Family, variables: Container[str]) -> Family:
    """Return a family with only those forms that need no other variables; perhaps none."""
    forms = (one for one in family.forms if all(v in variables for v in variables_of(one.terms)))
    return replace(family, forms=tuple(forms))


def fewest_coefficients(variables: Container[str]) -> int:
    """Return the number of coefficients of the shortest formula that needs no other variables."""
    forms = [form for name in declared() for form in within(declaration(name), variables).forms]
    return min((len(form.terms) for form in forms), default=0)


def broken() -> list[str]:
    """Say which files in the folder of the families cannot be used, and why, one sentence each."""
    return [f"a family was left out: {reason}" for _, reason in _tried() if reason]


@cache
def _tried() -> list[tuple[str, str]]:
    """Return each family with the reason why its file cannot be used; empty if it can."""
    found = []
    for name in registry.names(_FOLDER):
        try:
            declaration(name)
        except InputError as error:
            found.append((name, str(error)))
        else:
            found.append((name, ""))
    return found
