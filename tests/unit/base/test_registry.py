"""A plug-in that cannot be loaded is one line that names its file, and hinders no other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT

GOOD = """\"\"\"A law of one's own.\"\"\"
from isochrone.models.formulas.family import Family, Form
FAMILY = Family(r"t = a\\,b", "me", "All.", (Form(("1", "b"), ("a", "c")),))
"""
BROKEN = {
    "syntax": ("FAMILY = (", "SyntaxError"),
    "none": ("import math", "not define FAMILY"),
    "kind": ("FAMILY = 3", "not define FAMILY"),
    "missing": ("import no_such_module", "ModuleNotFoundError"),
    "term": (GOOD.replace('"b"', '"size"'), "'size' is not a term of a model"),
    "forms": (GOOD.replace('(Form(("1", "b"), ("a", "c")),)', "7"), "wrong type"),
    "symbols": (GOOD.replace('"a", ', ""), "form 1 has no terms"),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package into whose folder of families a user has put some files."""
    folder = tmp_path_factory.mktemp("copy")
    copy = folder / "isochrone"
    shutil.copytree(ROOT / "src/isochrone", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (text, _) in BROKEN.items():
        (copy / f"models/families/own_{name}.py").write_text(text)
    (copy / "models/families/own_good.py").write_text(GOOD)
    (copy / "models/families/own_bytes.py").write_bytes(b"\xff\xfe")
    (folder / "times.csv").write_text(
        "b,seconds\n" + "".join(f"{b},{1e-6 + 1e-9 * b!r}\n" for b in range(0, 4096, 256))
    )
    return folder


def isochrone(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "isochrone", *args],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_auto_leaves_broken_families_out_and_says_which_and_why(
    package: Path, golden: Golden
) -> None:
    golden.masks = {str(package): "COPY", **golden.masks}
    answer = isochrone(package, "fit", "times.csv", "-v")
    assert answer.returncode == 0, answer.stderr
    for name, (_, reason) in BROKEN.items():
        (line,) = (text for text in answer.stdout.splitlines() if f"own_{name}.py" in text)
        golden(line)
        assert reason in line
    assert "own-good" in answer.stdout
    assert "own_bytes.py" in answer.stdout


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_family_that_is_named_is_one_line(package: Path, name: str) -> None:
    answer = isochrone(package, "fit", "times.csv", "--family", f"own-{name}")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    assert f"own_{name}.py: " in answer.stderr
    assert BROKEN[name][1] in answer.stderr


@pytest.mark.parametrize(
    "error", ["MemoryError()", "ImportError('libx.so: failed to map segment from shared object')"]
)
def test_too_little_memory_is_no_fault_of_the_plugin(
    package: Path, error: str, golden: Golden
) -> None:
    golden.masks = {str(package): "COPY", **golden.masks}
    (package / "isochrone/models/families/own_memory.py").write_text(f"raise {error}\n")
    answer = isochrone(package, "fit", "times.csv", "--family", "own-memory")
    (package / "isochrone/models/families/own_memory.py").unlink()
    assert answer.returncode == 2
    golden(answer.stderr)


@pytest.mark.slow
def test_another_family_is_fitted_in_spite_of_them(package: Path) -> None:
    answer = isochrone(package, "fit", "times.csv", "--family", "own-good")
    assert answer.returncode == 0, answer.stderr
    assert "skipped" not in answer.stdout + answer.stderr
    assert isochrone(package, "fit", "--help").returncode == 0
