"""Values that five papers print, next to those that a command gives."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path

import numpy as np

from evaluated.section import Bed, Section, Table, isochrone, percent
from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import read

TITLE = "Tables of five papers"
ROOT = Path(__file__).parents[2]
MODELS = ROOT / "examples/models"
MICRO, KIB = 1e-6, 1024
Row = tuple[str, str, str, float, float]
COLUMNS = ("paper", "what", "command", "printed", "here", "deviation")


def evaluate(bed: Bed) -> Section:
    """Give each value again."""
    rows = [*_hot_spots(), *_two_phases(), *_jacobi(), *_mmpi(bed), *_patterns()]
    off = [abs(here / printed - 1) for *_, printed, here in rows]
    shown = [(*words, f"{printed:.6g}", f"{here:.6g}", percent(abs(here / printed - 1)))
             for *words, printed, here in rows]  # fmt: skip
    return Section(
        "Values of the cFireworks paper (K. Cha), of two-phase realizations (Kühnemann, Rauber and "
        "Rünger), of Jacobi on two distributions (the same authors), of the process latency maps "
        "(mmpi), and of emulated I/O patterns (A. Barton).",
        [f"The largest deviation of {len(rows)} values is {percent(max(off))}."],
        ["Only values that follow from printed coefficients or logs can be given again. The machines "
         "(Tachyon I, CLiC, T3E) do not exist any more, so nothing is measured again.",
         "Misprints of the papers are read as `docs/model-file.md` says."],
        [Table("papers", COLUMNS, shown, shown=20)],
    )  # fmt: skip


def _hot_spots() -> list[Row]:
    rows = []
    for name, nodes in (("T16-01", "4,4,2,2,1,1,1,1"), ("T16-03", "1,1,2,2,1,1,4,4")):
        for order, printed in (("intra-first", 0.052138), ("inter-first", 0.051513)):
            words = [
                "predict",
                "collective-io",
                "--nodes",
                nodes,
                "--tiles",
                "4x4",
                "--posting",
                order,
            ]
            said = json.loads(isochrone(*words, "--model", MODELS / "tachyon-i.json", "--json"))
            command = f"`{' '.join(words[:2])} --nodes {nodes} --posting {order}`"
            rows.append(("cFireworks", f"Table II, {name}, s", command, printed, said["cost"]))
    return rows


def _two_phases() -> list[Row]:
    rows = []
    by_hand = {
        ("bcast", 8, 12): lambda b: (2 * 0.038 + 0.474 * (log2(8) + log2(12))) * MICRO * b,
        ("gather", 8, 12): lambda b: 0.018 + (-0.0825 + 0.0929 * 12) * MICRO * b
        + (-0.0825 + 0.0929 * 8) * MICRO * 12 * b,
        ("scatter", 8, 12): lambda b: (-0.0730 + 0.0897 * 8) * MICRO * 12 * b
        + (-0.0730 + 0.0897 * 12) * MICRO * b,
    }  # fmt: skip
    for (op, p1, p2), law in by_hand.items():
        words = ["predict", "collective", "--op", op, "--ranks", 96, "--grid", f"{p1}x{p2}",
                 "--bytes", "100KiB"]  # fmt: skip
        said = json.loads(isochrone(*words, "--model", MODELS / "clic.json", "--json"))
        command = f"`predict collective --op {op} --grid {p1}x{p2}`"
        here = said["predictions"][0]["seconds"]
        rows.append(("two phases", f"tables 2 and 3, {op}, CLiC, s", command, law(100 * KIB), here))
    return rows


def _jacobi() -> list[Row]:
    rows = []
    for name, operations in (("row", 2 * 64 * 1024), ("column", 2 * 64 * 1023)):
        made = program(read(ROOT / f"examples/jacobi/{name}.yaml",
                            {"n": "1024", "t_op": "0.5ns", "p": "16"}))  # fmt: skip
        compute = made.applications[0].steps[0][0]
        here = made.values[compute.time][0]
        rows.append(("Jacobi", f"equation of {name}: computing, s",
                     f"`emulate examples/jacobi/{name}.yaml`", operations * 0.5e-9, here))  # fmt: skip
    return rows


def _mmpi(bed: Bed) -> list[Row]:
    log = ROOT / "tests/golden/mmpi/paper.log"
    out = bed.folder / "map.jsonl"
    isochrone("import", log, "--from", "mmpi", "-o", out)
    isochrone("export", out, "--to", "mmpi", "-o", bed.folder / "again.log")
    same = np.mean([a == b for a, b in zip(log.read_text().splitlines(),
                    (bed.folder / "again.log").read_text().splitlines(), strict=True)])  # fmt: skip
    return [("mmpi", "lines of a log that come back, share", "`import`, `export --to mmpi`", 1.0,
             float(same))]  # fmt: skip


def _patterns() -> list[Row]:
    found = read(ROOT / "examples/apps/fig2.yaml", {})
    return [("I/O patterns", "figure 2: patterns at once", "`emulate examples/apps/fig2.yaml`", 4.0,
             float(len(program(found).applications)))]  # fmt: skip
