"""Where a curve gets more points; without MPI and without timing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import MPIS, ROOT
from made_up.bends import Truth, located, make, worst_error

SOURCES = (
    "sampling/points",
    "sampling/bends",
    "sampling/sampler",
    "runfile/record",
    "base/check",
    "base/options",
    "base/sizes",
    "base/random",
    "machine/heartbeat",
)
STOP, GAP = 1 << 20, 64
CURVES = range(20)


def compiled(name: str, folder: Path) -> Path:
    """Build a program of this folder from the probe's parts that know nothing of MPI."""
    program = folder / name
    files = [ROOT / "probe" / f"{part}.c" for part in SOURCES]
    argv = [MPIS["mpich-wheel"], "-std=c11", "-O2", "-I", ROOT / "probe"]
    argv += [ROOT / f"tests/probe/{name}.c", *files, "-o", program, "-lm"]
    subprocess.run(argv, check=True, timeout=60)
    return program


@pytest.fixture(scope="module")
def many_bends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that refines curves of one shape; see many_bends.c."""
    return compiled("many_bends", tmp_path_factory.mktemp("points"))


@pytest.fixture(scope="module")
def auto_sizes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that chooses the sizes of a made-up curve; see auto_sizes.c."""
    return compiled("auto_sizes", tmp_path_factory.mktemp("sizes"))


def points_of_curves(program: Path, curves: int) -> list[int]:
    argv = [program, str(curves)]
    answer = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60)
    return [int(word) for word in answer.stdout.split()]


def test_the_last_of_many_curves_is_refined_like_the_first(many_bends: Path) -> None:
    """There was room for 8,192 bends, and those of later curves were dropped without a word."""
    (alone,) = points_of_curves(many_bends, 1)
    assert points_of_curves(many_bends, 400) == [alone] * 400


def chosen(program: Path, truth: Truth, noise: float, seed: int, stop: int = STOP) -> np.ndarray:
    """Return the sizes chosen for a curve that is measured on a machine with noise."""
    argv = [program, f"auto:0:{stop}", str(GAP), str(noise), str(seed + 1), *truth.arguments]
    answer = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60)
    return np.array([int(line.split()[0]) for line in answer.stdout.splitlines()])


def bends_found(program: Path, kind: str, noise: float) -> tuple[float, list[int]]:
    """Return the share of the jumps that lie between two neighbouring sizes; points of each."""
    found: list[bool] = []
    points = []
    for seed in CURVES:
        truth = make(kind, seed, STOP)
        sizes = chosen(program, truth, noise, seed)
        found += located(truth, sizes, GAP)
        points.append(len(sizes))
    return float(np.mean(found)), points


@pytest.mark.parametrize("noise", [0, 0.02, 0.05, 0.1])
def test_no_points_are_spent_on_the_noise_of_a_straight_line(
    auto_sizes: Path, noise: float
) -> None:
    """The starting sizes and the middles between them are 16; of 100, most went to noise."""
    points = [len(chosen(auto_sizes, make("straight", s, STOP), noise, s)) for s in CURVES]
    assert np.median(points) <= 18
    assert max(points) <= 24


@pytest.mark.few(2)
@pytest.mark.parametrize(("noise", "least"), [(0, 1.0), (0.02, 0.95), (0.05, 0.9), (0.1, 0.85)])
@pytest.mark.parametrize("kind", ["jump", "near"])
def test_jumps_are_found_to_the_smallest_gap(
    auto_sizes: Path, kind: str, noise: float, least: float
) -> None:
    """Also two of them, 128 to 512 B apart, of which the second was missed."""
    share, points = bends_found(auto_sizes, kind, noise)
    assert share >= least
    assert np.median(points) <= 45
    assert max(points) <= 65


def test_slopes_that_change_are_followed(auto_sizes: Path) -> None:
    """With 5 % noise, straight lines between the chosen sizes are right within 10 %."""
    for seed in CURVES:
        truth = make("slope", seed, STOP)
        sizes = chosen(auto_sizes, truth, 0.05, seed)
        assert worst_error(truth, sizes, GAP) < 0.1
        assert len(sizes) <= 45


def test_a_bump_between_two_starting_sizes_is_seen(auto_sizes: Path) -> None:
    """36 to 80 us at 23 KiB, back on the old line at 64 KiB: it had no switch, and 8 sizes."""
    rate = (72e-6 - 36e-6) / (65536 - 23552)
    latency = 36e-6 - 23552 * rate
    back = (72e-6 - 80e-6) / (65536 - 23552)
    bump = Truth(
        ((0, latency, rate), (23552, 80e-6 - 23552 * back, back), (65536, latency, rate)), (23552,)
    )
    for noise in (0, 0.02, 0.05):
        assert located(bump, chosen(auto_sizes, bump, noise, 1, 4 << 20), GAP) == [True]


def test_most_bumps_are_seen(auto_sizes: Path) -> None:
    """With 5 % noise, 85 of 100; in the others neither a starting size nor a middle lies."""
    share, _ = bends_found(auto_sizes, "bump", 0.05)
    assert share >= 0.85
