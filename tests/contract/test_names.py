"""Names in the code say what a value is, not its role in a sentence, and each one thing."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict

from beds.mpis import ROOT

WORDS = """
found own one some known given said asked held alone whole least most more rest what who other each
here there both few many far near usual shown told taken made kept thing it part parts place places
word words number now then before after instead
"""
VAGUE = frozenset(WORDS.split())
LIMIT = 0.03
"""Share of bound names. In asv, pyperf, Extra-P and lmfit it is 0.005 to 0.012."""


def test_few_names_are_vague() -> None:
    """Of parameters and variables. Some are right: the words of a text, before and after."""
    names: Counter[str] = Counter()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] += 1
            elif isinstance(node, ast.arg):
                names[node.arg] += 1
    vague = {name: count for name, count in names.most_common() if name in VAGUE}
    assert sum(vague.values()) < LIMIT * names.total(), vague


def test_no_number_has_the_name_of_another() -> None:
    """Constants of modules: who reads a name need not look up which of several values it has."""
    values: dict[str, set[float]] = defaultdict(set)
    for path in (ROOT / "src").rglob("*.py"):
        for statement in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(statement, ast.Assign | ast.AnnAssign):
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            value = statement.value
            if isinstance(value, ast.UnaryOp):
                value = value.operand
            number = isinstance(value, ast.Constant) and type(value.value) in (int, float)
            if number and isinstance(target, ast.Name) and target.id.isupper():
                values[target.id.strip("_")].add(value.value)
    assert not {name: found for name, found in values.items() if len(found) > 1}


def test_the_formatter_lays_code_out() -> None:
    """Only tables that say more in their own layout leave it: programs as nested lists."""
    mark = "# fmt: " + "skip"
    folders = ("src", "tests", "bench")
    code = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    marks = {path: path.read_text("utf-8").count(mark) for path in code}
    assert sum(marks.values()) <= 20, {path: count for path, count in marks.items() if count}
