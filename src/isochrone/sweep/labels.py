"""Short labels of curves: what distinguishes those of several runs, and what they share."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from isochrone.base.text import printable
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve
from isochrone.views.head import library

ONE_NODE = "one node"

_USUAL = {
    "mode": "blocking",
    "window": 1,
    "partitions": 4,
    "ready": "together",
    "rma-sync": "flush",
    "rma-window": "create",
    "layout": "contiguous",
    "cache": "hot",
    "pairing": "halves",
    "sync": "barrier",
    "root": "fixed",
    "progress": "none",
    "counts": "uniform",
    "topology": "cartesian",
    "type": "byte",
    "reduce": "sum",
    "in_place": False,
}
"""Defaults of options; shown only where curves differ in them."""


class Labels(NamedTuple):
    """A label for each curve, and what all curves have in common."""

    each: list[str]
    common: list[str]


def distinguish(drawn: Sequence[tuple[Run, Curve]]) -> Labels:
    """Label each curve by what differs between it and the others.

    Options, ranks, ranks per node, MPI library and where the times come from are compared. Curves
    that still have the same label get the name of their file, or a number.
    """
    facts = [_facts(run, curve) for run, curve in drawn]
    keys = list(dict.fromkeys(key for of_curve in facts for key in of_curve))
    differing = [key for key in keys if len({of_curve.get(key, "") for of_curve in facts}) > 1]
    common = [facts[0][key] for key in keys if key not in differing and facts[0][key]]

    common = [text for text in common if text not in _USUAL_TEXTS]
    labels = [", ".join(of_curve[k] for k in differing if of_curve.get(k)) for of_curve in facts]
    return Labels(_unique(labels, [run for run, _ in drawn]), common)


def ranks_per_node(run: Run) -> str:
    """Return how many ranks each node had; empty if not known."""
    counts = Counter(host for host in run.hosts if host)
    if not counts:
        return ""
    low, high = min(counts.values()), max(counts.values())
    count = f"{low}" if low == high else f"{low} to {high}"
    return f"{count} rank{'s' if high > 1 else ''} {'per' if len(counts) > 1 else 'on one'} node"


def _facts(run: Run, curve: Curve) -> dict[str, str]:
    """List what may distinguish a curve, in reading order."""
    facts = {"experiment": run.experiment.replace("-", " "), "name": curve.name}
    options = run.options
    for key in _USUAL:
        if key in options and isinstance(options[key], str | int):
            facts[key] = _option(key, options[key])
    if options.get("layout") == "vector" and isinstance(options.get("stride"), int):
        facts["layout"] += f" of stride {options['stride']}"
    if "pair" not in curve.key:
        facts["p"] = f"{curve.p} ranks"
    nodes = ranks_per_node(run)
    one_node = nodes.endswith(ONE_NODE) and "pair" not in curve.key
    facts["nodes"] = ONE_NODE if one_node else nodes
    facts["mpi"] = library(run)
    facts["origin"] = "" if run.origin == "measured" else run.origin
    return facts


def _option(key: str, value: object) -> str:
    texts = {
        "window": f"{value} in flight",
        "partitions": f"{value} partitions",
        "layout": f"{value}",
        "cache": f"{value} cache",
        "rma-window": f"{value} window",
        "sync": f"{value} start",
        "root": f"{value} root",
        "progress": f"progress by {value}",
        "counts": f"{value} counts",
        "topology": f"{value} topology",
        "type": f"type {value}",
        "reduce": f"reduce {value}",
        "in_place": "in place" if value else "two buffers",
    }
    return printable(texts.get(key, str(value)), 40)


_USUAL_TEXTS = {_option(key, value) for key, value in _USUAL.items()}


def _unique(labels: list[str], runs: Sequence[Run]) -> list[str]:
    """Add the file, or a number, to labels that are the same."""
    for add in ("file", "number"):
        counts = Counter(labels)
        if all(count == 1 for count in counts.values()):
            break
        seen: Counter[str] = Counter()
        for k, label in enumerate(labels):
            if counts[label] > 1:
                seen[label] += 1
                path = runs[k].path
                suffix = printable(path.stem, 24) if path and add == "file" else ""
                suffix = f"{seen[label]}" if add == "number" else suffix
                labels[k] = ", ".join(text for text in (label, suffix) if text)
    return labels
