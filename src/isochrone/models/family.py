"""What a family of models declares: the form of the formula, what it is for, when it fails."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Family", "Form"]


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

    Attributes
    ----------
    formula
        In LaTeX.
    source
        Where the formula comes from.
    limitations
        When it is wrong, in one sentence.
    forms
        One or more formulas; each regime of a model takes the one that fits it best.
    splits
        Variables or products of them along which regimes are looked for.
    operations
        Names of the operations it was made for; empty if for anything.
    min_values
        Fewest different values of the variable of a split in a regime.
    """

    formula: str
    source: str
    limitations: str
    forms: tuple[Form, ...]
    splits: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    min_values: int = 3
