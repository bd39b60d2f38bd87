"""`isochrone.measure` from Python, as a notebook calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

import isochrone
from beds.golden import Golden
from beds.mpis import Mpi
from isochrone.base.errors import InputError


def test_a_run_is_measured_kept_and_analysed(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    """The null experiment has made-up times; ranks, options and the file are real."""
    path = tmp_path / "null.jsonl"
    options = {"mpicc": str(mpich.probe.mpicc)}
    run = isochrone.measure("synthetic", 4, path, shape=[2, 2], bytes="8,64", **options)
    assert (run.experiment, run.size, run.complete, run.origin) == (
        "synthetic",
        4,
        True,
        "synthetic",
    )
    assert run.message_sizes() == [8, 64]
    assert isochrone.read(path).hosts == run.hosts
    assert isochrone.analyse(run, bytes=64)["bytes"] == 64
    with pytest.raises(InputError, match="file exists"):
        isochrone.measure("synthetic", 4, path, **options)
    again = isochrone.measure("synthetic", 4, shape=[2, 2], **options)
    assert again.size == 4
    with golden.refusal():
        isochrone.measure("synthetic", 4, typo=1, **options)
