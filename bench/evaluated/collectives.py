"""Sweeps over sizes and collectives on a simulated machine, and how ranks are started."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from evaluated import peers
from evaluated.section import (
    Bed,
    Page,
    Rows,
    Section,
    Table,
    chart,
    done,
    isochrone,
    label,
    leading,
    percent,
)
from isochrone.base.units import format_bytes, format_seconds
from isochrone.measure.launchers.simgrid import EXACT, QUIET
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.file import read
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves

TITLE = "Messages and collectives"
TABLES = ("messages", "collectives-of-others", "starts")
CAPTION = "Errors of collectives, by how their ranks are started"
LINE = "nodes:16 cores:1 switches:4"
OPERATIONS = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")
SIZES = (64, 4096, 65536)
LOOP = Path(__file__).parents[1] / "collective_loop.c"
Times = dict[tuple[str, int], float]
ERRORS = ("program", "points", "mean error", "largest error")


def evaluate(bed: Bed) -> Section:
    """Compare with times on paper, and with a program whose ranks start at one moment."""
    machine = parse(LINE)
    platform = bed.folder / "machine.xml"
    isochrone("platform", LINE, "-o", platform, "--force")
    measure = ("measure", "--platform", platform, "--quiet", "--force", "-o", bed.folder / "run")
    isochrone(*measure, "point-to-point", "-n", 2, "--bytes", "auto:0:4MiB", "--repeats", 2)
    messages, between = _messages(read(bed.folder / "run"), machine)
    rows: list[tuple[object, ...]] = [
        ("Isochrone, automatic sizes", len(messages), *map(percent, _typical(messages))),
        (
            "Isochrone, interpolated between these sizes",
            len(between),
            *map(percent, _typical(between)),
        ),
    ]
    others, wrong = _messages_of_others(bed, platform, machine)
    rows += others
    collected: dict[str, list[float]] = defaultdict(list)
    ranks = (8, 12) if bed.quick else (4, 8, 12, 16)
    starts = []
    errors: dict[str, list[float]] = {"window": [], "barrier": []}
    for number in ranks:
        truth = _common_start(bed, platform, number)
        for name, off in _collectives_of_others(bed, platform, number, truth, wrong):
            collected[name] += off
        found = {}
        for sync in errors:
            isochrone(
                *measure,
                "collective",
                "-n",
                number,
                "--op",
                ",".join(OPERATIONS),
                "--bytes",
                ",".join(map(str, SIZES)),
                "--repeats",
                2,
                "--sync",
                sync,
            )
            found[sync] = _medians(read(bed.folder / "run"))
        for (op, size), seconds in truth.items():
            off = {sync: found[sync][op, size] / seconds - 1 for sync in errors}
            starts.append(
                (
                    op,
                    number,
                    format_bytes(size),
                    format_seconds(seconds),
                    *(f"{100 * off[sync]:+.1f} %" for sync in errors),
                )
            )
            for sync, error in off.items():
                errors[sync].append(abs(error))
    compared = [
        (
            "Isochrone, `--sync window`",
            len(errors["window"]),
            *map(percent, _typical(errors["window"])),
        ),
        *(
            (name, len(off), *map(percent, _typical(off)))
            for name, off in sorted(collected.items())
        ),
    ]
    compared += bed.measured_before("collectives-of-others")[1:] if not bed.peers else []
    starts.sort(key=lambda row: -abs(float(row[5].split()[0])))
    return Section(
        [
            Table("messages", ERRORS, rows),
            Table("collectives-of-others", ERRORS, compared),
            Table("starts", ("operation", "ranks", "bytes", "truth", "window", "barrier"), starts),
        ],
        notes=[f"{peers.TITLES[peer]} is not in the tables: {why}." for peer, why in wrong.items()],
        figure=_figure(errors),
    )


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the tables show."""
    (window, *others), starts = tables["collectives-of-others"], tables["starts"]
    off = [abs(leading(row[5])) / 100 for row in starts]
    barrier = ("Isochrone, `--sync barrier`", str(len(off)), *map(percent, _typical(off)))
    return Page(
        "Are the times of messages and collectives correct?",
        f"mean error: messages {tables['messages'][0][2]}, collectives {window[2]} (with `--sync window`)",
        f"errors of up to {barrier[3]} if a barrier starts the ranks (`--sync barrier`)",
        "The machine has 16 nodes with one rank each, behind 4 switches. The true time of a message is calculated. The true "
        "time of a collective comes from a program whose ranks all start at exactly the same simulated time.\n\n"
        "With `--sync window`, all ranks start a collective at an agreed time of a common clock. With `--sync barrier`, "
        "they start when they leave a barrier, as in OSU and IMB. ReproMPI can do both: its scheme *round time* also uses a "
        "common clock.\n\n"
        "For messages, a point is a size; Isochrone selected its sizes itself (`--bytes auto`). For collectives, a point is an operation, a size and "
        "a number of ranks.",
        ("operation", *ERRORS),
        [
            *(("messages", *row) for row in tables["messages"]),
            *(("collectives", *row) for row in (window, barrier, *others)),
        ],
        "",
        [
            f"Ranks leave a barrier at different times. So `--sync barrier` has errors of up to {barrier[3]}, and OSU and IMB "
            "have similar errors. Use `--sync window`."
        ],
    )


