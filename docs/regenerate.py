"""Run the commands shown in the console blocks of the pages, and put their real output below them.

    make examples                                    README.md and all pages
    make examples PAGES="README.md docs/gallery.md"  these

Commands run one after the other in a scratch folder of each page, which has examples/. A block is
run if it has no other commands than those of COMMANDS; others (pip, make) are left as they are. The
same is done with Python that has a text block below it. A picture that is drawn replaces the one of
its name that the page shows.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
BLOCK: Final = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
PYTHON: Final = re.compile(
    r"(?<=^```python\n)([^`]*)(^```\n\n```text\n)[^`]*(?=^```$)", re.MULTILINE
)
PICTURE: Final = re.compile(r"!\[[^\]]*\]\(([^)\s]+\.png)\)")
COMMANDS: Final = ("isochrone", "mpicc", "cat")
COLOURS: Final = 128
PATIENCE: Final = 300
"""Seconds for one command."""

Start = Callable[[list[str], Path, dict[str, str]], str]
"""Runs a command in a folder and an environment, and returns what it printed."""


def main() -> None:
    """Regenerate README.md, the pages and their pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpicc", type=Path, help="compiler wrapper of the MPI")
    parser.add_argument("pages", nargs="*", type=Path, help="default: all")
    args = parser.parse_args()
    environ = environment(args.mpicc)
    for page in args.pages or all_pages():
        text = page.read_text("utf-8")
        with tempfile.TemporaryDirectory() as scratch:
            fresh = walked(text, Path(scratch), environ)
            keep_pictures(page, fresh, Path(scratch))
        if fresh != text:
            page.write_text(fresh, "utf-8")
            print(f"wrote {page}")


def all_pages() -> list[Path]:
    """Return README.md and the pages that are written by hand."""
    docs = ROOT / "docs"
    return [ROOT / "README.md", *sorted(docs.glob("*.md")), *sorted(docs.glob("tutorials/*.md"))]


def environment(mpicc: Path | None) -> dict[str, str]:
    """Return what commands are run with: the programs beside this Python, and one MPI."""
    scripts = sysconfig.get_path("scripts")
    mpi = f"{mpicc.resolve().parent}{os.pathsep}" if mpicc else ""
    found = {**os.environ, "PATH": f"{scripts}{os.pathsep}{mpi}{os.environ['PATH']}"}
    return {**found, "MPICC": str(mpicc.resolve())} if mpicc else found


def walked(text: str, folder: Path, environ: dict[str, str], start: Start | None = None) -> str:
    """Run all commands of a page in a folder; return it with what they printed."""
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")

    def said(command: list[str]) -> str:
        found = (start or run)(command, folder, environ).replace(str(folder.resolve()), "$PWD")
        return "\n".join(line.rstrip() for line in found.splitlines()).strip("\n")

    def printed(block: re.Match[str]) -> str:
        return f"{block[1]}{block[2]}{said([sys.executable, '-c', block[1]])}\n"

    fresh = BLOCK.sub(lambda block: answer(block[0], said), text)
    return PYTHON.sub(printed, fresh)


def commands(block: str) -> list[str]:
    """Return the commands of a console block."""
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def runs(block: str) -> bool:
    """Say whether a console block is run: all its commands are ours."""
    return all(command.split()[0] in COMMANDS for command in commands(block))


def answer(block: str, said: Callable[[list[str]], str]) -> str:
    """Return a console block with the output of its commands."""
    if not runs(block):
        return block
    lines = []
    for command in commands(block):
        lines += [f"$ {command}", said(shlex.split(command))]
    return "\n".join(line for line in lines if line) + "\n"


def run(command: list[str], folder: Path, environ: dict[str, str]) -> str:
    """Run one command as a user would; return what it printed."""
    done = subprocess.run(
        command, cwd=folder, env=environ, timeout=PATIENCE, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if not ended_well(command, done.returncode):
        raise SystemExit(f"'{shlex.join(command)}' failed:\n{done.stdout}")
    return done.stdout


def ended_well(command: list[str], code: int) -> bool:
    """Say whether a command did what it should; one that judges ends with 1 or 4 if not good."""
    checks = "check" in command[1:2]
    return code == 0 or (code == 4 and checks) or (code == 1 and (checks or "--fail-on" in command))


def keep_pictures(page: Path, text: str, folder: Path) -> None:
    """Put what was drawn where the page shows it."""
    for shown in PICTURE.findall(text):
        drawn = folder / Path(shown).name
        if drawn.exists():
            target = page.parent / shown
            target.parent.mkdir(parents=True, exist_ok=True)
            shrunk(drawn, target)


def shrunk(drawn: Path, target: Path) -> None:
    """Keep a picture in few colours, which nobody sees, and in a third of the bytes."""
    from PIL import Image

    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    main()
