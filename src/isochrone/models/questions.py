"""Which questions a model answers: what it is of, and for which values of which variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.errors import InputError
from isochrone.models.formulas import number
from isochrone.models.placement import PLACES
from isochrone.models.regime import Regime
from isochrone.models.sizes import BYTES
from isochrone.models.terms import VARIABLES, variables_of
from isochrone.runfile.header import kind_of

__all__ = ["WORDS", "Subject", "needed", "not_held", "recorded", "subject"]

Subject = Literal["collective", "message", "node", "computation"]

WORDS: Final[dict[Subject, str]] = {
    "collective": "a collective",
    "message": "messages between pairs of ranks",
    "node": "the messages of a busy node",
    "computation": "computation",
}
"""What a model is of, for a sentence."""

_OF_A_NODE: Final = {"pa", "pe", "in", "out"}

_OF_PAIRS: Final = {"i", "j", "pairs"}
"""What tells the curves of a sweep of messages apart."""

_ASKED: Final = {"b": "message sizes", "p": "numbers of ranks", "w": "windows"}
"""Variables that only a formula which holds them may be asked for. A hot spot has several names
for the same messages, and its formula is given them all."""


def subject(experiment: str, regimes: Sequence[Regime]) -> Subject:
    """Say what a model is of.

    That is what was measured, if it is an experiment whose curves are of pairs or of operations;
    else it shows in the variables, and in what keeps the formulas apart.
    """
    known = {name for regime in regimes for name in (*needed([regime]), *regime.fitted)}
    apart = {key for regime in regimes for key in regime.where}
    by = set(kind_of(experiment).get("by", ()))
    if known & _OF_A_NODE:
        return "node"
    if "n" in known:
        return "computation"
    if by & _OF_PAIRS or "mode" in apart:
        return "message"
    return "collective" if {"op"} & (by | apart) or "p" in known else "message"


def needed(regimes: Sequence[Regime]) -> list[str]:
    """List the variables of the formulas, of the ranges, and of what intervals are widened by."""
    return variables_of([
        term
        for regime in regimes
        for term in (
            *regime.terms, *regime.range, *regime.beyond,
            *(term for rival in regime.rivals for term in rival.terms),
        )
    ])  # fmt: skip


def recorded(regimes: Sequence[Regime], name: str) -> tuple[float, float] | None:
    """Return the lowest and the highest value of a variable in the data; None if not known."""
    found = [regime.fitted[name] for regime in regimes if name in regime.fitted]
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None


def not_held(
    regimes: Sequence[Regime], asked: Mapping[str, ArrayLike], *, strict: bool = False
) -> list[str]:
    """Say which variables are asked for that no formula holds: its times are the same for all.

    What all the data had in common may be asked for; and so may a size among those measured, if
    the formula without ``b`` was found for several.

    Parameters
    ----------
    regimes
        Formulas that are asked.
    asked
        Values by the names of variables.
    strict
        Refuse what is not known to be right, not only what was not measured.

    Returns
    -------
    list of str
        What is doubtful, one sentence each.

    Raises
    ------
    InputError
        If a value was not measured; says what to measure.
    """
    held = needed(regimes)
    if set(PLACES) <= set(held):
        held.append("p")  # their product
    if not set(BYTES).isdisjoint(held):
        held.append("b")  # with the messages
    doubtful = []
    for name in (name for name in _ASKED if name in asked and name not in held):
        values = np.asarray(asked[name], dtype=np.float64)
        measured = recorded(regimes, name)
        inside = measured is not None and bool(
            np.all((measured[0] <= values) & (values <= measured[1]))
        )
        if inside and measured is not None and (measured[0] == measured[1] or name == "b"):
            continue
        text = f"the model has no {name}, the {VARIABLES[name]}{_fitted_to(name, measured)}"
        if strict or (measured is not None and not inside):
            several = measured is not None and measured[0] < measured[1]
            hint = "fit another family" if several else f"measure several {_ASKED[name]} and fit"
            raise InputError(text, hint=hint)
        doubtful.append(text)
    return doubtful


def _fitted_to(name: str, measured: tuple[float, float] | None) -> str:
    """Say what was measured of a variable that no formula holds."""
    if measured is None:
        return ""
    low, high = (number(name, value) for value in measured)
    if low == high:
        return f"; it was fitted to {name} = {low} only"
    return f", although {low} to {high} were fitted"
