"""Run files of real measurements with several MPIs, by this and by earlier versions, are read.

``tests/corpus/earlier-N-*`` are from versions of the format whose headers had less, the oldest
first. Whatever is there is read by every command that reads such a file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.mpis import ROOT
from isochrone.runfile.file import read, write

FILES = sorted((ROOT / "tests/corpus").glob("*.jsonl"))
LARGEST = 150_000

COMMANDS = (
    "show {file} --json",
    "check {file} --json --lenient",
    "fit {file} --family hockney --json",
    "export {file} --to csv -o {out}",
    "compare {file} {file} --json",
)


@pytest.mark.slow
def test_every_command_reads_every_file(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """With the exit code that a new file of this kind has; documents are as declared."""
    for file in FILES:
        run = read(file)
        write(run, tmp_path / file.name)
        for command in COMMANDS:
            with subtests.test(f"{file.name}: {command}"):
                codes = []
                for path in (file, tmp_path / file.name):
                    out = tmp_path / "out"
                    words = command.format(file=path, out=out).split()
                    answer = run_here(*words, cwd=tmp_path)
                    out.unlink(missing_ok=True)
                    codes.append(answer.returncode)
                    assert "Traceback" not in answer.stderr
                assert codes[0] == codes[1]
                if command.startswith("show") or run.kind == "sweep":
                    assert codes[0] == 0, answer.stderr


def test_files_are_of_several_mpis_and_versions_and_small() -> None:
    libraries = {str(read(file).header["mpi"]["library"])[:8] for file in FILES}
    assert len(libraries) >= 2
    assert {read(file).kind for file in FILES} >= {"latency-map", "sweep", "hotspot", "recording"}
    assert len([file for file in FILES if file.name.startswith("earlier-")]) >= 5
    assert sum(file.stat().st_size for file in FILES) < LARGEST
