"""Tiles through collective MPI-IO: every byte is checked, and what the library did is said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import InputError, MeasurementError
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

SMALL = ("--tile", "40x30", "--element", "7", "--repeats", "2")


def codes(run: Run) -> set[str]:
    return {warning["code"] for warning in run.warnings}


def hints(run: Run) -> dict[str, str]:
    """What the library reported."""
    table = run.tables["hint"]
    return dict(zip(table["key"].tolist(), table["value"].tolist(), strict=True))


def pattern(nbytes: int, seed: int) -> np.ndarray:
    """The bytes of a file written in a repetition, as tiling.h says."""
    offset = np.arange(nbytes, dtype=np.uint64) + np.uint64(seed << 44)
    mixed = (offset ^ (offset >> np.uint64(7))) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(56)).astype(np.uint8)


def messages(run: Run) -> dict[tuple[int, int], tuple[int, int]]:
    """For each rank and aggregator: messages, and bytes in all."""
    table = run.tables["message"]
    keys = ("rank", "aggregator", "messages", "bytes")
    columns = (table[key].tolist() for key in keys)
    return {(r, a): (n, size) for r, a, n, size in zip(*columns, strict=True)}


@pytest.mark.smoke
def test_every_mpi_writes_and_reads_every_byte(every_mpi: Mpi, tmp_path: Path) -> None:
    """The file is kept and looked at here: the probe's own comparison has no say in it."""
    data = tmp_path / "data"
    options = ("--file", str(data), "--tiles", "3x2", "--overlap", "5x4", "--keep", *SMALL)
    run = every_mpi.run("tile-io", *options, ranks=6, out=tmp_path / "tile.jsonl")
    assert run.complete
    nbytes = (3 * 35 + 5) * (2 * 26 + 4) * 7
    table = run.tables["sample"]
    of_file = table["phase"] == "file"
    assert table["op"][of_file].tolist() == ["write", "read"] * 2
    assert table["repeat"][of_file].tolist() == [0, 0, 1, 1]
    assert set(table["bytes"]) == {nbytes}
    assert set(table["p"]) == {6}
    for key in ("open", "seconds", "close", "total"):
        assert (table[key][of_file] > 0).all(), key
    assert np.array_equal(np.fromfile(data, np.uint8), pattern(nbytes, seed=2))


def test_the_file_is_removed_unless_it_is_to_be_kept(mpich: Mpi, tmp_path: Path) -> None:
    data = tmp_path / "data"
    mpich.run("tile-io", "--file", str(data), *SMALL, ranks=4, out=tmp_path / "tile.jsonl")
    assert not data.exists()


def test_a_wrong_byte_ends_it_with_exit_code_3(
    mpich_shim: Shim, tmp_path: Path, golden: Golden
) -> None:
    """Never a warning: a library or file system that loses data must not be measured further."""
    out = tmp_path / "tile.jsonl"
    options = ("--file", str(tmp_path / "data"), "--tiles", "2x2", *SMALL)
    with pytest.raises(MeasurementError) as caught:
        mpich_shim.run("tile-io", *options, ranks=4, out=out, corrupt=3)
    assert caught.value.exit_code == 3
    said = "\n".join(caught.value.details)
    golden.measured(said)
    run = read(out)
    assert not run.complete
    assert "mismatch" in codes(run)
    assert run.tables["sample"]["op"].tolist() == ["write"], "what was measured before stays"
    assert not (tmp_path / "data").exists()


def test_romio_reports_its_aggregators_and_they_do_the_file_io(
    mpich_shim: Shim, tmp_path: Path
) -> None:
    """By default one a host, its first rank; a cb_config_list chooses and orders them."""
    options = ("--file", str(tmp_path / "data"), "--tiles", "4x2", "--tile", "64x64")
    start = {"ranks": 8, "nodes": "4,2,1,1"}
    run = mpich_shim.run("tile-io", *options, out=tmp_path / "a.jsonl", **start)
    assert run.tables["aggregator"]["rank"].tolist() == [0, 4, 6, 7]
    assert run.tables["aggregator"]["node"].tolist() == [0, 1, 2, 3]
    assert set(run.tables["aggregator"]["source"]) == {"romio_aggregator_list"}
    table = run.tables["file-io"]
    for op in ("write", "read"):
        assert table["rank"][table["op"] == op].tolist() == [0, 4, 6, 7], op

    chosen = "cb_config_list=f2,f0:2,*:0,cb_nodes=3"
    run = mpich_shim.run("tile-io", *options, "--hints", chosen, out=tmp_path / "b.jsonl", **start)
    assert run.tables["aggregator"]["rank"].tolist() == [6, 0, 1]
    assert hints(run)["cb_config_list"] == "f2,f0:2,*:0"
    assert "hint-not-taken" not in codes(run)


