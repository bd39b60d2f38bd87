"""The latency map on real MPIs: complete, honest about its conditions, in every order."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from beds.command_line import Command
from beds.mpis import Mpi, wait_for_records
from isochrone.latency_map.confirm import confirm
from isochrone.runfile.file import read
from isochrone.runfile.run import PAIR_QUANTITIES, Run


def measured_pairs(run: Run) -> list[tuple[int, int, int]]:
    """All first measurements as (i, j, bytes)."""
    table = run.pairs()
    first = ~table.flag("retest")
    return sorted(zip(table["i"][first], table["j"][first], table["bytes"][first], strict=True))


@pytest.mark.smoke
def test_a_map_holds_every_pair_on_every_mpi(every_mpi: Mpi, tmp_path: Path) -> None:
    run = every_mpi.run("latency-map", "--repeats", "10", ranks=4, out=tmp_path / "map.jsonl")
    assert run.complete
    assert measured_pairs(run) == [(i, j, 64) for i, j in itertools.combinations(range(4), 2)]
    assert len(run.ranks) == 4
    assert len(set(run.hosts)) == 1
    assert run.header["mpi"]["library"]
    assert run.header["clock"]["granularity"] > 0


@pytest.mark.few
@pytest.mark.parametrize("order", ["serial", "rounds", "isolated"])
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_every_order_measures_the_same_pairs(
    mpich: Mpi, tmp_path: Path, order: str, ranks: int
) -> None:
    """Odd numbers of ranks leave one out each round, and still nobody is forgotten."""
    options = ("--schedule", order, "--repeats", "5", "--retest", "0")
    run = mpich.run("latency-map", *options, ranks=ranks, out=tmp_path / "map.jsonl")
    assert run.complete
    assert measured_pairs(run) == [(i, j, 64) for i, j in itertools.combinations(range(ranks), 2)]


def test_serial_writes_the_pairs_in_the_order_of_table_1(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--schedule", "serial", "--repeats", "5", "--retest", "0")
    run = mpich.run("latency-map", *options, ranks=4, out=tmp_path / "map.jsonl")
    order = list(zip(run.pairs()["i"].tolist(), run.pairs()["j"].tolist(), strict=True))
    assert order == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_the_defaults_are_those_of_the_process_latency_maps(mpich: Mpi, tmp_path: Path) -> None:
    """64 bytes (MsgLen) and 100 repeats (repeatNum)."""
    run = mpich.run("latency-map", ranks=2, out=tmp_path / "map.jsonl")
    assert run.header["options"]["bytes"] == [64]
    assert run.header["options"]["repeats"] == 100
    assert set(run.pairs()["n"]) == {100}


def test_statistics_of_a_pair_are_in_order(mpich: Mpi, tmp_path: Path) -> None:
    run = mpich.run("latency-map", ranks=4, out=tmp_path / "map.jsonl")
    pairs = run.pairs()
    for smaller, larger in itertools.pairwise(["min", "low", "median", "high", "max"]):
        assert np.all(pairs[smaller] <= pairs[larger]), f"{smaller} is above {larger}"
    assert np.all(pairs["min"] > 0)


def test_several_sizes_are_measured_in_one_run(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--bytes", "0,64,1KiB,1MiB", "--repeats", "8", "--retest", "0")
    run = mpich.run("latency-map", *options, ranks=3, out=tmp_path / "map.jsonl")
    assert run.message_sizes() == [0, 64, 1024, 1048576]
    assert len(run.pairs()) == 3 * 4


def test_precision_repeats_as_often_as_needed(mpich: Mpi, tmp_path: Path) -> None:
    """A wide interval is either narrowed, or the limit on repeats was reached."""
    options = ("--precision", "0.2", "--min-repeats", "7", "--max-repeats", "60", "--retest", "0")
    run = mpich.run("latency-map", *options, ranks=3, out=tmp_path / "map.jsonl")
    pairs = run.pairs()
    assert np.all((pairs["n"] >= 7) & (pairs["n"] <= 60))
    precise = pairs["high"] - pairs["low"] <= 2 * 0.2 * pairs["median"]
    assert np.all(precise | (pairs["n"] == 60))


def test_what_stands_out_is_measured_again(mpich: Mpi, tmp_path: Path) -> None:
    """Of 10 pairs up to two of the slowest and two of the most spread are, and both are kept."""
    options = ("--repeats", "10", "--retest", "8")
    run = mpich.run("latency-map", *options, ranks=5, out=tmp_path / "map.jsonl")
    pairs = run.pairs()
    again = pairs.flag("retest")
    assert 2 <= again.sum() <= 4
    first = np.where(~again)[0]
    slowest = first[np.argmax(pairs["median"][first])]
    retested = set(zip(pairs["i"][again].tolist(), pairs["j"][again].tolist(), strict=True))
    assert (int(pairs["i"][slowest]), int(pairs["j"][slowest])) in retested


def test_pairs_that_are_named_are_measured_alone_and_no_others(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    """In the order given, the lower rank first, and marked as second measurements."""
    options = ("--repeats", "10", "--pairs", "3-0,1-2,2-4", "--bytes", "64,1KiB")
    run = every_mpi.run("latency-map", *options, ranks=5, out=tmp_path / "map.jsonl")
    assert run.complete
    pairs = run.pairs()
    listed = list(
        zip(pairs["i"].tolist(), pairs["j"].tolist(), pairs["bytes"].tolist(), strict=True)
    )
    expected = [(0, 3), (1, 2), (2, 4)]
    assert listed == [(i, j, size) for i, j in expected for size in (64, 1024)]
    assert pairs.flag("retest").all()
    assert run.options["pairs"] == "3-0,1-2,2-4"


def test_one_way_times_add_up_to_the_round_trip_on_every_mpi(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    """On one host all clocks are one. Clocks that age at once are synchronised before each pair."""
    options = ("--one-way", "--repeats", "20", "--bytes", "64KiB", "--retest", "0")
    out = tmp_path / "map.jsonl"
    run = every_mpi.run("latency-map", *options, "--sync-age", "1e-6", ranks=3, out=out)
    assert run.complete
    assert len(run.tables["sync"]) == 4
    pairs = run.pairs()
    assert measured_pairs(run) == [(0, 1, 65536), (0, 2, 65536), (1, 2, 65536)]
    known = np.isfinite(pairs["forward"])
    both = (pairs["forward"] + pairs["reverse"])[known]
    assert np.all(both > pairs["min"][known] / 2)
    assert np.all(both < 2 * pairs["max"][known])


@pytest.mark.parametrize(
    ("options", "name", "nbytes"),
    [
        ("--mode put", "put-map", 64),
        ("--mode get", "get-map", 64),
        ("--mode compare_and_swap", "compare_and_swap-map", 8),
        ("--mode put --rma-sync pscw", "put-map", 64),
        ("--mode bandwidth", "bandwidth-map", 1 << 20),
        ("--mode put --window 4 --bytes 4KiB", "bandwidth-map", 4096),
        ("--mode bidirectional", "exchange-map", 64),
    ],
)
def test_a_map_times_what_point_to_point_does(
    mpich: Mpi, tmp_path: Path, options: str, name: str, nbytes: int
) -> None:
    """Messages that go one way have times of both directions, whose mean is that of the pair."""
    more = ("--repeats", "3", "--retest", "2")
    run = mpich.run("latency-map", *options.split(), *more, ranks=4, out=tmp_path / "map.jsonl")
    assert run.experiment == name
    assert measured_pairs(run) == [(i, j, nbytes) for i, j in itertools.combinations(range(4), 2)]
    pairs = run.pairs()
    assert pairs.flag("retest").any()
    assert ("forward" in pairs) == (name != "exchange-map" and "pscw" not in options)
    if "forward" in pairs:
        both = (pairs["forward"] + pairs["reverse"]) / 2
        assert np.all((both > 0.5 * pairs["min"]) & (both < 2 * pairs["max"]))


def test_a_sample_has_one_way_times_by_clocks_that_are_kept(mpich: Mpi, tmp_path: Path) -> None:
    """Pairs of a sample are in blocks, with both directions; aged clocks are synchronised."""
    options = ("--sample", "100%", "--one-way", "--sync-age", "1e-6", "--bytes", "64KiB")
    out = tmp_path / "map.jsonl"
    run = mpich.run("latency-map", *options, "--repeats", "5", ranks=4, out=out)
    assert run.complete
    assert '"pairs"' in out.read_text()
    assert len(run.tables["sync"]) > 1
    known = np.isfinite(run.pairs()["forward"])
    assert known.any()


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        ("0-0", "not pairs of two ranks"),
        ("0-1,", "not pairs of two ranks"),
        ("1", "not pairs of two ranks"),
        ("0-5", "there is no rank 5; ranks are 0 to 4"),
    ],
)
def test_wrong_pairs_are_refused_in_one_line(
    isochrone: Command, tmp_path: Path, pairs: str, complaint: str
) -> None:
    answer = isochrone("measure", "latency-map", "-n", "5", "--pairs", pairs, cwd=tmp_path)
    assert answer.returncode == 2
    assert complaint in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_map_that_is_measured_alone_by_pairs_is_not_measured_again(
    isochrone: Command, tmp_path: Path
) -> None:
    answer = isochrone(
        "measure",
        "latency-map",
        "-n",
        "4",
        "--pairs",
        "0-1,1-2",
        "-o",
        "a.jsonl",
        "--repeats",
        "5",
        cwd=tmp_path,
    )
    assert answer.returncode == 0, answer.stderr
    assert len(read(tmp_path / "a.jsonl").pairs()) == 2


def test_a_reading_that_was_disturbed_is_measured_again_by_another_start(
    mpich: Mpi, tmp_path: Path
) -> None:
    """A map of real ranks in which one reading is made absurd: they see the pair again, alone."""
    path = tmp_path / "map.jsonl"
    options = ("--repeats", "10", "--retest", "1")
    run = mpich.run("latency-map", *options, ranks=6, out=path)
    assert run.complete
    victim, lines = (2, 4), []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record.get("retest"):
            continue
        if record["record"] == "pair":  # a quiet machine, but for one reading
            seconds = 1e-2 if (record["i"], record["j"]) == victim else 1e-5
            record |= dict.fromkeys(PAIR_QUANTITIES, seconds)
        lines.append(json.dumps(record, separators=(",", ":")))
    path.write_text("\n".join(lines) + "\n")
    said: list[str] = []

    def start(more: Sequence[str], out: Path) -> None:
        mpich.run("latency-map", *options, *more, ranks=6, out=out)

    confirm(path, start, said.append)
    assert said[0].startswith("re-measuring "), said
    after = read(path)
    assert after.complete
    assert path.read_text().startswith("\n".join(lines[:-1]) + "\n"), "nothing else was touched"
    assert len(after.tables["launch"]) >= 1
    pairs = after.pairs()
    again = set(zip(*(pairs[k][pairs.flag("retest")].tolist() for k in "ij"), strict=True))
    assert victim in again
    assert len(again) >= 2, "and a healthy pair beside it"
    assert after.matrix(retested=False)[victim] == 1e-2
    assert after.matrix()[victim] < 1e-2


def _sharing_cache(cpu: int, level: int) -> int:
    """Return the lowest CPU that shares the data cache of a level; -1 if Linux knows of none."""
    for cache in Path(f"/sys/devices/system/cpu/cpu{cpu}/cache").glob("index*"):
        kind = (cache / "type").read_text().strip()
        if int((cache / "level").read_text()) == level and kind != "Instruction":
            return int(re.split("[-,]", (cache / "shared_cpu_list").read_text())[0])
    return -1


@pytest.mark.smoke
def test_the_caches_of_each_rank_are_those_of_its_processor(every_mpi: Mpi, tmp_path: Path) -> None:
    """Protects the groups within a node: each rank records what Linux says of its own CPU."""
    run = every_mpi.run("latency-map", "--repeats", "2", ranks=3, out=tmp_path / "map.jsonl")
    for rank in run.ranks:
        assert rank.cpu >= 0
        assert [rank.l2, rank.l3] == [_sharing_cache(rank.cpu, level) for level in (2, 3)]


def test_an_invented_machine_has_no_caches(mpich: Mpi, tmp_path: Path) -> None:
    """Protects synthetic maps from groups that nobody asked for."""
    run = mpich.run("synthetic", "--shape", "2,2", ranks=1, out=tmp_path / "map.jsonl")
    assert {(rank.l2, rank.l3) for rank in run.ranks} == {(-1, -1)}


def test_more_ranks_than_processors_is_a_warning_in_the_file(mpich: Mpi, tmp_path: Path) -> None:
    processors = len(os.sched_getaffinity(0))
    options = ("--repeats", "2", "--retest", "0")
    run = mpich.run("latency-map", *options, ranks=processors + 1, out=tmp_path / "map.jsonl")
    assert "oversubscribed" in {warning["code"] for warning in run.warnings}


def test_a_time_limit_keeps_what_was_measured(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--repeats", "20000", "--time-limit", "0.001")
    run = mpich.run("latency-map", *options, ranks=4, out=tmp_path / "map.jsonl")
    assert not run.complete
    assert run.end is not None
    assert 1 <= len(run.pairs()) < 6
    assert "cut-short" in {warning["code"] for warning in run.warnings}


def test_ranks_that_are_killed_leave_a_readable_partial_run(mpich: Mpi, tmp_path: Path) -> None:
    out = tmp_path / "map.jsonl"
    options = ("--repeats", "2000", "--bytes", "64,256KiB", "--out", str(out))
    argv = mpich.argv("latency-map", *options, ranks=6)
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_records(out, "pair", 2, process)
    process.send_signal(signal.SIGTERM)
    process.wait()
    run = read(out)
    assert not run.complete
    assert len(run.pairs()) >= 2
