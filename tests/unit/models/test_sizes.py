"""Hot spots of several message sizes: one formula for all, and what it says of others."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from isochrone import models
from isochrone.collective_io.predict.node_cost import far_off
from isochrone.formats.exporters import csv
from isochrone.models import Model
from isochrone.models.prediction.explain import suggestions
from made_up.hotspots import SIZES, by_bytes, hotspot, sizes


def asked(model: Model, pa: float, into: int, out: int, size: int, busy: float) -> float:
    """Ask a model for the messages of a node."""
    found = model.predict(
        {
            "pa": pa,
            "pe": (into + out) / 2,
            "in": into,
            "out": out,
            "ba": 2 * pa * size,
            "bi": into * size,
            "bo": out * size,
            "busy": busy,
            "b": size,
        },
        {},
    )
    return float(found.by_formula[0])


def test_several_sizes_get_one_formula_with_bytes() -> None:
    """And not one for each, as none of these would answer for another size."""
    model = models.fit(sizes())
    (segment,) = model.segments
    assert segment.family == "hotspot-bytes"
    assert "bytes" not in model.selectors
    assert model.sizes == list(SIZES)
    costs = dict(zip(segment.terms, segment.coefficients, strict=True))
    assert costs["max(bi,bo)"] == pytest.approx(42e-9, rel=0.02)
    assert costs["ba"] == pytest.approx(3e-10, rel=0.1)
    assert costs["busy*busy*min(bi,bo)"] == pytest.approx(15e-9, rel=0.1)
    assert model.quality["r2"] > 0.999


@pytest.mark.parametrize("left_out", SIZES)
def test_a_size_that_was_not_measured_is_predicted(left_out: int) -> None:
    model = models.fit(sizes(of=[size for size in SIZES if size != left_out]))
    for point in ((0, 7, 7), (0, 4, 1), (3, 0, 2)):
        for busy in (0.25, 1.0):
            exact = by_bytes(*point, left_out, busy)
            assert asked(model, *point, left_out, busy) == pytest.approx(exact, rel=0.1)


def test_formulas_of_one_size_are_fitted_to_one_hot_node() -> None:
    """Points at which all nodes are busy do not change what they said before."""
    with_rings = models.fit(sizes(noise=0), "hotspot-directional")
    without = models.fit(sizes(noise=0, rings=False), "hotspot-directional")
    assert with_rings.selectors["bytes"] == list(SIZES)
    assert with_rings.variables == ["pa", "in", "out"]
    for one, other in zip(with_rings.segments, without.segments, strict=True):
        assert one.coefficients == pytest.approx(other.coefficients)


def test_sizes_of_different_laws_keep_formulas_of_their_own() -> None:
    """The data decide: here no one formula describes all sizes."""
    factor = dict(zip(SIZES, (9.0, 0.4, 3.0, 0.2), strict=True))
    model = models.fit(sizes(lambda *point: by_bytes(*point) * factor[point[3]], rings=False))
    assert model.selectors["bytes"] == list(SIZES)
    assert model.quality["held_out"]["point"]["average"] < 0.05


def test_no_message_is_a_gain() -> None:
    """Links that pass the first bytes after a pause at once make the fixed cost negative, in a
    formula that knows no better: many rounds would then be cheaper than one.
    """
    model = models.fit(sizes(lambda *point: max(by_bytes(*point) - 2.5e-3, 1e-4)), "hotspot-bytes")
    assert all(value >= 0 for segment in model.segments for value in segment.coefficients)


def test_small_messages_have_a_floor_of_their_own() -> None:
    """The segment is found along the bytes of the busier direction."""

    def floored(pa: float, into: int, out: int, size: int, busy: float) -> float:
        return max(by_bytes(pa, into, out, size, busy), 4e-2)

    run = sizes(floored, of=(4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20))
    model = models.fit(run, "hotspot-bytes")
    assert len(model.segments) > 1
    assert set(model.segments[0].range) == {"max(bi,bo)"}
    assert asked(model, 0, 1, 1, 4 << 10, 0.25) == pytest.approx(4e-2, rel=0.1)
    exact = by_bytes(0, 7, 4, 4 << 20, 0.25)
    assert asked(model, 0, 7, 4, 4 << 20, 0.25) == pytest.approx(exact, rel=0.1)


def test_one_size_has_no_formula_with_bytes(golden: Golden) -> None:
    with golden.refusal():
        models.fit(sizes(of=SIZES[:1]), "hotspot-bytes")
    assert models.fit(sizes(of=SIZES[:1])).selectors["bytes"] == [SIZES[0]]


def test_the_file_says_which_sizes_were_fitted(tmp_path: Path) -> None:
    model = models.fit(sizes())
    models.write(model, tmp_path / "m.json")
    assert models.read(tmp_path / "m.json").sizes == list(SIZES)
    assert models.fit(hotspot()).sizes == [4 << 20]


def test_a_table_that_was_exported_is_fitted_as_the_run(tmp_path: Path) -> None:
    """Who is busy is in the table, too: rows are no repetitions of others."""
    run, table = sizes(), tmp_path / "hot.csv"
    csv.write(run, table)
    one, other = models.fit(run), models.fit(table)
    assert one.segments[0].terms == other.segments[0].terms
    assert one.segments[0].coefficients == pytest.approx(other.segments[0].coefficients)
    assert other.sizes == list(SIZES)


def test_points_and_residuals_are_those_of_the_kind_of_formula() -> None:
    run = sizes()
    whole = models.fit(run)
    assert len(whole.residuals(run)["seconds"]) == len(run.tables["sample"]) / 3
    assert np.abs(whole.residuals(run)["residual"]).max() < 0.1
    each = models.fit(run, "hotspot-directional")
    assert len(each.residuals(run)["seconds"]) < len(whole.residuals(run)["seconds"])


def test_what_to_measure_next_is_asked_of_messages_and_sizes() -> None:
    """Not of every combination of bytes each way, which would be millions."""
    for _, points in suggestions(models.fit(sizes(noise=0.1))):
        for found in points:
            assert found.variables["bi"] == found.variables["in"] * found.variables["b"]


@pytest.mark.parametrize(
    ("size", "known", "words"),
    [
        (2 << 20, [2 << 20], ""),
        (1.4 * (2 << 20), [2 << 20], ""),
        (
            128 << 10,
            [4 << 20],
            "average message has 128 KiB.*fitted to 4 MiB: .*--bytes 128KiB,4MiB",
        ),
        (5 << 20, [32 << 10, 2 << 20], "to 32 KiB to 2 MiB: .*--bytes 32KiB,2MiB,5MiB"),
        (64 << 10, [32 << 10, 2 << 20], ""),
        (128 << 10, [], ""),
        (0, [4 << 20], ""),
    ],
)
def test_messages_far_from_the_sizes_of_a_model_are_named(
    size: float, known: list[float], words: str
) -> None:
    found = far_off(size, known)
    if words:
        assert re.search(words, found)
    else:
        assert found == ""
