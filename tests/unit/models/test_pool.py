"""Which formulas are tried on data: all whose variables these hold, none without varying ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isochrone import models
from isochrone.models import Family, Form
from isochrone.models.data.observations import Observations
from isochrone.models.data.terms import variables_of
from isochrone.models.formulas.family import declared
from isochrone.models.formulas.pool import (
    Pool,
    family_pool,
    usable,
    usable_pools,
    varying,
    whole_pool,
)
from made_up.times import noisy


def observed(op: str = "bcast", **axes: Any) -> Observations:
    """Return times at all combinations of some values; how long they took does not matter."""
    grids = np.meshgrid(*(np.array(values, dtype=float) for values in axes.values()))
    variables = {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}
    seconds = 1e-6 * np.arange(1.0, len(grids[0].ravel()) + 1)
    (found,) = noisy(seconds, variables, 0, 1, 0, op=op).observations()
    return found


RANKS = (2, 3, 4, 8)
SIZES = (8, 64, 512, 4096)


def everything(found: Observations) -> Pool:
    return whole_pool(usable_pools(declared(), found).values(), found)


def names(found: Observations) -> set[str]:
    return {candidate.family for candidate in everything(found).candidates}


def test_a_formula_without_ranks_is_none_where_ranks_vary() -> None:
    """Else four ranks and four thousand take as long."""
    pool = everything(observed(p=RANKS, b=SIZES))
    assert all("p" in variables_of(form.terms) for form in pool.forms)
    assert "hockney" not in names(observed(p=RANKS, b=SIZES))
    assert "hockney" in names(observed(p=(4,), b=SIZES))


def test_nodes_and_ranks_on_each_say_how_many_ranks_there_are() -> None:
    found = observed(nodes=(1, 2, 4), ppn=(1, 2), b=SIZES)
    found.variables["p"] = found.variables["nodes"] * found.variables["ppn"]
    forms = list(usable(models.family("hierarchical-tree"), found))
    assert len(forms) == len(models.family("hierarchical-tree").forms)
    only_nodes = Family(forms=(Form(("1", "nodes"), ("τ", "α")),))
    assert list(usable(only_nodes, found)) == []


def test_formulas_of_variables_that_the_data_lack_are_left_out() -> None:
    """A table of barriers has no b; the forms of `tree` that need none are tried."""
    forms = everything(observed("barrier", p=RANKS)).forms
    assert ("1", "ceil(log2(p))") in [form.terms for form in forms]
    assert all(variables_of(form.terms) == ["p"] for form in forms)


def test_each_sum_of_terms_is_tried_once_as_that_of_the_family_for_the_operation() -> None:
    """`gather` and `scatter` have the same formula."""
    for op in ("gather", "scatter"):
        candidates = everything(observed(op, p=RANKS, b=SIZES)).candidates
        terms = [frozenset(candidate.form.terms) for candidate in candidates]
        assert len(set(terms)) == len(terms)
        (same,) = (c for c in candidates if set(c.form.terms) == {"1", "b", "p*b"})
        assert (same.family, same.made_for) == (op, True)


def test_a_formula_is_named_after_a_family_and_not_after_a_sum_of_families_that_has_it() -> None:
    candidates = everything(observed("scan", p=RANKS, b=SIZES)).candidates
    (ring,) = (c for c in candidates if set(c.form.terms) == {"b", "p*b"})
    assert ring.family != "allreduce"


def test_the_formulas_of_an_operation_come_first() -> None:
    made_for = [c.made_for for c in everything(observed(p=RANKS, b=SIZES)).candidates]
    assert made_for == sorted(made_for, reverse=True)
    assert any(made_for)
    assert not all(made_for)


def test_breaks_are_looked_for_along_sizes_ranks_and_all_bytes() -> None:
    assert set(everything(observed(p=RANKS, b=SIZES)).splits) == {
        "b",
        "p",
        "p*b",
    }


def test_one_family_keeps_its_own_forms_and_splits() -> None:
    own = Family(name="flat", forms=(Form(("1", "p"), ("τ", "α")),), splits=("b",), min_values=4)
    pool = family_pool(own, observed(p=RANKS, b=SIZES))
    assert pool.forms == own.forms
    assert (pool.splits, pool.min_values) == (("b",), 4)


def test_a_variable_of_one_value_does_not_vary() -> None:
    assert varying(observed(p=(8,), b=SIZES)) == ["b"]


@pytest.mark.parametrize(
    "terms",
    [("b", "p*b", "log2(p)*b"), ("1", "b", "p*b", "ceil(log2(p))", "ceil(log2(p))*b")],
)
def test_an_allreduce_is_a_reduce_and_a_broadcast(terms: tuple[str, ...]) -> None:
    """Written as a sum; what both have in common has one coefficient."""
    forms = models.family("allreduce").forms
    assert set(terms) in [set(form.terms) for form in forms]
    assert all(len(set(form.terms)) == len(form.terms) == len(form.symbols) for form in forms)


def test_formulas_for_equal_blocks_are_tried_first_for_blocks_that_vary() -> None:
    """They follow from the row of the operation: no family names gatherv."""
    gathered, varying_blocks, exchanged = (
        list(usable_pools(declared(), observed(op, p=RANKS, b=SIZES)))
        for op in ("gather", "gatherv", "alltoall")
    )
    assert gathered == varying_blocks != exchanged
