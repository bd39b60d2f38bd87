"""The field trial kit: one script, one bundle, and nothing in it that says whose machine it was."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from beds.mpis import CROWDED, PATIENCE, ROOT, SCRIPTS, Mpi
from isochrone.runfile.file import read

KIT = ROOT / "contrib/field-trial/field-trial.sh"


def trial(folder: Path, *words: object, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(KIT), *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, **CROWDED, "PATH": path},
    )


def test_a_bundle_holds_readable_runs_without_names(mpich: Mpi, tmp_path: Path) -> None:
    starter = mpich.probe.mpicc.with_name("mpiexec")
    path = f"{SCRIPTS}:{starter.parent}:{os.environ['PATH']}"
    command = [starter, "-n", 2, "true"]  # records nothing: that step fails, and is noted
    done = trial(tmp_path, "-n", 2, "-m", 0, "-o", "trial", "--", *command, path=path)
    assert done.returncode == 3, done.stdout + done.stderr
    codes = dict(
        line.split() for line in (tmp_path / "trial/bundle/exit-codes.txt").read_text().splitlines()
    )
    assert codes.pop("program") == "3"
    assert set(codes.values()) <= {"0", "1", "4"}
    (tmp_path / "got").mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "trial.tar.gz", "-C", tmp_path / "got"], check=True)
    runs = sorted((tmp_path / "got/bundle").glob("*.jsonl"))
    assert [run.stem for run in runs] == ["collectives", "map", "pair"]
    assert {host for run in runs for host in read(run).hosts} == {"host-0"}
    text = "".join(file.read_text() for file in (tmp_path / "got/bundle").iterdir())
    assert str(tmp_path) not in text
    assert f'"{platform.node()}"' not in text


def test_wrong_use_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "trial").mkdir()
    path = f"{SCRIPTS}:{os.environ['PATH']}"
    assert trial(tmp_path, "-o", "trial", path=path).returncode == 2
    assert trial(tmp_path, "-z", path=path).returncode == 2
    assert trial(tmp_path, "-o", "other", path="/usr/bin:/bin").returncode == 2
    assert [one.name for one in tmp_path.iterdir()] == ["trial"]
