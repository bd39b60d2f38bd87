"""Programs recorded on 4, 8 and 16 ranks of SimGrid, generalised, and predicted on 32, 64 and 128."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
from applications import Bed as Machine
from matplotlib.figure import Figure

from evaluated.section import (
    TIMEOUT,
    Bed,
    Page,
    Rows,
    Section,
    Table,
    chart,
    done,
    enumerated,
    isochrone,
    label,
    leading,
    percent,
)
from isochrone.base.units import format_seconds
from isochrone.measure.launchers.simgrid import EXACT, QUIET

TITLE = "Programs on 2, 4 and 8 times the recorded ranks"
TABLES = ("applications",)
CAPTION = "Errors of predicted programs by number of ranks; the line is the mean"
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
    nodes = bed.folder / "map.jsonl"
    isochrone("measure", "latency-map", "-n", ASKED[-1], "--launcher", "simgrid", "--platform",
              machine.platform, "--repeats", 1, "--warmup", 0, "--retest", 0, "-o", nodes)  # fmt: skip
    program = bed.folder / "program"
    done(["smpicc", "-O1", SOURCE, "-o", program])
    rows, errors, inside, wrong = [], {ranks: [] for ranks in ASKED}, [], []
    for name, word in PROGRAMS.items():
        recordings = [_recorded(machine, [program, word], ranks) for ranks in RECORDED]
        try:
            said = isochrone("scale", *recordings, "--to", ",".join(map(str, ASKED)), "--json", "--quiet",
                             "--map", nodes, "--model", *models)  # fmt: skip
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
    means = {str(ranks): percent(np.mean(off)) for ranks, off in errors.items() if off}
    table = Table("applications", ("program", "ranks", "beyond", "truth", "predicted", "error",
                                   "in interval"), rows)  # fmt: skip
    return Section([table], means, wrong, _figure(errors))


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the table shows."""
    rows = tables["applications"]
    table = []
    for name in dict.fromkeys(row[0] for row in rows):
        own = {row[1]: row for row in rows if row[0] == name}
        table.append((name, own[str(ASKED[-1])][3], *(own[str(ranks)][5] for ranks in ASKED)))
    table.append(("mean of absolute errors", "–", *(facts[str(ranks)] for ranks in ASKED)))
    worst = max(rows, key=lambda row: abs(leading(row[5])))
    outside = sum(row[6] != "yes" for row in rows)
    return Page(
        "Are programs predicted correctly on more ranks?",
        f"mean error {enumerated([f'{facts[str(ranks)]} at {ranks // 16}x' for ranks in ASKED])} the ranks",
        f"error of {worst[5]} for {worst[0]} on {worst[1]} ranks",
        "`isochrone record` recorded six simulated programs on 4, 8 and 16 ranks. `isochrone scale` predicted them on more "
        "ranks. It used models of messages and collectives, measured on up to 16 ranks. The true time is the simulated time of the program on "
        "the same number of ranks. Computation varies by 1 % from step to step.",
        ("program", f"true time, {ASKED[-1]} ranks", *(f"error, {ranks} ranks" for ranks in ASKED)),
        table,
        f"{len(rows) - outside} of {len(rows)} true times are in the 95 % prediction interval."
        + ("" if outside else " So the intervals may be too wide."),
        [f"The largest error is {worst[5]}, for {worst[0]} on {worst[1]} ranks.",
         *([f"{outside} times are outside the 95 % interval."] if outside else []),
         "The simulated programs sleep instead of computing. So caches, memory and load imbalance have no effect.",
         "Real programs are not in the table. HPCG, LULESH, miniFE and AMG were only recorded."],
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


def _figure(errors: dict[int, list[float]]) -> Figure:
    figure, (axes,) = chart(5.0, 3.0)
    for k, found in enumerate(errors.values()):
        axes.plot([k] * len(found), [100 * error for error in found], "o", markersize=5)
        axes.plot([k - 0.2, k + 0.2], [100 * float(np.mean(found))] * 2, color="#1f2430")
    axes.set_xticks(range(len(errors)), [f"{ranks} ranks" for ranks in errors])
    label(axes, "recorded on up to 16 ranks", "error, %")
    return figure
