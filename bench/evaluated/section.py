"""What a section of the evaluation measures, what its page says, and where it measures."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from isochrone.views.style import COLOURS, FAINT, INK, LABEL

TIMEOUT = 900


@dataclass
class Bed:
    """Where a section measures.

    Attributes
    ----------
    folder
        Files of this section; removed at the end.
    quick
        Whether sizes are for ten minutes of processor time in all.
    peers
        Programs of others, by name; compiled with ``smpicc``.
    earlier
        Tables of the evaluation before this one.
    """

    folder: Path
    quick: bool = True
    peers: dict[str, Path] = field(default_factory=dict)
    earlier: Path | None = None

    def many(self, quick: int, full: int) -> int:
        """Return how many cases are drawn."""
        return quick if self.quick else full

    def measured_before(self, table: str) -> list[tuple[str, ...]]:
        """Return the rows of a table of programs that are not given, as they were measured before."""
        file = self.earlier / f"{table}.csv" if self.earlier else None
        if file is None or not file.exists():
            return []
        with file.open(newline="") as stream:
            return [tuple(row) for row in csv.reader(stream)][1:]


@dataclass
class Table:
    """Rows of texts and numbers, which are a CSV file."""

    name: str
    columns: Sequence[str]
    rows: list[Sequence[Any]]


@dataclass
class Section:
    """What was measured. The page is written from this, also later.

    Attributes
    ----------
    tables
        The numbers.
    facts
        Numbers that no table has, as texts.
    notes
        What went wrong in this run, one sentence each.
    figure
        A picture; the module says what it shows in ``CAPTION``.
    """

    tables: list[Table]
    facts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    figure: Figure | None = None


Rows = list[tuple[str, ...]]


@dataclass
class Page:
    """What the pages say about a section.

    Attributes
    ----------
    question, answer, failure
        The row of the section in the overview.
    measured
        What was measured, and how the truth is known.
    columns, rows
        The table of the section.
    meaning
        What the table shows.
    fails
        What fails, one item each.
    """

    question: str
    answer: str
    failure: str
    measured: str
    columns: Sequence[str]
    rows: Rows
    meaning: str
    fails: list[str]


def isochrone(*words: object) -> str:
    """Run a command to its end and return what it printed."""
    argv = [sys.executable, "-m", "isochrone", *map(str, words)]
    return done(argv)


def done(argv: Sequence[object]) -> str:
    """Run a program to its end and return what it printed."""
    words = [str(word) for word in argv]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if answer.returncode:
        raise RuntimeError(f"{' '.join(words)}: {answer.stderr.strip()[-400:]}")
    return answer.stdout


def percent(value: float) -> str:
    """Return a share or an error as text, with two digits that count."""
    if not np.isfinite(value):
        return "–"
    shown = 100 * value
    if abs(shown) < 0.005:
        return "0 %"
    return f"{shown:.0f} %" if abs(shown) >= 9.95 else f"{shown:.2g} %"


def leading(cell: str) -> float:
    """Return the number at the start of a cell, such as ``+0.1 %``."""
    return float(cell.split()[0])


def span(cells: Sequence[str]) -> str:
    """Return the smallest and the largest of shares as text."""
    low, high = min(cells, key=leading), max(cells, key=leading)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def enumerated(names: Sequence[str]) -> str:
    """Return names as they are in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def chart(width: float = 6.4, height: float = 3.2, panels: int = 1) -> tuple[Figure, list[Any]]:
    """Return a figure with axes in the style of the package."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = np.ravel(figure.subplots(1, panels, squeeze=False)).tolist()
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(colors=INK, labelsize=LABEL)
        one.grid(axis="y", color=FAINT, alpha=0.2)
        one.set_prop_cycle(color=COLOURS)
    return figure, axes


def label(axes: Any, x: str, y: str) -> None:
    """Name both axes, and the lines if they have names."""
    axes.set_xlabel(x, fontsize=LABEL, color=INK)
    axes.set_ylabel(y, fontsize=LABEL, color=INK)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=LABEL, frameon=False)
