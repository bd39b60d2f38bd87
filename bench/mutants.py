#!/usr/bin/env python3
"""Which share of random faults in src/isochrone the tests find.

    make coverage                               # which tests execute what, and how long they take
    python bench/mutants.py --seed 1 --count 150 --out build/mutants-1.jsonl
    python bench/mutants.py --compare before.jsonl after.jsonl

A mutant is the package with one fault: a swapped comparison, a number that is off by one, a
changed constant, a deleted statement. It is sampled from all places where there can be one, each
with the same chance. Against it run the tests that execute its function (its file, if it is outside
of functions), in their process or in one they start, the quickest first, up to ``--limit`` seconds
of tests. It is killed if one fails or hangs.

``--compare`` gives the difference of two shares on the same mutants with its 95 % interval
(McNemar; Agresti & Min, Statistics in Medicine 24, 2005, 729-740).
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import contextlib
import json
import math
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[1]
SWAPPED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}


@dataclass(frozen=True)
class Mutant:
    """One fault: the characters of a file from one offset to another, and what replaces them."""

    file: str
    line: int
    start: int
    end: int
    text: str
    kind: str

    def apply(self, tree: Path) -> None:
        """Write the file with its fault."""
        source = (ROOT / self.file).read_text()
        (tree / self.file).write_text(source[: self.start] + self.text + source[self.end :])


class Places:
    """Where a file can have a fault."""

    def __init__(self, file: Path) -> None:
        self.file = str(file.relative_to(ROOT))
        self.source = file.read_text()
        lengths = [0, *(len(line) for line in self.source.splitlines(keepends=True))]
        self.begins = [sum(lengths[: n + 1]) for n in range(len(lengths))]
        self.lines = self.source.splitlines()
        self.found: list[Mutant] = []
        self._walk(ast.parse(self.source))

    def _offset(self, line: int, column: int) -> int:
        return self.begins[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _add(self, node: ast.AST, start: int, end: int, text: str, kind: str) -> None:
        self.found.append(Mutant(self.file, node.lineno, start, end, text, kind))

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    def _walk(self, node: ast.AST) -> None:
        """Visit what is executed: no annotations, no texts."""
        if isinstance(node, ast.Compare):
            self._compare(node)
        elif isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise):
            self._statement(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._walk(child)

    def _compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip(
            [node.left, *node.comparators], node.ops, node.comparators, strict=False
        ):
            start, end = self._span(left)[1], self._span(right)[0]
            old, new = SWAPPED[type(operator)]
            between = re.sub(r"\s+", " ", self.source[start:end])
            if between.count(old) == 1:
                self._add(right, start, end, between.replace(old, new), "comparison")

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add(node, *self._span(node), str(not value), "constant")
        elif isinstance(value, int):
            self._add(node, *self._span(node), str(value + 1), "off by one")
        elif isinstance(value, float):
            self._add(node, *self._span(node), repr(2 * value or 1.0), "constant")

    def _statement(self, node: ast.stmt) -> None:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        names = [one.id for one in getattr(node, "targets", []) if isinstance(one, ast.Name)]
        if not text and "__all__" not in names:
            self._add(node, *self._span(node), "pass", "statement")


@dataclass(frozen=True)
class Tests:
    """Which tests execute a line of a file, and how long each takes."""

    executed: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path) -> Tests:
        """Read what ``make coverage`` left."""
        data = CoverageData(str(folder / "data"))
        data.read()
        executed = {
            str(Path(file).relative_to(ROOT)): data.contexts_by_lineno(file)
            for file in data.measured_files()
            if Path(file).is_relative_to(ROOT)  # and not in a copy that a test made
        }
        seconds: dict[str, float] = defaultdict(float)
        for times in folder.glob("*.xml"):
            for case in ET.parse(times).iter("testcase"):
                file = case.get("classname", "").replace(".", "/") + ".py"
                name = case.get("name", "").partition("[")[0]
                seconds[f"{file}::{name}"] += float(case.get("time", 0))
        return cls(executed, dict(seconds))

    def of(self, mutant: Mutant, limit: float) -> list[str]:
        """List the tests that execute the function of a mutant, the quickest first."""
        lines = self.executed.get(mutant.file, {})
        inside = function_around(ROOT / mutant.file, mutant.line)
        names = {
            test
            for line, tests in lines.items()
            if inside is None or line in inside
            for test in tests
            if test in self.seconds
        }
        chosen, total = [], 0.0
        for name in sorted(names, key=self.seconds.__getitem__):
            total += self.seconds[name]
            if chosen and total > limit:
                break
            chosen.append(name)
        return chosen


def function_around(file: Path, line: int) -> range | None:
    """Return the lines of the body of the innermost function that holds a line, if there is one."""
    found = None
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef) and node.lineno < line <= node.end_lineno:
            body = range(node.body[0].lineno, node.end_lineno + 1)
            if line in body and (found is None or len(body) < len(found)):
                found = body
    return found


def sampled(seed: int, count: int) -> list[Mutant]:
    """Sample mutants of the whole package."""
    files = sorted((ROOT / "src/isochrone").rglob("*.py"))
    places = [mutant for file in files for mutant in Places(file).found]
    return random.Random(seed).sample(places, count)


@contextlib.contextmanager
def copies(count: int) -> Iterator[queue.Queue[Path]]:
    """Make copies of the checkout that share its environment."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        free: queue.Queue[Path] = queue.Queue()
        for number in range(count):
            tree = Path(folder) / str(number)
            shutil.copytree(
                ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".venv", "build", ".git")
            )
            (tree / ".venv").symlink_to(ROOT / ".venv")
            free.put(tree)
        yield free


