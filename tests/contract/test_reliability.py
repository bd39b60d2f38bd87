"""Each promise of docs/reliability.md is held by tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reliability.md"

_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def rows() -> list[tuple[str, ...]]:
    """Return the cells of all tables but their headings."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    cells = [tuple(part.strip() for part in line.strip("|").split(" | ")) for line in lines]
    return [row for row in cells if not row[0].startswith(("what may happen", "---"))]


NAMED = sorted({found.groups("") for found in _TEST.finditer(PAGE.read_text())})


@cache
def functions(file: Path) -> set[str]:
    """List the tests of a file."""
    tree = ast.parse(file.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_promise_names_its_test() -> None:
    assert len(rows()) >= 38
    for row in rows():
        assert len(row) == 3, row
        assert _TEST.search(row[2]), row


def test_each_test_that_is_named_exists(subtests: pytest.Subtests) -> None:
    for file, function in NAMED:
        with subtests.test(str((file, function))):
            assert (ROOT / file).is_file()
            if function:
                assert function.startswith("test_")
                assert function in functions(ROOT / file)
