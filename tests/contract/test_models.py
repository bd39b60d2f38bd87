"""What every family of models must do: it is tested by being a file in the folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.models.data.terms import design_matrix, unit, variables_of
from made_up.times import grid, noisy, times, truth

NAMES = registry.names("*.families")
FORMS = [(name, k) for name in NAMES for k in range(len(models.family(name).forms))]


def test_the_families_of_the_sources_are_there() -> None:
    assert {
        "hockney",
        "loggp",
        "bcast-linear",
        "bcast-log",
        "gather",
        "scatter",
        "reduce-linear",
        "reduce-log",
        "allreduce",
        "allgather",
        "hotspot",
        "hotspot-directional",
        "compute",
    } <= set(NAMES)


def test_it_has_help_a_formula_a_source_and_its_limits(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(str(name)):
            module, family = registry.load("*.families", name), models.family(name)
            assert (module.__doc__ or "").splitlines()[0].endswith(".")
            assert family.formula.count("{") == family.formula.count("}")
            assert family.source
            assert family.limitations.endswith(".")
            for form in family.forms:
                assert len(form.terms) == len(form.symbols) == len(set(form.terms))
                assert all(unit(term) in ("s", "s/B", "s/op") for term in form.terms)
            for split in family.splits:
                assert set(variables_of([split])) <= set(variables_of(family.forms[-1].terms))


def test_the_documentation_lists_it(subtests: pytest.Subtests) -> None:
    page = "".join(path.read_text() for path in sorted(ROOT.glob("docs/model-families*.md")))
    for name in NAMES:
        with subtests.test(str(name)):
            family = models.family(name)
            assert f"`{name}`" in page
            assert family.formula in page
            assert family.limitations in page


@pytest.mark.slow
def test_times_without_noise_give_the_coefficients_back(subtests: pytest.Subtests) -> None:
    """To a billionth, in one segment, by the form they follow."""
    for name, form in FORMS:
        with subtests.test(f"{name} {form}"):
            variables, segment = grid(name), truth(name, form)
            model = models.fit(noisy(times(segment, variables), variables, 0, 1, seed=0), name)
            (found,) = model.segments
            assert found.terms == segment.terms
            assert found.coefficients == pytest.approx(segment.coefficients, rel=1e-9)
            assert model.quality["r2"] == pytest.approx(1)
            assert model.quality["held_out"]["point"]["average"] < 1e-9


@pytest.mark.slow
def test_it_is_written_read_and_predicts_the_same(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in NAMES:
        with subtests.test(str(name)):
            variables = grid(name)
            model = models.fit(
                noisy(times(truth(name), variables), variables, 0.02, 5, seed=1), name
            )
            models.write(model, tmp_path / "m.json")
            again = models.read(tmp_path / "m.json")
            assert again == model
            assert again.variables == variables_of(model.segments[0].terms)
            read, fitted = again.predict(variables), model.predict(variables)
            for member in ("seconds", "low", "high", "by_formula"):
                np.testing.assert_array_equal(getattr(read, member), getattr(fitted, member))
            assert (read.warnings, read.origin) == (fitted.warnings, fitted.origin)


@pytest.mark.slow
def test_a_constant_variable_is_named_with_what_to_measure(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(str(name)):
            variables = grid(name)
            segment = truth(name, len(models.family(name).forms) - 1)
            for variable in variables_of(segment.terms):
                fixed = {**variables, variable: np.full_like(variables[variable], 8.0)}
                if np.linalg.matrix_rank(
                    design_matrix(segment.terms, fixed) / times(segment, fixed)[:, None]
                ) == len(segment.terms):
                    continue
                data = noisy(times(segment, fixed), fixed, 0.02, 3, seed=2)
                try:
                    found = models.fit(data, name)
                except InputError as error:
                    assert any(word in str(error) for word in ("collinear", "too few", "is always"))
                else:  # another form of the family needs less
                    assert found.segments[0].terms != segment.terms


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_variable_is_named(name: str, golden: Golden) -> None:
    """Unless a formula of the family can do without it, such as that of a barrier without b."""
    variables = grid(name)
    forms = models.family(name).forms
    for missing in (v for v in variables if all(v in variables_of(f.terms) for f in forms)):
        rest = {key: values for key, values in variables.items() if key != missing}
        rest["n" if missing != "n" else "w"] = np.arange(1.0, len(variables[missing]) + 1)
        data = noisy(times(truth(name), variables), rest, 0, 1, seed=0)
        with golden.refusal():
            models.fit(data, name)


def test_listing_the_families_needs_no_numpy(processes: None) -> None:
    code = (
        "import sys; from isochrone.base import registry; "
        "registry.names('*.families'); "
        "sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
