"""Programs of fifteen styles, recorded on 4, 8 and 16 ranks, predicted on 32, 64 and 128: SimGrid.

    python bench/scaling.py FOLDER [--switches 1|8|pods] [--seeds 1,2] [--styles stencil,farm]
                            [--nodes 16] [--no-map]

Parameters are random (size, iterations, strong or weak scaling, imbalance). Each program is also
simulated on the large numbers of ranks: that is the truth. Measurements get the nodes of the
largest recording (`--nodes 128`: all), and a latency map of the whole machine. Prints the error
of each prediction, the half width of its interval, and whether that holds the truth; then how many
hold it, how many do not, and why the others were refused.

What FOLDER holds already (recordings, measurements, truths) is not made again: after a change of
the code, only predictions are.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from isochrone.applications.predict.levels import SIZES
from isochrone.measure.launchers.simgrid import EXACT, QUIET
from isochrone.measure.platforms import parse

ISOCHRONE = [sys.executable, "-m", "isochrone"]
FROM = (4, 8, 16)
TO = (32, 64, 128)
MACHINES = {
    "1": "nodes:128",
    "8": "nodes:128 switches:8",
    "pods": "nodes:128 switches:16 pods:4",
}
"""With one, two and three levels of switches."""

SOURCES = ("styles.c", "grid_styles.c", "other_styles.c")
PATIENCE = 900
"""Seconds for one command."""

REFUSED = (2, 3)
"""Exit codes of a command that gives a reason."""


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
        "pencils": [rng.randint(40, 100), steps, us / 10],
        "cg2": [rng.randint(20, 300) * 128, steps, us / 10],
        "summa": [rng.randint(4, 16) * 128, steps, us / 10],
        "subcom3": [rng.choice([1, 8, 64]) * 1024, steps, us / 100],
        "multigrid": [rng.randint(16, 200), steps, rng.randint(2, 4), us / 10],
        "cg": [rng.randint(500, 5000), steps, rng.randint(2, 4), rng.randint(1, 99), us],
        "farm": [rng.randint(200, 2000), rng.choice([64, 4096]), 1e4 * us, rng.randint(1, 99)],
        "chain": [rng.randint(1000, 20000), steps, rng.randint(1, 5), us],
        "particles": [rng.randint(500, 20000), steps, rng.randint(1, 99), us],
        "ring": [rng.randint(10, 80) * 128, rng.randint(2, 8), us / 10],
        "mesh": [rng.randint(500, 20000), steps, rng.randint(1, 3), rng.randint(1, 99), us],
        "sandwich": [rng.randint(10, 200) * 128, rng.randint(3, 8), us],
    }[style]  # fmt: skip
    return [f"{one:g}" for one in given]


STYLES = ("stencil", "wavefront", "rowcol", "pencils", "cg2", "summa", "subcom3", "multigrid", "cg",
          "farm", "chain", "particles", "ring", "mesh", "sandwich")  # fmt: skip


class Predicted(NamedTuple):
    """A prediction against the truth: relative error, half width of the interval, held or not."""

    error: float
    half: float
    held: bool


@dataclass
class Outcome:
    """What became of the predictions of a program; ``refused`` is the reason if there are none."""

    by_ranks: dict[int, Predicted] = field(default_factory=dict)
    held_out: float | None = None
    refused: str = ""

    def __str__(self) -> str:
        """One line."""
        if self.refused:
            return f"refused: {self.refused}"
        cells = [
            f"{ranks}: {one.error:+.1%} (±{one.half:.0%}, {'in' if one.held else 'OUT'})"
            for ranks, one in self.by_ranks.items()
        ]
        tested = "" if self.held_out is None else f"; held out {self.held_out:+.1%}"
        return "; ".join(cells) + tested


@dataclass
class Bed:
    """A simulated machine, and what one may use of it."""

    folder: Path
    nodes: int
    mapped: bool

    def make(self, machine: str) -> None:
        """Write the platform, and the hosts of programs and of measurements."""
        self.folder.mkdir(parents=True, exist_ok=True)
        platform = parse(machine)
        hosts = platform.hosts().splitlines(keepends=True)
        (self.folder / "P.xml").write_text(platform.xml())
        (self.folder / "P.hosts").write_text("".join(hosts))
        (self.folder / "some.hosts").write_text("".join(hosts[: self.nodes]))
        if self.mapped and not (self.folder / "map.jsonl").exists():
            subprocess.run(
                [*ISOCHRONE, "measure", "latency-map", "-n", str(len(hosts)), "--launcher",
                 "simgrid", "--platform", self.folder / "P.xml", "--repeats", "1", "--warmup", "0",
                 "--retest", "0", "--bytes", ",".join(map(str, SIZES)), "-o",
                 self.folder / "map.jsonl"],
                check=True, timeout=PATIENCE, capture_output=True,
            )  # fmt: skip

    def truth(self, here: Path, ranks: int, program: list[str]) -> float:
        """Return the seconds of the slowest rank of the program itself."""
        path = here / f"{ranks}.txt"
        if not path.exists():
            smpirun = shutil.which("smpirun") or "smpirun"
            argv = [smpirun, "-np", str(ranks), "-platform", self.folder / "P.xml", "-hostfile",
                    self.folder / "P.hosts", *QUIET, *EXACT, *program]  # fmt: skip
            said = subprocess.run(argv, capture_output=True, text=True, check=True,
                                  timeout=PATIENCE)  # fmt: skip
            path.write_text(said.stdout)
        return max(float(line.split()[1]) for line in path.read_text().splitlines())

    def outcome(self, style: str, given: list[str], seed: int) -> Outcome:
        """Record, predict and simulate one program."""
        here = self.folder / f"{style}-{seed}"
        here.mkdir(exist_ok=True)
        program = [str((self.folder.parent / "styles").absolute()), style, *given]
        recordings = [here / f"isochrone-scale/styles-{ranks}.jsonl" for ranks in FROM]
        there = all(path.exists() for path in recordings)
        asked = ["-n", ",".join(map(str, FROM))]
        argv = [
            *ISOCHRONE, "scale", *([] if there else [*asked, "--force"]),
            "--to", ",".join(map(str, TO)), "--folder", here / "isochrone-scale",
            "--launcher", "simgrid", "--platform", self.folder / "P.xml",
            "--platform-hosts", self.folder / "some.hosts", "--quiet", "--json",
            "--launcher-arg=--cfg=smpi/simulate-computation:no",
            *(["--map", self.folder / "map.jsonl"] if self.mapped else []), "--",
            *(recordings if there else program),
        ]  # fmt: skip
        try:
            said = subprocess.run(argv, capture_output=True, text=True, check=False,
                                  timeout=PATIENCE)  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(refused=f"took more than {PATIENCE} s")
        (here / "said.txt").write_text(said.stdout + said.stderr)
        if said.returncode:
            last = (said.stderr.strip().splitlines() or ["nothing was said"])[-1]
            crash = "" if said.returncode in REFUSED else f"CRASH {said.returncode}: "
            return Outcome(refused=crash + last.removeprefix("isochrone: "))
        lines = [line for line in said.stdout.splitlines() if line.startswith("{")]
        found = json.loads(lines[-1])
        outcome = Outcome(held_out=found["held_out_error"])
        for at in found["predictions"]:
            true = self.truth(here, at["ranks"], program)
            outcome.by_ranks[at["ranks"]] = Predicted(
                at["seconds"] / true - 1, (at["high"] - at["low"]) / 2 / at["seconds"],
                at["low"] <= true <= at["high"],
            )  # fmt: skip
        return outcome


def summary(outcomes: list[Outcome]) -> list[str]:
    """Return the rates, by number of ranks, and the reasons of refusals."""
    lines = []
    predicted = [one for one in outcomes if not one.refused]
    for ranks in TO if predicted else ():
        at = [one.by_ranks[ranks] for one in predicted]
        errors = [abs(one.error) for one in at]
        lines.append(
            f"{ranks} ranks: {sum(one.held for one in at)} of {len(at)} in the interval, "
            f"median error {statistics.median(errors):.1%}, largest {max(errors):.1%}, "
            f"median half width {statistics.median(one.half for one in at):.0%}"
        )
    reasons = Counter(one.refused for one in outcomes if one.refused)
    lines.append(f"{reasons.total()} of {len(outcomes)} programs refused")
    lines += [f"  {count} x {reason}" for reason, count in reasons.most_common()]
    return lines


def main() -> None:
    """Build, and go through machines, seeds and styles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--switches", default="1", help="some of " + ",".join(MACHINES))
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--nodes", type=int, default=max(FROM), help="that measurements may use")
    parser.add_argument("--no-map", action="store_true", help="levels of the machine: not known")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    sources = [Path(__file__).parent / "programs" / name for name in SOURCES]
    subprocess.run(["smpicc", "-std=c11", "-D_GNU_SOURCE", "-O1", *sources, "-o",
                    args.folder / "styles"], check=True)  # fmt: skip
    outcomes = []
    for switches in args.switches.split(","):
        bed = Bed((args.folder / switches).absolute(), args.nodes, not args.no_map)
        bed.make(MACHINES[switches])
        for seed in args.seeds.split(","):
            for style in args.styles.split(","):
                given = words(style, random.Random(f"{style} {seed}"))
                outcomes.append(bed.outcome(style, given, int(seed)))
                name = f"[{switches}] {style} {' '.join(given)}"
                print(f"{name}: {outcomes[-1]}", flush=True)
    print(*summary(outcomes), sep="\n")


if __name__ == "__main__":
    main()
