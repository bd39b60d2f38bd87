"""Data and formulas that are questioned: impossible predictions, misfits, units, lost columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.models import Samples
from isochrone.models.formulas.segment import Segment

SIZES = (8, 1024, 16384, 65536, 1048576)
RANKS = (2, 4, 8, 16, 32)


def tree(p: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 1e-6 + np.ceil(np.log2(p)) * (1.5e-6 + 3e-10 * b)


def table(
    ranks: tuple[int, ...] = RANKS,
    sizes: tuple[int, ...] = SIZES,
    noise: float = 0.01,
    repeats: int = 5,
) -> dict[str, np.ndarray]:
    """Return columns of a tree's times."""
    p, b = (
        np.repeat(v.ravel(), repeats)
        for v in np.meshgrid(np.array(ranks, float), np.array(sizes, float), indexing="ij")
    )
    seconds = tree(p, b) * np.random.default_rng(4).lognormal(0, noise, len(p))
    return {"op": np.full(len(p), "bcast"), "p": p, "b": b, "seconds": seconds}


def test_a_cliff_is_predicted_by_its_neighbours_with_wide_intervals() -> None:
    """The largest number of ranks takes thirty times as long: nobody knows what comes beyond."""
    data = table()
    data["seconds"] = np.where(data["p"] == 32, 30 * data["seconds"], data["seconds"])
    model = models.fit(data)
    at = {"p": [16.0, 32.0, 64.0], "b": 1024.0}
    found = model.predict(at)
    measured = [data["seconds"][(data["p"] == p) & (data["b"] == 1024)].mean() for p in (16, 32)]
    assert found.seconds[:2] == pytest.approx(measured, rel=0.05)
    assert found.high[2] / found.low[2] > 10
    named = models.fit(data, "tree")
    assert any("p = 32" in text and "times" in text for text in named.warnings)
    assert named.quality["deviation"]["maximum"] > 5


def test_rows_in_another_unit_are_no_formula() -> None:
    data = table()
    data["seconds"] = np.where(data["p"] == 16, 1e6 * data["seconds"], data["seconds"])
    with pytest.raises(InputError):
        models.fit(data)


@pytest.mark.parametrize("factor", [1e6, 1e9, 1e-5])
def test_implausible_units_are_questioned(factor: float) -> None:
    data = table()
    data["seconds"] *= factor
    assert any("unit" in text for text in models.fit(data).warnings)


def test_rare_outliers_suggest_robust() -> None:
    data = table(tuple(range(2, 17)), repeats=1)
    data["seconds"][[13, 40]] *= 10
    assert any("--robust" in text for text in models.fit(data, "tree").warnings)
    clean = models.fit(table(tuple(range(2, 17)), repeats=1), "tree")
    assert not any("--robust" in text for text in clean.warnings)


@pytest.mark.slow
def test_a_break_in_ranks_suggests_nodes() -> None:
    data = table((2, 3, 4, 6, 8, 12, 16, 24, 32, 48))
    data["seconds"] = np.where(data["p"] > 8, 3 * data["seconds"], data["seconds"])
    assert any("'nodes'" in text for text in models.fit(data).warnings)
    assert not any("'nodes'" in text for text in models.fit(table()).warnings)


def test_plausible_units_are_not_questioned() -> None:
    assert not any("unit" in text for text in models.fit(table()).warnings)
    slow = table()
    slow["seconds"] *= 50  # Ethernet
    assert not any("unit" in text for text in models.fit(slow).warnings)


@pytest.mark.parametrize("missing", ["p", "nodes", "ppn"])
def test_two_of_ranks_nodes_and_ppn_say_the_third(missing: str, tmp_path: Path) -> None:
    lines = ["op,p,nodes,ppn,b,seconds"]
    for nodes in (1, 2, 4, 8):
        for ppn in (1, 2, 4, 8):
            for b in SIZES if nodes * ppn > 1 else ():
                seconds = (
                    1e-6
                    + np.ceil(np.log2(ppn)) * 4e-7
                    + np.ceil(np.log2(nodes)) * (1.6e-6 + 3e-10 * b)
                )
                lines.append(f"bcast,{nodes * ppn},{nodes},{ppn},{b},{seconds}")
    gone = lines[0].split(",").index(missing)
    rows = [line.split(",") for line in lines]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(",".join(row[:gone] + row[gone + 1 :]) for row in rows) + "\n")
    model = models.fit(path)
    assert set(model.variables) == {"nodes", "ppn", "b"}
    said = model.predict(nodes=16, ppn=8, b=1024).seconds[()]
    assert said == pytest.approx(1e-6 + 3 * 4e-7 + 4 * (1.6e-6 + 3e-10 * 1024), rel=0.01)


def test_nodes_alone_are_not_dropped_silently() -> None:
    data = table()
    data["nodes"] = data.pop("p")
    assert any("'nodes'" in text for text in models.fit(data, "hockney").warnings)


