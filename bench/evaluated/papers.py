"""Values that the papers print, next to those that a command gives."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable
from itertools import product
from math import floor, log2
from pathlib import Path

import numpy as np

from evaluated.section import Bed, Page, Rows, Section, Table, isochrone, leading, percent
from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import read
from isochrone.cli.main import main
from isochrone.models import read as model_file
from isochrone.runfile.file import read as run_file

TITLE = "Tables and figures of published papers"
TABLES = ("papers", "papers-not-reproduced")
ROOT = Path(__file__).parents[2]
MODELS = ROOT / "examples/models"
MICRO, KIB = 1e-6, 1024
Row = tuple[str, str, str, float, float]
Law = Callable[[float, float], float]
COLUMNS = ("paper", "what", "command", "printed", "here", "deviation")

HOT_SPOTS = {
    ("2", "intra-first"): ((0.003805, 0.007712, 0.005866), (0.008372, 0.006121, 0.001588)),
    ("3", "inter-first"): ((0.003703, 0.007509, 0.006459), (0.008450, 0.006095, 0.001568)),
}
"""cFireworks, figures 2b, 2c, 3b and 3c: factors of pa and pe, and a constant, in seconds; the
second ones from pa = 2 on."""


def _bcast(p: float, b: float) -> float:
    return (-0.085 + 0.092 * p if p <= 4 else 0.038 + 0.474 * log2(p)) * MICRO * b


def _reduce(p: float, b: float) -> float:
    return (-0.103 + 0.105 * p if p <= 4 else 0.141 + 0.101 * floor(log2(p - 1))) * MICRO * b


def _gather(p: float, b: float) -> float:
    return 0.009 + (-0.0825 + 0.0929 * p) * MICRO * b


def _scatter(p: float, b: float) -> float:
    return (-0.0730 + 0.0897 * p) * MICRO * b


CLIC: dict[str, Law] = {
    "bcast": _bcast,
    "reduce": _reduce,
    "gather": _gather,
    "scatter": _scatter,
    "allreduce": lambda p, b: _reduce(p, b) + _bcast(p, b),
    "allgather": lambda p, b: _gather(p, b) + _bcast(p, p * b),
}
"""Kühnemann et al., tables 1 to 3: seconds on p ranks of b bytes."""

TWO_PHASES: dict[str, Callable[[float, float, float], float]] = {
    "bcast": lambda p1, p2, b: _bcast(p1, b) + _bcast(p2, b),
    "reduce": lambda p1, p2, b: _reduce(p1, b) + _reduce(p2, b),
    "gather": lambda p1, p2, b: _gather(p2, b) + _gather(p1, p2 * b),
    "scatter": lambda p1, p2, b: _scatter(p2, b) + _scatter(p1, p2 * b),
    "allreduce": lambda p1, p2, b: CLIC["allreduce"](p1, b) + CLIC["allreduce"](p2, b),
    "allgather": lambda p1, p2, b: CLIC["allgather"](p2, b) + CLIC["allgather"](p1, p2 * b),
}
"""The same on a grid of p1 x p2: the curves of figures 2 to 5 by the formulas of each phase."""

T3E = (
    ("gather", "No. 1", 16, 100, lambda p, b: (-0.00134 + 0.00308 * p) * MICRO * b),
    ("gather", "No. 2", 32, 400, lambda p, b: -0.020 + (0.0157 + 0.00505 * p) * MICRO * b),
    ("gather", "No. 3", 96, 400, lambda p, b: -0.036 + (0.0265 + 0.00617 * p) * MICRO * b),
    ("scatter", "scatter", 96, 100, lambda p, b: (0.0002453 + 0.00297 * p) * MICRO * b),
)
"""Tables 4 and 5: operation, formula, ranks, KiB, seconds."""

NOT_REPRODUCED = (
    ("cFireworks", "Table I", "the specification of two machines, no result"),
    (
        "cFireworks",
        "figures 2a, 3a: one formula for all pa; R²",
        "needs the measured times, which are not printed",
    ),
    (
        "cFireworks",
        "figure 4 and Table II, Tachyon II",
        "coefficients of Tachyon II are not printed",
    ),
    ("cFireworks", "Table II, T16-02 and T16-04", "the text at hand has no values"),
    ("cFireworks", "figure 6", "measured times of MPI-Tile-IO, in a picture only"),
    (
        "two phases",
        "figures 2 to 5: deviations",
        "measured times of CLiC and T3E, in pictures only",
    ),
    ("two phases", "figure 6: Jacobi on a grid", "measured times, and t_op is not printed"),
    ("mmpi", "figures 1 to 8", "surfaces of eight machines, in pictures only"),
    ("emulated patterns", "figures 3 to 14", "measured curves of two clusters, in pictures only"),
    (
        "node sequences",
        "gains of 7.61 % to 26.49 %",
        "measured on a cluster with Lustre; the abstract has no coefficients",
    ),
)


def evaluate(bed: Bed) -> Section:
    """Give each value again."""
    rows = [*_hot_spots(bed), *_two_phases(), *_jacobi(), *_mmpi(bed), *_patterns()]
    shown = [
        (*words, f"{printed:.6g}", f"{here:.6g}", percent(abs(here / printed - 1)))
        for *words, printed, here in rows
    ]
    return Section(
        [
            Table("papers", COLUMNS, shown),
            Table(
                "papers-not-reproduced", ("paper", "not reproduced", "reason"), list(NOT_REPRODUCED)
            ),
        ]
    )


PAPERS = {
    "cFireworks": "hot spots in collective I/O: cFireworks (K. Cha)",
    "two phases": "collectives in two phases, Jacobi (Kühnemann, Rauber and Rünger)",
    "mmpi": "process latency maps (mmpi)",
    "emulated patterns": "emulated communication patterns (A. Barton)",
    "node sequences": "node sequences (K. Cha and S. Maeng)",
}


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the tables show."""
    values, missing = tables["papers"], tables["papers-not-reproduced"]

    def worst(rows: Rows) -> str:
        return max((row[5] for row in rows), key=leading, default="–")

    rows = []
    for name, title in PAPERS.items():
        own = [row for row in values if row[0] == name]
        rows.append((title, str(len(own)), worst(own), str(sum(row[0] == name for row in missing))))
    return Page(
        "Does Isochrone reproduce published values?",
        f"largest deviation of {len(values)} compared values: {worst(values)}",
        f"{len(missing)} more tables and figures cannot be compared: most show times only in a picture, or lack coefficients",
        "The value that a paper prints is compared with the output of a command. If the paper prints only a formula, its "
        "values were computed by hand.",
        ("paper", "values compared", "largest deviation", "tables and figures not reproduced"),
        rows,
        "The values show that Isochrone implements the formulas of the papers.",
        [
            "No measurement of a paper is repeated, because the machines no longer exist.",
            f"In all, {len(missing)} tables and figures are not reproduced. Most show times only in a picture, or "
            "lack coefficients.",
            "Some formulas are misprinted. [Published models](model-file.md#how-misprints-are-read) says how they are read.",
        ],
    )


