"""Groups of pairs, and threads of ranks, that exchange messages at the same time, on real MPIs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import InputError
from isochrone.runfile.run import Run

FEW = ("--bytes", "8,4KiB", "--repeats", "3", "--retest", "0")
FIRST_TAG = 1102
"""The first of the probe's tags for messages that are timed."""


def check_times(run: Run, count: str) -> None:
    """Check that the slowest decides, and that rates are sums, of so many streams of messages."""
    samples = run.tables["sample"]
    for streams, nbytes, times, seconds, rate in zip(
        *(samples[name] for name in (count, "bytes", "times", "seconds", "rate")), strict=True
    ):
        assert len(times) == streams
        assert seconds == max(times)
        assert rate == pytest.approx(sum(nbytes / time for time in times), rel=1e-6)


@pytest.mark.smoke
def test_each_number_of_pairs_is_a_curve_of_the_first_pairs(every_mpi: Mpi, tmp_path: Path) -> None:
    """Every pair is timed, and every number of pairs takes its turn."""
    options = ("--pairs-at-once", "1,2", *FEW)
    run = every_mpi.run("point-to-point", *options, ranks=4, out=tmp_path / "run.jsonl")
    assert run.by == ("p", "pairs")
    assert list(run.tables["cut"].rows()) == [{"i": 0, "j": 2}, {"i": 1, "j": 3}]
    samples = run.tables["sample"]
    points = set(zip(samples["p"], samples["pairs"], samples["bytes"], strict=True))
    assert points == {(2 * pairs, pairs, b) for pairs in (1, 2) for b in (8, 4096)}
    check_times(run, "pairs")


@pytest.mark.smoke
@pytest.mark.parametrize("comms", ["shared", "own"])
def test_each_number_of_threads_is_a_curve(every_mpi: Mpi, tmp_path: Path, comms: str) -> None:
    """Every pair of threads is timed by itself."""
    options = ("--threads", "1,2", "--thread-comms", comms, *FEW)
    run = every_mpi.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert run.by == ("i", "j", "threads")
    assert run.complete
    samples = run.tables["sample"]
    assert sorted(set(samples["threads"].tolist())) == [1, 2]
    check_times(run, "threads")


@pytest.mark.parametrize(("comms", "tags", "communicators"), [("shared", 2, 1), ("own", 1, 2)])
def test_threads_have_tags_or_communicators_of_their_own(
    mpich_shim: Shim, tmp_path: Path, comms: str, tags: int, communicators: int
) -> None:
    """No thread can receive the message of another one."""
    log = tmp_path / "log"
    options = ("--threads", "2", "--thread-comms", comms, "--bytes", "8", "--repeats", "2")
    mpich_shim.run(
        "point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl", streams=1, log=log
    )
    lines = [line.split() for line in Path(f"{log}.0").read_text().splitlines()]
    timed = [(tag, comm) for _, tag, _, comm in lines if FIRST_TAG <= int(tag) < FIRST_TAG + 99]
    assert len({tag for tag, _ in timed}) == tags
    assert len({comm for _, comm in timed}) == communicators


def test_a_library_without_threads_is_refused(mpich_shim: Shim, tmp_path: Path) -> None:
    """Otherwise threads would corrupt its memory; nothing is measured."""
    out = tmp_path / "run.jsonl"
    with pytest.raises(InputError) as caught:
        mpich_shim.run("point-to-point", "--threads", "2", ranks=2, out=out, serialized=1)
    assert "MPI_THREAD_MULTIPLE" in str(caught.value)
    assert not out.exists()


def test_more_threads_than_processors_are_a_warning(mpich: Mpi, tmp_path: Path) -> None:
    """Threads count as ranks do."""
    threads = str(len(os.sched_getaffinity(0)))
    options = ("--threads", threads, "--bytes", "8", "--repeats", "1", "--warmup", "1")
    run = mpich.run("point-to-point", *options, ranks=2, out=tmp_path / "run.jsonl")
    assert "oversubscribed" in {warning["code"] for warning in run.warnings}


WRONG = [
    ("--pairs-at-once 1,3", "6 ranks"),
    ("--pairs-at-once 1,2,1", "twice"),
    ("--threads 65", "64"),
    ("--pairs 0-1 --pairs-at-once 1", "exclude"),
]


@pytest.mark.parametrize(("options", "words"), WRONG, ids=[words for _, words in WRONG])
def test_wrong_options_are_refused_in_one_line(mpich: Mpi, options: str, words: str) -> None:
    argv = [str(mpich.probe.path), "point-to-point", *options.split(), "--check", "4"]
    answer = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert words in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_the_first_pairs_of_random_ones_are_always_the_same(mpich: Mpi, tmp_path: Path) -> None:
    """A curve of one pair is of the same pair, whatever else is measured."""
    pairs = []
    for listed in ("1,2", "1"):
        options = ("--pairing", "random", "--seed", "5", "--pairs-at-once", listed, *FEW)
        out = tmp_path / f"{listed}.jsonl"
        run = mpich.run("point-to-point", *options, ranks=5, out=out)
        pairs.append([(row["i"], row["j"]) for row in run.tables["cut"].rows()])
    assert pairs[0][:1] == pairs[1]
    assert len(np.unique(pairs[0])) == 4
