"""A real Jacobi iteration, an emulated one and a predicted one, side by side.

    python examples/jacobi/compare.py -n 2 --folder jacobi
    python examples/jacobi/compare.py -n 16 --grid 4x4 --platform P.xml --folder jacobi

builds jacobi.c, fits models of the collective operations it uses (`isochrone measure collective`,
`fit`), and does in each round, in random order: t_op measured with the block that a rank of the
program has, all ranks at once (`measure compute`); the program; its description emulated with the
t_op of this round (`emulate`). In the end the descriptions are predicted with the middle t_op
(`predict app`). With --grid everything is done a second time with the collective operations in two
phases: the unmodified program then runs under `isochrone exec`, or in a simulation with the grid of
its own.

What is compared is the time of the iteration in the middle (of each start, on the slowest rank); of
the rounds the median, with its interval.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from isochrone import read
from isochrone.base.inference import even_median_interval
from isochrone.base.units import format_seconds
from isochrone.collectives import tuning_table
from isochrone.collectives.tuning_table import Rule, Table

HERE: Final = Path(__file__).parent

KERNELS: Final = {"row": "dot", "column": "axpy"}
"""What the variants compute."""

COLLECTIVES: Final = {"row": ("allgather",), "column": ("reduce", "bcast")}


@dataclass(frozen=True)
class Case:
    """A variant, and its grid (empty: the library's own operations)."""

    variant: str
    grid: str

    @property
    def name(self) -> str:
        """As a part of file names."""
        return "-".join(filter(None, [self.variant, self.grid]))

    @property
    def title(self) -> str:
        """For a person."""
        return f"{self.variant}, {self.grid or 'library'}"


def started(words: Sequence[object], environ: dict[str, str] | None = None) -> str:
    """Start a command, and return what it prints; end with it if it fails."""
    tokens = [str(word) for word in words]
    done = subprocess.run(
        tokens,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **(environ or {})},
    )
    if done.returncode:
        sys.exit(f"failed: {shlex.join(tokens)}")
    return done.stdout


def isochrone(*words: object) -> str:
    """Run the command line."""
    return started([sys.executable, "-m", "isochrone", *words])


