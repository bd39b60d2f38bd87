"""Sizes and places in files beyond what an int counts: they work, or are refused in one line.

Under the sanitizer of undefined behaviour, which sees numbers that wrap.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from beds.mpis import Mpi
from beds.recorded import built
from beds.sanitized import Sanitized, build
from isochrone.collective_io.results import io_recording
from isochrone.measure import probe
from isochrone.runfile.file import read

GIB = 1 << 30
NEEDED = 12 * GIB
"""Memory that has to be free: four buffers, and what the library copies them through."""

ONCE = ("--repeats", "1", "--warmup", "0", "--retest", "0")


def free_memory() -> int:
    """Return the bytes that programs can have now."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    (found,) = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found) << 10


@pytest.fixture(scope="module")
def checked(mpich: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    """Without the sanitizer of addresses, which takes more memory than there is."""
    folder = tmp_path_factory.mktemp("checked")
    return build(mpich, folder, "all", sanitizers="undefined")


@pytest.mark.full
@pytest.mark.parametrize(
    "words",
    [
        ("point-to-point", "--bytes", str(2 * GIB + 3)),
        ("collective", "--op", "bcast", "--bytes", str(2 * GIB + 1)),
    ],
    ids=lambda words: words[0],
)
def test_a_message_may_be_larger_than_an_int_counts(
    checked: Sanitized, words: tuple[str, ...], tmp_path: Path
) -> None:
    if free_memory() < NEEDED:
        pytest.skip(f"{free_memory() / GIB:.1f} GiB of memory are free, {NEEDED / GIB:.0f} needed")
    out = tmp_path / "run.jsonl"
    ended = checked.run([str(checked.probe), *words, *ONCE, "--out", str(out)], 2, tmp_path)
    assert not ended.faults
    assert ended.returncode == 0, ended.stderr
    run = read(out)
    assert run.complete
    assert run.tables["sample"]["bytes"].tolist() == [int(words[-1])]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "words",
    [
        "hotspot --bytes 2147483651",
        "latency-map --bytes 2GiB",
        "synthetic --bytes 99999999999999",
        "collective --op allgather --grid rows-of-1 --bytes 1500000000",
        "collective --op alltoall --bytes 99999999999999999999",
        "tile-io --tile 46341x46341 --element 1 --file data",
        "tile-io --tile 1x1 --element 3000000000 --file data",
        "tile-io --tiles 2x1 --tile 2000000000x1 --element 1 --file data",
        "point-to-point --bytes 8 --layout vector --stride 2000000000",
        "compute --bytes 99999999999999999999",
        "point-to-point --repeats 99999999999",
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_line(checked: Sanitized, words: str) -> None:
    """Before memory is taken for it."""
    argv = [str(checked.probe), *words.split(), "--check", "2"]
    answer = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode == 2, words
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.skipif(
    os.environ.get("ISOCHRONE_SANITIZE") != "all", reason="takes minutes: make sanitize"
)
def test_places_in_a_tiled_file_beyond_4_gib(checked: Sanitized, tmp_path: Path) -> None:
    """Three tiles of 1.5 GiB; their exchange, without a file."""
    if free_memory() < NEEDED:
        pytest.skip(f"{free_memory() / GIB:.1f} GiB of memory are free, {NEEDED / GIB:.0f} needed")
    words = (
        "--tiles",
        "1x3",
        "--tile",
        "1536x1024",
        "--element",
        "1024",
        "--phase",
        "exchange",
        "--repeats",
        "1",
    )
    out = tmp_path / "run.jsonl"
    argv = [str(checked.probe), "tile-io", *words, "--out", str(out)]
    ended = checked.run(argv, 3, tmp_path)
    assert not ended.faults
    assert ended.returncode == 0, ended.stderr
    assert sum(read(out).tables["message"]["bytes"].tolist()) == 3 * 1536 * 1024 * 1024


def test_pieces_beyond_4_gib_are_recorded(checked: Sanitized, tmp_path: Path) -> None:
    """In a file with holes, which takes no room."""
    places = {0: (3, 2 * GIB - 1, 4 * GIB + 7), 1: (2 * GIB + 5, 6 * GIB + 1)}
    lines = [f"{rank} {at} 5 1 5" for rank, all_ in places.items() for at in all_]
    (tmp_path / "table").write_text("\n".join(lines) + "\n")
    program = str(built(checked.mpi, tmp_path, "table_io"))
    out = tmp_path / "run.jsonl"
    ended = checked.run(
        [program, str(tmp_path / "data"), str(tmp_path / "table")],
        2,
        tmp_path,
        LD_PRELOAD=str(probe.build_library(checked.mpi.probe.mpicc, "io")),
        ISOCHRONE_IO_RECORD=str(out),
    )
    assert not ended.faults
    assert ended.returncode == 0, ended.stderr
    patterns = io_recording.patterns(read(out))
    assert [one.op for one in patterns] == ["write", "read"]
    for one in patterns:
        columns = (one.pieces[name] for name in ("rank", "offset", "count", "stride"))
        runs = zip(*columns, strict=True)
        found = {(int(r), int(at + k * step)) for r, at, n, step in runs for k in range(n)}
        assert found == {(rank, at) for rank, all_ in places.items() for at in all_}
