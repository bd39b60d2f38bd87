"""Parquet: columns with types, hosts, and where the times come from."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest

from isochrone import models
from isochrone.formats.exporters import parquet
from made_up import sweeps
from made_up.latency_maps import latency_map


def test_a_map_is_a_table_of_pairs_with_hosts(tmp_path: Path) -> None:
    run = latency_map(["a", "a", "b\ud800"])
    parquet.write(run, tmp_path / "map.parquet")
    frame = pd.read_parquet(tmp_path / "map.parquet")
    assert len(frame) == 3
    assert frame["host_j"].tolist() == ["a", "b?", "b?"]
    assert frame["median"].tolist() == pytest.approx(run.pairs()["median"].tolist())
    assert frame["bytes"].dtype == "int64"
    metadata = pyarrow.parquet.read_metadata(tmp_path / "map.parquet").metadata
    assert json.loads(metadata[b"isochrone"])["experiment"] == "latency-map"


def test_a_sweep_can_be_fitted_from_the_table(tmp_path: Path) -> None:
    """The columns are those that `isochrone.fit` takes; samples that do not count are not there."""
    run = sweeps.point_to_point(sweeps.line(), noise=0.0, repeats=3)
    parquet.write(run, tmp_path / "run.parquet")
    frame = pd.read_parquet(tmp_path / "run.parquet")
    assert {"op", "p", "bytes", "seconds", "host_i", "host_j", "origin"} <= set(frame.columns)
    model = models.fit(frame, "hockney")
    assert model.segments[0].coefficients == pytest.approx([1.2e-6, 1 / 6e9], rel=1e-6)
    parquet.write(run, tmp_path / "one.parquet", nbytes=64)
    assert set(pd.read_parquet(tmp_path / "one.parquet")["bytes"]) == {64}


def test_times_of_all_ranks_are_lists(tmp_path: Path) -> None:
    parquet.write(sweeps.collective(sizes=(8,), repeats=2), tmp_path / "c.parquet")
    assert len(pd.read_parquet(tmp_path / "c.parquet")["times"][0]) == 8
