"""Runs become samples with the variables of models; what cannot belong together is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.runfile.file import write
from isochrone.runfile.run import Run
from made_up.times import grid, noisy, run_of, times, truth


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
