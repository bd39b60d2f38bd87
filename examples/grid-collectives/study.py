"""How well are collectives on grids predicted? Measured on a simulated cluster, and tried.

    python examples/grid-collectives/study.py --folder study

makes a cluster of 16 nodes of 4 ranks behind 2 switches (`isochrone platform`), measures the six
operations of Kuehnemann, Rauber and Ruenger on all grids of 48 and of 64 ranks in SimGrid, fits
models, and predicts what the models were not fitted to: sizes between, grids that were left out,
and another number of ranks. It prints a table, and draws measured and predicted times
(grids-48.png, grids-64.png). About eight minutes on two cores; needs SimGrid (Debian:
libsimgrid-dev).

In cyclic placement, SimGrid 3.32's selector mpich deadlocks in groups of uneven nodes, as of 48
ranks on 16 nodes: there take --selector ompi.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from collections.abc import Iterable
from copy import copy
from pathlib import Path

import numpy as np

from isochrone import models, read
from isochrone.collectives.grid_collectives import all_grids
from isochrone.collectives.predicted_grids import Compared, compare, summarised
from isochrone.models import Model
from isochrone.runfile.run import Run

OPERATIONS = ("bcast", "gather", "scatter", "reduce", "allreduce", "allgather")

FITTED = "64,256,1KiB,4KiB,16KiB,64KiB,256KiB"
BETWEEN = "128,512,2KiB,8KiB,32KiB,128KiB"

LEFT_OUT = {48: "6x8", 64: "8x8"}
"""Grids whose measurements are kept from a model that has to predict them."""

OTHER = 56
"""A number of ranks that no model was fitted to."""


def isochrone(*words: object) -> None:
    """Run the command line, and end with it if it fails."""
    command = [sys.executable, "-m", "isochrone", *map(str, words)]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"failed: {' '.join(command)}")


def measured(args: argparse.Namespace, ranks: int, sizes: str, name: str) -> Run:
    """Measure all grids in simulation, unless the folder has it; return the run."""
    path = args.folder / f"{name}-{ranks}.jsonl"
    if not path.exists():
        grids = ",".join(grid.word for grid in all_grids(ranks))
        isochrone(
            "measure", "collective", "-n", ranks, "--launcher", "simgrid",
            "--platform", args.folder / "cluster.xml",
            f"--launcher-arg=--cfg=smpi/coll-selector:{args.selector}",
            "--op", ",".join(OPERATIONS), "--grid", grids, "--bytes", sizes,
            "--sync", "window", "--repeats", 2, "--warmup", 1, "--quiet", "-o", path,
        )  # fmt: skip
    return read(path)


def without(run: Run, grid: str) -> Run:
    """Return a run that never heard of one of its grids."""
    table = run.tables["sample"]
    kept = {**run.tables, "sample": table.where(table["grid"] != grid)}
    return Run(run.header, run.ranks, kept, run.warnings, run.end, run.path)


def totals(compared: Iterable[Compared], grid: str = "") -> list[Compared]:
    """Return whole operations on grids, or on one of them."""
    return [
        one for one in compared
        if one.part == "total" and one.grid != "library" and grid in ("", one.grid)
    ]  # fmt: skip


def regret(compared: Iterable[Compared]) -> list[float]:
    """Return what each choice by prediction costs more than the best: library or any grid."""
    points: dict[tuple[str, int, int], list[Compared]] = {}
    for one in compared:
        if one.part == "total":
            points.setdefault((one.op, one.ranks, one.bytes), []).append(one)
    return [
        min(of, key=lambda one: one.predicted).measured / min(one.measured for one in of) - 1
        for of in points.values()
    ]


def line(name: str, compared: list[Compared]) -> str:
    """Write the mean deviation of each operation, and of all, in per cent."""
    cells = []
    for op in OPERATIONS:
        found = summarised(one for one in compared if one.op == op)
        cells.append("      –" if found is None else f"{100 * found.average:7.1f}")
    overall = summarised(compared)
    cells.append("      –" if overall is None else f"{100 * overall.average:7.1f}")
    return f"{name:<34}{''.join(f'{cell:>11}' for cell in cells)}"


def main() -> None:
    """Measure, fit, predict, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("grid-study"))
    parser.add_argument("--placement", choices=["block", "cyclic"], default="block")
    parser.add_argument("--selector", default="mpich", help="of SimGrid: mpich, ompi, mvapich2 …")
    args = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # in the order of what is started
    args.folder.mkdir(parents=True, exist_ok=True)
    if not (args.folder / "cluster.xml").exists():
        machine = f"nodes:16 cores:4 switches:2 placement:{args.placement}"
        isochrone("platform", machine, "-o", args.folder / "cluster.xml")

    fitted = {p: measured(args, p, FITTED, "fitted") for p in LEFT_OUT}
    between = {p: measured(args, p, BETWEEN, "between") for p in LEFT_OUT}
    other = measured(args, OTHER, BETWEEN, "other")

    model = models.fit(list(fitted.values()))
    models.write(model, args.folder / "model.json")
    print(f"selector {args.selector}, {args.placement} placement, 16 nodes of 4, 2 switches")
    print("mean deviation of whole operations on grids, in per cent:")
    print(f"{'':<34}{''.join(f'{op:>11}' for op in (*OPERATIONS, 'all'))}")
    report(model, fitted, between, other)
    for ranks in LEFT_OUT:
        isochrone(
            "plot", args.folder / f"between-{ranks}.jsonl", "--view", "grids",
            "--model", args.folder / "model.json", "-o", args.folder / f"grids-{ranks}.png",
            "--force",
        )  # fmt: skip


def report(model: Model, fitted: dict[int, Run], between: dict[int, Run], other: Run) -> None:
    """Print the table, and how good the choice of a grid is."""
    phases_only = copy(model)
    kept = [one for one in model.kept["disturbance"] if one.phase != "total"]
    phases_only.kept = {**model.kept, "disturbance": kept}

    def every(runs: dict[int, Run], by: Model) -> list[Compared]:
        return [one for run in runs.values() for one in compare(by, run)]

    print(line("same sizes, sum of phases", totals(every(fitted, phases_only))))
    print(line("sizes between, sum of phases", totals(every(between, phases_only))))
    found = every(between, model)
    print(line("sizes between", totals(found)))
    for ranks, grid in LEFT_OUT.items():
        runs = [without(run, grid) if p == ranks else run for p, run in fitted.items()]
        again = models.fit(runs)
        print(
            line(
                f"{grid} of {ranks} ranks not measured", totals(compare(again, fitted[ranks]), grid)
            )
        )
    print(line(f"{OTHER} ranks not measured", totals(compare(model, other))))
    costs = np.array(regret(found))
    print(
        f"sizes between: of {len(costs)} choices by prediction, "
        f"{100 * np.mean(costs <= 0.03):.0f} % are at most 3 % slower than the "
        f"best; the worst is {100 * costs.max():.0f} % slower"
    )


if __name__ == "__main__":
    main()
