"""The reader of tuning tables in C: it takes and refuses what the one in Python does."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest

from beds.mpis import MPIS, PATIENCE, ROOT
from made_up.tuning_tables import BAD, GOOD, document, rule

SOURCES = ("interposer/table.c", "interposer/table_use.c", "interposer/json.c", "grid/shape.c")

Answer = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader in a program of its own, which ends at the first wrong access to memory."""
    path = tmp_path_factory.mktemp("reader") / "tuning_table"
    source = ROOT / "probe"
    argv = ["-std=c11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    argv += ["-I", source, ROOT / "tests/probe/tuning_table.c", *(source / s for s in SOURCES)]
    subprocess.run([MPIS["mpich-wheel"], *argv, "-o", path, "-lm"], check=True, timeout=PATIENCE)
    return path


def ask(program: Path, *words: object) -> Answer:
    answer = subprocess.run(
        [program, *map(str, words)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "Sanitizer" not in answer.stderr, answer.stderr
    return answer


def written(content: object, folder: Path) -> Path:
    path = folder / "table.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("content", [content for content, _ in BAD])
def test_what_cannot_be_applied_is_refused_in_a_line(
    program: Path, content: object, tmp_path: Path
) -> None:
    answer = ask(program, "read", written(content, tmp_path))
    assert answer.returncode == 1
    (line,) = answer.stdout.splitlines()
    assert len(line) < 200


@pytest.mark.parametrize("content", GOOD)
def test_what_can_be_applied_is_read(
    program: Path, content: dict[str, list[object]], tmp_path: Path
) -> None:
    answer = ask(program, "read", written(content, tmp_path))
    assert answer.stdout.splitlines()[0] == f"rules {len(content['rules'])}"


def test_a_damaged_table_is_never_read_beyond_its_end(program: Path, tmp_path: Path) -> None:
    """Cut at every byte, and every bit of it changed."""
    content = document(rule(other="é\n\\"), rule(op="bcast", nodes=4, points=[[1, 1e-6, 2.5e-7]]))
    assert ask(program, "damage", written(content, tmp_path)).returncode == 0


def test_savings_are_drawn_between_the_points_in_logarithms(program: Path, tmp_path: Path) -> None:
    """On a straight line through two points, and beyond the last one along the same line."""
    points = [[99, 1e-3, 1e-4], [9999, 1e-1, 1e-3]]
    content = document(rule(bytes=[999, 999999], points=points))
    last = ask(program, "read", written(content, tmp_path)).stdout.splitlines()[-1].split()
    between = 1e-2 - 10**-3.5  # half way, in logarithms of bytes + 1
    assert math.isclose(float(last[1]), between, rel_tol=1e-6)
    assert math.isclose(float(last[2]), 10 - 1e-2, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("MPICH Version: 5.0.2 MPICH Release date: Tue Jun 3", "MPICH 5.0.2"),
        ("MPICH Version:      4.0.2\nMPICH Release date", "MPICH 4.0.2"),
        ("Open MPI v5.0.11, package: Open MPI x@y", "Open MPI v5.0.11"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "Intel(R) MPI Library 2021.18"),
        ("MVAPICH Version : 4.1", "MVAPICH 4.1"),
        ("", ""),
    ],
)
def test_name_and_version_are_found_in_what_a_library_says(
    program: Path, library: str, name: str
) -> None:
    assert ask(program, "name", library).stdout == f"{name}\n"
    assert len(ask(program, "name", "x" * 500).stdout) == 64
