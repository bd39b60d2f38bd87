"""Parameters of an application, worked out for a number of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from isochrone.applications.description.description import App, Parameters
from isochrone.applications.description.expression import (
    ExpressionError,
    Quantity,
    UnknownNameError,
    evaluate,
)
from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.quantities import Scope, count, quantity
from isochrone.applications.description.shapes import Given

__all__ = ["parameters", "ranks"]


def parameters(common: Parameters, app: App, p: int) -> Scope:
    """Return what names stand for in an application of `p` ranks.

    Parameters are worked out in their order, those of the application after those of all; one of
    the application takes the place of one of all.

    Raises
    ------
    InputError
        If one of them cannot be worked out.
    """
    scope = {"p": Quantity(float(p))}
    for name, given in chain(common.items(), app.parameters.items()):
        scope[name] = quantity(given, scope)
    return scope


def ranks(common: Parameters, app: App, given: Given) -> int:
    """Return the number of ranks of an application, from parameters that do not depend on it.

    Raises
    ------
    InputError
        If it cannot be worked out, or is not from 1 to `MAX_RANKS`.
    """
    known = dict(_without_ranks(common, app))
    if isinstance(given.value, str):
        try:
            evaluate(given.value, known)
        except UnknownNameError as error:
            hint = "ranks follow from parameters that do not depend on p"
            raise given.at.error(str(error), hint) from None
        except ExpressionError:
            pass  # said below
    return count(given, known, 1, MAX_RANKS)


def _without_ranks(common: Parameters, app: App) -> Iterator[tuple[str, Quantity]]:
    """Yield parameters that are known before the number of ranks is."""
    scope: dict[str, Quantity] = {}
    for name, given in chain(common.items(), app.parameters.items()):
        try:
            found = (
                evaluate(given.value, scope)
                if isinstance(given.value, str)
                else quantity(given, scope)
            )
        except UnknownNameError:
            scope.pop(name, None)
            continue
        except ExpressionError as error:
            raise given.at.error(str(error)) from None
        scope[name] = found
    yield from scope.items()
