"""Fits find segments, judge themselves honestly, and refuse what cannot be fitted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Samples, Splits, parse_splits
from isochrone.models.data.load import joined
from made_up.latency_maps import mmpi_example
from made_up.times import RANKS, grid, noisy, times, truth


def mesh(sizes: tuple[int, ...], ranks: tuple[int, ...]) -> dict[str, np.ndarray]:
    b, p = np.meshgrid(np.array(sizes, float), np.array(ranks, float))
    return {"b": b.ravel(), "p": p.ravel()}


def test_a_segment_of_the_root_message_size_is_found() -> None:
    """The gather of the T3E-1200 changes at p*b of 8448 KBytes; its own coefficients are used."""
    variables = mesh(tuple(10_240 * k for k in range(1, 71, 3)), (17, 20, 24, 28, 30, 32))
    published = models.read(ROOT / "examples/models/t3e-1200.json")
    exact = published.predict(variables, op="gather").seconds
    exact = np.where(variables["p"] * variables["b"] > 8448 * 1024, 1.1 * exact, exact)
    found = models.fit(noisy(exact, variables, 0.005, 5, 1), "gather").segments
    assert [set(segment.range) for segment in found] == [{"p*b"}, {"p*b"}]
    below, above = found[0].range["p*b"][1], found[1].range["p*b"][0]
    assert below is not None
    assert above is not None
    assert below <= 8448 * 1024 < above


def test_segments_can_be_given() -> None:
    variables, segment = grid("gather"), truth("gather")
    data = noisy(times(segment, variables), variables, 0.02, 5, 1)
    model = models.fit(data, "gather", splits=parse_splits(["p:4", "p*b:200KiB"]))
    assert [segment.range for segment in model.segments] == [
        {"p": (None, 4), "p*b": (None, 204800)},
        {"p": (None, 4), "p*b": (204800, None)},
        {"p": (4, None), "p*b": (None, 204800)},
        {"p": (4, None), "p*b": (204800, None)},
    ]
    at_bound = model.predict({"p": 4, "b": 51200})  # belongs to the segment below
    assert (
        at_bound.seconds
        == model.segments[0].evaluate({"p": np.array([4.0]), "b": np.array([51200.0])}, "relative")[
            0
        ]
    )


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["p:x"], "breakpoint of 'p'"),
        (["p:8,4"], "are not increasing"),
        (["q"], "not a term"),
        (["b:1XB"], "not a size"),
    ],
)
def test_a_split_that_is_none_is_refused(texts: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_splits(texts)


@pytest.mark.slow
def test_auto_chooses_the_formula_the_times_were_made_of() -> None:
    """The ranking holds every family of these variables, and says why one was not fitted."""
    for name in ("gather", "bcast-log", "allgather", "hotspot-directional", "loggp", "compute"):
        variables = grid(name)
        data = noisy(times(truth(name), variables), variables, 0.02, 10, 3, op=name.split("-")[0])
        model = models.fit(data)
        assert model.family == name
        (entry,) = model.ranking
        rows = entry["families"]
        assert rows[0]["family"] == name
        errors = [row["held_out"] for row in rows[1:] if row["held_out"] is not None]
        assert errors == sorted(errors)
        assert all(row["reason"] for row in rows if row["held_out"] is None)


def test_auto_fits_each_operation_by_a_family_of_its_own(golden: Golden) -> None:
    parts = []
    for name in ("bcast-log", "gather"):
        variables = grid(name)
        exact = times(truth(name), variables)
        parts.append(noisy(exact, variables, 0.02, 5, 1, op=name.split("-")[0]))
    model = models.fit(joined(parts))
    assert model.family == "several"
    assert {segment.where["op"]: segment.family for segment in model.segments} == {
        "bcast": "bcast-log",
        "gather": "gather",
    }
    with golden.refusal():
        model.predict({"p": 8, "b": 1000})
    with golden.refusal():
        model.predict({"p": 8, "b": 1000}, op="scan")
    with golden.refusal():
        models.fit(joined(parts), "gather")


@pytest.mark.slow
def test_a_fit_of_ten_thousand_samples_needs_little_memory() -> None:
    """With auto, in a process of its own: all of Python, numpy and scipy within 300 MB."""
    code = """
