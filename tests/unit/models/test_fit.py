"""Fits find regimes, judge themselves honestly, and refuse what cannot be fitted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import ROOT
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.models import Data, Splits, linear, parse_splits
from isochrone.models.points import joined
from isochrone.runfile.run import Run, write
from made_up.latency_maps import mmpi_example
from made_up.times import RANKS, SIZES, grid, noisy, run_of, times, truth

LINES = ((3e-6, 4.5e-10), (9e-6, 3e-10), (2.5e-5, 1.6e-10), (1.2e-4, 1e-10))
FINE = tuple(10_240 * k for k in (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 30, 36, 42, 50))
TRIALS = 200


def mesh(sizes: tuple[int, ...], ranks: tuple[int, ...]) -> dict[str, np.ndarray]:
    b, p = np.meshgrid(np.array(sizes, float), np.array(ranks, float))
    return {"b": b.ravel(), "p": p.ravel()}


def within_a_step(found: list[models.Piece], name: str, bounds: list[float], grid_: set) -> bool:
    """Whether the regimes end at the bounds, to one step of the measured values."""
    steps = sorted(grid_)
    tops = [piece.range.get(name, (None, None))[1] for piece in found[:-1]]
    return all(
        top is not None
        and abs(steps.index(top) - (np.searchsorted(steps, bound, "right") - 1)) <= 1
        for top, bound in zip(tops, bounds, strict=True)
    )


@pytest.mark.parametrize("bounds", [[4096], [512, 32768], [128, 4096, 131072]])
def test_protocol_switches_of_a_message_are_found(bounds: list[float]) -> None:
    """1, 2 and 3 breaks in b at 2 % noise: right in 95 % of 200 trials, within one step."""
    b = 2.0 ** np.arange(21)
    start, rate = np.array(LINES)[np.searchsorted(bounds, b, "left")].T
    right = 0
    for seed in range(TRIALS):
        found = models.fit(noisy(start + rate * b, {"b": b}, 0.02, 10, seed), "hockney").pieces
        right += len(found) == len(bounds) + 1 and within_a_step(found, "b", bounds, set(b))
    assert right >= 0.95 * TRIALS


@pytest.mark.parametrize("bounds", [[45000.0], [30000.0, 160000.0], [25000.0, 85000.0, 250000.0]])
def test_protocol_switches_of_a_collective_are_found(bounds: list[float]) -> None:
    """The same within a formula of p and b, while p and p*b are tried, too."""
    variables = mesh(FINE, RANKS)
    factor = np.array([1, 1.6, 0.7, 1.5])[np.searchsorted(bounds, variables["b"], "left")]
    exact = times(truth("bcast-log"), variables) * factor
    right = 0
    for seed in range(TRIALS):
        found = models.fit(noisy(exact, variables, 0.02, 10, seed), "bcast-log").pieces
        right += (
            len(found) == len(bounds) + 1
            and all(set(piece.range) == {"b"} for piece in found)
            and within_a_step(found, "b", bounds, set(map(float, FINE)))
        )
    assert right >= 0.95 * TRIALS


def test_the_change_of_algorithm_of_lam_is_found_in_p() -> None:
    """Linear up to 4 ranks and a tree beyond: break and forms in 95 % of 200 trials."""
    variables = mesh(SIZES, (2, 3, 4, 6, 8, 12, 16, 24, 32, 48))
    few, many = times(truth("bcast", 0), variables), times(truth("bcast", 1, 1.7), variables)
    exact = np.where(variables["p"] <= 4, few, many)
    right = 0
    for seed in range(TRIALS):
        found = models.fit(noisy(exact, variables, 0.02, 10, seed), "bcast").pieces
        right += [(piece.range, piece.terms[1]) for piece in found] == [
            ({"p": (None, 4)}, "p*b"), ({"p": (6, None)}, "log2(p)*b"),
        ]  # fmt: skip
    assert right >= 0.95 * TRIALS


def test_a_regime_of_the_root_message_size_is_found() -> None:
    """The gather of the T3E-1200 changes at p*b of 8448 KBytes; its own coefficients are used."""
    variables = mesh(tuple(10_240 * k for k in range(1, 51, 3)), (17, 20, 24, 28, 30, 32))
    published = models.read(ROOT / "examples/models/t3e-1200.json")
    exact = published.predict(variables, op="gather").seconds
    exact = np.where(variables["p"] * variables["b"] > 8448 * 1024, 1.1 * exact, exact)
    found = models.fit(noisy(exact, variables, 0.005, 5, 1), "gather").pieces
    assert [set(piece.range) for piece in found] == [{"p*b"}, {"p*b"}]
    below, above = found[0].range["p*b"][1], found[1].range["p*b"][0]
    assert below is not None
    assert above is not None
    assert below <= 8448 * 1024 < above


def test_regimes_can_be_given() -> None:
    variables, piece = grid("gather"), truth("gather")
    data = noisy(times(piece, variables), variables, 0.02, 5, 1)
    model = models.fit(data, "gather", splits=parse_splits(["p:4", "p*b:200KiB"]))
    assert [piece.range for piece in model.pieces] == [
        {"p": (None, 4), "p*b": (None, 204800)}, {"p": (None, 4), "p*b": (204800, None)},
        {"p": (4, None), "p*b": (None, 204800)}, {"p": (4, None), "p*b": (204800, None)},
    ]  # fmt: skip
    at_bound = model.predict({"p": 4, "b": 51200})  # belongs to the regime below
    assert at_bound.seconds == model.pieces[0].evaluate(
        {"p": np.array([4.0]), "b": np.array([51200.0])}, "relative")[0]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["p:x"], "no bound of 'p'"), (["p:8,4"], "do not rise"), (["q"], "no term"),
        (["b:1XB"], "not a size"),
    ],
)  # fmt: skip
def test_a_split_that_is_none_is_refused(texts: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_splits(texts)


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


def test_auto_fits_each_operation_by_a_family_of_its_own() -> None:
    parts = []
    for name in ("bcast-log", "gather"):
        variables = grid(name)
        exact = times(truth(name), variables)
        parts.append(noisy(exact, variables, 0.02, 5, 1, op=name.split("-")[0]))
    model = models.fit(joined(parts))
    assert model.family == "several"
    assert {piece.where["op"]: piece.family for piece in model.pieces} == {
        "bcast": "bcast-log", "gather": "gather",
    }  # fmt: skip
    with pytest.raises(InputError, match="several of 'op'"):
        model.predict({"p": 8, "b": 1000})
    with pytest.raises(InputError, match="no op 'scan'"):
        model.predict({"p": 8, "b": 1000}, op="scan")
    with pytest.raises(InputError, match="choose one with --op"):
        models.fit(joined(parts), "gather")


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
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert int(answer.stdout) * 1024 < 300e6


def test_left_out_is_what_a_fit_without_the_point_predicts() -> None:
    """The closed form agrees with fitting again, for single points and for whole groups."""
    variables = grid("gather")
    seconds = noisy(times(truth("gather"), variables), variables, 0.02, 1, 5).seconds
    terms = models.family("gather").forms[0].terms
    fitted = linear.fit(terms, variables, seconds, weights="absolute")
    groups = np.unique(variables["p"], return_inverse=True)[1]
    for number, without in (
        (np.arange(len(seconds)), linear.left_out(fitted, seconds)),
        (groups, linear.left_out(fitted, seconds, groups)),
    ):
        for group in (0, 3, 7):
            mine = number == group
            rest = {key: values[~mine] for key, values in variables.items()}
            again = linear.fit(terms, rest, seconds[~mine], weights="absolute")
            x = models.terms.columns(terms, {k: v[mine] for k, v in variables.items()})
            assert without[mine] == pytest.approx(x @ again.coefficients, rel=1e-9)


def test_a_robust_fit_is_not_moved_by_outliers() -> None:
    variables, piece = grid("gather"), truth("gather")
    generator = np.random.default_rng(6)
    far, covered = [], np.zeros(3)
    for seed in range(100):
        seconds = noisy(times(piece, variables), variables, 0.02, 1, seed).seconds
        seconds[generator.choice(len(seconds), 6, replace=False)] *= 5
        found = linear.fit(piece.terms, variables, seconds, robust=True)
        far.append(np.abs(found.coefficients / piece.coefficients - 1).max())
        truths = np.array(piece.coefficients)
        covered += (found.low <= truths) & (truths <= found.high)
    assert np.mean(far) < 0.03
    assert covered.min() >= 85


def test_relative_weights_are_not_drawn_down_by_noise() -> None:
    """Weights 1/y² of measured times would be 2 x 0.2² = 8 % too low; fitted ones are not."""
    variables, piece = grid("hockney"), truth("hockney")
    variables = {"b": np.repeat(variables["b"], 200)}
    seconds = noisy(times(piece, variables), variables, 0.2, 1, 7).seconds
    found = linear.fit(piece.terms, variables, seconds)
    assert found.coefficients == pytest.approx(piece.coefficients, rel=0.05)


def test_deviations_are_those_of_the_definition() -> None:
    found = linear.deviation(np.array([1.1, 2.0, 2.7]), np.array([1.0, 2.0, 3.0]))
    assert (found.minimum, found.maximum) == pytest.approx((0, 0.1))
    assert found.average == pytest.approx(0.2 / 3)
    assert linear.r_squared(np.array([1.0, 2.0]), np.array([1.0, 3.0])) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"p": np.full(80, 8.0)}, "p is always 8: measure other values of it"),
        ({"b": np.zeros(80)}, "0 everywhere"),
    ],
)
def test_terms_that_cannot_be_told_apart_are_named(change: dict, says: str) -> None:
    variables = {**grid("bcast-log"), **change}
    data = noisy(np.linspace(1, 2, 80), variables, 0, 1, 0)
    with pytest.raises(InputError, match=says):
        models.fit(data, "bcast-log")


def test_powers_of_two_alone_do_not_tell_reduce_from_bcast() -> None:
    variables = mesh(SIZES, (2, 4, 8, 16, 32))
    terms = models.family("allreduce").forms[1].terms
    with pytest.raises(InputError, match="powers of two: measure other numbers of ranks"):
        linear.fit(terms, variables, times(truth("allreduce", 1), variables))


def test_messages_in_and_out_must_differ_somewhere() -> None:
    variables = grid("hotspot-directional")
    variables["out"] = variables["in"]
    data = noisy(times(truth("hotspot-directional"), variables), variables, 0, 1, 0)
    with pytest.raises(InputError, match="in and out are equal everywhere"):
        models.fit(data, "hotspot-directional")


def test_too_few_points_no_data_and_no_number_are_refused() -> None:
    with pytest.raises(InputError, match="2 points are too few"):
        models.fit(Data({"b": np.array([1.0, 2])}, {}, np.array([1.0, 2]), "table"), "hockney")
    with pytest.raises(InputError, match="no measured times"):
        Data({"b": np.array([])}, {}, np.array([]), "table")
    with pytest.raises(InputError, match="no finite number"):
        Data({"b": np.array([1.0])}, {}, np.array([np.nan]), "table")
    with pytest.raises(InputError, match="not above zero"):
        Data({"b": np.array([1.0])}, {}, np.array([0.0]), "table")
    with pytest.raises(InputError, match="nothing to fit"):
        models.fit([])
    with pytest.raises(InputError, match="holds no samples"):
        models.fit(mmpi_example())
    with pytest.raises(InputError, match="no model family 'nothing'"):
        models.fit(noisy(np.ones(80), grid("gather"), 0, 1, 0), "nothing")


def test_a_run_gives_its_variables_and_selectors() -> None:
    """Message size, ranks, window and mode of sweeps; the size of a hot spot is a selector."""
    table = {"i": np.zeros(3, int), "j": np.ones(3, int), "bytes": np.array([1, 2, 4]),
             "seconds": np.array([1e-6, 2e-6, 3e-6])}  # fmt: skip
    header = {"experiment": "point-to-point", "ranks": 2,
              "options": {"mode": "blocking", "window": 4}}  # fmt: skip
    data = models.of_run(Run(header=header, tables={"sample": Table(table)}))
    assert data.variables["b"].tolist() == [1, 2, 4]
    assert data.variables["w"].tolist() == [4, 4, 4]
    assert data.selectors["mode"].tolist() == ["blocking"] * 3
    hot = {"pa": np.array([0.5, 1]), "pe": np.array([1.0, 2]), "bytes": np.array([4194304] * 2),
           "order": np.array(["intra-first"] * 2, object), "hot": np.array([1, 1]),
           "seconds": np.array([1.0, 2])}  # fmt: skip
    spot = Run(header={"experiment": "hotspot", "ranks": 4}, tables={"sample": Table(hot)})
    data = models.of_run(spot)
    assert set(data.variables) == {"pa", "pe"}
    assert {key: set(v.tolist()) for key, v in data.selectors.items()} == {
        "order": {"intra-first"}, "bytes": {4194304}, "hot": {1},
    }  # fmt: skip


def test_what_was_measured_again_alone_counts() -> None:
    table = {"i": np.zeros(4, int), "j": np.ones(4, int), "bytes": np.array([8, 8, 16, 8]),
             "seconds": np.array([9e-6, 9e-6, 2e-6, 1e-6]),
             "again": np.array([False, False, False, True])}  # fmt: skip
    header = {"experiment": "point-to-point", "ranks": 2}
    data = models.of_run(Run(header=header, tables={"sample": Table(table)}))
    assert data.seconds.tolist() == [2e-6, 1e-6]


def test_runs_of_different_experiments_are_not_fitted_together(tmp_path: Path) -> None:
    variables = grid("gather")
    data = noisy(times(truth("gather"), variables), variables, 0.02, 2, 1)
    write(run_of(data), tmp_path / "a.jsonl")
    write(run_of(data, "bisection"), tmp_path / "b.jsonl")
    with pytest.raises(InputError, match="cannot be fitted together"):
        models.fit([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    model = models.fit([tmp_path / "a.jsonl"], "gather")
    assert [source["path"] for source in model.made_from] == [str(tmp_path / "a.jsonl")]
    assert len(model.made_from[0]["sha256"]) == 64


def test_predictions_outside_the_data_warn() -> None:
    variables = grid("gather")
    model = models.fit(noisy(times(truth("gather"), variables), variables, 0.02, 3, 1), "gather")
    assert not model.predict(variables).warnings
    (text,) = model.predict({"p": 1000, "b": 10240}).warnings
    assert text == "p = 1000 is outside the fitted range 2 to 48"


def test_tolerance_keeps_small_bends_in_one_regime() -> None:
    """Times without noise that bend by half a per cent are one line, unless asked otherwise."""
    b = 2.0 ** np.arange(8, 21, 0.25)
    exact = (1e-6 + 3e-10 * b) * (1 + 0.004 * np.sin(np.log(b)))
    data = noisy(exact, {"b": b}, 0, 1, 0)
    assert len(models.fit(data, "hockney").pieces) == 1
    assert len(models.fit(data, "hockney", splits=Splits(tolerance=0)).pieces) > 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("p,b,seconds\n2,8,1e-6\n-2,8,1e-6\n", "'p' is -2, no number of ranks"),
        ("p,b,seconds\n2,8,1e-6\n2.5,8,1e-6\n", "'p' is 2.5, no number of ranks"),
        ("p,b,seconds\n2,8,1e-6\n4,-8,1e-6\n", "'b' is -8, no message size"),
    ],
)
def test_what_cannot_be_counted_is_refused_before_it_is_fitted(
    tmp_path: Path, text: str, says: str
) -> None:
    """The logarithm of a negative number of ranks must not reach the least squares."""
    path = tmp_path / "times.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        models.load([path])


def test_a_formula_that_predicts_little_says_so() -> None:
    """Times that depend on nothing the family knows: noise over three decades."""
    dice = np.random.default_rng(4)
    variables = {"b": np.repeat(2.0 ** np.arange(3, 13), 3)}
    seconds = 10 ** dice.uniform(-6, -3, 30)
    model = models.fit(Data(variables, {}, seconds, "point-to-point"), "hockney")
    assert any("predicts little" in warning for warning in model.warnings)
    found = model.predict({"b": [8, 64]})
    assert np.all(found.seconds > 0)
    assert np.all(found.low >= 0)
