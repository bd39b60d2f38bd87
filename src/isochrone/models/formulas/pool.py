"""The formulas that may be tried on data: those whose variables the data hold."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isochrone.base.operations import like
from isochrone.base.segmentation import LINE_VALUES
from isochrone.models.data.observations import Observations
from isochrone.models.data.placement import PLACES
from isochrone.models.data.terms import CLASSES, evaluate_term, variables_of
from isochrone.models.formulas.family import Family, Form, declaration

_SIZES_BY_RANKS = ("b", "p", "p*b")
"""Along which an operation may change its algorithm: sizes, ranks, all bytes together."""


@dataclass(frozen=True)
class Candidate:
    """One formula of a family; ``made_for`` if that is for the operation at hand.

    ``costs`` are the terms whose coefficients are not below zero.
    """

    family: str
    form: Form
    made_for: bool
    costs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pool:
    """Formulas from which each segment takes one.

    Attributes
    ----------
    candidates
        At least one; each set of terms once.
    splits
        Variables, or products of them, along which segments are looked for.
    min_values
        Fewest different values of the variable of a split in a segment.
    classes
        Classes of ranks, or of nodes, that may have formulas of their own.
    """

    candidates: tuple[Candidate, ...]
    splits: tuple[str, ...]
    min_values: int
    classes: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[Form, ...]:
        """The formulas without where they are from."""
        return tuple(candidate.form for candidate in self.candidates)


def family_pool(chosen: Family, observed: Observations) -> Pool:
    """Return the formulas of one family."""
    made_for = _made_for(chosen, observed)
    forms = [
        Candidate(chosen.name, form, made_for, form.terms * chosen.costs) for form in chosen.forms
    ]
    return Pool(tuple(forms), chosen.splits, chosen.min_values)


def usable_pools(names: Sequence[str], observed: Observations) -> dict[str, Pool]:
    """Return the usable formulas of each family that has some, in the order of their names.

    That is the order in which a formula that several have is named after one.
    """

    def order(name: str) -> tuple[bool, bool, int]:
        chosen = declaration(name)
        return not _made_for(chosen, observed), bool(chosen.sum_of), len(chosen.forms)

    return {
        name: family_pool(replace(declaration(name), forms=forms), observed)
        for name in sorted(names, key=order)
        if (forms := tuple(usable(declaration(name), observed)))
    }


def whole_pool(pools: Collection[Pool], observed: Observations) -> Pool:
    """Return the formulas of several families; those made for the operation come first."""
    candidates: dict[frozenset[str], Candidate] = {}
    for candidate in (candidate for pool in pools for candidate in pool.candidates):
        candidates.setdefault(frozenset(candidate.form.terms), candidate)
    splits = dict.fromkeys(split for pool in pools for split in pool.splits)
    if {"p", "b"} <= set(varying(observed)):
        splits = dict.fromkeys(_SIZES_BY_RANKS)
    min_values = min((pool.min_values for pool in pools), default=LINE_VALUES)
    classes = CLASSES * ("p" in observed.variables)
    return Pool(tuple(candidates.values()), tuple(splits), min(min_values, LINE_VALUES), classes)


def usable(chosen: Family, observed: Observations) -> Iterator[Form]:
    """Yield the forms whose variables the data hold, and that hold the ranks if these vary.

    A time without the number of ranks answers no question about it.
    """
    changing = set(varying(observed))
    placement = changing & set(PLACES)
    for form in chosen.forms:
        needed = set(variables_of(form.terms))
        by_ranks = "p" not in changing or "p" in needed or (placement and placement <= needed)
        if (
            needed <= observed.variables.keys()
            and by_ranks
            and all(
                len(np.unique(evaluate_term(term, observed.variables))) >= chosen.fewest_values
                for term in form.terms
                if variables_of([term]) == ["p"]
            )
        ):
            yield form


def varying(observed: Observations) -> list[str]:
    """List the variables that have several values."""
    return [name for name, values in observed.variables.items() if np.ptp(values) > 0]


def _made_for(chosen: Family, observed: Observations) -> bool:
    return like(str(observed.where.get("op"))) in chosen.operations