def _messages_of_others(
    bed: Bed, platform: Path, machine: Platform
) -> tuple[list[tuple[object, ...]], dict[str, str]]:
    """Return a row of each given program that measures one pair, and why others have none."""
    if not bed.peers:
        return list(bed.measured_before("messages")[2:]), {}
    rows: list[tuple[object, ...]] = []
    wrong = {}
    for peer in peers.MESSAGES.keys() & bed.peers.keys():
        try:
            curve, _ = peers.MESSAGES[peer](bed, platform)
        except (peers.PeerError, OSError, ValueError) as error:
            wrong[peer] = str(error)
            continue
        off = [abs(seconds / machine.one_way(0, 1, size) - 1) for size, seconds in curve.items()]
        rows.append((peers.TITLES[peer], len(off), *map(percent, _typical(off))))
    return sorted(rows), wrong


def _collectives_of_others(
    bed: Bed, platform: Path, ranks: int, truth: Times, wrong: dict[str, str]
) -> Iterator[tuple[str, list[float]]]:
    """Yield what a given program prints, and its errors."""
    for peer, op in product(peers.COLLECTIVES.keys() & bed.peers.keys() - wrong.keys(), OPERATIONS):
        try:
            found = peers.COLLECTIVES[peer](bed, platform, ranks, op, SIZES)
        except (peers.PeerError, OSError, ValueError) as error:
            wrong[peer] = f"{op}: {error}"
            continue
        for name, curve in found.items():
            yield name, [abs(curve[size] / truth[op, size] - 1) for size in SIZES if size in curve]


def _messages(run: Run, machine: Platform) -> tuple[list[float], list[float]]:
    """Return errors at measured sizes, and between them."""
    (curve,) = curves(run)
    sizes = np.array(curve.bytes, dtype=float)
    seconds = curve.column("median")
    one_way = np.array([machine.one_way(0, 1, int(size)) for size in sizes])
    asked = np.unique(np.geomspace(1, sizes.max(), 200).astype(int))
    truth = np.array([machine.one_way(0, 1, int(size)) for size in asked])
    between = np.interp(asked, sizes, seconds)
    return list(np.abs(seconds / one_way - 1)), list(np.abs(between / truth - 1))


def _typical(errors: list[float]) -> tuple[float, float]:
    return float(np.mean(errors)), float(np.max(errors))


def _medians(run: Run) -> Times:
    return {
        (str(curve.key["op"]), int(size)): float(seconds)
        for curve in curves(run)
        for size, seconds in zip(curve.bytes, curve.column("median"), strict=True)
    }


def _common_start(bed: Bed, platform: Path, ranks: int) -> Times:
    program = bed.folder / "collective_loop"
    if not program.exists():
        done(["smpicc", "-O2", "-DCOMMON_START", LOOP, "-o", program])
    points = [f"{op}:{size}" for op in OPERATIONS for size in SIZES]
    words = ["-np", ranks, "-platform", platform, "-hostfile", platform.with_suffix(".hosts")]
    said = done(["smpirun", *words, *QUIET, *EXACT, program, 2, *points])
    rows = [line.split() for line in said.splitlines() if line.startswith(OPERATIONS)]
    return {(op, int(size)): float(seconds) for op, size, seconds in rows}


def _figure(errors: dict[str, list[float]]) -> Figure:
    figure, (axes,) = chart()
    for sync, found in errors.items():
        share = np.arange(1, len(found) + 1) / len(found)
        axes.step(100 * np.sort(found), 100 * share, where="post", label=f"--sync {sync}")
    label(axes, "error of the time of a collective, %", "collectives with at most this error, %")
    return figure