def test_a_model_of_one_size_refuses_others() -> None:
    model = models.fit(table(tuple(range(2, 33)), (1024,), repeats=1))
    assert np.isfinite(model.predict(p=16, b=1024).seconds)
    with pytest.raises(InputError):
        model.predict(p=16, b=8192)


def test_constant_times_do_not_fall_with_the_ranks() -> None:
    """Noise around a constant: whatever is taken does not shrink with more ranks or bytes."""
    for seed in range(4):
        data = table()
        data["seconds"] = 5e-6 * np.random.default_rng(seed).lognormal(0, 0.02, len(data["p"]))
        said = models.fit(data).predict(p=[32, 64, 128, 256], b=8).seconds
        assert np.all(np.diff(said) >= -0.002 * said[:-1])


def test_predictions_never_fall_with_more_ranks_and_no_interval_reaches_zero() -> None:
    """Nodes of eight, of which most runs fill few: times of 64 to 256 ranks rise."""
    p = np.array([2.0, 4, 8, 16, 32])
    rows = [(k, b) for k in p for b in SIZES]
    p, b = (np.repeat(v, 5) for v in np.array(rows, dtype=float).T)
    nodes, ppn = np.ceil(p / 8), np.minimum(p, 8)
    exact = np.where(
        b <= 16384,
        5e-7 + np.log2(ppn) * (7e-7 + 1.2e-10 * b) + np.log2(nodes) * (1.6e-6 + 1.2e-10 * b),
        2e-6 + 5e-6 * nodes + 4e-10 * b * (1 - 1 / nodes) + 3e-10 * b,
    )
    seconds = exact * np.random.default_rng(1).lognormal(0, 0.03, len(p))
    model = models.fit(
        Samples(
            {"p": p, "nodes": nodes, "ppn": ppn, "b": b},
            {"op": np.full(len(p), "allreduce")},
            seconds,
            "collective",
        )
    )
    asked = {"nodes": [8, 16, 32], "ppn": [8, 8, 8], "b": [1 << 20] * 3}
    found = model.predict(asked)
    known = np.isfinite(found.seconds)
    assert np.all(np.diff(found.seconds[known]) > 0)
    assert np.all(found.low[known] > 0)


def test_one_far_point_does_not_narrow_the_intervals_of_other_sizes() -> None:
    """Truth bends; a single point at twice the ranks says nothing about small messages."""
    ranks = (2, 3, 4, 6, 8, 12, 16, 24, 32)
    data = table(ranks)
    data["seconds"] = data["seconds"] * (1 + 0.02 * data["p"])
    far = {"op": ["bcast"], "p": [64.0], "b": [1048576.0]}
    far["seconds"] = tree(np.array([64.0]), np.array([1048576.0])) * 2.28
    more = {name: np.concatenate([data[name], far[name]]) for name in data}
    widths = []
    for one in (data, more):
        said = models.fit(one, "tree").predict(p=128, b=8)
        widths.append(np.log(said.high / said.low)[()])
    assert widths[1] > 0.7 * widths[0]


def test_powers_of_two_only_say_that_other_ranks_may_take_two_more_steps() -> None:
    """Recursive doubling takes two more steps off powers of two; none was measured."""
    data = table((2, 4, 8, 16, 32))
    data["seconds"] = data["seconds"] - 1e-6 * 0.99
    model = models.fit(data)
    assert model.segments[0].only == ["power2(p)"]
    found = model.predict(p=24, b=1024)
    truth = 6 * (1.5e-6 + 3e-10 * 1024)
    assert found.low <= truth <= found.high
    assert any("power" in text for text in found.warnings)
    inside = model.predict(p=16, b=1024)
    assert not any("power" in text for text in inside.warnings)
    assert inside.high / inside.low < 1.2


def test_powers_of_two_of_nodes_only_say_so_for_other_nodes() -> None:
    rows = [(n, q, b) for n in (1, 2, 4, 8) for q in (1, 2, 4, 8) if n * q > 1 for b in SIZES]
    nodes, ppn, b = (np.repeat(v, 5) for v in np.array(rows, dtype=float).T)
    seconds = 5e-7 + np.log2(ppn) * (4e-7 + 8e-11 * b) + np.log2(nodes) * (1.6e-6 + 1e-10 * b)
    model = models.fit(
        Samples(
            {"p": nodes * ppn, "nodes": nodes, "ppn": ppn, "b": b},
            {"op": np.full(len(b), "allreduce")},
            seconds * np.random.default_rng(1).lognormal(0, 0.01, len(b)),
            "collective",
        )
    )
    found = model.predict(nodes=6, ppn=4, b=1024)
    truth = 5e-7 + 2 * (4e-7 + 8e-11 * 1024) + 4 * (1.6e-6 + 1e-10 * 1024)
    assert found.low <= truth <= found.high
    assert any("power" in text for text in found.warnings)


