"""Whether there are points enough to judge a formula, and not only to draw it through them."""

from __future__ import annotations

from typing import Final

from isochrone.base.errors import InputError

__all__ = ["refuse_too_few"]

SPARE: Final = 2
"""Points beyond the coefficients: without any one of them, there still is one to judge the rest."""


def refuse_too_few(points: int, coefficients: int) -> None:
    """Refuse a formula that runs through its points whatever they are.

    Raises
    ------
    InputError
        If one point were left out and the others had no error; says how many are needed.
    """
    if points < coefficients + SPARE:
        raise InputError(
            f"{points} point{'s are' if points != 1 else ' is'} too few to judge a formula of "
            f"{coefficients} coefficient{'s' if coefficients != 1 else ''}",
            hint=f"measure at least {coefficients + SPARE}: other sizes, or other numbers of ranks",
        )