def _told(*words: object) -> dict[str, object]:
    """Run a command in this process and return its JSON document."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = main([*map(str, words), "--json"])
    if code:
        raise RuntimeError(f"{words}: exit code {code}")
    return json.loads(said.getvalue())


def _hot_spots(bed: Bed) -> list[Row]:
    rows = []
    for name, nodes in (("T16-01", "4,4,2,2,1,1,1,1"), ("T16-03", "1,1,2,2,1,1,4,4")):
        for order, printed in (("intra-first", 0.052138), ("inter-first", 0.051513)):
            words = ("predict", "collective-io", "--nodes", nodes, "--select", f"order={order}")
            said = _told(*words, "--tiles", "4x4", "--model", MODELS / "tachyon-i.json")
            rows.append(
                (
                    "cFireworks",
                    f"Table II, {name}, s",
                    f"`{' '.join(words)}`",
                    printed,
                    said["cost"],
                )
            )
    table, fitted = bed.folder / "times.csv", bed.folder / "hotspot.model.json"
    for (figure, order), (few, many) in HOT_SPOTS.items():
        with table.open("w", newline="") as stream:
            out = csv.writer(stream)
            out.writerow(("pa", "pe", "seconds"))
            for pa, pe in product(range(8), repeat=2):
                a, b, c = few if pa < 2 else many
                out.writerow((pa, pe, a * pa + b * pe + c))
        _told("fit", table, "--family", "hotspot", "-o", fitted, "--force")
        segments = model_file(fitted).segments
        for letter, printed, segment in zip("bc", (few, many), segments, strict=True):
            what = f"figure {figure}{letter}, {order}: {{}}, from 64 times of the formula"
            for symbol, value, here in zip(
                ("α, s", "β, s", "γ, s"), printed, segment.coefficients, strict=True
            ):
                rows.append(
                    (
                        "cFireworks",
                        what.format(symbol),
                        "`fit --family hotspot`",
                        value,
                        float(here),
                    )
                )
    return rows


def _two_phases() -> list[Row]:
    rows = []
    for op, law in CLIC.items():
        table = (
            "table 2"
            if op in ("bcast", "reduce")
            else "table 3"
            if op in ("gather", "scatter")
            else "table 1"
        )
        for ranks in (4, 96):
            here = _collective("clic", op, ranks, 100)
            rows.append(
                (
                    "two phases",
                    f"{table}, {op} on {ranks} ranks, 100 KiB, s",
                    f"`predict collective --op {op} --ranks {ranks}`",
                    law(ranks, 100 * KIB),
                    here,
                )
            )
    for op, grid_law in TWO_PHASES.items():
        here = _collective("clic", op, 96, 100, "--grid", "8x12")
        rows.append(
            (
                "two phases",
                f"formulas of both phases, {op} on 8 x 12 ranks, 100 KiB, s",
                f"`predict collective --op {op} --grid 8x12`",
                grid_law(8, 12, 100 * KIB),
                here,
            )
        )
    for op, name, ranks, size, law in T3E:
        here = _collective("t3e-1200", op, ranks, size)
        rows.append(
            (
                "two phases",
                f"tables 4 and 5, {name}, {ranks} ranks, {size} KiB, s",
                f"`predict collective --op {op} --ranks {ranks}`",
                law(ranks, size * KIB),
                here,
            )
        )
    return rows


def _collective(model: str, op: str, ranks: int, size: int, *more: str) -> float:
    said = _told(
        "predict",
        "collective",
        "--model",
        MODELS / f"{model}.json",
        "--op",
        op,
        "--ranks",
        ranks,
        "--bytes",
        f"{size}KiB",
        *more,
    )
    return float(said["predictions"][0]["seconds"])  # type: ignore[index]


def _jacobi() -> list[Row]:
    """Equations 1 and 2: one iteration of n = 32,768 doubles on 16 ranks, 0.5 ns an operation."""
    p, n, t_op = 16, 32768, 0.5e-9
    row = 2 * n**2 / p * t_op + CLIC["allgather"](p, 8 * n / p)
    column = 2 * n / p * (n - 1) * t_op + _reduce(p, 8 * n) + _bcast(p, 8 * n)
    rows = []
    for name, number, printed in (("row", 1, row), ("column", 2, column)):
        said = _told(
            "predict",
            "app",
            ROOT / f"examples/jacobi/{name}.yaml",
            "--model",
            MODELS / "clic.json",
            "--set",
            f"p={p}",
            "--set",
            f"n={n}",
            "--set",
            "t_op=0.5ns",
        )
        run = said["predictions"][0]  # type: ignore[index]
        rows.append(
            (
                "two phases",
                f"equation ({number}), Jacobi by {name}s, one iteration, s",
                f"`predict app examples/jacobi/{name}.yaml`",
                printed,
                run["seconds"] / run["iterations"],
            )
        )
    return rows


def _mmpi(bed: Bed) -> list[Row]:
    log = ROOT / "tests/golden/mmpi/paper.log"
    out = bed.folder / "map.jsonl"
    isochrone("import", log, "--from", "mmpi", "-o", out)
    isochrone("export", out, "--to", "mmpi", "-o", bed.folder / "again.log")
    same = np.mean(
        [
            a == b
            for a, b in zip(
                log.read_text().splitlines(),
                (bed.folder / "again.log").read_text().splitlines(),
                strict=True,
            )
        ]
    )
    run = run_file(out)
    measured = 1e6 * run.matrix("mean")
    printed = {
        (0, 1): 10.44,
        (0, 2): 20.07,
        (0, 3): 24.34,
        (1, 2): 23.20,
        (1, 3): 22.72,
        (2, 3): 11.44,
    }
    command = "`import --from mmpi`"
    return [
        (
            "mmpi",
            "Table 1 and TP = (N² - N) / 2: pairs of 4 processes",
            command,
            6.0,
            float(np.isfinite(measured[np.triu_indices(4, 1)]).sum()),
        ),
        *(
            (
                "mmpi",
                f"log of 4 processes: ranks {a} and {b}, µs",
                command,
                value,
                float(measured[a, b]),
            )
            for (a, b), value in printed.items()
        ),
        (
            "mmpi",
            "lines of the log that come back, fraction",
            "`import`, `export --to mmpi`",
            1.0,
            float(same),
        ),
    ]


def _patterns() -> list[Row]:
    found = read(ROOT / "examples/apps/fig2.yaml", {})
    return [
        (
            "emulated patterns",
            "figure 2: patterns at the same time",
            "`emulate examples/apps/fig2.yaml`",
            4.0,
            float(len(program(found).applications)),
        )
    ]
