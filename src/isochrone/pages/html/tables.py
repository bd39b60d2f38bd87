"""The tables of a report: levels by message size, the slowest pairs, hosts, how it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.units import format_bytes, format_seconds
from isochrone.pages.html.words import describe_ranks
from isochrone.runfile.run import Run

__all__ = ["by_size", "hosts", "level_of_pairs", "measured_how", "part", "slowest_pairs"]

MOST_PAIRS: Final = 20
MOST_SIZES: Final = 12
MOST_HOSTS: Final = 64

_LABELS: Final = {
    "bytes": "message sizes", "order": "order of the pairs", "warmup": "warm-up round trips",
    "min-repeats": "repeats at least", "max-repeats": "repeats at most",
    "max-time": "time for a pair at most", "retest": "pairs measured again, at most",
    "inner-parallel": "several pairs at once on a node", "time-limit": "time limit",
    "precision": "wanted precision", "window": "messages in flight", "layout": "layout",
    "cache": "cache", "pairing": "pairs", "sync": "start of an operation by", "root": "root",
}  # fmt: skip
_ADAPTIVE: Final = {"precision", "min-repeats", "max-repeats", "max-time"}
"""Options that say nothing if the number of repeats is fixed."""

_SECONDS: Final = {"max-time", "time-limit", "granularity", "cost", "seconds"}
_ORDERS: Final = {
    "quiet": "quiet: no two pairs at work share a node",
    "rounds": "rounds: every rank in at most one pair at a time",
    "serial": "serial: one pair at a time, with a barrier before each",
}


def level_of_pairs(levels: Sequence[dict[str, Any]], size: int) -> NDArray[np.int64]:
    """Return the index of the level of every pair as a matrix."""
    closer = np.zeros((size, size), dtype=np.int64)
    for level in levels[:-1]:
        label = np.arange(size) + len(level["groups"])
        for k, group in enumerate(level["groups"]):
            label[group] = k
        closer += label[:, None] != label
    return closer


def by_size(
    run: Run, what: str, levels: Sequence[dict[str, Any]], level: NDArray[np.int64]
) -> dict[str, Any] | None:
    """List the median round trip of each level for each message size, if there are several."""
    sizes = run.message_sizes()
    if len(sizes) < 2:
        return None
    above = np.triu(np.ones_like(level, dtype=bool), 1)
    rows = []
    for size in sizes[:MOST_SIZES]:
        matrix = run.matrix(what, size)
        cells = []
        for k in range(len(levels)):
            members = matrix[above & (level == k) & np.isfinite(matrix)]
            cells.append(format_seconds(float(np.median(members))) if members.size else "–")
        rows.append({"size": format_bytes(size), "cells": cells})
    return {"levels": [item["level"] for item in levels], "rows": rows,
            "left_out": max(0, len(sizes) - MOST_SIZES)}  # fmt: skip


def slowest_pairs(
    run: Run, what: str, nbytes: int, levels: Sequence[dict[str, Any]], level: NDArray[np.int64]
) -> list[dict[str, str]]:
    """List the pairs that are slowest for their level, as first measured and as measured again."""
    first = run.matrix(what, nbytes, retested=False)
    final = run.matrix(what, nbytes)
    base = np.array([item["median"] for item in levels])
    ratio = np.triu(final / base[level], 1)
    ratio[~np.isfinite(ratio)] = 0.0
    worst = np.argsort(-ratio, axis=None, kind="stable")[:MOST_PAIRS]
    again = _again(run, nbytes)
    low, high = (run.matrix(key, nbytes) if key in run.pairs() else None for key in ("low", "high"))
    names = run.hosts
    rows = []
    for i, j in np.transpose(np.unravel_index(worst, ratio.shape)).tolist():
        if ratio[i, j] <= 0:
            break
        interval = ""
        if low is not None and high is not None:
            interval = f"{format_seconds(low[i, j])} to {format_seconds(high[i, j])}"
        rows.append({
            "pair": f"{i}–{j}", "from": names[i], "to": names[j], "level": str(level[i, j]),
            "ratio": f"{ratio[i, j]:.2f}×", "time": format_seconds(final[i, j]),
            "interval": interval, "first": format_seconds(first[i, j]),
            "again": format_seconds(final[i, j]) if (i, j) in again else "",
        })  # fmt: skip
    return rows


def _again(run: Run, nbytes: int) -> set[tuple[int, int]]:
    table = run.pairs()
    chosen = table.flag("retest") & (table["bytes"] == nbytes)
    return set(zip(table["i"][chosen].tolist(), table["j"][chosen].tolist(), strict=True))


def hosts(run: Run) -> dict[str, Any]:
    """List the hosts with their ranks, in the order in which the ranks meet them."""
    ranks: dict[str, list[int]] = {}
    for rank, host in enumerate(run.hosts):
        ranks.setdefault(host, []).append(rank)
    ranks.pop("", None)
    rows = [
        {"host": host, "count": len(own), "ranks": describe_ranks(own)}
        for host, own in list(ranks.items())[:MOST_HOSTS]
    ]
    return {"rows": rows, "left_out": max(0, len(ranks) - MOST_HOSTS)}


def measured_how(run: Run) -> list[tuple[str, str]]:
    """List the facts of the header: options, clock, library, time taken, notes."""
    header = run.header
    options = part(header, "options")
    unused = _ADAPTIVE if options.get("repeats") else {"repeats"}
    facts = [(_LABELS.get(k, k), _value(k, v)) for k, v in options.items() if k not in unused]
    mpi, clock = part(header, "mpi"), part(header, "clock")
    if mpi.get("library"):
        standard = f" (MPI {mpi['standard']})" if mpi.get("standard") else ""
        facts.append(("MPI library", f"{mpi['library']}{standard}"))
    simulated = " in the virtual time of a simulator" if clock.get("simulated") is True else ""
    facts += [(f"clock {k}", _value(k, v)) for k, v in clock.items() if k != "simulated"]
    facts += [("clock", f"runs{simulated}")] if simulated else []
    if run.end and isinstance(run.end.get("seconds"), int | float):
        facts.append(("time for everything", format_seconds(float(run.end["seconds"]))))
    facts += [(str(k), str(v)) for k, v in part(header, "notes").items()]
    return [(label, value) for label, value in facts if value]


def part(header: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a part of the header; empty if it is missing or damaged."""
    found = header.get(key)
    return found if isinstance(found, dict) else {}


def _value(key: str, value: object) -> str:
    """Write an option as a person would; an option that was not used is empty."""
    if value is None or value is False or (key in ("time-limit", "precision") and not value):
        return ""
    if value is True:
        return "yes"
    if key == "bytes":
        sizes = value if isinstance(value, list) else [value]
        return ", ".join(format_bytes(s) if isinstance(s, int) else str(s) for s in sizes)
    if key in _SECONDS and isinstance(value, int | float):
        return format_seconds(float(value))
    if key == "precision" and isinstance(value, int | float):
        return f"{100 * value:g} %"
    return _ORDERS.get(str(value), str(value)) if key == "order" else str(value)