class Study:
    """One machine, one number of ranks, one n."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.folder: Path = args.folder
        self.cases = [Case(v, grid) for grid in ["", *args.grid] for v in args.variant]
        self.setup: list[object] = ["-n", args.ranks]
        for option in ("mpicc", "platform"):
            if value := getattr(args, option):
                self.setup += [f"--{option}", value]
        self.setup += [f"--launcher-arg={word}" for word in args.launcher_arg]
        self.lines = -(-args.n // args.ranks)  # rows or columns of a rank
        self.found: dict[Case, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.phases: dict[Case, dict[str, dict[str, list[float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )

    # --- once ---

    def built(self) -> Path:
        """Build the program with the optimisation of the probe."""
        build = (self.folder / "build").resolve()
        if self.args.platform:
            started(["make", "-s", "-C", HERE, f"BUILD={build}", "simulated"])
            return build / "jacobi-simulated"
        mpicc = [f"MPICC={self.args.mpicc.resolve()}"] if self.args.mpicc else []
        started(["make", "-s", "-C", HERE, f"BUILD={build}", *mpicc])
        return build / "jacobi"

    def model(self) -> Path:
        """Fit a model of the collective operations at sizes around those of the program."""
        path = self.folder / "model.json"
        wanted = {8 * self.lines, 8 * self.args.n}
        sizes = sorted({max(8, 8 * int(b / 8 * f)) for b in wanted for f in (0.25, 0.5, 1, 2, 4)})
        run = self.folder / "collective.jsonl"
        options = ["--grid", ",".join(self.args.grid)] if self.args.grid else []
        # Simulated ranks end computing at one moment, as the samples of a window begin.
        options += ["--sync", "window"] if self.args.platform else []
        operations = [op for variant in self.args.variant for op in COLLECTIVES[variant]]
        isochrone(
            "measure", "collective", *self.setup, "--quiet", "--force", "-o", run, *options,
            "--op", ",".join(operations), "--bytes", ",".join(map(str, sizes)),
        )  # fmt: skip
        isochrone("fit", run, "-o", path, "--force", "--json")
        return path

    def launcher(self) -> list[str]:
        """Return the words that start the probe, up to the probe."""
        words = shlex.split(isochrone("measure", "compute", *self.setup, "--dry-run"))
        probe = next(k for k, word in enumerate(words) if word.endswith("/isochrone-probe"))
        return words[:probe]

    def table(self, grid: str) -> Path:
        """Write a tuning table that has all operations done on a grid, whatever it costs."""
        path = self.folder / f"tuning-{grid}.json"
        library = read(self.folder / "collective.jsonl").library.library
        rules = [
            Rule(op, self.args.ranks, (0, 2**31), grid, [(8, 2.0, 1.0)])
            for ops in COLLECTIVES.values() for op in ops
        ]  # fmt: skip
        tuning_table.write(path, Table(tuning_table.mpi_name(library), rules))
        return path

    def description(self, case: Case) -> Path:
        """Return the description of a case: that of the variant, its collectives on the grid."""
        text = (HERE / f"{case.variant}.yaml").read_text()
        if case.grid:
            text = re.sub(r"\{(bytes: [^}]*)\}", rf"{{\1, grid: {case.grid}}}", text)
        text = re.sub(r"iterations: \d+", f"iterations: {self.args.iterations}", text)
        path = self.folder / f"{case.name}.yaml"
        path.write_text(text)
        return path

    # --- in each round ---

    def t_op(self, variant: str) -> float:
        """Measure t_op on all ranks at once, with blocks as those of the program."""
        run, op = self.folder / f"compute-{variant}.jsonl", KERNELS[variant]
        isochrone(
            "measure", "compute", *self.setup, "--quiet", "--force", "-o", run, "--op", op,
            "--length", self.args.n, "--bytes", 8 * self.args.n * self.lines,
        )  # fmt: skip
        curves = json.loads(isochrone("show", run, "--json"))["curves"]
        return float(max(curves, key=lambda curve: curve["p"])["points"][0]["t_op"])

    def real(self, case: Case, t_op: float) -> None:
        """Run the program."""
        options: list[object] = ["--n", self.args.n, "--iterations", self.args.iterations,
                                 "--variant", case.variant]  # fmt: skip
        options += ["--t-op", t_op] if self.args.platform else []
        words: list[object] = [*self.start, self.program, *options]
        if case.grid and self.args.platform:
            words += ["--grid", case.grid]
        elif case.grid:
            words = [sys.executable, "-m", "isochrone", "run", "--tuning", self.table(case.grid),
                     *(["--mpicc", self.args.mpicc] if self.args.mpicc else []),
                     "--", *words]  # fmt: skip
        (line,) = [json.loads(line) for line in started(words).splitlines() if line[:1] == "{"]
        self.found[case]["real"].append(line["median"])
        for phase, seconds in line["phases"].items():
            self.phases[case]["real"][phase].append(seconds)

    def emulated(self, case: Case, t_op: float) -> None:
        """Emulate the description."""
        out = self.folder / f"emulated-{case.name}.jsonl"
        isochrone(
            "emulate", self.description(case), *self.setup, "--quiet", "--force", "-o", out,
            "--repeats", 1, *self.values(t_op),
        )  # fmt: skip
        tables = read(out).tables
        self.found[case]["emulated"].append(float(np.median(tables["iterations"]["seconds"][0])))
        names = tables["phase"]["name"].tolist()
        for name, seconds in zip(names, tables["phase_time"]["mean"].tolist(), strict=True):
            self.phases[case]["emulated"][name].append(seconds)

    def values(self, t_op: float) -> list[object]:
        """Return the parameters of a description as options."""
        return ["--set", f"n={self.args.n}", "--set", f"t_op={1e9 * t_op:.6g}ns"]

    def round(self) -> None:
        """Measure t_op and do all cases, in random order."""
        tasks = [(do, case) for case in self.cases for do in (self.real, self.emulated)]
        t_op = {}
        for variant in self.args.variant:
            t_op[variant] = self.t_op(variant)
        for case in self.cases:
            self.found[case]["t_op"].append(t_op[case.variant])
        random.shuffle(tasks)
        for do, case in tasks:
            do(case, t_op[case.variant])

    # --- in the end ---

    def predict(self, case: Case, model: Path) -> None:
        """Predict the description with the middle t_op."""
        t_op = float(np.median(self.found[case]["t_op"]))
        text = isochrone(
            "predict", "app", self.description(case), "--model", model, "-n", self.args.ranks,
            *self.values(t_op), "--json",
        )  # fmt: skip
        for row in json.loads(text)["predictions"]:
            if row["phase"] is None:
                self.found[case]["predicted"].append(row["seconds"] / row["iterations"])
            else:
                self.phases[case]["predicted"][row["phase"]].append(row["seconds"])

    def run(self) -> None:
        """Do it all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = self.built()
        self.start = self.launcher()
        model = self.model()
        for number in range(self.args.rounds):
            print(f"round {number + 1} of {self.args.rounds}", file=sys.stderr, flush=True)
            self.round()
        for case in self.cases:
            self.predict(case, model)

    def document(self) -> dict[str, Any]:
        """Return all that was found."""
        return {
            "ranks": self.args.ranks, "n": self.args.n,
            "cases": [
                {"variant": case.variant, "grid": case.grid, **self.found[case],
                 "phases": self.phases[case]}
                for case in self.cases
            ],
        }  # fmt: skip


