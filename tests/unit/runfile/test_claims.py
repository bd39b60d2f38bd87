"""What a file claims costs no more than what it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.runfile.file import read


def written(path: Path, ranks: int, described: int, pairs: int) -> Path:
    """Write a map of so many ranks, of which some are described, with some pairs."""
    records: list[dict[str, Any]] = [
        {"record": "run", "format": 1, "experiment": "latency-map", "ranks": ranks},
        *({"record": "rank", "rank": r, "host": "a", "node": 0} for r in range(described)),
        *({"record": "pair", "i": 0, "j": j + 1, "bytes": 8, "median": 1e-6} for j in range(pairs)),
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_more_ranks_than_are_described_are_refused(tmp_path: Path) -> None:
    """A header of 4 million ranks is cheap to write, and must not be expensive to read."""
    with pytest.raises(InputError, match="4000000 ranks"):
        read(written(tmp_path / "map.jsonl", 4_000_000, 3, 2))


def test_a_file_of_another_program_may_know_no_hosts(tmp_path: Path) -> None:
    """Logs of other programs often say nothing of hosts."""
    assert read(written(tmp_path / "map.jsonl", 3, 0, 2)).matrix().shape == (3, 3)


def test_a_large_map_of_few_pairs_is_no_matrix(tmp_path: Path, golden: Golden) -> None:
    """Six pairs of 8,192 ranks would fill matrices of 512 MiB each with nothing."""
    run = read(written(tmp_path / "map.jsonl", 8192, 8192, 6))
    with golden.refusal():
        run.matrix()
