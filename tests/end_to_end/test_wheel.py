"""What a user gets: the wheel, installed into an empty environment, brings everything it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from isochrone.runfile.file import read
from mpis import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT])
    return next(folder.glob("*.whl"))


def run(argv: list[str | Path], **options: object) -> str:
    """Run a command to its end; show what it printed if it fails."""
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=280, **options)  # type: ignore[call-overload]
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return str(answer.stdout)


def test_the_wheel_is_pure_python_and_carries_the_probe_as_source(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    carried = {n.removeprefix("isochrone/_probe/") for n in names if "/_probe/" in n}
    tracked = {
        str(f.relative_to(ROOT / "probe"))
        for f in (ROOT / "probe").rglob("*")
        if f.is_file() and "build" not in f.relative_to(ROOT / "probe").parts
    }
    assert carried == tracked
    assert "isochrone/pages/html/page.html.j2" in names


def test_pip_install_isochrone_mpich_measures_and_reports(wheel: Path, tmp_path: Path) -> None:
    """In an empty environment, an empty HOME, and a PATH on which there is no MPI."""
    run([sys.executable, "-m", "venv", tmp_path / "venv"])
    python = tmp_path / "venv/bin/python"
    run([python, "-m", "pip", "install", "--quiet", f"isochrone[mpich] @ file://{wheel}"])
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in Path("/usr/bin").iterdir():
        if "mpi" not in tool.name and os.access(tool, os.X_OK):
            (tools / tool.name).symlink_to(tool)
    (tmp_path / "home").mkdir()
    environ = {
        "HOME": str(tmp_path / "home"),
        "PATH": str(tools),
    }
    isochrone = tmp_path / "venv/bin/isochrone"
    options = {"env": environ, "cwd": tmp_path}
    run([isochrone, "measure", "latency-map", "-n", "2", "-o", "map.jsonl"], **options)
    run([isochrone, "report", "map.jsonl"], **options)
    assert read(tmp_path / "map.jsonl").complete
    assert (tmp_path / "report.html").is_file()