def middle(values: Sequence[float]) -> str:
    """Write a median with its interval."""
    low, high = even_median_interval(values)
    text = format_seconds(float(np.median(values)))
    return text if math.isnan(low) else f"{text} ({format_seconds(low)} … {format_seconds(high)})"


def table_of(study: Study) -> str:
    """Tabulate the iterations, and below each its phases."""
    ways = ("real", "emulated", "predicted")
    lines = [f"{'iteration':<20}{'t_op':>10}{'real':>34}{'emulated':>34}{'predicted':>12}"
             f"{'emulated':>11}{'predicted':>11}"]  # fmt: skip
    for case in study.cases:
        found = study.found[case]
        real = np.median(found["real"])
        off = [100 * (np.median(found[way]) / real - 1) for way in ways[1:]]
        lines.append(
            f"{case.title:<20}{format_seconds(float(np.median(found['t_op']))):>10}"
            f"{middle(found['real']):>34}{middle(found['emulated']):>34}"
            f"{format_seconds(found['predicted'][0]):>12}{off[0]:>+10.1f}%{off[1]:>+10.1f}%"
        )
    lines.append("")
    lines.append(f"{'phase, mean':<31}{'real':>11}{'emulated':>11}{'predicted':>11}")
    for case in study.cases:
        for phase in study.phases[case]["real"]:
            cells = [study.phases[case][way].get(phase, [math.nan]) for way in ways]
            lines.append(
                f"{case.title + ', ' + phase:<31}"
                + "".join(f"{format_seconds(float(np.median(cell))):>11}" for cell in cells)
            )
    return "\n".join(lines)


def main() -> None:
    """Compare, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--n", type=int, default=512, help="rows of the matrix")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--variant", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--grid", nargs="+", default=[], help="also in two phases, such as 4x4")
    parser.add_argument("--folder", type=Path, default=Path("jacobi"))
    parser.add_argument("--mpicc", type=Path)
    parser.add_argument("--platform", type=Path, help="simulate this machine")
    parser.add_argument("--launcher-arg", action="append", default=[])
    study = Study(parser.parse_args())
    study.run()
    print(table_of(study))
    (study.folder / "result.json").write_text(json.dumps(study.document(), indent=1) + "\n")


if __name__ == "__main__":
    main()
