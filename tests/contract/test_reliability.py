"""Each promise of the page has tests in promises.toml, and these tests exist."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reliability.md"

TESTS: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("promises.toml").read_text("utf-8")
)
"""By the heading of a section, and by the first cell of a row."""


def rows() -> list[tuple[str, str]]:
    """Return section and first cell of the rows of all tables, without their headings."""
    found = []
    for part in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        section, *lines = part.splitlines()
        table = [line for line in lines if line.startswith("|")]
        found += [(section, line.strip("|").split(" | ")[0].strip()) for line in table[2:]]
    return found


@cache
def functions(file: Path) -> set[str]:
    """List the tests of a file."""
    tree = ast.parse(file.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_promise_has_tests() -> None:
    """None is on the page only, or in the file only; none is there twice."""
    known = [(section, promise) for section, table in TESTS.items() for promise in table]
    assert len(known) >= 38
    assert rows() == known


def test_each_test_that_is_named_exists(subtests: pytest.Subtests) -> None:
    for section, table in TESTS.items():
        for promise, tests in table.items():
            with subtests.test(f"{section}: {promise}"):
                assert tests
                for file, function in (test.split("::") for test in tests):
                    assert function.startswith("test_")
                    assert function in functions(ROOT / file)
