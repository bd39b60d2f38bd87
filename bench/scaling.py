"""Programs of fifteen styles, recorded on 4, 8 and 16 ranks, predicted on 32, 64 and 128: SimGrid.

    python bench/scaling.py FOLDER [--switches 1|8|pods] [--seeds 1,2] [--styles stencil,farm]
                            [--codes BIN] [--nodes 16] [--no-map]

Parameters are random (size, iterations, strong or weak scaling, imbalance). Each program is also
simulated on the large numbers of ranks: that is the truth. Measurements get the nodes of the
largest recording (`--nodes 128`: all), and a latency map of the whole machine. Prints the error
of each prediction, the half width of its interval, and whether that holds the truth; then how many
hold it, how many do not, and why the others were refused. `--codes` takes public codes instead, as
`bench/programs/build.sh` builds them with smpicc: recorded on 8, 27 and 64 ranks, predicted on 125.

What FOLDER holds already (recordings, measurements, truths) is not made again: after a change of
the code, only predictions are.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from isochrone.applications.description.grids import balanced
from isochrone.applications.predict.levels import SIZES
from isochrone.measure.launchers.simgrid import EXACT
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

CODES_FROM, CODES_TO = (8, 27, 64), (125,)
CODES = {
    "lulesh": "-s 12 -i 100",
    "stencil3d": "{grid3} 8 8 8 1 20",
    "stencil4d": "{grid4} 4 4 4 4 1 20",
    "subcom3d-a2a": "{grid3} 4096 4096 4096 50",
    "spread": "1 4 8 4096 20",
}
"""Arguments of public codes."""

SOURCES = ("styles.c", "grid_styles.c", "other_styles.c")
PATIENCE = 900
"""Seconds for one command."""

CLOCK = (
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/display-timing:yes",
    "--log=smpi_utils.thres:info",
)
"""Options of a simulation that prints the simulated time."""

REFUSED = (2, 3)
"""Exit codes of a command that gives a reason."""


def words(style: str, rng: random.Random) -> list[str]:
    """Return the random arguments of a program."""
    steps = rng.randint(10, 40)
    us = 10 ** rng.uniform(-3, -1)
    weak = rng.randint(0, 1)
    given: list[float] = {
        "stencil": [
            rng.choice([2, 3]),
            16 if weak else 96,
            steps,
            rng.randint(1, 10),
            weak,
            us,
            rng.choice([0, 0.05, 0.2]),
        ],
        "wavefront": [
            rng.choice([64, 128, 200]),
            rng.randint(2, 5),
            rng.randint(3, 10),
            rng.choice([1, 2, 4]),
            us,
        ],
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
    }[style]
    return [f"{one:g}" for one in given]


STYLES = (
    "stencil",
    "wavefront",
    "rowcol",
    "pencils",
    "cg2",
    "summa",
    "subcom3",
    "multigrid",
    "cg",
    "farm",
    "chain",
    "particles",
    "ring",
    "mesh",
    "sandwich",
)


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
                [
                    *ISOCHRONE,
                    "measure",
                    "latency-map",
                    "-n",
                    str(len(hosts)),
                    "--launcher",
                    "simgrid",
                    "--platform",
                    self.folder / "P.xml",
                    "--repeats",
                    "1",
                    "--warmup",
                    "0",
                    "--retest",
                    "0",
                    "--bytes",
                    ",".join(map(str, SIZES)),
                    "-o",
                    self.folder / "map.jsonl",
                ],
                check=True,
                timeout=PATIENCE,
                capture_output=True,
            )

    def style(self, style: str, given: list[str], seed: int) -> Outcome:
        """Record, predict and simulate a program of a style."""
        program = [str((self.folder.parent / "styles").absolute()), style, *given]

        def truth(output: str) -> float:  # of the slowest rank, after MPI_Init
            rows = [line.split() for line in output.splitlines() if line[0].isdecimal()]
            return max(float(seconds) for _, seconds in rows)

        return self.outcome(program, f"{style}-{seed}", FROM, TO, truth)

    def code(self, binary: Path) -> Outcome:
        """Record, predict and simulate a public code."""
        program = [str(binary.absolute()), *CODES[binary.name].split()]

        def truth(output: str) -> float:  # from MPI_Init to the end
            return float(re.search(r"Simulated time: (\S+) seconds", output)[1])

        return self.outcome(program, binary.name, CODES_FROM, CODES_TO, truth)

    def simulated(self, here: Path, ranks: int, program: list[str]) -> str:
        """Return what the program itself and the simulator print."""
        path = here / f"{ranks}.txt"
        if not path.exists():
            smpirun = shutil.which("smpirun") or "smpirun"
            argv = [
                smpirun,
                "-np",
                str(ranks),
                "-platform",
                self.folder / "P.xml",
                "-hostfile",
                self.folder / "P.hosts",
                *CLOCK,
                *EXACT,
                *expanded(program, ranks),
            ]
            answer = subprocess.run(
                argv, capture_output=True, text=True, check=True, timeout=PATIENCE
            )
            timed = [line for line in answer.stderr.splitlines() if "Simulated time" in line]
            path.write_text(answer.stdout if timed == [] else answer.stdout + timed[0])
        return path.read_text()

    def outcome(
        self,
        program: list[str],
        name: str,
        recorded: Sequence[int],
        targets: Sequence[int],
        truth: Callable[[str], float],
    ) -> Outcome:
        """Record, predict and simulate one program; `truth` reads seconds from what it prints."""
        here = self.folder / name
        here.mkdir(exist_ok=True)
        stem = Path(program[0]).name
        recordings = [here / f"isochrone-scale/{stem}-{ranks}.jsonl" for ranks in recorded]
        there = all(path.exists() for path in recordings)
        argv = [
            *ISOCHRONE,
            "scale",
            *([] if there else ["-n", ",".join(map(str, recorded)), "--force"]),
            "--to",
            ",".join(map(str, targets)),
            "--folder",
            here / "isochrone-scale",
            "--launcher",
            "simgrid",
            "--platform",
            self.folder / "P.xml",
            "--platform-hosts",
            self.folder / "some.hosts",
            "--quiet",
            "--json",
            "--launcher-arg=--cfg=smpi/simulate-computation:no",
            *(["--map", self.folder / "map.jsonl"] if self.mapped else []),
            "--",
            *(recordings if there else program),
        ]
        try:
            answer = subprocess.run(
                argv, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return Outcome(refused=f"took more than {PATIENCE} s")
        (here / "said.txt").write_text(answer.stdout + answer.stderr)
        if answer.returncode:
            last = (answer.stderr.strip().splitlines() or ["nothing was said"])[-1]
            crash = "" if answer.returncode in REFUSED else f"CRASH {answer.returncode}: "
            return Outcome(refused=crash + last.removeprefix("isochrone: "))
        lines = [line for line in answer.stdout.splitlines() if line.startswith("{")]
        prediction = json.loads(lines[-1])
        outcome = Outcome(held_out=prediction["held_out_error"])
        for at in prediction["predictions"]:
            true = truth(self.simulated(here, at["ranks"], program))
            outcome.by_ranks[at["ranks"]] = Predicted(
                at["seconds"] / true - 1,
                (at["high"] - at["low"]) / 2 / at["seconds"],
                at["low"] <= true <= at["high"],
            )
        return outcome


def expanded(program: list[str], ranks: int) -> list[str]:
    """Return the arguments of a program on so many ranks, as `scale` writes them."""
    grid = {f"{{grid{k}}}": " ".join(map(str, balanced(ranks, k))) for k in (2, 3, 4)}
    return " ".join(grid.get(word, word) for word in program).split()


def summary(outcomes: list[Outcome]) -> list[str]:
    """Return the rates, by number of ranks, and the reasons of refusals."""
    lines = []
    predicted = [one for one in outcomes if not one.refused]
    for ranks in predicted[0].by_ranks if predicted else ():
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


def programs(
    folder: Path,
    machines: Sequence[str],
    styles: Sequence[str],
    seeds: Sequence[str],
    nodes: int = max(FROM),
    mapped: bool = True,
) -> Iterator[tuple[str, Outcome]]:
    """Yield random programs of styles on machines, and what became of their predictions."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [Path(__file__).parent / "programs" / name for name in SOURCES]
    subprocess.run(
        ["smpicc", "-std=c11", "-D_GNU_SOURCE", "-O1", *sources, "-o", folder / "styles"],
        check=True,
    )
    for machine in machines:
        bed = Bed((folder / machine).absolute(), nodes, mapped)
        bed.make(MACHINES[machine])
        for seed in seeds:
            for style in styles:
                given = words(style, random.Random(f"{style} {seed}"))
                yield f"[{machine}] {style} {' '.join(given)}", bed.style(style, given, int(seed))


