"""Bisection on real MPIs: the right pairs, all at once, nobody counted who does nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beds.mpis import Mpi
from isochrone.runfile.run import Run

OPTIONS = ("--bytes", "8,4KiB", "--repeats", "4", "--retest", "0")


def cut(run: Run) -> list[tuple[int, int]]:
    table = run.tables["cut"]
    return list(zip(table["i"].tolist(), table["j"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("pairing", "ranks", "expected", "bystanders"),
    [
        ("halves", 4, [(0, 2), (1, 3)], []),
        ("halves", 5, [(0, 2), (1, 3)], [4]),
        ("neighbours", 4, [(0, 1), (2, 3)], []),
        ("neighbours", 5, [(0, 1), (2, 3)], [4]),
        ("halves", 2, [(0, 1)], []),
    ],
)
def test_the_pairs_are_those_of_the_pairing(
    mpich: Mpi,
    tmp_path: Path,
    pairing: str,
    ranks: int,
    expected: list[tuple[int, int]],
    bystanders: list[int],
) -> None:
    """Halves cuts the ranks in two; neighbours is what mpptest did; the odd rank is named."""
    out = tmp_path / "run.jsonl"
    run = mpich.run("bisection", "--pairing", pairing, *OPTIONS, ranks=ranks, out=out)
    assert run.complete
    assert cut(run) == expected
    found = run.tables["bystander"]["rank"].tolist() if "bystander" in run.tables else []
    assert found == bystanders


def test_random_pairs_depend_on_the_seed_alone(mpich: Mpi, tmp_path: Path) -> None:
    """The same seed is the same cut; every rank is in one pair at most."""
    cuts = []
    for k, seed in enumerate(["7", "7", "1", "2", "3"]):
        options = ("--pairing", "random", "--seed", seed, "--bytes", "8", "--repeats", "2")
        run = mpich.run("bisection", *options, ranks=5, out=tmp_path / f"{k}.jsonl")
        cuts.append(cut(run))
        assert len({rank for pair in cuts[-1] for rank in pair}) == 4
    assert cuts[0] == cuts[1]
    assert len({tuple(found) for found in cuts}) > 1


@pytest.mark.smoke
def test_every_pair_is_timed_and_only_active_pairs_count(every_mpi: Mpi, tmp_path: Path) -> None:
    """Mpptest timed one pair and multiplied with all ranks; here the rate is a sum over pairs."""
    run = every_mpi.run("bisection", *OPTIONS, ranks=3, out=tmp_path / "run.jsonl")
    samples = run.tables["sample"]
    assert len(samples) == 8
    assert set(samples["pairs"]) == {1}
    assert set(samples["p"]) == {3}
    for nbytes, times, seconds, rate in zip(
        samples["bytes"], samples["times"], samples["seconds"], samples["rate"], strict=True
    ):
        assert len(times) == 1
        assert seconds == max(times)
        assert rate == pytest.approx(sum(nbytes / time for time in times), rel=1e-6)


def test_both_directions_count_in_a_bidirectional_rate(mpich: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    run = mpich.run("bisection", "--mode", "bidirectional", *OPTIONS, ranks=4, out=out)
    samples = run.tables["sample"]
    expected = [
        2 * sum(nbytes / time for time in times)
        for nbytes, times in zip(samples["bytes"], samples["times"], strict=True)
    ]
    np.testing.assert_allclose(samples["rate"], expected, rtol=1e-6)
