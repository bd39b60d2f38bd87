"""The tutorials, walked: their commands run one after the other, and print what stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.mpis import MPIS, Mpi, missing
from beds.pages import BLOCK, DOCS, regenerate

TUTORIALS = sorted(DOCS.glob("tutorials/*.md"))
LIBRARY = re.compile(r"(MPICH|Open MPI|SMPI|SimGrid)[^·\n]*")
RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]+")
"""The name of a run in a baseline: when it was, and what is in it."""

TIMED = re.compile(r"\d\s?(ns|µs|ms|s)\b")


def steady(text: str) -> list[str]:
    """Return what a block says on any machine: its lines without the version of a library."""
    lines = (RUN.sub("RUN", LIBRARY.sub("LIBRARY", line)) for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if "platform-sha256" not in line]


def is_measured(block: str) -> bool:
    """Say whether times of this machine are in a block; simulated and made-up ones are exact."""
    return block.startswith("$ isochrone record")


@pytest.mark.few(2)
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_says_what_comes_out(
    page: Path, tmp_path: Path, mpich: Mpi, isochrone: Command
) -> None:
    """Exactly where times are simulated or made up; else all lines that hold no times."""
    text = page.read_text("utf-8")
    if "--platform" in text and shutil.which("smpicc") is None:
        missing("simgrid", "there is no SimGrid")
    script = regenerate()

    def start(command: list[str], folder: Path, environ: dict[str, str]) -> str:
        if command[0] != "isochrone":
            return str(script.run(command, folder, environ))
        answer = isochrone(*command[1:], cwd=folder, **environ)
        assert script.ended_well(command, answer.returncode), (command, answer.stderr)
        return answer.stdout + answer.stderr

    fresh = script.walked(text, tmp_path, script.environment(MPIS["mpich-wheel"]), start)
    before = [block for _, block in BLOCK.findall(text)]
    after = [block for _, block in BLOCK.findall(fresh)]
    assert len(before) == len(after)
    for said, found in zip(before, after, strict=True):
        if is_measured(said):
            kept = [
                line for line in steady(said) if not TIMED.search(line) and "Warning" not in line
            ]
            assert [line for line in kept if line not in steady(found)] == []
        else:
            assert steady(said) == steady(found)


def test_there_are_five_that_start_from_nothing() -> None:
    """Each says how to install, or where that is said, before its first command."""
    assert len(TUTORIALS) == 5
    for page in TUTORIALS:
        before = page.read_text("utf-8").split("```console")[0]
        assert "nstall" in before or "1-install" in before or "synthetic" in before, page.name
