"""A new experiment is one file or folder beside the others: nothing else has to know it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT, Mpi
from isochrone.measure.probe import Probe


@pytest.fixture(scope="module")
def extended(mpich: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Mpi:
    """The probe built from a copy of its sources with a file and a folder more."""
    tree = tmp_path_factory.mktemp("tree") / "probe"
    shutil.copytree(ROOT / "probe", tree, ignore=shutil.ignore_patterns("build"))
    shutil.copy(ROOT / "tests/experiments/ring.c", tree / "experiments")
    (tree / "experiments/late").mkdir()
    shutil.copy(ROOT / "tests/experiments/late.c", tree / "experiments/late")
    mpicc = mpich.probe.mpicc
    subprocess.run(["make", "-C", tree, f"MPICC={mpicc}"], check=True, timeout=120)
    return Mpi(mpich.name, Probe(tree / "build/isochrone-probe", mpicc))


def test_a_file_with_a_timed_loop_is_a_sweep(extended: Mpi, tmp_path: Path) -> None:
    """Its header says how to read it; sizes, repetitions and records come from the sweep."""
    options = ("--bytes", "8,1KiB", "--repeats", "4", "--retest", "0")
    run = extended.run("ring", *options, ranks=3, out=tmp_path / "run.jsonl")
    assert run.complete
    assert run.header["experiment"] == "ring"
    assert run.header["kind"] == "sweep"
    assert run.header["by"] == ["p"]
    samples = run.tables["sample"]
    assert samples["bytes"].tolist().count(8) == samples["bytes"].tolist().count(1024) == 4
    assert set(samples["p"]) == {3}
    assert all(len(times) == 3 for times in samples["times"])


def test_points_without_a_valid_sample_are_given_up_and_named(
    extended: Mpi, tmp_path: Path, golden: Golden
) -> None:
    """They end the run early, and no time limit is blamed that was not set."""
    run = extended.run("late", "--repeats", "4", ranks=1, out=tmp_path / "run.jsonl")
    assert not run.complete
    assert set(run.tables["sample"]["bytes"]) == {8}
    texts = {warning["code"]: warning["text"] for warning in run.warnings}
    golden(texts["given-up"])
    assert "cut-short" not in texts