def failing(tree: Path, tests: list[str], patience: float) -> str:
    """Run tests in a copy; return the first that fails, ``hangs``, or nothing."""
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environ = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        argv,
        cwd=tree,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return "hangs"
    if process.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", said, re.M)
    return found[1] if found else "does not start"


def judge(mutant: Mutant, tests: list[str], seconds: float, free: queue.Queue[Path]) -> str:
    """Return what kills a mutant; nothing if it survives."""
    if not tests:
        return ""
    tree = free.get()
    try:
        mutant.apply(tree)
        return failing(tree, tests, 60 + 5 * seconds)
    finally:
        shutil.copy(ROOT / mutant.file, tree / mutant.file)
        free.put(tree)


def run(arguments: argparse.Namespace) -> None:
    """Judge mutants, and write one line for each."""
    known = Tests.read(arguments.coverage)
    mutants = sampled(arguments.seed, arguments.count)
    with (
        copies(arguments.jobs) as free,
        concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool,
        arguments.out.open("w") as out,
    ):
        started = {}
        for mutant in mutants:
            tests = known.of(mutant, arguments.limit)
            seconds = sum(known.seconds[test] for test in tests)
            started[pool.submit(judge, mutant, tests, seconds, free)] = mutant, len(tests)
        for done in concurrent.futures.as_completed(started):
            mutant, count = started[done]
            record = {**asdict(mutant), "tests": count, "killed_by": done.result()}
            print(json.dumps(record), file=out, flush=True)
    records = [json.loads(line) for line in arguments.out.read_text().splitlines()]
    report(records)


def report(records: list[dict[str, object]]) -> None:
    """Print the share killed, of each kind and in each folder."""

    def line(name: str, some: list[dict[str, object]]) -> None:
        killed = sum(bool(one["killed_by"]) for one in some)
        print(f"{name:24} {killed:4} of {len(some):4}  {killed / len(some):6.1%}")

    line("all", records)
    for key in ("kind", "folder"):

        def of(one: dict[str, object], key: str = key) -> str:
            return str(one["kind"] if key == "kind" else str(one["file"]).split("/")[2])

        for name in sorted(Counter(map(of, records))):
            line(name, [one for one in records if of(one) == name])


def compare(before: Path, after: Path) -> None:
    """Print the difference of two shares killed, on the mutants that both have."""
    sides = []
    for file in (before, after):
        records = [json.loads(line) for line in file.read_text().splitlines()]
        sides.append(
            {(r["file"], r["start"], r["kind"], r["text"]): bool(r["killed_by"]) for r in records}
        )
    both = sorted(sides[0].keys() & sides[1].keys())
    lost = sum(sides[0][one] and not sides[1][one] for one in both)
    gained = sum(sides[1][one] and not sides[0][one] for one in both)
    # Agresti & Min: half an observation in each of the four cells, then Wald.
    n, b, c = len(both) + 2, gained + 0.5, lost + 0.5
    middle = (b - c) / n
    half = 1.96 * math.sqrt(b + c - (b - c) ** 2 / n) / n
    first, second = (sum(side[one] for one in both) for side in sides)
    print(f"killed: {first} and {second} of {len(both)}")
    print(f"lost {lost}, gained {gained}")
    print(f"difference {middle:+.1%} [{middle - half:+.1%}, {middle + half:+.1%}]")


def main() -> None:
    """Judge mutants, or compare two judgements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="which mutants (default: 1)")
    parser.add_argument("--count", type=int, default=150, help="how many (default: 150)")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds of tests (default: 120)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time")
    parser.add_argument(
        "--coverage",
        type=Path,
        default=ROOT / "build/coverage",
        help="what `make coverage` left (default: build/coverage)",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build/mutants.jsonl")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    arguments = parser.parse_args()
    if arguments.compare:
        compare(*arguments.compare)
    else:
        run(arguments)


if __name__ == "__main__":
    main()
