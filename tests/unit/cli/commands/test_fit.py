"""`isochrone fit`: of many files it takes what it can use, and says what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Command
from isochrone.runfile import file as runs
from made_up.latency_maps import mmpi_example
from made_up.sweeps import collective, point_to_point


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs.write(mmpi_example(), tmp_path / "a-map.jsonl")
    runs.write(point_to_point(), tmp_path / "b-pair.jsonl")
    runs.write(collective(("bcast",), 4), tmp_path / "c-bcast.jsonl")
    return tmp_path


def test_a_map_among_sweeps_is_left_out_with_a_note(isochrone: Command, folder: Path) -> None:
    """As in `fit *.jsonl` in a folder where everything was measured."""
    answer = isochrone("fit", "a-map.jsonl", "b-pair.jsonl", "--model", "hockney", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert "hockney model" in answer.stdout
    assert answer.stderr.startswith("isochrone: left out: a-map.jsonl: a run of '")
    assert answer.stderr.endswith("' holds no samples to fit\n")


def test_what_has_not_the_operation_asked_for_is_left_out(isochrone: Command, folder: Path) -> None:
    answer = isochrone("fit", *sorted(folder.glob("*.jsonl")), "--op", "bcast", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("left out") == 2


def test_a_file_that_cannot_be_read_is_not_left_out(isochrone: Command, folder: Path) -> None:
    """It was named, and may be the one that matters."""
    (folder / "damaged.jsonl").write_text("{")
    answer = isochrone("fit", "b-pair.jsonl", "damaged.jsonl", "--model", "hockney", cwd=folder)
    assert answer.returncode == 2
    assert "damaged.jsonl:1" in answer.stderr


def test_one_file_alone_says_what_fit_takes(isochrone: Command, folder: Path) -> None:
    answer = isochrone("fit", "a-map.jsonl", cwd=folder)
    assert answer.returncode == 2
    assert "fit takes sweeps" in answer.stderr
    assert answer.stderr.count("\n") == 1
