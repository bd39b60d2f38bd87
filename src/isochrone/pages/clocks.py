"""The ranks' clocks: how well they agreed, and for how long. Runs of any kind may say so."""

from __future__ import annotations

from isochrone.base.units import format_seconds
from isochrone.pages.page import Block, Column, Row, Section, Sentence, Table
from isochrone.pages.words import plural
from isochrone.runfile.clocks import Clocks, clocks
from isochrone.runfile.run import Run

__all__ = ["clock_section"]


def clock_section(run: Run) -> Section:
    """Say how well the clocks agreed in a run in which they were synchronised.

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
        Row(("after synchronisation", format_seconds(found.residual_median),
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
    drift = Sentence(f"Largest drift: {1e6 * found.drift_max:.3g} ppm")
    if found.offset is None:
        return [drift]
    i, j = found.offset.worst_pair
    age = format_seconds(max(found.offset.worst_age, 0))
    return [
        Sentence(f"Worst: ranks {i} and {j}, {age} after the clocks were synchronised"),
        Sentence(f"Uncertainty of a comparison: {format_seconds(found.offset.bound)} (median)"),
        drift,
    ]
