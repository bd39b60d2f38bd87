"""What a run says of the ranks' clocks: how well they agreed, and for how long."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from isochrone.base.errors import InputError
from isochrone.base.units import format_seconds
from isochrone.runfile.run import Run

__all__ = ["print_clocks", "summarise"]


def summarise(found: Run) -> dict[str, Any]:
    """Return what the ``sync`` and ``offset`` records of a run say, in seconds.

    Raises
    ------
    InputError
        If a record lacks a number that it must have.
    """
    summary: dict[str, Any] = {
        "synchronised": len(found.tables["sync"]),
        "residual_median": float(np.median(_column(found, "sync", "residual_median"))),
        "residual_max": float(_column(found, "sync", "residual_max").max()),
        "drift_max": float(_column(found, "sync", "drift_max")[-1]),
    }
    if "offset" in found.tables:
        summary["offset"] = _offsets(found)
    return summary


def _offsets(found: Run) -> dict[str, Any]:
    """Summarise the comparisons of two ranks, and say which was the worst."""
    apart = np.abs(_column(found, "offset", "seconds"))
    worst = int(np.argmax(apart))
    pair = [int(_column(found, "offset", key)[worst]) for key in ("i", "j")]
    return {
        "comparisons": len(apart),
        "median": float(np.median(apart)),
        "max": float(apart[worst]),
        "bound": float(np.median(_column(found, "offset", "bound"))),
        "worst_pair": pair,
        "worst_age": float(_column(found, "offset", "age")[worst]),
    }


def print_clocks(console: Console, found: Run) -> None:
    """Print the same as a short table."""
    summary = summarise(found)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("clocks apart")
    for title in ("median", "worst", "seen"):
        table.add_column(title, justify="right")
    times = summary["synchronised"]
    table.add_row(
        "just synchronised",
        format_seconds(summary["residual_median"]), format_seconds(summary["residual_max"]),
        f"{times} time{'s' if times > 1 else ''}",
    )  # fmt: skip
    offset = summary.get("offset")
    if offset:
        table.add_row(
            "two ranks, any time",
            format_seconds(offset["median"]), format_seconds(offset["max"]),
            f"{offset['comparisons']} times",
        )  # fmt: skip
    console.print(table)
    if offset:
        i, j = offset["worst_pair"]
        age = format_seconds(max(offset["worst_age"], 0))
        console.print(f"Worst: ranks {i} and {j}, {age} after the clocks were synchronised")
        console.print(f"A comparison is known to {format_seconds(offset['bound'])} (median)")
    console.print(f"Largest drift: {format_seconds(summary['drift_max'])} a second")


def _column(found: Run, name: str, key: str) -> NDArray[np.float64]:
    """Return a column of numbers."""
    table = found.tables[name]
    if key not in table or table[key].dtype.kind not in "if" or np.isnan(table[key]).any():
        where = str(found.path or "")
        article = "an" if name == "offset" else "a"
        raise InputError(f"{article} '{name}' record without a number '{key}'", where=where)
    return np.asarray(table[key], dtype=np.float64)
