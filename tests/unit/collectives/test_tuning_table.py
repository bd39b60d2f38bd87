"""The tuning table: what is written is read back, and what cannot be applied is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from isochrone.base.errors import InputError
from isochrone.collectives import tuning_table
from isochrone.collectives.tuning_table import Rule, Table
from made_up.tuning_tables import BAD, GOOD


def refused(content: object, folder: Path) -> str:
    path = folder / "table.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError) as caught:
        tuning_table.read(path)
    line = str(caught.value)
    assert line.startswith(str(path))
    assert "\n" not in line
    return line


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    rules = [
        Rule("bcast", 6, (0, 64), "rows-of-4", [(8, 2e-6, 1e-6)], nodes=3),
        Rule("bcast", 6, (65, 2**40), "nodes", [(128, 2e-6, 1e-6), (256, 4e-6, 1e-6)]),
    ]
    source = [{"path": "größe.jsonl", "sha256": "ab"}]
    table = Table("Open MPI v5.0.11", rules, 0.05, source, "measured")
    tuning_table.write(tmp_path / "t.json", table)
    assert tuning_table.read(tmp_path / "t.json") == table


def test_a_table_without_rules_is_one(tmp_path: Path) -> None:
    """Where nothing pays, the library does everything."""
    tuning_table.write(tmp_path / "t.json", Table("MPICH 5.0.2", []))
    assert tuning_table.read(tmp_path / "t.json").rules == []


def test_what_cannot_be_applied_is_refused_in_a_line(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for content, said in BAD:
        with subtests.test(str((content, said))):
            assert said in refused(content, tmp_path)


@pytest.mark.parametrize("content", GOOD)
def test_what_can_be_applied_is_read(content: dict[str, Any], tmp_path: Path) -> None:
    """Rules for other numbers of nodes do not overlap; unknown members are ignored."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps(content))
    assert len(tuning_table.read(path).rules) == len(content["rules"])


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("MPICH Version: 5.0.2 MPICH Release date: Tue Jun 3", "MPICH 5.0.2"),
        ("MPICH Version:      4.0.2\nMPICH Release date", "MPICH 4.0.2"),
        ("Open MPI v5.0.11, package: Open MPI x@y", "Open MPI v5.0.11"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "Intel(R) MPI Library 2021.18"),
        ("MVAPICH Version : 4.1", "MVAPICH 4.1"),
    ],
)
def test_name_and_version_are_found_in_what_a_library_says(library: str, name: str) -> None:
    assert tuning_table.mpi_name(library) == name
    assert tuning_table.mpi_name(name) == name
