#!/usr/bin/env python3
"""Which numbers of a module no test holds: each is changed by a factor, up and down.

    python bench/thresholds.py
    python bench/thresholds.py isochrone.latency_map.cores --tests tests/unit/latency_map

A number is a constant at the top of a module: `NAME = 0.18`. It is multiplied and divided by 1.5
(whole numbers change at least by one) in a copy of the package, which the tests use instead. The
first file of tests that fails, or takes longer than its limit, finds the change. What no file finds
is printed as a survivor: such a number decides nothing that is tested, or nothing at all.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("isochrone.latency_map.thresholds",)
TESTS = (
    "tests/unit/latency_map/test_cores.py",
    "tests/calibration/test_field_maps.py",
    "tests/calibration/test_processors.py",
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
    text = (source / file).read_bytes()
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
    """Return the first file of tests that fails or takes too long; nothing if none does."""
    environ = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    for test in tests:
        argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", test]
        try:
            done = subprocess.run(
                argv, cwd=ROOT, env=environ, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{test} takes too long"
        if done.returncode:
            return test
    return ""


def judged(args: argparse.Namespace) -> Iterator[tuple[Change, str]]:
    """Make each change in a copy of the package, and yield it with what finds it."""
    with tempfile.TemporaryDirectory(prefix="thresholds-") as folder:
        package = Path(folder)
        shutil.copytree(ROOT / "src", package, dirs_exist_ok=True)
        if failing := finder(package, args.tests, args.limit):
            sys.exit(f"{failing} fails without a change")
        start = time.monotonic()
        for module in args.modules:
            for change in list(changes(package, module, args.factor)):
                if args.only and change.name not in args.only:
                    continue
                if time.monotonic() - start > args.budget:
                    print(f"stopped after {args.budget:g} s, before {change}")
                    return
                yield change, _with(change, package, args)


def _with(change: Change, package: Path, args: argparse.Namespace) -> str:
    """Make a change, return what finds it, and restore the file."""
    file = package / change.file
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[: change.start] + change.new.encode() + whole[change.end :])
        return finder(package, args.tests, args.limit)
    finally:
        file.write_bytes(whole)


def main() -> None:
    """Change each number, and print what no test finds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", default=MODULES, help="such as " + MODULES[0])
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files, the quickest first")
    parser.add_argument("--only", nargs="+", help="names of constants (default: all)")
    parser.add_argument("--factor", type=float, default=1.5, help="(default: 1.5)")
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds of a file of tests (default: 120)"
    )
    parser.add_argument(
        "--budget", type=float, default=float("inf"), help="seconds of all (default: any)"
    )
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
