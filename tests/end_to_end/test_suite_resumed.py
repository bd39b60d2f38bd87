"""A suite that is killed at any moment goes on where it was: nothing is lost, nothing is twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from beds.mpis import PATIENCE, Mpi
from isochrone.runfile.file import read

TESTS = Path(__file__).parents[1]

PLANNED = {f"{name}-2.jsonl" for name in ("map", "sizes", "rate", "cut", "operations")}


def launch(path: Path) -> str:
    """Return which launch wrote a run file; check that it holds that, whole and in order."""
    run = read(path)
    repeats = run.tables["sample"]["repeat"].tolist() if "sample" in run.tables else []
    assert repeats == [k // 2 for k in range(len(repeats))], path
    return str(run.notes["id"])


@pytest.mark.full
def test_a_suite_that_is_killed_many_times_is_whole_in_the_end(
    tmp_path: Path, mpich: Mpi, full: bool
) -> None:
    kills = 50 if full else 5
    path = os.pathsep.join([str(TESTS), *sys.path])
    tried = subprocess.run(
        [sys.executable, "-m", "beds.resumed", tmp_path, str(kills), "1"],
        cwd=tmp_path,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    said = (tmp_path / "said").read_text()
    assert tried.returncode == 0, tried.stderr
    assert "Traceback" not in said
    assert tried.stdout.count("killed") == kills
    assert tried.stdout.splitlines()[-1] == "ended 0", said[-2000:]
    files = {file: launch(file) for file in sorted(tmp_path.glob("out-*/*"))}
    planned = {file for file in files if ".part" not in file.name}
    assert planned == {out / name for out in tmp_path.glob("out-*") for name in PLANNED}
    assert planned == {file for file in files if read(file).complete}
    assert [id for id, count in Counter(files.values()).items() if count > 1] == []
    log = [line.split(" ", 2) for line in (tmp_path / "log").read_text().splitlines()]
    own = {id: Path(file) for what, id, file in log if ".trial-" not in file}
    assert set(own) == set(files.values())
    whole = Counter(own[id] for what, id, file in log if what == "ends" and id in own)
    assert {file for file, count in whole.items() if count > 1} == set()
