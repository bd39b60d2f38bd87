"""A family of one's own is fitted as those of the folder are, and refused in one line if wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isochrone
from isochrone import models
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.models import Family, Form
from isochrone.models.formulas.family import check_family, forms_of
from made_up.times import grid, noisy, times, truth

LINEAR = Form(("1", "p*b"), ("τ", "β"))


def data() -> models.Samples:
    variables = grid("gather")
    return noisy(times(truth("gather"), variables), variables, 0.02, 3, 1)


def test_a_family_of_ones_own_is_fitted_with_its_name_and_symbols() -> None:
    """The same coefficients as the family of the folder with the same terms."""
    forms = models.family("gather").forms
    mine = Family(forms=forms, splits=("p",), name="my-gather")
    found = isochrone.fit(data(), mine)
    known = isochrone.fit(data(), "gather", splits=models.Splits(along=("p",)))
    assert found.family == "my-gather"
    assert found.segments[0].symbols == list(forms[0].symbols)
    assert found.segments[0].coefficients == known.segments[0].coefficients
    assert found.quality == known.quality


def test_it_may_have_several_forms_and_segments() -> None:
    variables = grid("bcast")
    few, many = times(truth("bcast", 0), variables), times(truth("bcast", 1, 1.7), variables)
    exact = np.where(variables["p"] <= 5, few, many)
    mine = Family(forms=models.family("bcast").forms, splits=("p",))
    found = isochrone.fit(noisy(exact, variables, 0.001, 5, 1), mine)
    assert [segment.terms[1] for segment in found.segments] == ["p*b", "log2(p)*b"]


def test_formulas_are_read_term_by_term() -> None:
    """A coefficient may be a sum, in brackets; a formula may consist of one."""
    assert forms_of("τ + [2(L + 2o) - g]*p*b + γ*ceil(log2(p))*b", "β'*1/p*b", "[a + c]") == (
        Form(("1", "p*b", "ceil(log2(p))*b"), ("τ", "2(L + 2o) - g", "γ")),
        Form(("1/p*b",), ("β'",)),
        Form(("1",), ("a + c",)),
    )


def test_its_model_is_written_and_read_like_any_other(tmp_path: Path) -> None:
    model = isochrone.fit(data(), Family(forms=(LINEAR,), name="mine"))
    models.write(model, tmp_path / "m.json")
    assert isochrone.read_model(tmp_path / "m.json") == model


@pytest.mark.parametrize(
    ("family", "says"),
    [
        (Family(), "family 'own': the family has no forms"),
        (Family(forms=(Form((), ()),), name="x"), "family 'x': form 1 has no terms"),
        (Family(forms=(LINEAR, Form(("1", "b"), ("τ",)))), "form 2 has no terms"),
        (Family(forms=(Form(("1", "exp(p)"), ("τ", "β")),)), "form 1: 'exp(p)' is not a term"),
        (Family(forms=(Form(("1", "q"), ("τ", "β")),)), "form 1: 'q' is not a term"),
        (Family(forms=(Form("b", "β"),)), "form 1 is not a Form of several terms"),  # type: ignore[arg-type]
        (Family(forms=(("1", "b"),)), "form 1 is not a Form of several terms"),  # type: ignore[arg-type]
        (Family(forms=(LINEAR,), splits=("q",)), "splits: 'q' is not a term"),
        (Family(forms=(Form(("pa",), ("α",)),)), "'own' needs the variable pa"),
    ],
)
def test_one_that_is_wrong_is_refused_in_one_line(family: Family, says: str) -> None:
    with pytest.raises(InputError) as caught:
        isochrone.fit(data(), family)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_family_of_the_folder_passes_and_knows_its_name(subtests: pytest.Subtests) -> None:
    for name in registry.names("*.families"):
        with subtests.test(str(name)):
            family = models.family(name)
            assert family.name == name
            check_family(family)
