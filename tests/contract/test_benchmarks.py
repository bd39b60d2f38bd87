"""Benchmarks are not run by these tests: what they take from the package has to exist."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"


def taken(tree: ast.Module) -> dict[str, object]:
    """Return what a file imports from the package, by the name it has there."""
    found: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isochrone"):
            module = import_module(node.module or "")
            for one in node.names:
                if not hasattr(module, one.name):
                    import_module(f"{node.module}.{one.name}")  # fails if there is none
                found[one.asname or one.name] = getattr(module, one.name)
    return found


@pytest.mark.parametrize("path", sorted(BENCH.rglob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_takes_from_the_package_exists(path: Path) -> None:
    tree = ast.parse(path.read_text())
    modules = {k: one for k, one in taken(tree).items() if isinstance(one, ModuleType)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        if module := modules.get(node.value.id):
            assert hasattr(module, node.attr), f"{node.value.id}.{node.attr}"
