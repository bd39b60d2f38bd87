"""Programs recorded on 4, 8 and 16 ranks of SimGrid, generalised, and predicted on 32, 64 and 128."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
from applications import Bed as Machine

from evaluated.section import TIMEOUT, Bed, Section, Table, chart, done, isochrone, label, percent
from isochrone.base.units import format_seconds
from isochrone.measure.launchers.simgrid import EXACT, QUIET

TITLE = "Programs recorded, generalised and predicted at 2, 4 and 8 times the ranks"
RECORDED, ASKED = (4, 8, 16), (32, 64, 128)
SOURCE = Path(__file__).parents[1] / "recorded_programs.c"
PROGRAMS = {
    "stencil, 2D halo": "stencil", "sweep of a wavefront": "wavefront", "transposes": "transposes",
    "conjugate gradients": "gradients", "Jacobi by rows": "rows", "Jacobi by columns": "columns",
}  # fmt: skip
Words = list[object]


def evaluate(bed: Bed) -> Section:
    """Predict each program from its recordings, and run it on as many ranks."""
    machine = Machine("nodes:128 cores:1", bed.folder, measured=(2, 4, 8, 16))
    machine.models()
    models = sorted(bed.folder.glob("*.model.json"))
    program = bed.folder / "program"
    done(["smpicc", "-O1", SOURCE, "-o", program])
    rows, errors, inside, wrong = [], {ranks: [] for ranks in ASKED}, [], []
    for name, word in PROGRAMS.items():
        recordings = [_recorded(machine, [program, word], ranks) for ranks in RECORDED]
        try:
            said = isochrone("scale", *recordings, "--to", ",".join(map(str, ASKED)), "--json", "--quiet",
                             "--model", *models)  # fmt: skip
        except RuntimeError as error:
            wrong.append(f"{name}: refused, {error}.")
            continue
        for one in json.loads(said)["predictions"]:
            ranks, seconds = one["ranks"], one["seconds"]
            truth = _simulated(machine, [program, word], ranks)
            off = seconds / truth - 1
            errors[ranks].append(abs(off))
            inside.append(one["low"] <= truth <= one["high"])
            rows.append((name, ranks, f"{ranks // 16}x", format_seconds(truth),
                         format_seconds(seconds), f"{100 * off:+.1f} %",
                         "yes" if inside[-1] else "no"))  # fmt: skip
    for row in sorted(rows, key=lambda row: -abs(float(row[5].split()[0])))[:2]:
        wrong.append(f"{row[0]} on {row[1]} ranks: error {row[5]}.")
    said = ", ".join(f"{percent(np.mean(found))} on {ranks} ranks ({ranks // 16}x)"
                     for ranks, found in errors.items() if found)  # fmt: skip
    return Section(
        "Six programs in C (`bench/recorded_programs.c`) run under SimGrid on 4, 8 and 16 ranks, and `isochrone record` "
        "records them. `isochrone scale` predicts them on more ranks, with models of messages and collectives that were "
        "measured on up to 16 ranks. The truth is the simulated time of the program on so many ranks. Computation varies "
        "by 1 % from turn to turn.",
        [f"Mean error: {said}. {percent(np.mean(inside))} of the times are in the 95 % interval."],
        [*wrong, f"{percent(1 - np.mean(inside))} of the times are outside the 95 % interval."
         if not all(inside) else "No time is outside its interval, so intervals may be too wide.",
         "Computation is a sleep: caches, memory and load imbalance of real programs are not included."],
        [Table("applications", ("program", "ranks", "beyond", "truth", "predicted", "error",
                                "in interval"), rows, shown=18)],
        _figure(errors),
    )  # fmt: skip


def _launch(machine: Machine, ranks: int) -> Words:
    hosts = machine.platform.with_suffix(".hosts")
    return [
        "smpirun",
        "-np",
        ranks,
        "-platform",
        machine.platform,
        "-hostfile",
        hosts,
        *QUIET,
        *EXACT,
    ]


def _recorded(machine: Machine, program: Words, ranks: int) -> Path:
    file = machine.folder / f"{program[-1]}-{ranks}.jsonl"
    isochrone("record", "-o", file, "--mpicc", "smpicc", "--", *_launch(machine, ranks), *program)
    return file


def _simulated(machine: Machine, program: Words, ranks: int) -> float:
    """Return the simulated time of a program that nothing records."""
    clock = ("--cfg=smpi/display-timing:yes", "--log=smpi_utils.thres:info")
    words = [*_launch(machine, ranks), *clock, *program]
    answer = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=TIMEOUT,
                            check=True)  # fmt: skip
    return float(re.search(r"Simulated time: (\S+) seconds", answer.stderr)[1])


def _figure(errors: dict[int, list[float]]) -> tuple[object, str]:
    figure, (axes,) = chart(5.0, 3.0)
    for k, found in enumerate(errors.values()):
        axes.plot([k] * len(found), [100 * error for error in found], "o", markersize=5)
        axes.plot([k - 0.2, k + 0.2], [100 * float(np.mean(found))] * 2, color="#1f2430")
    axes.set_xticks(range(len(errors)), [f"{ranks} ranks" for ranks in errors])
    label(axes, "recorded on up to 16 ranks", "error, %")
    return figure, "Errors of predicted programs by number of ranks; the line is the mean"
