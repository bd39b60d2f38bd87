"""Programs recorded on 4, 8 and 16 ranks, generalised, and predicted on 32, 64 and 128."""

from __future__ import annotations

from typing import Any

import numpy as np
from applications import Bed as Machine
from applications import app

from evaluated.section import Bed, Section, Table, chart, label, percent
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import Launch, Program
from isochrone.applications.description.reading import parse
from isochrone.applications.predict.scaling import scale
from isochrone.base.errors import InputError
from isochrone.base.units import format_seconds
from made_up.programs_run import Seen

TITLE = "Programs recorded, generalised and predicted at 2, 4 and 8 times the ranks"
RECORDED, ASKED = (4, 8, 16), (32, 64, 128)
Phases = list[dict[str, Any]]


def _halo(bytes_: str) -> dict[str, Any]:
    return {"exchange": {"topology": {"offsets": {"dimensions": 2, "list": [
        {"to": [sign if k == axis else 0 for k in range(2)], "bytes": bytes_.format(axis=axis)}
        for axis in range(2) for sign in (1, -1)]}}}}  # fmt: skip


PROGRAMS: dict[str, Phases] = {
    "stencil, 2D halo": [{"repeat": {"times": 20, "phases": [
        {"compute": "8ms/p"}, _halo("round(32768/side(p, 2, {axis}))"), {"allreduce": {"bytes": 8}},
    ]}}],
    "sweep of a wavefront": [{"repeat": {"times": 10, "phases": [{"exchange": {
        "topology": {"offsets": {"dimensions": 2, "list": [
            {"to": [1, 0], "bytes": "round(11520/side(p, 2, 1))"},
            {"to": [0, 1], "bytes": "round(11520/side(p, 2, 0))"}]}},
        "flow": "stream", "compute": "4ms/p"}}]}}],
    "transposes": [{"repeat": {"times": 20, "phases": [
        {"compute": "16ms/p"}, {"alltoall": {"bytes": "2**20/p/p"}}]}}],
    "conjugate gradients": [{"repeat": {"times": 25, "phases": [
        {"compute": "4ms/p"}, _halo("round(16384/side(p, 2, {axis}))"), {"allreduce": {"bytes": 8}},
        {"compute": "2ms/p"}, {"allreduce": {"bytes": 8}}]}}],
    "Jacobi by rows": [{"repeat": {"times": 20, "phases": [
        {"compute": "20ms/p"}, {"allgather": {"bytes": "8*1024/p"}}]}}],
    "Jacobi by columns": [{"repeat": {"times": 20, "phases": [
        {"compute": "20ms/p"}, {"reduce": {"bytes": 8192}}, {"bcast": {"bytes": 8192}}]}}],
}  # fmt: skip


def evaluate(bed: Bed) -> Section:
    """Predict each program, and emulate the true one."""
    machine = Machine("nodes:128 cores:1", bed.folder, measured=(2, 4, 8, 16))
    known = machine.models()
    rows, errors, inside, wrong = [], {ranks: [] for ranks in ASKED}, [], []
    for name, phases in PROGRAMS.items():
        try:
            found = scale([Seen(_made(phases, ranks)).trace() for ranks in RECORDED], ASKED, known)
        except InputError as error:
            wrong.append(f"{name}: refused, {error}.")
            continue
        for one in found.predictions:
            word = f"{name}-{one.ranks}".replace(" ", "-").replace(",", "")
            truth, _ = machine.emulated(word, _made(phases, one.ranks))
            off = one.seconds / truth - 1
            errors[one.ranks].append(abs(off))
            inside.append(one.low <= truth <= one.high)
            rows.append((name, one.ranks, f"{one.ranks // 16}x", format_seconds(truth),
                         format_seconds(one.seconds), f"{100 * off:+.1f} %",
                         "yes" if inside[-1] else "no"))  # fmt: skip
    for row in sorted(rows, key=lambda row: -abs(float(row[5].split()[0])))[:2]:
        wrong.append(f"{row[0]} on {row[1]} ranks is {row[5]} off.")
    said = ", ".join(f"{percent(np.mean(found))} on {ranks} ranks ({ranks // 16}x)"
                     for ranks, found in errors.items() if found)  # fmt: skip
    return Section(
        "Six programs, carried out on paper on 4, 8 and 16 ranks as a recording sees them (1 % noise "
        "of computation). The description made from them is predicted with models of messages and "
        "collectives of up to 16 ranks. The truth is the true program, emulated in SimGrid.",
        [f"Mean error: {said}. {percent(np.mean(inside))} of the times are in the 95 % interval."],
        [*wrong, f"{percent(1 - np.mean(inside))} of the times are outside the 95 % interval."
         if not all(inside) else "No time is outside its interval, so intervals may be too wide.",
         "Programs are synthetic: caches, memory and load imbalance of real ones are not in this."],
        [Table("applications", ("program", "ranks", "beyond", "truth", "predicted", "error",
                                "in interval"), rows, shown=18)],
        _figure(errors),
    )  # fmt: skip


def _made(phases: Phases, ranks: int) -> Program:
    made = program(parse(app(phases, ranks, iterations=1), "evaluation"))
    return Program(made.seed, made.values, made.applications, (Launch(0, (0,)),), made.placement)


def _figure(errors: dict[int, list[float]]) -> tuple[object, str]:
    figure, (axes,) = chart(5.0, 3.0)
    for k, found in enumerate(errors.values()):
        axes.plot([k] * len(found), [100 * error for error in found], "o", markersize=5)
        axes.plot([k - 0.2, k + 0.2], [100 * float(np.mean(found))] * 2, color="#1f2430")
    axes.set_xticks(range(len(errors)), [f"{ranks} ranks" for ranks in errors])
    label(axes, "recorded on up to 16", "error, %")
    return figure, "Errors of predicted programs by number of ranks; the line is the mean"
