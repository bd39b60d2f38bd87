"""Wording is compared in golden files and nowhere else: new wording is one difference of files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from beds import golden

COMPARING = {"startswith", "endswith", "count", "search", "match", "fullmatch", "any", "all"}

_SENTENCE = re.compile(r"[A-Za-z']{2,}(?: [A-Za-z']+){2,}")


def asserted(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that a file of tests asserts, or matches an error with."""
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Assert):
            parts = [node.test]
        elif isinstance(node, ast.Call):
            parts = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
        for part in parts:
            yield from texts(part)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", "") or getattr(function, "id", "")


def texts(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that something is compared with; what a function is given is input."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    given = isinstance(node, ast.Call) and _name(node.func) not in COMPARING
    for child in [node.func] if given else ast.iter_child_nodes(node):
        yield from texts(child)


def test_no_test_asserts_a_sentence() -> None:
    """Three words in a row are a sentence; words of a command line or of a file are split."""
    found = [
        f"{file.relative_to(golden.TESTS)}:{text.lineno}: {text.value!r}"
        for file in sorted(golden.TESTS.rglob("test_*.py"))
        for text in asserted(ast.parse(file.read_text()))
        if _SENTENCE.search(text.value)
    ]
    assert not found, "\n".join(found)


def test_every_golden_text_has_its_test() -> None:
    files = sorted(golden.TEXTS.rglob("*.txt"))
    assert [f"{file}: {name}" for file in files for name in golden.stale(file)] == []
