"""Programs of five styles, recorded on 4, 8 and 16 ranks, predicted on 32, 64 and 128: SimGrid.

    python bench/scaling.py FOLDER [--seeds 1,2] [--styles stencil,farm]

Parameters are random (size, iterations, strong or weak scaling, imbalance). Each program is also
simulated on the large numbers of ranks: that is the truth. Prints the error of each prediction, the
half width of its interval, and whether that holds the truth.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

from isochrone.measure.launchers.simgrid import EXACT, QUIET
from isochrone.measure.platforms import parse

TO = (32, 64, 128)
STYLES = ("stencil", "wavefront", "rowcol", "cg", "farm", "chain")
PATIENCE = 900
"""Seconds for one command."""


def words(style: str, rng: random.Random) -> list[str]:
    """Return the random arguments of a program."""
    steps = rng.randint(10, 40)
    us = 10 ** rng.uniform(-3, -1)
    weak = rng.randint(0, 1)
    given: list[float] = {
        "stencil": [rng.choice([2, 3]), 16 if weak else 96, steps, rng.randint(1, 10), weak, us,
                    rng.choice([0, 0.05, 0.2])],
        "wavefront": [rng.choice([64, 128, 200]), rng.randint(2, 5), rng.randint(3, 10),
                      rng.choice([1, 2, 4]), us],
        "rowcol": [rng.randint(50, 200) * (128 if weak else 2048), steps, weak, us / 10],
        "cg": [rng.randint(500, 5000), steps, rng.randint(2, 4), rng.randint(1, 99), us],
        "farm": [rng.randint(200, 2000), rng.choice([64, 4096]), 1e4 * us, rng.randint(1, 99)],
        "chain": [rng.randint(1000, 20000), steps, rng.randint(1, 5), us],
    }[style]  # fmt: skip
    return [f"{one:g}" for one in given]


def truth(folder: Path, ranks: int, program: list[str]) -> float:
    """Return the seconds of the slowest rank of the program itself."""
    smpirun = shutil.which("smpirun") or "smpirun"
    argv = [smpirun, "-np", str(ranks), "-platform", "P.xml", "-hostfile", "P.hosts", *QUIET,
            *EXACT, *program]  # fmt: skip
    said = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True,
                          timeout=PATIENCE)  # fmt: skip
    return max(float(line.split()[1]) for line in said.stdout.splitlines())


def one(folder: Path, style: str, seed: int) -> None:
    """Record, predict and simulate one program."""
    here = folder / f"{style}-{seed}"
    here.mkdir(parents=True, exist_ok=True)
    machine = parse("nodes:128")
    (here / "P.xml").write_text(machine.xml())
    (here / "P.hosts").write_text(machine.hosts())
    given = words(style, random.Random(f"{style} {seed}"))
    program = [str((folder / "styles").absolute()), style, *given]
    argv = [sys.executable, "-m", "isochrone", "scale", "-n", "4,8,16", "--to",
            ",".join(map(str, TO)), "--launcher", "simgrid", "--platform", "P.xml", "--quiet",
            "--launcher-arg=--cfg=smpi/simulate-computation:no",
            "--force", "--json", "--", *program]  # fmt: skip
    said = subprocess.run(argv, cwd=here, capture_output=True, text=True, check=False,
                          timeout=PATIENCE)  # fmt: skip
    name = f"{style} {' '.join(given)}"
    if said.returncode:
        print(f"{name}: {said.stderr.strip().splitlines()[-1]}", flush=True)
        return
    lines = [line for line in said.stdout.splitlines() if line.startswith("{")]
    found = json.loads(lines[-1])
    cells = []
    for at in found["predictions"]:
        true = truth(here, at["ranks"], program)
        inside = "in" if at["low"] <= true <= at["high"] else "OUT"
        half = (at["high"] - at["low"]) / 2 / at["seconds"]
        cells.append(f"{at['ranks']}: {at['seconds'] / true - 1:+.1%} (±{half:.0%}, {inside})")
    held = found["held_out_error"]
    print(f"{name}: {'; '.join(cells)}; held out {held:+.1%}", flush=True)


def main() -> None:
    """Build, and go through styles and seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--styles", default=",".join(STYLES))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).parent / "programs/styles.c"
    subprocess.run(
        ["smpicc", "-std=c11", "-D_GNU_SOURCE", "-O1", source, "-o", args.folder / "styles"],
        check=True,
    )
    for seed in args.seeds.split(","):
        for style in args.styles.split(","):
            one(args.folder, style, int(seed))


if __name__ == "__main__":
    main()
