#!/usr/bin/env python3
"""Which numbers of a module no test holds: each is changed by a factor, up and down.

    python bench/thresholds.py
    python bench/thresholds.py isochrone.latency_map.cores --tests tests/unit/latency_map

A number is a constant at the top of a module: `NAME = 0.18`. It is multiplied and divided by 1.5
(whole numbers change at least by one) in a copy of the package, which the tests use instead. The
first test that fails finds the change, and so do tests that take longer than their limit. What no
test finds is printed as a survivor: it decides nothing that is tested, or nothing at all.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

EFFORT = b"# ---- Effort"
"""What follows in a module bounds the work of a search, and is to decide nothing."""

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("isochrone.latency_map.thresholds",)
TESTS = (
    "tests/unit/latency_map",
    "tests/calibration/test_field_maps.py",
    "tests/calibration/test_processors.py",
    "tests/calibration/test_hierarchy.py",
    "tests/calibration/test_directions.py",
    "tests/calibration/test_slow_components.py",
)


@dataclass(frozen=True)
class Change:
    """One number with another value.

    Attributes
    ----------
    file
        Path below the folder of the package.
    name
        Name of the constant.
    start, end
        Where its value is in the file, in bytes.
    old, new
        Its value as it is written, and what replaces it.
    """

    file: str
    name: str
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.name} = {self.old} -> {self.new}"


def changes(source: Path, module: str, factor: float) -> Iterator[Change]:
    """Yield the changes of each number at the top of a module."""
    file = Path(*module.split(".")).with_suffix(".py")
    text, *_ = (source / file).read_bytes().split(EFFORT)
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    for node in ast.parse(text).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        number = _number(node.value)
        if number is None:
            continue
        start = begins[node.value.lineno - 1] + node.value.col_offset
        end = begins[(node.value.end_lineno or 1) - 1] + (node.value.end_col_offset or 0)
        for new in _others(number, factor):
            old = text[start:end].decode()
            yield Change(str(file), node.targets[0].id, start, end, old, repr(new))


def _number(value: ast.expr) -> int | float | None:
    """Return the number that a constant, or a fraction of two, stands for; else nothing."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
        over, under = _number(value.left), _number(value.right)
        return over / under if over is not None and under else None
    number = value.value if isinstance(value, ast.Constant) else None
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


def _others(number: int | float, factor: float) -> Iterator[int | float]:
    """Yield a larger and a smaller number; whole ones differ at least by one."""
    if isinstance(number, int):
        yield max(round(number * factor), number + 1)
        yield min(round(number / factor), number - 1)
    else:
        yield number * factor
        yield number / factor


def finder(package: Path, tests: Sequence[str], limit: float) -> str:
    """Return the first test that fails, or that they take too long; nothing if all pass."""
    environ = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            argv, cwd=ROOT, env=environ, capture_output=True, timeout=limit, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return "the tests take too long"
    failures = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (failures or ["pytest ends with an error"])[0] if done.returncode else ""


def judged(args: argparse.Namespace) -> Iterator[tuple[Change, str]]:
    """Make each change in a copy of the package, and yield it with what finds it."""
    with tempfile.TemporaryDirectory(prefix="thresholds-") as folder:
        packages: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for job in range(args.jobs):
            package = Path(folder) / str(job)
            shutil.copytree(ROOT / "src", package)
            packages.put(package)
        if failure := finder(package, args.tests, args.limit):
            sys.exit(f"{failure}, without a change")
        planned = [
            change
            for module in args.modules
            for change in changes(package, module, args.factor)
            if not args.only or change.name in args.only
        ]
        with ThreadPoolExecutor(args.jobs) as pool:
            found = pool.map(lambda change: _with(change, packages, args), planned)
            yield from zip(planned, found, strict=True)


def _with(change: Change, packages: queue.SimpleQueue[Path], args: argparse.Namespace) -> str:
    """Make a change in a copy of the package, return what finds it, and restore the file."""
    package = packages.get()
    file = package / change.file
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[: change.start] + change.new.encode() + whole[change.end :])
        return finder(package, args.tests, args.limit)
    finally:
        file.write_bytes(whole)
        packages.put(package)


def main() -> None:
    """Change each number, and print what no test finds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", default=MODULES, help="such as " + MODULES[0])
    parser.add_argument(
        "--tests", nargs="+", default=TESTS, help="files or folders, the quickest first"
    )
    parser.add_argument("--only", nargs="+", help="names of constants (default: all)")
    parser.add_argument("--factor", type=float, default=1.5, help="(default: 1.5)")
    parser.add_argument(
        "--limit", type=float, default=300, help="seconds of the tests (default: 300)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="changes at once (default: 2)")
    args = parser.parse_args()
    survivors, count = [], 0
    for change, found in judged(args):
        count += 1
        print(f"{change}: {found or 'SURVIVES'}", flush=True)
        if not found:
            survivors.append(change)
    print(f"{len(survivors)} of {count} survive:", *survivors, sep="\n  ")


if __name__ == "__main__":
    main()
