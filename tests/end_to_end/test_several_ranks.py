"""`measure -n 2,4,8` measures each number of ranks, into files that are told apart."""

from __future__ import annotations

from pathlib import Path

from beds.command_line import Command
from beds.golden import Golden
from beds.mpis import Mpi
from isochrone.runfile.file import read


def test_each_number_of_ranks_has_its_file(isochrone: Command, mpich: Mpi, tmp_path: Path) -> None:
    answer = isochrone("measure", "synthetic", "-n", "3,2", "-o", "run.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run-n2.jsonl", "run-n3.jsonl"]
    assert [read(tmp_path / f"run-n{n}.jsonl").size for n in (2, 3)] == [2, 3]
    files = answer.stdout.partition("\nFiles:\n")[2]
    assert files == "  2 ranks: run-n2.jsonl\n  3 ranks: run-n3.jsonl\n"


def test_launches_of_each_are_those_that_compare_finds(
    isochrone: Command, mpich: Mpi, tmp_path: Path
) -> None:
    """`run-n2.jsonl` stands for its launches, as `run.jsonl` does of one number of ranks."""
    words = ("measure", "synthetic", "-n", "2,3", "--launches", "2", "-o", "run.jsonl", "--quiet")
    assert isochrone(*words, cwd=tmp_path).returncode == 0
    names = {f"run-n{n}-{k}.jsonl" for n in (2, 3) for k in (1, 2)}
    assert {file.name for file in tmp_path.iterdir()} == names
    pooled = isochrone("show", "--pool", "run-n2.jsonl", cwd=tmp_path)
    assert pooled.returncode == 0, pooled.stderr
    assert "2 launches" in pooled.stdout


def test_nothing_is_measured_if_one_file_exists(
    isochrone: Command, mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    (tmp_path / "run-n3.jsonl").write_text("mine")
    answer = isochrone("measure", "synthetic", "-n", "2,3", "-o", "run.jsonl", cwd=tmp_path)
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    assert [file.name for file in tmp_path.iterdir()] == ["run-n3.jsonl"]


def test_a_comparison_takes_one_number_of_ranks(
    isochrone: Command, mpich: Mpi, tmp_path: Path, golden: Golden
) -> None:
    words = ("compare", "--measure", "synthetic -n 2,3", "synthetic -n 2", "--launches", "2")
    answer = isochrone(*words, cwd=tmp_path)
    assert answer.returncode == 2
    golden.measured(answer.stderr)


def test_wrong_numbers_are_refused(isochrone: Command, tmp_path: Path) -> None:
    for text in ("2,x", "0", "2,-4", ""):
        answer = isochrone("measure", "synthetic", "-n", text, cwd=tmp_path)
        assert answer.returncode == 2
        assert answer.stderr.count("\n") == 1
