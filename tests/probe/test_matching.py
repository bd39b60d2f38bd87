"""Queues that messages are matched with, on real MPIs: contents, times and verification."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import MeasurementError
from isochrone.runfile.file import read

FEW = ("--repeats", "3", "--retest", "0")
QUEUES = ["posted", "wildcard", "unexpected"]
FIRST_ENTRY = 2000
DATA = 1401
"""Tags of the probe: of the first entry, and of the message that is timed."""


@pytest.mark.smoke
def test_every_queue_is_timed_at_every_length(every_mpi: Mpi, tmp_path: Path) -> None:
    """The first and the last rank take part, whoever is between them."""
    options = ("--entries", "0,3,70", "--bytes", "0,8", *FEW)
    run = every_mpi.run("matching", *options, ranks=3, out=tmp_path / "run.jsonl")
    samples = run.tables["sample"]
    points = Counter(zip(samples["op"], samples["entries"], samples["bytes"], strict=True))
    assert points == {
        (queue, entries, nbytes): 3
        for queue in QUEUES
        for entries in (0, 3, 70)
        for nbytes in (0, 8)
    }
    assert all(seconds > 0 for seconds in samples["seconds"])
    assert run.complete


@pytest.mark.parametrize(("queue", "any_source"), [("posted", 0), ("wildcard", 1)])
def test_so_many_receives_are_posted_with_tags_of_their_own(
    mpich_shim: Shim, tmp_path: Path, queue: str, any_source: int
) -> None:
    """Each time the queue is filled, each entry is there once."""
    log = tmp_path / "log"
    options = ("--queue", queue, "--entries", "5", *FEW)
    mpich_shim.run("matching", *options, ranks=2, out=tmp_path / "run.jsonl", streams=1, log=log)
    for rank in (0, 1):
        lines = [line.split() for line in Path(f"{log}.{rank}").read_text().splitlines()]
        posted = [(int(tag), int(any_)) for what, tag, _, any_ in lines if what == "posted"]
        counts = Counter(tag for tag, _ in posted if tag >= FIRST_ENTRY)
        assert sorted(counts) == [FIRST_ENTRY + k for k in range(5)]
        assert len(set(counts.values())) == 1
        assert {any_ for tag, any_ in posted if tag >= FIRST_ENTRY} == {any_source}


@pytest.mark.parametrize(
    ("tag", "wrong"), [(DATA, QUEUES), (FIRST_ENTRY, ["unexpected"])], ids=["message", "entry"]
)
def test_a_queue_that_delivers_wrong_data_is_not_timed(
    mpich_shim: Shim, tmp_path: Path, tag: int, wrong: list[str]
) -> None:
    """Both the message that is timed and the entries are compared; other queues are timed."""
    out = tmp_path / "run.jsonl"
    with pytest.raises(MeasurementError):
        mpich_shim.run("matching", "--entries", "1", *FEW, ranks=2, out=out, wrong_tag=tag)
    run = read(out)
    warned = [text["text"].split(",")[0] for text in run.warnings if text["code"] == "wrong-result"]
    assert warned == wrong
    samples = run.tables.get("sample")
    timed = set() if samples is None else set(samples["op"].tolist())
    assert timed == set(QUEUES) - set(wrong)


@pytest.mark.parametrize(
    "options", ["--queue posted,teleport", "--queue posted,", "--entries 16385"]
)
def test_wrong_options_are_refused_in_one_line(mpich: Mpi, options: str) -> None:
    argv = [str(mpich.probe.path), "matching", *options.split(), "--check", "2"]
    answer = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert options.split()[0] in answer.stderr