def codes(
    folder: Path, binaries: Path, machines: Sequence[str], nodes: int = 128, mapped: bool = True
) -> Iterator[tuple[str, Outcome]]:
    """Yield the public codes that are built, on machines, and what became of their predictions."""
    for machine in machines:
        bed = Bed((folder / machine).absolute(), nodes, mapped)
        bed.make(MACHINES[machine])
        for name in CODES:
            if (binaries / name).exists():
                yield f"[{machine}] {name} {CODES[name]}", bed.code(binaries / name)


def main() -> None:
    """Build, and go through machines, seeds and styles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--switches", default="1", help="some of " + ",".join(MACHINES))
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--codes", type=Path, metavar="BIN", help="folder with public codes")
    parser.add_argument("--nodes", type=int, default=max(FROM), help="that measurements may use")
    parser.add_argument("--no-map", action="store_true", help="levels of the machine: not known")
    args = parser.parse_args()
    outcomes = []
    machines, styles = args.switches.split(","), args.styles.split(",")
    for name, outcome in (
        codes(args.folder, args.codes, machines, args.nodes, not args.no_map)
        if args.codes
        else programs(
            args.folder, machines, styles, args.seeds.split(","), args.nodes, not args.no_map
        )
    ):
        outcomes.append(outcome)
        print(f"{name}: {outcome}", flush=True)
    print(*summary(outcomes), sep="\n")


if __name__ == "__main__":
    main()
