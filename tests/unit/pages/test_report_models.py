"""The model in a report: where a formula says something, and only there."""

from __future__ import annotations

from isochrone.pages.html.models import model_of
from made_up.sweeps import bisection, point_to_point

SIZES = (0, 64, 256, 1024, 4096, 16384, 65536)


def test_a_sweep_of_one_pair_gets_a_formula_and_its_picture() -> None:
    found = model_of(point_to_point(sizes=SIZES), "run-1")
    assert found is not None
    assert all(piece["formula"].startswith("t = ") for piece in found["pieces"])
    assert found["average"].endswith(" %")
    assert "<svg" in found["picture"].svg


def test_few_sizes_or_another_experiment_get_none() -> None:
    """A line through three points fits anything; a cut is not one message."""
    assert model_of(point_to_point(sizes=SIZES[:3]), "run-1") is None
    assert model_of(bisection(sizes=SIZES), "run-1") is None
