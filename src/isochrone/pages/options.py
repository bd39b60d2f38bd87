"""The options of an experiment that took effect, as a reader sees them."""

from collections.abc import Callable
from operator import not_

import numpy as np

from isochrone.base.arrays import Array
from isochrone.runfile.header import Option
from isochrone.runfile.run import Run
from isochrone.runfile.samples import MARKS, identity, points, repetitions

HOW_LONG = {
    "max-repeats",
    "max-time",
    "min-repeats",
    "precision",
    "repeats",
    "retest",
    "time-limit",
    "warmup",
}
"""Options for how much is measured, not what."""

RECORDED = {"memory", "staging"}
"""Options whose effect is a member of the header: ``memory``."""

_SAMPLING = HOW_LONG | {
    "bytes",
    "tolerance",
    "smallest-gap",
    "max-points",
    "clock-tolerance",
    "sync-age",
    "sync-exchanges",
}
"""Likewise, and of which sizes and how exactly."""

_CURVES = {"pairs", "pairs-at-once", "op"}
"""Options that select curves, which have them in their names."""

Rule = Callable[[Option], bool]


def _is(*values: str) -> Rule:
    return lambda value: value in values


def _is_not(*values: str) -> Rule:
    return lambda value: value not in values


_NEEDS: tuple[tuple[str, Rule, tuple[str, ...]], ...] = (
    (
        "mode",
        _is_not(
            "blocking",
            "nonblocking",
            "persistent",
            "partitioned",
            "bidirectional",
            "bidirectional_sendrecv",
            "bidirectional_sendrecv_replace",
            "bidirectional_persistent",
        ),
        ("rma-sync", "rma-window", "target-computes"),
    ),
    ("mode", _is("partitioned"), ("partitions", "ready")),
    ("layout", _is("vector"), ("stride",)),
    ("cache", _is("cold"), ("cache-bytes",)),
    ("pairs-at-once", bool, ("pairing",)),
    ("pairing", _is("random"), ("seed",)),
    ("counts", _is("random"), ("seed",)),
    ("threads", bool, ("thread-comms",)),
    (
        "bytes",
        lambda value: str(value).startswith("auto"),
        ("tolerance", "smallest-gap", "max-points"),
    ),
    ("sync", _is("window"), ("clock-tolerance", "sync-age", "sync-exchanges")),
    ("memory", lambda value: value != "host", ("memory", "gpu", "staging")),
    ("precision", bool, ("min-repeats", "max-repeats", "max-time")),
    # the number of repetitions is fixed
    ("repeats", not_, ("precision", "min-repeats", "max-repeats", "max-time")),
    ("schedule", _is("isolated"), ("inner-parallel",)),
    # only some pairs are measured, each alone
    ("pairs", not_, ("schedule", "inner-parallel")),
    ("one-way", bool, ("clock-tolerance", "sync-age", "sync-exchanges")),
    ("phase", _is("file", "all"), ("hints", "file")),
    ("phase", _is("exchange", "all"), ("cb-buffer", "aggregators")),
)
"""An option, the values of it that others need to take effect, and these others."""

_OFF_AT_0 = {"repeats", "precision", "time-limit", "max-time", "length", "target-computes"}
"""Options that are off at 0."""

_CHANGES_NOTHING: dict[str, Option] = {
    "counts": "uniform",
    "topology": "cartesian",
    "neighbours": 4,
    "type": "byte",
    "reduce": "sum",
    "source": "partner",
}
"""Values of options that are as if there were no such option."""

_ELSEWHERE = {"program"}
"""Options with temporary input files, whose contents are shown elsewhere."""

_RETEST = "retest"
"""Option for confirmation measurements."""


def in_use(run: Run) -> dict[str, Option]:
    """Return the options that took effect, by their names with dashes.

    Options that are off, or without effect in combination with others, are left out.
    """
    options = {name.replace("_", "-"): value for name, value in run.options.items()}
    return {name: value for name, value in options.items() if _in_use(run, options, name)}


def _in_use(run: Run, options: dict[str, Option], name: str) -> bool:
    value = options[name]
    off = value is None or value is False or value == [] or (name in _OFF_AT_0 and not value)
    off = off or (name in _CHANGES_NOTHING and value == _CHANGES_NOTHING[name])
    if off or name in _ELSEWHERE:
        return False
    needs = ((needed, rule) for needed, rule, names in _NEEDS if name in names)
    met = all(rule(options[needed]) for needed, rule in needs if needed in options)
    return met and measured_again(run, name) != 0


def measured_again(run: Run, name: str) -> int | None:
    """Return how many points were measured again where an option allows it; None for others."""
    if name != _RETEST:
        return None
    table = run.tables.get("pair", run.tables.get("sample"))
    if table is None:
        return 0
    second = table.where(table.flag("again", "retest"))
    return len(points(second, identity(second, run.by), run.where)) if len(second) else 0


def repeated(run: Run) -> str:
    """Return how often each point was measured: ``100``, ``2 to 37 (100 requested)``.

    Empty if the run has no such option, or nothing was measured.
    """
    wanted = run.options.get("repeats")
    counts = _counts(run) if "repeats" in run.options else np.empty(0)
    if not len(counts):
        return ""
    low, high = int(counts.min()), int(counts.max())
    text = f"{low}" if low == high else f"{low} to {high}"
    fixed = isinstance(wanted, int) and wanted > 0
    return f"{text} ({wanted} requested)" if fixed and (low, high) != (wanted, wanted) else text


def _counts(run: Run) -> Array:
    """Return the repetitions of each point, as first measured."""
    pairs, samples = run.tables.get("pair"), run.tables.get("sample")
    if pairs is not None:
        first = pairs.where(~pairs.flag("retest"))
        counts = first["n"] if "n" in pairs else np.empty(0)
        return counts[~np.isnan(counts)]
    if samples is None:
        return np.empty(0)
    first = samples.where(~samples.flag(*MARKS))
    by_point = points(first, identity(first, run.by), run.where)
    return np.array([repetitions(first, rows) for rows in by_point.values()], np.float64)


_SILENT = {("root", "fixed"), ("form", "blocking"), ("progress", "none")}


def varied(run: Run) -> tuple[tuple[str, str], ...]:
    """List the options that are of the experiment and not of how long it measures.

    Defaults that say nothing of most operations are left out.
    """
    options = in_use(run)
    left_out = _SAMPLING | _CURVES | set(run.by)
    if options.get("progress") != "test":
        left_out = left_out | {"test-calls"}
    return tuple(
        (name, _value(value))
        for name, value in options.items()
        if name not in left_out and (name, value) not in _SILENT
    )


def _value(value: Option) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "yes" if value is True else str(value)
