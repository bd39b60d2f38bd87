"""Programs recorded on 4, 8 and 16 ranks of SimGrid, generalised, and predicted on 32, 64 and 128."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.figure import Figure
from scaling import CODES, CODES_TO, MACHINES, STYLES, TO, Outcome, codes, programs

from evaluated.section import Bed, Page, Rows, Section, Table, chart, label, leading, percent

TITLE = "Programs on 2, 4 and 8 times the recorded ranks"
TABLES = ("applications", "public-codes")
CAPTION = "Errors of predicted programs by number of ranks; the line is the median"
SEEDS = ("21", "22", "23", "24")
"""Of the random parameters of programs. None of them was looked at while `scale` was developed."""
COLUMNS = ("switches", "program", "ranks", "error", "half width", "in interval")
LEVELS = dict(
    zip(MACHINES, ("one switch", "eight switches", "16 switches in four pods"), strict=True)
)
REFUSED = "refused"


def evaluate(bed: Bed) -> Section:
    """Predict random programs of each style from their recordings, and run them on as many ranks."""
    seeds = SEEDS[: bed.many(1, len(SEEDS))]
    rows = _rows(programs(bed.folder, tuple(MACHINES), STYLES, seeds))
    tables = [Table("applications", COLUMNS, rows)]
    binaries = {path.parent for name, path in bed.peers.items() if name in CODES}
    public = [row for folder in binaries for row in _rows(codes(bed.folder, folder, ("8",)))]
    tables.append(Table("public-codes", COLUMNS, public or bed.measured_before("public-codes")))
    return Section(tables, figure=_figure(rows))


def page(facts: dict[str, str], tables: dict[str, Rows]) -> Page:
    """Say what the tables show."""
    rows, public = tables["applications"], tables["public-codes"]
    predicted = [row for row in rows if row[2] != REFUSED]
    table = []
    for machine, name in LEVELS.items():
        on_it = [row for row in predicted if row[0] == machine]
        refused = sum(row[0] == machine and row[2] == REFUSED for row in rows)
        count = len(on_it) // len(TO)
        table.append((name, f"{count} of {count + refused}", _inside(on_it), *_errors(on_it)))
    for style in STYLES:
        of_it = [row for row in predicted if row[1].split()[0] == style]
        total = len({(row[0], row[1]) for row in rows if row[1].split()[0] == style})
        table.append(
            (style, f"{len(of_it) // len(TO)} of {total}", _inside(of_it), *_errors(of_it))
        )
    for row in public:
        name = row[1].split()[0]
        cells = ("–", "–", row[3]) if row[2] != REFUSED else ("–",) * len(TO)
        table.append(
            (f"{name}, {CODES_TO[0]} ranks", f"{int(row[2] != REFUSED)} of 1", row[5], *cells)
        )
    worst = max(predicted, key=lambda row: abs(leading(row[3])))
    count, total = len(predicted) // len(TO), len({(row[0], row[1]) for row in rows})
    widths = [leading(row[4]) for row in predicted if row[2] == str(TO[1])]
    return Page(
        "Are programs predicted correctly on more ranks?",
        f"{_inside(predicted)} true times in the interval; median error "
        f"{_median(predicted)}; {count} of {total} programs predicted",
        f"error of {worst[3]} for {worst[1].split()[0]} on {worst[2]} ranks",
        "`bench/scaling.py` draws the parameters of programs of fifteen styles: sizes, numbers of steps, imbalance, strong or weak "
        "scaling. `isochrone scale` recorded each on 4, 8 and 16 ranks of simulated machines with 128 nodes behind one, two or three levels of "
        "switches, measured messages and operations on 16 nodes only, was given a latency map, and predicted the program on more ranks. "
        "The true time is the simulated time of the program itself. The last rows are public codes (`bench/programs/build.sh`), recorded on 8, 27 and "
        "64 ranks of the machine with eight switches.",
        (
            "machine or program",
            "predicted",
            "in interval",
            *(f"error, {ranks} ranks" for ranks in TO),
        ),
        table,
        "Errors are medians of absolute errors; in parentheses the largest one with its sign. The median half width of the "
        f"95 % interval is {np.median(widths):.0f} % on {TO[1]} ranks.",
        [
            f"The largest error is {worst[3]}, for {worst[1].split()[0]} on {worst[2]} ranks.",
            *_reasons(rows),
            "The simulated programs sleep instead of computing. So caches and memory have no effect.",
        ],
    )


def _rows(outcomes: Iterable[tuple[str, Outcome]]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for name, outcome in outcomes:
        machine, program = re.fullmatch(r"\[(\w+)\] (.*)", name).groups()
        if outcome.refused:
            reason = outcome.refused.partition(": the program cannot be ")[2] or outcome.refused
            rows.append((machine, program, REFUSED, reason.partition(": ")[2] or reason, "–", "–"))
        rows += [
            (
                machine,
                program,
                str(ranks),
                f"{100 * at.error:+.1f} %",
                f"{100 * at.half:.0f} %",
                "yes" if at.held else "no",
            )
            for ranks, at in outcome.by_ranks.items()
        ]
    return rows


def _inside(rows: Rows) -> str:
    """Return how many times are in their interval."""
    return f"{sum(row[5] == 'yes' for row in rows)} of {len(rows)}" if rows else "–"


def _median(rows: Rows) -> str:
    return percent(np.median([abs(leading(row[3])) for row in rows]) / 100)


def _errors(rows: Rows) -> Iterable[str]:
    """Yield the median and the largest error at each number of ranks."""
    for ranks in TO:
        cells = [row for row in rows if row[2] == str(ranks)]
        largest = max((row[3] for row in cells), key=lambda cell: abs(leading(cell)), default="")
        yield f"{_median(cells)} ({largest.removesuffix(' %')})" if cells else "–"


def _reasons(rows: Rows) -> Iterable[str]:
    """Yield why programs of a style were refused."""
    for style in STYLES:
        refused = [row for row in rows if row[1].split()[0] == style and row[2] == REFUSED]
        if refused:
            yield f"Refused, {len(refused)} x {style}: {refused[0][3].partition(' (recorded')[0]}."


def _figure(rows: Sequence[Sequence[str]]) -> Figure:
    figure, (axes,) = chart(5.0, 3.0)
    for k, ranks in enumerate(TO):
        errors = [abs(leading(row[3])) for row in rows if row[2] == str(ranks)]
        axes.plot([k] * len(errors), np.maximum(errors, 0.01), "o", markersize=4, alpha=0.6)
        axes.plot([k - 0.2, k + 0.2], [float(np.median(errors))] * 2, color="#1f2430")
    axes.set_yscale("log")
    axes.set_xticks(range(len(TO)), [f"{ranks} ranks" for ranks in TO])
    label(axes, "recorded on up to 16 ranks", "absolute error, %")
    return figure