def test_the_replay_sends_what_the_library_sent_round_by_round(
    mpich_shim: Shim, tmp_path: Path
) -> None:
    """Odd tiles, domains and windows: every message's ends and length, write and read."""
    log = tmp_path / "log"
    hint = "cb_buffer_size=2000,romio_cb_write=enable,romio_cb_read=enable"
    run = mpich_shim.run(
        "tile-io",
        "--file",
        str(tmp_path / "data"),
        "--tiles",
        "3x3",
        "--tile",
        "23x17",
        "--element",
        "11",
        "--repeats",
        "1",
        "--hints",
        hint,
        ranks=9,
        out=tmp_path / "tile.jsonl",
        nodes="4,2,2,1",
        log=log,
    )
    seen = mpich_shim.traffic(9, log)
    assert sum(seen.written.values()) > 60, "several rounds"
    # The probe replays each exchange twice: once to look at the bytes, once to time it.
    assert seen.replayed == seen.written + seen.written
    assert seen.replayed_back == seen.read + seen.read
    recorded: Counter[tuple[int, int]] = Counter()
    for (rank, aggregator, nbytes), count in seen.written.items():
        recorded[rank, aggregator] += count * nbytes
    assert {pair: size for pair, (_, size) in messages(run).items()} == recorded
    assert sum(count for count, _ in messages(run).values()) == sum(seen.written.values())
    rounds = run.tables["sample"]["rounds"][run.tables["sample"]["phase"] == "exchange"]
    assert set(rounds) == {-(-9 * 23 * 17 * 11 // 4) // 2000 + 1}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--hints", "romio_cb_write=disable"), "romio_cb_write is 'disable'"),
        (("--tiles", "1x4"), "'automatic' and tiles do not interleave"),
    ],
)
def test_what_is_not_collective_is_said(
    mpich: Mpi, tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    where = ("--file", str(tmp_path / "data"))
    run = mpich.run("tile-io", *where, *SMALL, *options, ranks=4, out=tmp_path / "tile.jsonl")
    texts = [w["text"] for w in run.warnings if w["code"] == "not-collective"]
    assert any(reason in text for text in texts), run.warnings


def test_a_collective_access_is_not_warned_of(mpich: Mpi, tmp_path: Path) -> None:
    where = ("--file", str(tmp_path / "data"), "--tiles", "2x2")
    run = mpich.run("tile-io", *where, *SMALL, ranks=4, out=tmp_path / "tile.jsonl")
    assert codes(run) <= {"oversubscribed"}


def test_hints_that_the_library_does_not_take_are_said(
    mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    """One host has one aggregator by default, so cb_nodes=3 is cut to 1 without a word."""
    options = ("--file", str(tmp_path / "data"), "--hints", "cb_nodes=3", *SMALL)
    run = mpich.run("tile-io", *options, ranks=4, out=tmp_path / "tile.jsonl")
    texts = [w["text"] for w in run.warnings if w["code"] == "hint-not-taken"]
    golden(texts)


def test_hints_come_from_the_environment_too(
    mpich_shim: Shim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ROMIO reads a file of hints by itself: no option and no code is needed."""
    file = tmp_path / "hints"
    file.write_text("cb_config_list f1,f0,*:1\n")
    monkeypatch.setenv("ROMIO_HINTS", str(file))
    options = ("--file", str(tmp_path / "data"), "--tiles", "2x2", *SMALL)
    run = mpich_shim.run("tile-io", *options, ranks=4, out=tmp_path / "t.jsonl", nodes="2,2")
    assert run.tables["aggregator"]["rank"].tolist() == [2, 0]


def test_an_mpi_that_does_not_tell_its_aggregators_is_said_to(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    where = ("--file", str(tmp_path / "data"), "--tiles", "2x2")
    run = every_mpi.run("tile-io", *where, *SMALL, ranks=4, out=tmp_path / "tile.jsonl")
    silent = "openmpi" in every_mpi.name
    assert ("aggregators-unknown" in codes(run)) == silent
    assert ("aggregator" in run.tables) == (not silent)
    assert len(run.tables["file-io"]) >= 2, "who accessed the file is known from the system"


@pytest.mark.few(2)
@pytest.mark.smoke
def test_who_writes_in_ompio_is_seen(every_shim: Shim, tmp_path: Path) -> None:
    """OMPIO takes the first rank of each row of a Cartesian communicator, whatever the hosts."""
    options = ("--file", str(tmp_path / "data"), "--tile", "64x64", "--repeats", "1")
    start = {"ranks": 6, "nodes": "5,1"}
    run = every_shim.run("tile-io", "--tiles", "3x2", *options, out=tmp_path / "a.jsonl", **start)
    table = run.tables["file-io"]
    writers = table["rank"][table["op"] == "write"].tolist()
    ompio = "openmpi" in every_shim.mpi.name
    assert writers == ([0, 3] if ompio else [0, 5])
    assert "not-collective" not in codes(run)

    run = every_shim.run("tile-io", "--tiles", "1x6", *options, out=tmp_path / "b.jsonl", **start)
    said = [w["text"] for w in run.warnings if w["code"] == "not-collective"]
    assert said, "rows of the file, one per rank"
    assert any("independently" in text for text in said) == ompio


def test_the_exchange_alone_needs_no_file(every_shim: Shim, tmp_path: Path) -> None:
    """One aggregator a node, its first rank; the counts are those on paper: two rows of tiles."""
    run = every_shim.run(
        "tile-io",
        "--phase",
        "exchange",
        "--tiles",
        "3x2",
        *SMALL,
        ranks=6,
        out=tmp_path / "tile.jsonl",
        nodes="3,2,1",
    )
    assert run.complete
    assert run.tables["aggregator"]["rank"].tolist() == [0, 3, 5]
    # Domains are thirds of the file: the rows of tiles end in the middle of the second.
    row, third = 40 * 20 * 7, 40 * 10 * 7
    upper = {(r, 0): (1, row) for r in range(3)} | {(r, 3): (1, third) for r in range(3)}
    lower = {(r, 3): (1, third) for r in range(3, 6)} | {(r, 5): (1, row) for r in range(3, 6)}
    assert messages(run) == upper | lower
    table = run.tables["node"]
    counts = zip(*(table[key].tolist() for key in ("intra", "in", "out")), strict=True)
    assert list(counts) == [(3, 0, 3), (2, 4, 2), (1, 2, 1)]
    samples = run.tables["sample"]
    assert samples["op"].tolist() == ["write", "read"] * 2
    assert set(samples["rounds"]) == {1}


def test_aggregators_can_be_given_in_any_order(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--phase", "exchange", "--aggregators", "3,1", "--cb-buffer", "8KiB", *SMALL)
    run = mpich.run("tile-io", *options, ranks=4, out=tmp_path / "tile.jsonl")
    assert run.tables["aggregator"]["rank"].tolist() == [3, 1]
    assert messages(run)[0, 3] == (3, 8400), "half the file, 16800 bytes, in windows of 8192"
    assert set(run.tables["sample"]["rounds"]) == {3}


def test_a_file_that_exists_is_not_touched(mpich: Mpi, tmp_path: Path, golden: Golden) -> None:
    data = tmp_path / "data"
    data.write_text("precious")
    options = ("--file", str(data), *SMALL)
    with golden.refusal():
        mpich.run("tile-io", *options, ranks=4, out=tmp_path / "a.jsonl")
    assert data.read_text() == "precious"
    run = mpich.run("tile-io", *options, "--replace", ranks=4, out=tmp_path / "b.jsonl")
    assert run.complete


def test_what_is_replaced_may_be_larger(mpich: Mpi, tmp_path: Path) -> None:
    """Its end is not taken for what was written."""
    data = tmp_path / "data"
    data.write_bytes(bytes(10**6))
    options = ("--file", str(data), "--replace", "--keep", "--repeats", "1", *SMALL)
    assert mpich.run("tile-io", *options, ranks=4, out=tmp_path / "run.jsonl").complete
    assert data.stat().st_size < 10**6


@pytest.mark.parametrize(
    ("file", "complaint"),
    [("nowhere/data", "No such file or directory"), (".", "not a regular file")],
)
def test_a_file_that_cannot_be_made_is_one_line(
    mpich: Mpi, tmp_path: Path, file: str, complaint: str, golden: Golden
) -> None:
    options = ("--file", str(tmp_path / file), *SMALL)
    with golden.refusal():
        mpich.run("tile-io", *options, ranks=4, out=tmp_path / "tile.jsonl")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "--file FILE is missing"),
        (("--file", "f", "--tiles", "3x2"), "3x2 gives 6 tiles for 4 ranks"),
        (("--file", "f", "--tiles", "4"), "not two numbers from 1"),
        (("--file", "f", "--tile", "0x8"), "not two numbers from 1"),
        (("--file", "f", "--tile", "65536x65536"), "a tile must be below 2 GiB"),
        (("--file", "f", "--tile", "8x8", "--overlap", "8x0"), "smaller than --tile"),
        (("--file", "f", "--hints", "cb_nodes"), "not KEY=VALUE"),
        (("--file", "f", "--hints", f"cb_config_list={'n' * 5000}"), "is too long"),
        (("--file", "f", "--aggregators", "0"), "needs --phase exchange"),
        (("--phase", "exchange", "--aggregators", "0,4"), "not a list of ranks below 4"),
        (("--phase", "exchange", "--aggregators", "1,1"), "each once"),
        (("--phase", "exchange", "--cb-buffer", "0"), "from 1 byte"),
        (("--file", "f", "--cb-buffer", "1", "--element", "64"), "the file is too large"),
        (("--file", "f", "--repeats", "0"), "at least 1"),
    ],
)
def test_wrong_options_are_one_line(mpich: Mpi, options: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        mpich.probe.check("tile-io", list(options), 4)
