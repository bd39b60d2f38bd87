"""What is promised of collective I/O against what it is: synthetic machines, and one program."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from msgspec.structs import replace

from beds.mpis import CROWDED, SCRIPTS, find_mpi
from beds.recorded import built
from cluster import lifetime
from cluster.plan import Plan
from evaluated.section import Bed, Page, Rows, Section, Table, chart, label, percent
from isochrone.collective_io.predict.whole_call import WholeCall
from made_up.io_machines import MIB, SETTINGS, hosts, random_call, random_machine, served
from made_up.jobs import UNEVEN

TITLE = "Gains of collective I/O"
TABLES = ("io-gains", "io-programs")
CAPTION = "Predicted and true gains on synthetic machines"
BY_RANK = hosts()
PROGRAMS = ("tiles", "strided", "rows")


def evaluate(bed: Bed) -> Section:
    """Choose settings by prediction on synthetic machines; tune programs on a cluster."""
    rows, promised, true, reached, held = [], [], [], [], []
    for seed in range(500, 500 + bed.many(20, 200)):
        machine, call = random_machine(seed), random_call(seed)
        measured = [(8, MIB), (2, 16 * MIB), (4, 512 * 1024)]
        settled = {
            setting: (replace(call, buffer=setting[1]), served(BY_RANK, setting[0]))
            for setting in SETTINGS
        }
        model = WholeCall.calibrated(
            machine.model,
            [machine.measured(settled[one][0], BY_RANK, settled[one][1]) for one in measured],
        )
        said = {one: model.predict(call, BY_RANK, ranks) for one, (call, ranks) in settled.items()}
        real = {one: machine.true(call, BY_RANK, ranks) for one, (call, ranks) in settled.items()}
        chosen, best = min(said, key=lambda one: said[one].seconds), min(real.values())
        given = measured[0]
        promised.append(said[given].seconds / said[chosen].seconds)
        true.append(real[given] / real[chosen])
        reached.append(best / real[chosen])
        low, high = (said[chosen].low, said[chosen].high)
        held.append(low <= real[chosen] <= high)
        rows.append(
            (
                seed,
                f"{chosen[0]} x {chosen[1] // 1024} KiB",
                f"{promised[-1]:.2f}",
                f"{true[-1]:.2f}",
                f"{real[given] / best:.2f}",
            )
        )
    off = np.abs(np.array(promised) / np.array(true) - 1)
    programs, why = _programs(bed)
    slower = int(np.sum(np.array(reached) < 0.95))
    notes = []
    for name, best, gain, *_ in programs:
        if isinstance(best, float) and isinstance(gain, float) and gain > best:
            notes.append(
                f"`{name}`: the measured gain of {gain:.2f} is above the estimated largest possible gain of "
                f"{best:.2f}."
            )
    if why:
        notes.append(f"No program was tuned here: {why}.")
    tables = [Table("io-gains", ("machine", "chosen", "predicted", "true", "best possible"), rows)]
    if programs:
        shown = [tuple(f"{v:.2f}" if isinstance(v, float) else v for v in row) for row in programs]
        tables.append(
            Table(
                "io-programs",
                ("program", "largest possible", "gain", "95 % interval", "launches"),
                shown,
            )
        )
    facts = {
        "time": f"{np.mean(1 / np.array(reached)):.3f}",
        "median error": percent(float(np.median(off))),
        "largest error": percent(float(off.max())),
        "slower": str(slower),
        "covered": percent(np.mean(held)),
    }
    return Section(tables, facts, notes, _figure(promised, true))


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the tables show."""
    rows, programs = tables["io-gains"], tables.get("io-programs", [])
    slower = f"{100 * (float(facts['time']) - 1):.1f} %"

    def limits(column: int) -> str:
        return " to ".join(pick((row[column] for row in rows), key=float) for pick in (min, max))

    return Page(
        "Are predicted gains of collective I/O reached?",
        f"median error of gains {facts['median error']}; calls with the chosen settings take {slower} longer than with the best ones",
        f"largest error of a gain: {facts['largest error']}; not tested on real file systems",
        f"On {len(rows)} synthetic machines, the cost of each part of a collective call is known. A setting is a "
        "number of aggregators and a buffer size. From the times of 3 settings, Isochrone chooses one of 20 settings. The gain is the time with 8 "
        "aggregators and 1 MiB of buffer, divided by the time with the chosen setting. The largest possible gain is that of the best of the "
        "20 settings.\n\n"
        "The program `io_program tiles` was recorded and tuned on 8 hosts of a "
        "[cluster on one machine](developers/test-beds.md#a-cluster-on-one-machine) (200 Mbit/s). Its gains are those of the whole program. "
        "The largest possible gain would be reached if its collective calls took no time.",
        ("test", "predicted gain", "true gain (95 % interval)", "largest possible gain"),
        [
            (
                f"{len(rows)} synthetic machines, from the smallest gain to the largest",
                *map(limits, (2, 3, 4)),
            ),
            *(
                (
                    f"`{row[0]}`, {row[4]} launches",
                    "–",
                    row[2] + (f" ({row[3]})" if row[3] != "–" else ""),
                    row[1],
                )
                for row in programs
            ),
        ],
        f"On the synthetic machines, a call with the chosen setting takes on average {slower} longer than with "
        f"the best of the 20 settings. {facts['covered']} of the true times are in the 95 % prediction interval.",
        [
            f"The largest error of a predicted gain is {facts['largest error']}.",
            *(
                [
                    f"On {facts['slower']} of {len(rows)} machines the chosen setting is more than 5 % slower than the best one."
                ]
                if facts["slower"] != "0"
                else []
            ),
            "The times of the synthetic machines come from the same formula as the model. Real file systems follow other formulas.",
        ],
    )


