"""Compiled tuning tables: the library that is loaded into programs finds in them what was meant."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from beds.mpis import MPIS, PATIENCE, ROOT
from isochrone.collectives.tuning_table import compiled
from made_up.tuning_tables import GOOD, OPERATIONS, document, rule

SOURCES = ("interposer/table.c", "grid/shape.c")

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
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Sanitizer" not in answer.stderr, answer.stderr
    return answer


def written(content: dict[str, Any], folder: Path) -> Path:
    """Compile a table."""
    path = folder / "table.json"
    path.write_text(json.dumps(content))
    return compiled(path)


@pytest.mark.parametrize("content", GOOD)
def test_what_was_compiled_is_what_is_loaded(
    program: Path, content: dict[str, Any], tmp_path: Path
) -> None:
    """By operation, ranks and block, whatever the order in the table."""
    first, *lines = ask(program, "read", written(content, tmp_path)).stdout.splitlines()
    rules = content["rules"]
    assert first == f"rules {len(rules)} for {content['mpi']} by {tmp_path / 'table.json'}"
    order = sorted(rules, key=lambda r: (OPERATIONS.index(r["op"]), r["ranks"], r["bytes"]))
    for line, meant in zip(lines, order, strict=True):
        op, ranks, nodes, low, high, grid, count, *_ = line.split()
        assert [op, int(ranks), grid] == [meant[key] for key in ("op", "ranks", "grid")]
        assert [int(low), int(high)] == meant["bytes"]
        assert int(nodes) == (meant.get("nodes") or 0)
        assert int(count) == len(meant["points"])


def test_each_rule_has_its_own_points(program: Path, tmp_path: Path) -> None:
    rules = [rule(op=op, points=[[64, 1e-3 * k, 5e-4 * k]]) for k, op in enumerate(OPERATIONS, 1)]
    lines = ask(program, "read", written(document(*rules[::-1]), tmp_path)).stdout.splitlines()[1:]
    saved = [float(line.split()[-1]) for line in lines]
    assert saved == pytest.approx([5e-4 * k for k in range(1, len(rules) + 1)])


def test_a_damaged_table_is_refused(program: Path, tmp_path: Path) -> None:
    """Cut at every byte, and a bit of every byte changed; never read beyond its end."""
    content = document(rule(other="é\n\\"), rule(op="bcast", nodes=4, points=[[1, 1e-6, 2.5e-7]]))
    path = written(content, tmp_path)
    assert ask(program, "damage", path).stdout == "0\n"
    data = path.read_bytes()
    for bad in (b"", b"{}", data[:-1], data + b"x", data.replace(b"tuning 1", b"tuning 2")):
        (tmp_path / "bad").write_bytes(bad)
        answer = ask(program, "read", tmp_path / "bad")
        assert answer.returncode == 1
        assert len(answer.stdout.splitlines()) == 1


def test_savings_are_drawn_between_the_points_in_logarithms(program: Path, tmp_path: Path) -> None:
    """On a straight line through two points, and beyond the last one along the same line."""
    points = [[99, 1e-3, 1e-4], [9999, 1e-1, 1e-3]]
    content = document(rule(bytes=[999, 999999], points=points))
    last = ask(program, "read", written(content, tmp_path)).stdout.splitlines()[-1].split()
    between = 1e-2 - 10**-3.5  # half way, in logarithms of bytes + 1
    assert math.isclose(float(last[-2]), between, rel_tol=1e-6)
    assert math.isclose(float(last[-1]), 10 - 1e-2, rel_tol=1e-6)


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
