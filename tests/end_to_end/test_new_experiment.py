"""A sweep that nobody here has heard of: one C file more, and everything can be done with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.mpis import MPIS, ROOT, find_mpi
from isochrone import views

Answer = subprocess.CompletedProcess[str]
Tool = Callable[..., Answer]


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """The command line of a copy of the tree whose probe has one file more."""
    find_mpi("mpich-wheel")
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", tree / "src")
    shutil.copytree(ROOT / "probe", tree / "probe", ignore=shutil.ignore_patterns("build"))
    shutil.copy(ROOT / "tests/experiments/ring.c", tree / "probe/experiments")
    environ = {
        **os.environ,
        "PYTHONPATH": str(tree / "src"),
        "MPICC": str(MPIS["mpich-wheel"]),
    }

    def run(*args: object) -> Answer:
        answer = subprocess.run(
            [sys.executable, "-m", "isochrone", *map(str, args)],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        return answer

    return run


@pytest.fixture(scope="module")
def runs(tool: Tool, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two measurements with different numbers of ranks."""
    folder = tmp_path_factory.mktemp("runs")
    paths = [folder / f"ring-{ranks}.jsonl" for ranks in (2, 3)]
    for ranks, path in zip((2, 3), paths, strict=True):
        tool("measure", "ring", "-n", ranks, "--quiet", "--repeats", 4, "--retest", 0, "-o", path)
    return paths


def test_it_is_shown(tool: Tool, runs: list[Path]) -> None:
    text = tool("show", runs[0]).stdout
    assert "ring, 2 ranks" in text
    assert "slowest rank" in text
    (curve,) = json.loads(tool("show", runs[0], "--json").stdout)["curves"]
    assert curve["p"] == 2
    assert [point["n"] for point in curve["points"]] == [4] * 14


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "view", [name for name in views.fitting("sweep") if name != "grids"]
)  # that one draws collectives on grids
def test_it_is_drawn_by_every_view_of_sweeps(
    view: str, tool: Tool, runs: list[Path], tmp_path: Path
) -> None:
    model = ["--family", "bcast-log"] if view in ("fit", "deviation") else []
    tool("plot", *runs, "--view", view, *model, "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_it_is_reported(tool: Tool, runs: list[Path], tmp_path: Path) -> None:
    tool("report", *runs, "-o", tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "Ring sweep" in text
    assert "Time by" in text


def test_it_is_fitted(tool: Tool, runs: list[Path]) -> None:
    fitted = json.loads(tool("fit", *runs, "--family", "bcast-log", "--json").stdout)
    assert fitted["quality"]["points"] == 28


def test_it_is_compared(tool: Tool, runs: list[Path]) -> None:
    found = json.loads(tool("compare", runs[0], runs[0], "--json").stdout)
    assert found["experiment"] == "ring"
    assert len(found["points"]) == 14
    assert found["points"][0]["key"] == {"p": 2, "bytes": 8}


@pytest.mark.parametrize("form", ["csv", "gnuplot"])
def test_it_is_exported(form: str, tool: Tool, runs: list[Path], tmp_path: Path) -> None:
    tool("export", runs[0], "--to", form, "-o", tmp_path / f"a.{form}")
    assert "ring" in (tmp_path / f"a.{form}").read_text()


def test_the_full_suite_measures_it_too(tool: Tool, tmp_path: Path) -> None:
    commands = tool("suite", "full", "-n", 2, "--dry-run", "-o", tmp_path / "full").stdout
    assert "isochrone-probe ring " in commands
