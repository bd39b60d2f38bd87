"""Run every `isochrone` command shown in a console block and put its real output below it.

The same is done with Python that has a text block below it; what it draws goes to docs/pictures.

    make docs

Commands run one after the other in a scratch folder of each page, which has examples/; others (pip,
make) are left as they are. The pictures in docs/pictures/ are drawn anew, too.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"(?<=^```python\n)([^`]*)(^```\n\n```text\n)[^`]*(?=^```$)", re.MULTILINE)
MADE_UP = (
    "isochrone measure null -n 1 --quiet --shape 8,4,2 --slow-node 5 --noise 0.15 -o null.jsonl"
)
"""The machine in the pictures: 8 ranks a node, 4 nodes a switch, 2 switches, node 5 slow."""

SWEEP = (
    "isochrone measure point-to-point -n 2 --quiet --bytes auto:0:64KiB --smallest-gap 256"
    " --tolerance 0.1 -o sizes.jsonl"
)
"""The sweep in the pictures is one of this machine, as in README.md."""


def main() -> None:
    """Regenerate README.md, docs/*.md and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpicc", type=Path, help="compiler wrapper of the MPI")
    mpicc = parser.parse_args().mpicc
    scripts = sysconfig.get_path("scripts")
    environ = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    if mpicc:
        environ["MPICC"] = str(mpicc.resolve())
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as scratch:
            Path(scratch, "examples").symlink_to(ROOT / "examples")
            regenerate(page, Path(scratch), environ)
    with tempfile.TemporaryDirectory() as scratch:
        draw(Path(scratch), environ)


def regenerate(page: Path, folder: Path, environ: dict[str, str]) -> None:
    """Run the commands of one page in a folder of its own."""
    text = page.read_text()
    fresh = BLOCK.sub(lambda block: answer(block[0], folder, environ), text)
    fresh = PYTHON.sub(lambda block: block[1] + block[2] + printed(block[1], folder), fresh)
    if fresh != text:
        page.write_text(fresh)
        print(f"wrote {page.relative_to(ROOT)}")


def answer(block: str, folder: Path, environ: dict[str, str]) -> str:
    """Return a console block with the output of its commands."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    if not all(command.startswith("isochrone ") for command in commands):
        return block
    lines = []
    for command in commands:
        lines += [f"$ {command}", run(command, folder, environ).strip("\n")]
    return "\n".join(line for line in lines if line) + "\n"


def printed(code: str, folder: Path) -> str:
    """Run Python as a user would; return what it printed, and keep what it drew."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, timeout=120, check=True,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    for picture in folder.glob("*.png"):
        shutil.move(picture, PICTURES / picture.name)
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def run(command: str, folder: Path, environ: dict[str, str]) -> str:
    """Run one command as a user would; return what it printed."""
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=environ, timeout=120, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"'{command}' failed:\n{done.stdout}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def draw(folder: Path, environ: dict[str, str]) -> None:
    """Draw the made-up machine, a sweep on this one, and orders that were compared on a cluster."""
    PICTURES.mkdir(exist_ok=True)
    run(MADE_UP, folder, environ)
    run(SWEEP, folder, environ)
    for file, view in (("null.jsonl", "heatmap"), ("sizes.jsonl", "time")):
        picture = PICTURES / f"{view}.png"
        run(f"isochrone plot {file} --view {view} --force -o {picture}", folder, environ)
    kept = ROOT / "examples/collective-io/orders.json"
    run(f"isochrone plot {kept} --force -o {PICTURES / 'orders.png'}", folder, environ)


if __name__ == "__main__":
    main()
