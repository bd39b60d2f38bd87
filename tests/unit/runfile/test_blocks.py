"""Format 2: pairs in blocks take little room, and none is lost or altered unnoticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.runfile.blocks import COMPACT_RANKS, TIMES
from isochrone.runfile.file import insert, read, write
from isochrone.runfile.run import Rank, Run

NODES = COMPACT_RANKS // 8


def large_map(sizes: tuple[int, ...] = (64,)) -> Run:
    i, j = np.triu_indices(COMPACT_RANKS, 1)
    i, j = np.tile(i, len(sizes)), np.tile(j, len(sizes))
    median = np.random.default_rng(1).uniform(1e-6, 1e-2, len(i))
    columns = dict(
        zip(TIMES, np.multiply.outer([1, 0.1, 0.5, 1, 2, 3, 0.9, 1.1], median), strict=True)
    )
    nbytes = np.repeat(sizes, len(i) // len(sizes))
    table = Table({"i": i, "j": j, "bytes": nbytes, "n": 10 + i % 2, **columns})
    ranks = [Rank(k, f"n{k % NODES}", k % NODES) for k in range(COMPACT_RANKS)]
    header = {
        "experiment": "latency-map",
        "kind": "latency-map",
        "ranks": COMPACT_RANKS,
        "options": {"bytes": list(sizes)},
    }
    return Run(header=header, ranks=ranks, tables={"pair": table}, end={"complete": True})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(large_map(), tmp_path / "map.jsonl")
    return tmp_path / "map.jsonl"


@pytest.mark.parametrize("sizes", [(64,), (8, 1 << 20)])
def test_what_is_written_is_read(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    run = large_map(sizes)
    write(run, tmp_path / "map.jsonl")
    again = read(tmp_path / "map.jsonl")
    assert again.complete
    for key in ("i", "j", "bytes", "n"):
        np.testing.assert_array_equal(again.pairs()[key], run.pairs()[key])
    for key in TIMES:
        np.testing.assert_allclose(again.pairs()[key], run.pairs()[key], rtol=1e-7)
    assert not again.pairs().flag("retest", "shared_cpu").any()


def test_a_pair_takes_at_most_60_bytes(path: Path) -> None:
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b'"pairs"' in line]
    assert sum(map(len, lines)) <= 60 * len(large_map().pairs())


def damaged(path: Path, change: str) -> None:
    """Damage the file of a map."""
    lines = path.read_text().splitlines(keepends=True)
    blocks = [k for k, line in enumerate(lines) if line.startswith('{"record":"pairs"')]
    middle = blocks[len(blocks) // 2]
    if change == "lost":
        del lines[middle]
    elif change == "last lost":
        del lines[blocks[-1]]
    elif change == "all lost":
        del lines[blocks[0] : blocks[-1] + 1]
    elif change == "twice":
        lines.insert(middle, lines[middle])
    elif change == "exchanged":
        lines[middle], lines[middle + 1] = lines[middle + 1], lines[middle]
    elif change == "no total":
        del lines[blocks[-1] + 1]
    else:
        at = lines[middle].index(change) + len(change) + 5
        old = lines[middle][at]
        lines[middle] = lines[middle][:at] + ("B" if old != "B" else "C") + lines[middle][at + 1 :]
    path.write_text("".join(lines))


@pytest.mark.parametrize(
    "change",
    ["lost", "last lost", "all lost", "twice", "exchanged", "no total", '"median":"', '"i":"'],
)
def test_missing_and_altered_records_are_refused(path: Path, change: str) -> None:
    damaged(path, change)
    with pytest.raises(InputError):
        read(path)


def test_a_file_that_was_cut_is_a_partial_run(path: Path) -> None:
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])
    run = read(path)
    assert not run.complete
    assert 0 < len(run.pairs()) < len(large_map().pairs())
    assert len(run.pairs()) % 512 == 0


def test_what_is_measured_again_is_added(path: Path) -> None:
    again = {
        "record": "pair",
        "i": 0,
        "j": 9,
        "bytes": 64,
        "n": 5,
        "retest": True,
        **dict.fromkeys(TIMES, 5e-6),
    }
    insert(path, [again], seconds=1.0)
    run = read(path)
    assert run.matrix()[0, 9] == pytest.approx(5e-6)
    assert run.pairs()["retest"].dtype == bool
    assert run.matrix(retested=False)[0, 9] != pytest.approx(5e-6)


def test_small_maps_stay_as_they_were(tmp_path: Path) -> None:
    run = large_map()
    keep = run.pairs()["j"] < 16
    small = Run(
        header={**run.header, "ranks": 16},
        ranks=run.ranks[:16],
        tables={"pair": run.pairs().where(keep)},
        end=run.end,
    )
    write(small, tmp_path / "small.jsonl")
    text = (tmp_path / "small.jsonl").read_text()
    assert '"format":1' in text
    assert text.count('"record":"pair"') == 120
