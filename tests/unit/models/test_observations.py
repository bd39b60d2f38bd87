"""Runs become samples with the variables of models; what cannot belong together is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.formats.importers import imb, osu
from isochrone.runfile.file import write
from isochrone.runfile.run import Run
from made_up.times import grid, noisy, run_of, times, truth


def test_a_run_gives_its_variables_and_selectors() -> None:
    """Message size, ranks, window and mode of sweeps; the size of a hot spot is a selector."""
    table = {
        "i": np.zeros(3, int),
        "j": np.ones(3, int),
        "bytes": np.array([1, 2, 4]),
        "seconds": np.array([1e-6, 2e-6, 3e-6]),
    }
    header = {
        "experiment": "point-to-point",
        "ranks": 2,
        "options": {"mode": "blocking", "window": 4},
    }
    data = models.of_run(Run(header=header, tables={"sample": Table(table)}))
    assert data.variables["b"].tolist() == [1, 2, 4]
    assert data.variables["w"].tolist() == [4, 4, 4]
    assert data.selectors["mode"].tolist() == ["blocking"] * 3
    hot = {
        "pa": np.array([0.5, 1]),
        "pe": np.array([1.0, 2]),
        "bytes": np.array([4194304] * 2),
        "order": np.array(["intra-first"] * 2, object),
        "hot": np.array([1, 1]),
        "seconds": np.array([1.0, 2]),
    }
    spot = Run(header={"experiment": "hotspot", "ranks": 4}, tables={"sample": Table(hot)})
    data = models.of_run(spot)
    assert set(data.variables) == {"pa", "pe"}
    assert {key: set(v.tolist()) for key, v in data.selectors.items()} == {
        "order": {"intra-first"},
        "bytes": {4194304},
        "hot": {1},
    }


def test_what_was_measured_again_alone_counts() -> None:
    table = {
        "i": np.zeros(4, int),
        "j": np.ones(4, int),
        "bytes": np.array([8, 8, 16, 8]),
        "seconds": np.array([9e-6, 9e-6, 2e-6, 1e-6]),
        "again": np.array([False, False, False, True]),
    }
    header = {"experiment": "point-to-point", "ranks": 2}
    data = models.of_run(Run(header=header, tables={"sample": Table(table)}))
    assert data.seconds.tolist() == [2e-6, 1e-6]


def test_runs_of_different_experiments_are_not_fitted_together(
    tmp_path: Path, golden: Golden
) -> None:
    variables = grid("gather")
    data = noisy(times(truth("gather"), variables), variables, 0.02, 2, 1, op="gather")
    write(run_of(data), tmp_path / "a.jsonl")
    other = run_of(data, "bisection")
    samples = other.tables["sample"]
    samples.columns["pairs"] = np.ones(len(samples), dtype=np.int64)
    write(other, tmp_path / "b.jsonl")
    with golden.refusal():
        models.fit([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    model = models.fit([tmp_path / "a.jsonl"], "gather")
    assert [source["path"] for source in model.made_from] == [str(tmp_path / "a.jsonl")]
    assert len(model.made_from[0]["sha256"]) == 64


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("p,b,seconds\n2,8,1e-6\n-2,8,1e-6\n", "'p' is -2, which is not a valid number of ranks"),
        ("p,b,seconds\n2,8,1e-6\n2.5,8,1e-6\n", "'p' is 2.5, which is not a valid number of ranks"),
        ("p,b,seconds\n2,8,1e-6\n4,-8,1e-6\n", "'b' is -8, which is not a valid message size"),
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


@pytest.mark.parametrize("repeats", [(1, 9), (3, 4), (2, 3)])
def test_points_are_medians_whatever_the_number_and_order_of_repetitions(
    repeats: tuple[int, int],
) -> None:
    """As numpy says for each point by itself; the noise is of those with three and more."""
    generator = np.random.default_rng(1)
    p = np.repeat(np.arange(2.0, 52), generator.integers(*repeats, 50))
    p = generator.permutation(p)
    seconds = generator.lognormal(-10, 1, len(p))
    (found,) = models.Samples({"p": p}, {}, seconds, "table").observations()
    own = [seconds[p == value] for value in found.variables["p"]]
    assert found.seconds.tolist() == [np.median(times_) for times_ in own]
    assert found.repeats.tolist() == [len(times_) for times_ in own]
    errors = [
        1.2533
        * 1.4826
        * np.median(np.abs(times_ - np.median(times_)))
        / np.median(times_)
        / np.sqrt(len(times_))
        for times_ in own
        if len(times_) >= 3
    ]
    expected = pytest.approx(np.median(errors), rel=1e-3) if errors else None
    assert found.noise == expected


def test_a_hundred_thousand_points_are_reduced_without_a_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The median is not called once for each point: that took three seconds."""
    b = np.arange(20_000.0)
    uneven = np.concatenate([b, b[:10_000]])
    calls = []
    median = np.median
    monkeypatch.setattr(np, "median", lambda *args, **more: (calls.append(1), median(*args))[1])
    models.Samples({"b": uneven}, {}, 1e-6 + uneven, "table").observations()
    assert len(calls) <= 2


def test_repetitions_that_another_program_counted_are_no_operations() -> None:
    """IMB prints how often each size was repeated; with it every table looked like computation."""
    golden = ROOT / "tests/golden"
    pingpong = imb.IMPORTER.read(golden / "imb/pingpong-2021.txt")
    for run in (pingpong, osu.IMPORTER.read(golden / "osu/bcast-7.0-full.txt", ranks=4)):
        assert "n" in run.tables["sample"]
        data = models.of_run(run)
        assert "n" not in data.variables
        assert "b" in data.variables
    tried = models.fit(pingpong).ranking[0]["families"]
    assert "compute" not in [row["family"] for row in tried]


def test_a_table_of_operations_keeps_their_number(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("n,seconds\n" + "".join(f"{n},{n}e-9\n" for n in range(100, 900, 100)))
    assert models.fit(path).family == "compute"
    path.write_text("op,p,b,n,seconds\nbcast,4,8,1000,1e-6\nbcast,4,16,500,2e-6\n")
    assert list(models.load([path]).variables) == ["b", "p"]
