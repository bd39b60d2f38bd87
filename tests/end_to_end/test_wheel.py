"""What a user gets: the wheel, installed into an empty environment, brings everything it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from beds.mpis import ROOT
from isochrone.runfile.file import read


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


def test_the_wheel_and_what_it_asks_for_measure_and_report(wheel: Path, tmp_path: Path) -> None:
    """In an environment that holds what the wheel asks for and nothing else, with an empty HOME and
    a PATH on which there is no MPI.
    """
    run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"])
    python = tmp_path / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    run([*pip, "--no-deps", wheel])
    isochrone = tmp_path / "venv/bin/isochrone"
    (metadata,) = (tmp_path / "venv").rglob("isochrone-*.dist-info")
    names = needed(Distribution.at(metadata), "mpich")
    assert {"numpy", "scipy", "mpich", "matplotlib"} <= names
    assert not {"pytest", "pandas"} & names
    for name in names:
        link(distribution(name), metadata.parent)
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
    options = {"env": environ, "cwd": tmp_path}
    run([isochrone, "measure", "latency-map", "-n", "2", "-o", "map.jsonl"], **options)
    run([isochrone, "report", "map.jsonl"], **options)
    assert read(tmp_path / "map.jsonl").complete
    assert (tmp_path / "report.html").is_file()


def needed(of: Distribution, *extras: str) -> set[str]:
    """Names of all that a distribution asks for, and that these ask for in turn."""
    names: set[str] = set()
    wanted = [(of, extra) for extra in ("", *extras)]
    seen = []
    while wanted:
        asking, extra = wanted.pop()
        seen.append((asking.name, extra))
        for line in asking.requires or ():
            requirement = Requirement(line)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            own = canonicalize_name(requirement.name) == canonicalize_name(of.name)
            found = of if own else distribution(requirement.name)
            if not own:
                assert requirement.specifier.contains(found.version), line
                names.add(canonicalize_name(requirement.name))
            more = [(found, extra) for extra in ("", *sorted(requirement.extras))]
            wanted += [pair for pair in more if (pair[0].name, pair[1]) not in seen]
    return names


def link(installed: Distribution, folder: Path) -> None:
    """Put a distribution of this environment into the packages of another one, as pip would."""
    for file in installed.files or ():
        source = Path(str(installed.locate_file(file)))
        if source.is_file() and source.suffix != ".pyc":
            target = Path(os.path.normpath(folder / file))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