import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from isochrone import models
from made_up.times import grid, noisy, times, truth
variables = grid("gather")
data = noisy(times(truth("gather"), variables), variables, 0.02, 125, 1, op="gather")
assert len(data.seconds) == 10_000
assert models.fit(data).family == "gather"
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""
    answer = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "tests")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert int(answer.stdout) * 1024 < 300e6


def test_too_few_points_no_data_and_no_number_are_refused(golden: Golden) -> None:
    with golden.refusal():
        models.fit(Samples({"b": np.array([1.0, 2])}, {}, np.array([1.0, 2]), "table"), "hockney")
    with golden.refusal():
        Samples({"b": np.array([])}, {}, np.array([]), "table")
    with golden.refusal():
        Samples({"b": np.array([1.0])}, {}, np.array([np.nan]), "table")
    with golden.refusal():
        Samples({"b": np.array([1.0])}, {}, np.array([0.0]), "table")
    with golden.refusal():
        models.fit([])
    with golden.refusal():
        models.fit(mmpi_example())
    with golden.refusal():
        models.fit(noisy(np.ones(80), grid("gather"), 0, 1, 0), "nothing")


def test_predictions_outside_the_data_warn(golden: Golden) -> None:
    variables = grid("gather")
    model = models.fit(noisy(times(truth("gather"), variables), variables, 0.02, 3, 1), "gather")
    assert not model.predict(variables).warnings
    text = model.predict({"p": 1000, "b": 10240}).warnings[0]
    golden(text)


def test_tolerance_keeps_small_bends_in_one_segment() -> None:
    """Times without noise that bend by half a per cent are one line, unless asked otherwise."""
    b = 2.0 ** np.arange(8, 21, 0.25)
    exact = (1e-6 + 3e-10 * b) * (1 + 0.004 * np.sin(np.log(b)))
    data = noisy(exact, {"b": b}, 0, 1, 0)
    assert len(models.fit(data, "hockney").segments) == 1
    assert len(models.fit(data, "hockney", splits=Splits(tolerance=0)).segments) > 1


def test_a_formula_that_predicts_little_says_so() -> None:
    """Times that depend on nothing the family knows: noise over three decades."""
    dice = np.random.default_rng(4)
    variables = {"b": np.repeat(2.0 ** np.arange(3, 13), 3)}
    seconds = 10 ** dice.uniform(-6, -3, 30)
    model = models.fit(Samples(variables, {}, seconds, "point-to-point"), "hockney")
    assert any("leave-one-out error" in warning for warning in model.warnings)
    found = model.predict({"b": [8, 64]})
    assert np.all(found.seconds > 0)
    assert np.all(found.low >= 0)


@pytest.mark.parametrize("ranks", [None, 8])
def test_four_sizes_at_one_number_of_ranks_are_a_line(ranks: int | None) -> None:
    b = [8, 64, 1024, 65536]
    table = {"op": ["bcast"] * 4, "b": b, "seconds": [6e-6 + 1e-9 * size for size in b]}
    model = models.fit(table | ({"p": [ranks] * 4} if ranks else {}))
    assert model.predict({"b": [512]}, op="bcast").seconds[0] == pytest.approx(6.512e-6)


def test_a_table_of_barriers_needs_no_sizes(tmp_path: Path) -> None:
    """The formula of a tree without b is for them, by name and among all."""
    path = tmp_path / "barrier.csv"
    rows = [f"barrier,{p},{1e-6 + 2e-6 * np.ceil(np.log2(p)):.12g}" for p in RANKS]
    path.write_text("\n".join(["op,p,seconds", *rows]) + "\n")
    for name in ("auto", "tree"):
        model = models.fit(path, name)
        assert model.family == "tree"
        assert model.variables == ["p"]
        assert model.predict({"p": 1024}, op="barrier").seconds == pytest.approx(2.1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300])
def test_times_that_nobody_measured_are_refused(scale: float, golden: Golden) -> None:
    """Their squares are no numbers; and a time below any clock's is none."""
    variables = grid("hockney")
    seconds = times(truth("hockney"), variables)
    with golden.refusal():
        models.fit(noisy(scale * seconds, variables, 0.02, 3, 1))


def test_sizes_beyond_any_memory_are_refused(golden: Golden) -> None:
    variables = {"b": np.array([1.0, 2, 4, 8, 1e300])}
    with golden.refusal():
        noisy(np.full(5, 1e-6), variables, 0.02, 1, 1)
