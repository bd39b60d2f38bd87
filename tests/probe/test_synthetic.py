"""The null experiment: its times are known exactly, so the pipeline behind it can be tested."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.mpis import Mpi

LATENCY, STEP, BANDWIDTH = 1e-6, 4.0, 1e10  # the defaults


def exact(levels: int, nbytes: int = 64) -> float:
    """The formula of synthetic.c."""
    return 2 * (LATENCY * STEP**levels + nbytes / BANDWIDTH)


def test_times_follow_the_formula(mpich: Mpi, tmp_path: Path) -> None:
    """2 ranks a node, 2 nodes a switch, 2 switches: three levels of distance."""
    options = ("--shape", "2,2,2", "--bytes", "64,1MiB", "--repeats", "5")
    run = mpich.run("synthetic", *options, ranks=1, out=tmp_path / "synthetic.jsonl")
    assert run.size == 8
    for nbytes in (64, 1048576):
        times = run.matrix("median", nbytes)
        for (i, j), levels in {(0, 1): 0, (0, 2): 1, (1, 3): 1, (0, 4): 2, (3, 7): 2}.items():
            assert times[i, j] == pytest.approx(exact(levels, nbytes), rel=1e-8)
        assert np.isnan(np.diag(times)).all()


@pytest.mark.parametrize(
    ("placement", "hosts"),
    [("block", ["n0", "n0", "n1", "n1", "n2", "n2"]), ("cyclic", ["n0", "n1", "n2"] * 2)],
)
def test_placements(mpich: Mpi, tmp_path: Path, placement: str, hosts: list[str]) -> None:
    options = ("--shape", "2,3", "--placement", placement, "--repeats", "1")
    run = mpich.run("synthetic", *options, ranks=1, out=tmp_path / "synthetic.jsonl")
    assert run.hosts == hosts
    times = run.matrix()
    same = np.equal.outer(hosts, hosts) & ~np.eye(6, dtype=bool)
    assert np.allclose(times[same], exact(0))
    assert np.allclose(times[~same & ~np.eye(6, dtype=bool)], exact(1))


def test_slow_parts_are_slow_by_the_factor(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--shape", "2,4", "--slow-node", "1", "--slow-pair", "0-7", "--slow-factor", "2.5")
    run = mpich.run("synthetic", *options, ranks=1, out=tmp_path / "synthetic.jsonl")
    times = run.matrix()
    assert times[0, 2] == pytest.approx(2.5 * exact(1)), "crosses the port of node 1"
    assert times[2, 3] == pytest.approx(exact(0)), "stays inside node 1"
    assert times[0, 7] == pytest.approx(2.5 * exact(1))
    assert times[1, 7] == pytest.approx(exact(1))


def test_the_interval_of_the_median_covers_it(mpich: Mpi, tmp_path: Path) -> None:
    """A 95 % interval must cover the true median of exponential noise about 95 times in 100."""
    options = ("--shape", "1,64", "--noise", "0.5", "--repeats", "40", "--seed", "7")
    run = mpich.run("synthetic", *options, ranks=1, out=tmp_path / "synthetic.jsonl")
    pairs = run.pairs()
    true_median = exact(1) * (1 + 0.5 * np.log(2))
    covered = (pairs["low"] <= true_median) & (true_median <= pairs["high"])
    assert 0.93 <= covered.mean() <= 0.99
    assert pairs["median"].mean() == pytest.approx(true_median, rel=0.02)
    assert pairs["mean"].mean() == pytest.approx(exact(1) * 1.5, rel=0.02)
    assert pairs["stddev"].mean() == pytest.approx(exact(1) * 0.5, rel=0.05)


def test_precision_stops_at_once_where_nothing_varies(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--shape", "1,3", "--precision", "0.01", "--min-repeats", "4")
    run = mpich.run("synthetic", *options, ranks=1, out=tmp_path / "synthetic.jsonl")
    assert set(run.pairs()["n"]) == {4}
