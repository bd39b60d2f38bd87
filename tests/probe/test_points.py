"""Where a curve gets more points; without MPI and without timing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from beds.mpis import MPIS, ROOT

SOURCES = (
    "sampling/points", "sampling/sampler", "runfile/record", "base/check", "base/options",
    "base/sizes",
)  # fmt: skip


@pytest.fixture(scope="module")
def many_bends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that refines curves of one shape; see many_bends.c."""
    program = tmp_path_factory.mktemp("points") / "many_bends"
    files = [ROOT / "probe" / f"{name}.c" for name in SOURCES]
    argv = [MPIS["mpich-wheel"], "-std=c11", "-O2", "-I", ROOT / "probe"]
    argv += [ROOT / "tests/probe/many_bends.c", *files, "-o", program, "-lm"]
    subprocess.run(argv, check=True, timeout=60)
    return program


def points_of_curves(program: Path, curves: int) -> list[int]:
    argv = [program, str(curves)]
    answer = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60)
    return [int(word) for word in answer.stdout.split()]


def test_the_last_of_many_curves_is_refined_like_the_first(many_bends: Path) -> None:
    """There was room for 8,192 bends, and those of later curves were dropped without a word."""
    (alone,) = points_of_curves(many_bends, 1)
    assert points_of_curves(many_bends, 400) == [alone] * 400
