"""Large files cost each command as much more as they are larger: twice the data, twice the work.

Work is the number of function calls, which no busy machine changes. A size that is looked at once
for each other size, or a sample that is written as a record of its own, shows in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isochrone.cli.main import main
from isochrone.formats.exporters.csv import write as write_csv
from isochrone.runfile.file import write
from made_up.latency_maps import block, map_of, noisy, tree
from made_up.sweeps import point_to_point

LINEAR = 2.2
"""Calls for twice the data, over those for the data."""

SWEEPS = ("show", "show --json", "fit -o", "plot -o", "report -o", "export --to csv -o")
FOLDERS = ("check", "history -o", "check --baseline")


def calls(do: Callable[[], Any]) -> int:
    """Count the functions, in Python and in C, that are called."""
    count = 0

    def seen(frame: object, event: str, value: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        do()
    finally:
        sys.setprofile(None)
    return count


def sweep(path: Path, sizes: int, repeats: int = 10) -> Path:
    each = [64 * k for k in range(1, sizes + 1)]
    write(point_to_point(sizes=each, repeats=repeats, passes=10, pairs=((0, 1),), ranks=2), path)
    return path


def nights(folder: Path, count: int) -> Path:
    folder.mkdir()
    for k in range(count):
        run = map_of(noisy(tree([4, 6], [1, 3]), 0.02, seed=k), block(6, 4))
        run.header["started"] = f"2026-{k // 28 + 1:02d}-{k % 28 + 1:02d}T02:00:00Z"
        write(run, folder / f"{k:03d}.jsonl")
    return folder


def of_command(words: str, given: Path, to: Path) -> int:
    """Count the calls of a command; its imports have been made."""
    command, *options = words.split()
    argv = [command, str(given), *options]
    if "--baseline" in options:
        argv = [command, str(min(given.iterdir())), "--baseline", str(given)]
    if "-o" in options:
        suffix = {"plot": "svg", "fit": "json", "export": "csv"}.get(command, "html")
        argv += [str(to.with_suffix(f".{suffix}")), "--force"]
    codes: list[int] = []
    count = calls(lambda: codes.append(main(argv)))
    assert codes[0] in ((0, 1) if command == "check" else (0,))
    return count


@pytest.mark.slow
@pytest.mark.parametrize("words", SWEEPS)
def test_a_sweep_of_twice_the_sizes_is_twice_the_work(words: str, tmp_path: Path) -> None:
    """Of every command that reads sweeps."""
    files = [sweep(tmp_path / f"{n}.jsonl", n) for n in (300, 600)]
    of_command(words, files[0], tmp_path / "out")
    once, twice = (of_command(words, file, tmp_path / "out") for file in files)
    assert twice <= LINEAR * once


@pytest.mark.slow
@pytest.mark.parametrize("words", FOLDERS)
def test_twice_the_runs_are_twice_the_work(words: str, tmp_path: Path) -> None:
    """Of every command that reads a folder of runs."""
    folders = [nights(tmp_path / str(n), n) for n in (10, 20)]
    of_command(words, folders[0], tmp_path / "out")
    once, twice = (of_command(words, folder, tmp_path / "out") for folder in folders)
    assert twice <= LINEAR * once


def test_a_sample_is_a_few_calls_of_a_csv_export(tmp_path: Path) -> None:
    """Columns are written as wholes: the calls of a sample are those that write its numbers."""
    runs = [point_to_point(sizes=(8, 64), repeats=n, passes=10) for n in (1000, 2000)]
    write_csv(runs[0], tmp_path / "first.csv")
    few, more = (calls(lambda run=run: write_csv(run, tmp_path / "a.csv")) for run in runs)
    assert (more - few) / 2000 < 10