def _programs(bed: Bed) -> tuple[list[tuple[object, ...]], str]:
    """Tune a program on a cluster of namespaces; or say why not."""
    if why := lifetime.obstacle():
        return [], why
    mpi, rows = find_mpi("mpich-wheel"), []
    program = built(mpi, bed.folder, "io_program")
    with lifetime.cluster(Plan(UNEVEN, "200mbit")) as on:
        start = (
            mpi.probe.mpicc.with_name("mpiexec"),
            "-f",
            on.hostfile("mpich"),
            "-n",
            sum(UNEVEN),
        )
        for kind in PROGRAMS[: bed.many(1, 3)]:
            out = bed.folder / f"tuned-{kind}"
            words = (
                "-m",
                "isochrone",
                "tune",
                "collective-io",
                "-o",
                out,
                "--launches",
                bed.many(3, 7),
                "--min-io-share",
                0,
                "--json",
                "--",
            )
            file = (program, bed.folder / "data", kind, 1 << 20, 2)
            answer = on.run(
                SCRIPTS / "python",
                *words,
                *start,
                *file,
                environ={**CROWDED, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
            )
            if answer.returncode:
                rows.append((f"io_program {kind}", "–", answer.stderr.strip()[-80:], "–", "–"))
                continue
            rows.append((f"io_program {kind}", *_gain(json.loads(answer.stdout))))
    return rows, ""


def _gain(found: dict[str, Any]) -> tuple[object, ...]:
    """Return the largest possible gain of the program, that measured, its interval and the number of launches."""
    possible = found["best_possible"]["gain"] if found["best_possible"] else "–"
    if not found["whole_gain"]:
        return possible, f"none: {found['why']}", "–", "–"
    gain = found["whole_gain"]
    return possible, gain["ratio"], f"{gain['low']:.2f} to {gain['high']:.2f}", gain["launches"]


def _figure(promised: list[float], true: list[float]) -> Figure:
    figure, (axes,) = chart(4.2, 3.6)
    most = max(*promised, *true) * 1.1
    axes.plot([1, most], [1, most], color="#9aa5b1", linewidth=1)
    axes.plot(true, promised, "o", markersize=4)
    label(axes, "true gain", "predicted gain")
    return figure
