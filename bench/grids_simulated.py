"""Grid collectives on simulated machines: what they gain, and whether the prediction chooses right.

python bench/grids_simulated.py [--ranks 64,48] [--placements block,cyclic]
    [--selectors mpich,ompi] [--operations bcast,allgather]

16 nodes behind two switches, 4 ranks on each (6 of 96). For each selector of algorithms, placement
and number of ranks:

- **gain**: the best grid against the library's default, the *best* algorithm the library has under
  any name, and Bine trees (`bine.c`; bcast and allgather);
- **choice**: models are fitted to some sizes, asked for the sizes between them, and what the
  realisation that they call the best costs there against the one that is the best.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from isochrone.base.units import format_bytes, format_seconds
from isochrone.collectives.grid_collectives import OPERATIONS, all_grids
from isochrone.collectives.results.grid_collectives import LIBRARY, points
from isochrone.measure.launchers.simgrid import EXACT, QUIET
from isochrone.runfile.file import read

HERE = Path(__file__).parent
ISOCHRONE = [sys.executable, "-m", "isochrone"]
FITTED = "1KiB,16KiB,128KiB"
BETWEEN = "4KiB,64KiB"
TIMEOUT = 900
REPEATS = ("--repeats", "2", "--warmup", "1")

Times = dict[tuple[str, int], dict[str, float]]
"""Seconds of each realisation, by operation and bytes."""


@dataclass
class Machine:
    """A simulated machine, and what all of its measurements share."""

    folder: Path
    selector: str
    placement: str
    ranks: int
    words: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Describe it."""
        platform = self.folder / f"{self.placement}.xml"
        line = f"nodes:16 cores:{self.ppn} switches:2 placement:{self.placement}"
        run([*ISOCHRONE, "platform", line, "-o", str(platform), "--force"])
        self.words = ["--platform", str(platform), "-n", str(self.ranks), "--quiet", "--force"]

    @property
    def ppn(self) -> int:
        """Ranks on each node."""
        return max(4, -(-self.ranks // 16))

    def measure(self, name: str, *words: str, algorithms: str = "") -> Path:
        """Measure collectives; ``algorithms`` are forced beside the selector."""
        forced = ",".join(filter(None, [f"selector={self.selector}", algorithms]))
        path = self.folder / f"{name}.jsonl"
        command = [*ISOCHRONE, "measure", "collective", *REPEATS, "--algorithm", forced]
        run([*command, *words, *self.words, "-o", str(path)])
        return path


def run(words: list[str]) -> str:
    """Run a command to its end and return what it printed."""
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout


def totals(path: Path) -> Times:
    """Return the time of each realisation of whole operations."""
    found: Times = {}
    for point in points(read(path)):
        if point.phase == "total":
            found.setdefault((point.op, point.bytes), {})[point.grid] = point.seconds
    return found


def best_of_library(machine: Machine, wanted: str) -> Times:
    """Measure each algorithm of an operation by itself; those that fail are left out."""
    listed = run([*ISOCHRONE, "measure", "collective", "--algorithm", "list", *machine.words[:2]])
    found: Times = {}
    for listed_op in listed.splitlines():
        op, _, rest = listed_op.partition(" ")
        for name in rest.split() if op == wanted else ():
            try:
                words = ("--op", op, "--bytes", BETWEEN, "--sync", "window")
                path = machine.measure("algorithm", *words, algorithms=f"{op}={name}")
            except subprocess.SubprocessError:
                continue  # not for this number of ranks
            for point, times in totals(path).items():
                found.setdefault(point, {})[name] = times[LIBRARY]
    return found


def bine(machine: Machine) -> Times:
    """Measure Bine trees."""
    program, platform = machine.folder / "bine", Path(machine.words[1])
    run(["smpicc", "-O2", str(HERE / "bine.c"), "-o", str(program)])
    words = ["smpirun", "-np", str(machine.ranks), "-platform", str(platform)]
    words += ["-hostfile", str(platform.with_suffix(".hosts")), *QUIET, *EXACT]
    found: Times = {}
    for line in run([*words, str(program), "2", "4096", "65536"]).splitlines():
        if match := re.fullmatch(r"(\w+) (\d+) (\S+)", line):
            found[match[1], int(match[2])] = {"Bine": float(match[3])}
    return found


def predicted(
    machine: Machine, model: Path, op: str, size: int, grids: list[str]
) -> dict[str, float]:
    """Return the predicted time of each realisation that was measured."""
    words = ["--op", op, "--ranks", str(machine.ranks), "--grid", "all", "--bytes", str(size)]
    words += ["--nodes", "16", "--placement", machine.placement]
    answer = json.loads(
        run([*ISOCHRONE, "predict", "collective", *words, "--model", str(model), "--json"])
    )
    known = {row["grid"]: row["seconds"] for row in answer["predictions"]}
    return {grid: known[grid] for grid in grids if grid in known}


def study(machine: Machine, operations: Sequence[str]) -> tuple[list[float], list[float]]:
    """Print one table; return the errors of predicted totals, and what the choices cost."""
    print(f"\n{machine.selector}, {machine.placement}, {machine.ranks} ranks on 16 nodes")
    trees = bine(machine)
    errors, costs = [], []
    for op in operations:
        try:
            found = realisations(machine, op)
        except subprocess.SubprocessError as error:
            print(f"{op:>20} fails in SimGrid: {error}")
            continue
        for size, times, guess, library in found:
            off = [abs(guess[grid] / times[grid] - 1) for grid in guess if grid != LIBRARY]
            choice = min(guess, key=lambda grid: guess[grid])
            errors += off
            costs.append(times[choice] / min(times.values()) - 1)
            tree = trees.get((op, size), {}).get("Bine")
            print(line(op, size, times, library, tree), end="  ")
            print(f"predicted off by {100 * np.mean(off):.1f} %", end="  ")
            print(f"chosen {choice} costs {100 * costs[-1]:.1f} % more", flush=True)
    return errors, costs


def realisations(
    machine: Machine, op: str
) -> list[tuple[int, dict[str, float], dict[str, float], dict[str, float]]]:
    """Return for each size between: times, predicted times, and those of library algorithms."""
    grids = ",".join(grid.word for grid in all_grids(machine.ranks))
    words = ("--op", op, "--grid", grids, "--sync", "window")
    fitted = machine.measure("fitted", *words, "--bytes", FITTED)
    truth = totals(machine.measure("truth", *words, "--bytes", BETWEEN))
    model = machine.folder / "model.json"
    run([*ISOCHRONE, "fit", str(fitted), "-o", str(model), "--force"])
    library = best_of_library(machine, op)
    return [
        (size, times, predicted(machine, model, op, size, list(times)), library.get((op, size), {}))
        for (_, size), times in truth.items()
    ]


def line(
    op: str, size: int, times: dict[str, float], library: dict[str, float], tree: float | None
) -> str:
    """Write the times of one point: default, best algorithm, best grid, gains over both, Bine."""
    best = min((grid for grid in times if grid != LIBRARY), key=lambda grid: times[grid])
    strongest = min(library, key=lambda name: library[name], default="?")
    least = min([*library.values(), times[LIBRARY]])
    words = [
        f"{op:>20} {format_bytes(size):>7}  default {format_seconds(times[LIBRARY]):>8}",
        f"best {format_seconds(least):>8} ({strongest})",
        f"{best} {format_seconds(times[best]):>8}",
        f"gain {times[LIBRARY] / times[best]:.2f}, {least / times[best]:.2f}",
        f"Bine {format_seconds(tree)}" if tree else "",
    ]
    return "  ".join(filter(None, words))


def main() -> None:
    """Study all machines that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="64,48")
    parser.add_argument("--placements", default="block,cyclic")
    parser.add_argument("--selectors", default="mpich,ompi")
    parser.add_argument("--operations", default=",".join(OPERATIONS))
    args = parser.parse_args()
    errors: list[float] = []
    costs: list[float] = []
    for selector in args.selectors.split(","):
        for placement in args.placements.split(","):
            for ranks in map(int, args.ranks.split(",")):
                with tempfile.TemporaryDirectory() as scratch:
                    machine = Machine(Path(scratch), selector, placement, ranks)
                    found = study(machine, args.operations.split(","))
                errors += found[0]
                costs += found[1]
    print(
        f"\npredicted totals of grids: {100 * np.mean(errors):.1f} % off on average"
        f" (median {100 * np.median(errors):.1f} %, worst {100 * max(errors):.0f} %)\n"
        f"chosen realisations that cost at most 3 % more than the best:"
        f" {100 * np.mean(np.array(costs) <= 0.03):.0f} % of {len(costs)}"
    )


if __name__ == "__main__":
    main()
