"""The ranks' clocks: how well they agreed, and for how long."""

from __future__ import annotations

from typing import Any

from isochrone.base.units import format_seconds
from isochrone.pages.page import Block, Column, Kind, Row, Section, Sentence, Table
from isochrone.pages.words import of_ranks, plural, warnings_of
from isochrone.results.clocks import Clocks, clocks, has_clocks
from isochrone.runfile.run import Run

__all__ = ["PAGE", "clock_section"]


def clock_section(run: Run) -> Section:
    """Say how well the clocks agreed, of a run of any kind in which they were synchronised.

    Raises
    ------
    InputError
        If a record is damaged.
    """
    found = clocks(run)
    return Section("Clocks", (_apart(found), *_sentences(found)))


def _apart(found: Clocks) -> Table:
    """Tabulate how far the clocks were apart."""
    rows = [
        Row(("just synchronised", format_seconds(found.residual_median),
             format_seconds(found.residual_max), plural(found.synchronised, "time"))),
    ]  # fmt: skip
    if found.offset is not None:
        rows.append(Row((
            "two ranks, any time", format_seconds(found.offset.median),
            format_seconds(found.offset.max), plural(found.offset.comparisons, "time"),
        )))  # fmt: skip
    titles = ("median", "worst", "seen")
    columns = (Column("clocks apart"), *(Column(title, right=True) for title in titles))
    return Table("", columns, tuple(rows))


def _sentences(found: Clocks) -> list[Block]:
    drift = Sentence(f"Largest drift: {format_seconds(found.drift_max)} a second")
    if found.offset is None:
        return [drift]
    i, j = found.offset.worst_pair
    age = format_seconds(max(found.offset.worst_age, 0))
    return [
        Sentence(f"Worst: ranks {i} and {j}, {age} after the clocks were synchronised"),
        Sentence(f"A comparison is known to {format_seconds(found.offset.bound)} (median)"),
        drift,
    ]


def _title(run: Run) -> str:
    return f"synchronised clocks {of_ranks(run)}"


def _sections(run: Run, nbytes: int | None) -> list[Section]:
    """Return the clocks, and how many records there are to look at."""
    counts = [
        Sentence(f"  {plural(len(table), 'record')} of '{name}'")
        for name, table in run.tables.items()
    ]
    return [
        clock_section(run),
        Section("Numbers", tuple(counts)),
        Section("Summary", (warnings_of(run.warnings),)),
    ]


def _document(run: Run, nbytes: int | None) -> dict[str, Any]:
    return {
        "ranks": run.size,
        "records": {name: len(table) for name, table in run.tables.items()},
        "warnings": run.warnings,
    }


PAGE = Kind(title=_title, holds=has_clocks, sections=_sections, document=_document)