def test_other_nodes_are_judged_by_a_formula_without_ranks_per_node() -> None:
    """Of `nodes` and `p` alone, the ranks per node are their ratio."""
    formula = Segment(
        "tree",
        ["1", "p", "ceil(log2(nodes))"],
        [1e-6, 1e-7, 2e-6],
        only=["power2(nodes)"],
        fitted={"nodes": (1.0, 8.0), "p": (4.0, 32.0)},
        covariance=np.zeros((3, 3)).tolist(),
        sigma=0.01,
        degrees_of_freedom=20,
    )
    seconds, low, high = formula.evaluate(
        {"p": np.array([24.0]), "nodes": np.array([6.0])}, "relative"
    )
    assert seconds == pytest.approx(1e-6 + 24e-7 + 6e-6)
    assert low < 1e-6 + 16e-7 + 4e-6  # as on four nodes
    assert high > 1e-6 + 32e-7 + 6e-6  # as on eight


def test_both_classes_measured_are_segments() -> None:
    ranks = (2, 3, 4, 5, 6, 8, 11, 13, 16, 21, 27, 32)
    data = table(ranks)
    p, b = data["p"], data["b"]
    steps = np.floor(np.log2(p)) + 2.0 * (np.log2(p) % 1 > 0)
    data["seconds"] = (
        steps * (1.5e-6 + 3e-10 * b) * np.random.default_rng(1).lognormal(0, 0.02, len(p))
    )
    found = models.fit(data).predict(p=[128, 120], b=8192)
    truth = np.array([7, 8]) * (1.5e-6 + 3e-10 * 8192)
    assert found.seconds == pytest.approx(truth, rel=0.05)


@pytest.mark.slow
def test_two_more_steps_off_powers_of_two_go_on_to_eight_times_the_ranks() -> None:
    """Recursive doubling, and Rabenseifner's reduce-scatter and allgather of long messages."""

    def law(p: np.ndarray, b: np.ndarray) -> np.ndarray:
        whole = 2 ** np.floor(np.log2(p))
        more = np.where(whole < p, 2 * (2e-6 + 4e-10 * b), 0)
        steps = np.log2(whole)
        short = 1e-6 + steps * (2e-6 + 4e-10 * b)
        long = 5e-6 + 2 * steps * 2e-6 + 8e-10 * b * (1 - 1 / whole)
        return np.where(b <= 16384, short, long) + more

    p, b = (
        np.repeat(v.ravel(), 5)
        for v in np.meshgrid(
            np.array([2, 3, 4, 6, 8, 11, 12, 16, 21, 24, 32, 40, 64.0]), 8.0 * 4.0 ** np.arange(10)
        )
    )
    seconds = law(p, b) * np.random.default_rng(2).lognormal(0, 0.02, len(p))
    model = models.fit({"op": np.full(len(p), "allreduce"), "p": p, "b": b, "seconds": seconds})
    p, b = (v.ravel() for v in np.meshgrid([128.0, 192, 256, 384, 512], [8.0, 4096, 2.0**20]))
    assert model.predict({"p": p, "b": b}).seconds == pytest.approx(law(p, b), rel=0.06)


@pytest.mark.slow
def test_many_points_of_three_segments_are_three_segments() -> None:
    dice = np.random.default_rng(0)
    p = dice.integers(2, 65, 10_000).astype(float)
    b = np.round(np.exp(dice.uniform(np.log(8), np.log(2**20), len(p))))
    steps = np.ceil(np.log2(p))
    seconds = np.where(
        b <= 2048,
        2e-6 + steps * (1e-6 + 4e-10 * b),
        np.where(
            b <= 65536, 4e-6 + steps * (3e-6 + 3e-10 * b), 9e-6 + (p - 1) * (1e-6 + 2e-10 * b)
        ),
    )
    data = Samples(
        {"p": p, "b": b},
        {"op": np.full(len(p), "bcast")},
        seconds * dice.lognormal(0, 0.02, len(p)),
        "collective",
    )
    found = models.fit(data).segments
    assert len(found) == 3
    assert [set(one.range) for one in found] == [{"b"}] * 3


def test_two_last_sizes_are_no_segment() -> None:
    """The last two of many sizes lie higher: no constant is taken from there on."""
    b = 2.0 ** np.arange(3, 21)
    seconds = 1e-6 + 2e-10 * b
    seconds[-2:] *= 1.4
    model = models.fit(Samples({"b": np.repeat(b, 5)}, {}, np.repeat(seconds, 5), "table"))
    large = model.predict(b=[2.0**22, 2.0**24]).seconds
    assert large[1] > 3 * large[0]
    assert all(one.fitted["b"][1] >= 2 * one.fitted["b"][0] for one in model.segments)
    (step,) = (text for text in model.warnings if text.startswith("step at"))
    assert "b = 256 KiB to 512 KiB: +3" in step


def test_noise_of_a_line_is_no_step() -> None:
    for seed in range(20):
        dice = np.random.default_rng(seed)
        b = np.repeat(np.round(np.geomspace(8, 2**22, dice.integers(10, 40))), 3)
        seconds = (2e-6 + 4e-10 * b) * dice.lognormal(0, dice.choice([0.01, 0.1]), len(b))
        model = models.fit(Samples({"b": b}, {}, seconds, "table"))
        assert not any(text.startswith("step at") for text in model.warnings)
