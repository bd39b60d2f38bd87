"""Collective operations on real MPIs: each rank's time is kept, the slowest is the operation's."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.mpis import Mpi
from isochrone.base.errors import InputError

OPERATIONS = [
    "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "reduce_scatter_block", "scan",
]  # fmt: skip


@pytest.mark.parametrize("sync", ["barrier", "window"])
def test_every_operation_is_timed_on_every_mpi(every_mpi: Mpi, tmp_path: Path, sync: str) -> None:
    """All at once, so that one run shows that they do not get into each other's way."""
    options = ("--op", "all", "--bytes", "8,1KiB", "--repeats", "4", "--again", "0")
    out = tmp_path / "run.jsonl"
    run = every_mpi.run("collective", "--sync", sync, *options, ranks=2, out=out)
    samples = run.tables["sample"]
    found = {(op, nbytes) for op, nbytes in zip(samples["op"], samples["bytes"], strict=True)}
    assert found == {("barrier", 0)} | {(op, b) for op in OPERATIONS[1:] for b in (8, 1024)}
    assert all(len(times) == 2 for times in samples["times"])
    assert samples["seconds"].tolist() == [max(times) for times in samples["times"]]
    assert ("sync" in run.tables) == (sync == "window")


@pytest.mark.parametrize(("root", "expected"), [("fixed", {0}), ("rotating", {0, 1, 2})])
def test_the_root_is_rank_0_or_each_in_turn(
    mpich: Mpi, tmp_path: Path, root: str, expected: set[int]
) -> None:
    options = ("--op", "bcast", "--bytes", "8", "--repeats", "6", "--root", root)
    run = mpich.run("collective", *options, ranks=3, out=tmp_path / "run.jsonl")
    assert set(run.tables["sample"]["root"]) == expected


def test_the_clocks_are_synchronised_again_when_they_have_aged(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "bcast", "--bytes", "8,64", "--repeats", "8", "--sync", "window")
    out = tmp_path / "run.jsonl"
    run = mpich.run("collective", *options, "--sync-age", "1e-6", ranks=2, out=out)
    assert len(run.tables["sync"]) > 2


def test_the_file_says_what_its_seconds_are(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "barrier", "--repeats", "2")
    run = mpich.run("collective", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert run.header["seconds_are"] == "operation, slowest rank"


WRONG = [
    (("--op", "teleport"), "no operation 'teleport'"),
    (("--op", "bcast,"), "no operation ''"),
    (("--op", "allreduce", "--bytes", "12"), "not a multiple of 8"),
    (("--op", "allreduce", "--bytes", "17GiB"), "at most 16 GiB"),
    (("--op", "alltoall", "--bytes", "8GiB"), "buffers need"),
    (("--sync", "prayer"), "not one of barrier"),
    (("--root", "1"), "not one of fixed"),
]


@pytest.mark.parametrize(("options", "says"), WRONG, ids=[" ".join(o) for o, _ in WRONG])
def test_wrong_use_is_refused_before_a_rank_starts(
    mpich: Mpi, options: tuple[str, ...], says: str
) -> None:
    with pytest.raises(InputError) as caught:
        mpich.probe.check("collective", options, 64, here=True)
    assert says in str(caught.value)


@pytest.mark.parametrize("experiment", ["point-to-point", "bisection", "collective"])
def test_one_rank_is_too_few(mpich: Mpi, experiment: str) -> None:
    with pytest.raises(InputError, match="needs at least 2 ranks"):
        mpich.probe.check(experiment, (), 1)
