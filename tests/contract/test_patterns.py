"""What every access pattern promises; a new pattern is tested by being there."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isochrone
from isochrone.base import registry
from isochrone.collective_io.workload import AccessPattern
from isochrone.collective_io.workload import pattern as patterns
from isochrone.collective_io.workload.pattern import Option, Pattern

NAMES = patterns.names()
RANKS = 6

VALUES = {
    "tiles": "2x3",
    "blocks": "1x2x3",
    "table": "0,0,8\n1,8,8\n2,4,8\n3,40,1\n4,50,9\n5,0,60\n",
}
"""Value of each option that takes one, for `RANKS` ranks; of a FILE: what is in it."""


def value_of(option: Option, name: str, folder: Path) -> object:
    """Return the value of a pattern's option, as the command line has it."""
    if not option.metavar:
        return True
    text = VALUES[name]
    if option.metavar == "FILE":
        (folder / name).write_text(text)
        text = str(folder / name)
    return option.read(text)


def options_of(folder: Path, name: str | None) -> dict[str, Any]:
    """Return the options of a command line that asks for one pattern, and nothing else."""
    options: dict[str, Any] = {"tile": None, "element": None}
    for other in NAMES:
        pattern = patterns.load(other)
        options[other.replace("-", "_")] = None if pattern.option.metavar else False
        options |= {more.name[2:].replace("-", "_"): None for more in pattern.more}
    if name is not None:
        options[name.replace("-", "_")] = value_of(patterns.load(name).option, name, folder)
    return options


@pytest.fixture(params=NAMES)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> AccessPattern:
    name = request.param
    return patterns.load(name).make(options_of(tmp_path, name), RANKS)


@pytest.mark.parametrize("name", NAMES)
def test_a_pattern_is_declared_and_says_what_it_is(name: str) -> None:
    """The file name is the name of the option, and its first line the help of the file."""
    pattern = patterns.load(name)
    assert isinstance(pattern, Pattern)
    assert pattern.option.name == f"--{name}"
    assert pattern.option.help
    assert registry.summary("collective_io.patterns", name)


def test_the_usual_pattern_needs_no_option(tmp_path: Path) -> None:
    """Without any option the ranks own tiles, as square as can be."""
    usual = patterns.load(patterns.DEFAULT).make(options_of(tmp_path, None), RANKS)
    assert usual.ranks == RANKS


def test_it_has_as_many_ranks_as_there_are(made: AccessPattern) -> None:
    assert made.ranks == RANKS
    assert isinstance(made.interleaved, bool)


def test_all_ranks_touch_its_extent_and_none_what_is_beyond(made: AccessPattern) -> None:
    """The first and the last byte belong to it, and every rank has a part of it."""
    first, last = made.extent
    assert 0 <= first < last
    edges = np.array([0, first, last, last + 100])
    if first == 0:
        edges = edges[1:]
    found = ranks_by_window(made, edges)
    assert found[-2] == set(range(RANKS))
    assert not found[-1]
    assert first == 0 or not found[0]
    ends = ranks_by_window(made, np.array([first, first + 1, last - 1, last]))
    assert ends[0]
    assert ends[-1]


def test_windows_are_consistent_with_their_parts(made: AccessPattern) -> None:
    """A rank touches a window exactly if it touches one of the parts that it is cut into."""
    first, last = made.extent
    whole = np.unique(np.linspace(first, last, 8).astype(np.int64))
    parts = np.unique(np.concatenate([whole, np.linspace(first, last, 53).astype(np.int64)]))
    of_parts = ranks_by_window(made, parts)
    for window, found in enumerate(ranks_by_window(made, whole)):
        low, high = np.searchsorted(parts, whole[window : window + 2])
        assert found == set().union(*of_parts[low:high])


def ranks_by_window(pattern: AccessPattern, edges: np.ndarray) -> list[set[int]]:
    """Return the ranks of each window between two edges."""
    runs = pattern.touches(edges[:-1], edges[1:])
    found: list[set[int]] = [set() for _ in edges[1:]]
    for window, first, last in zip(*(column.tolist() for column in runs[:3]), strict=True):
        assert 0 <= first < last <= pattern.ranks
        new = set(range(first, last))
        found[window] |= new
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_value_is_refused_as_argparse_wants_it(name: str) -> None:
    """What the reader of an option cannot read, argparse reports in a line with exit code 2."""
    option = patterns.load(name).option
    if option.metavar not in ("", "FILE"):
        with pytest.raises(argparse.ArgumentTypeError):
            option.read("nonsense")


HALVES = '''"""Halves: the first and the second half of the file, each of one half of the ranks."""


from isochrone.collective_io.workload.grid import Axis, Grid
from isochrone.collective_io.workload.pattern import Option, Options, Pattern

PATTERN = Pattern(
    option=Option("--two-halves", "two halves", "SIZE", int),
    make=lambda options, ranks: Grid((Axis(ranks, options["two_halves"]),), options["gap"] or 1),
    more=(Option("--gap", "bytes of it", "N", int),),
)
'''


@pytest.mark.slow
def test_a_new_file_is_a_new_option_of_predict_and_place(tmp_path: Path) -> None:
    """Nothing else has to be edited: a file in the folder, and commands know the pattern."""
    package = Path(isochrone.__file__).parent
    copy = tmp_path / "src" / "isochrone"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "collective_io/patterns/two_halves.py").write_text(HALVES)
    model = tmp_path / "model.json"
    model.write_bytes((Path(__file__).parents[2] / "examples/models/tachyon-i.json").read_bytes())

    def isochrone_of_copy(*words: str) -> str:
        """Run the command line of the copy, and return what it prints."""
        found = subprocess.run(
            [sys.executable, "-m", "isochrone", *words],
            env={**os.environ, "PYTHONPATH": str(copy.parent)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout

    assert "--two-halves SIZE" in isochrone_of_copy("predict", "collective-io", "--help")
    asked = ("--nodes", "2,2", "--model", str(model), "--two-halves", "8", "--gap", "2", "--json")
    found = json.loads(isochrone_of_copy("predict", "collective-io", *asked))
    assert found["ranks"] == 4
    assert sum(node["intra"] for node in found["nodes"]) == 4
    for what in ("nodes", "aggregators"):
        placed = json.loads(isochrone_of_copy("place", what, *asked))
        assert placed["gap"] == 0
