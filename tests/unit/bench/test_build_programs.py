"""The script that builds miniapps: from sources that are there, which stay as they are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from beds.mpis import ROOT

SCRIPT = ROOT / "bench/programs/build.sh"


def build(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Build with a compiler that writes what it was asked for."""
    compiler = folder / "mpicxx"
    compiler.write_text('#!/bin/sh\nfor last; do :; done\necho "$*" > "$last"\n')
    compiler.chmod(0o755)
    argv = [SCRIPT, folder / "made", *words]
    return subprocess.run(
        argv,
        env={**os.environ, "MPICXX": str(compiler)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_copy_is_built_and_its_program_named(tmp_path: Path, processes: None) -> None:
    source = tmp_path / "sources"
    source.mkdir()
    (source / "lulesh.cc").write_text("int main() {}\n")
    done = build(tmp_path, f"lulesh={source}")
    assert done.stdout.split() == [str(tmp_path / "made/bin/lulesh")]
    assert "-DUSE_MPI=1 ./lulesh.cc" in (tmp_path / "made/bin/lulesh").read_text()
    assert [file.name for file in source.iterdir()] == ["lulesh.cc"]


def test_each_program_of_several_is_built_under_its_name(tmp_path: Path, processes: None) -> None:
    source = tmp_path / "sources"
    for name in ("stencil3d", "spread"):
        (source / name).mkdir(parents=True)
        (source / name / f"{name}.C").write_text("int main() {}\n")
    done = build(tmp_path, f"chatterbug={source}")
    made = tmp_path / "made/bin"
    assert done.stdout.split() == [str(made / "spread"), str(made / "stencil3d")]


@pytest.mark.parametrize("word", ["hpl=.", "lulesh=/nowhere", ""])
def test_what_is_not_there_is_named(tmp_path: Path, processes: None, word: str) -> None:
    done = build(tmp_path, *[word] if word else [])
    assert done.returncode == 2
    assert done.stderr
