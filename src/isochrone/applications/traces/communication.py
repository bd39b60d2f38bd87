"""What ranks do together at a place of several recordings, as a phase of a description.

Partners are offsets on a grid of the ranks or bits of their numbers, groups are rows and columns.
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from isochrone.applications.thresholds import (
    DOUBTFUL,
    LIKELY_DIMENSIONS,
    MIN_UNRULED_SHARE,
    MOST_GROWTH,
)
from isochrone.applications.traces.farms import Farm
from isochrone.applications.traces.fitting import Fit, times
from isochrone.applications.traces.gaps import Number, Spent, Written
from isochrone.applications.traces.graphs import has_edges
from isochrone.applications.traces.offsets import Messages, Offsets, faces, offsets
from isochrone.applications.traces.places import Place
from isochrone.applications.traces.steps import formula, rotations, row_of
from isochrone.base.operations import ROOTED

ROTATING = "operations whose roots rotate overlap, and are inexact"
"""Rows and columns wait for roots that are still in an operation of the other kind; and across
switches, those that are near a root begin the next operation early."""

Loops = Sequence[tuple[str, str]]
"""Around a place: the name of a step, and how many."""


def collective(fit: Fit, places: Sequence[Place], loops: Loops, path: str) -> Written:
    """Return a collective operation; `loops` are those around it."""
    calls = [place.round.call for place in places if place.round.call is not None]
    op = calls[0].op
    options: Written = {}
    if op != "barrier":
        options["bytes"] = fit.value([call.bytes for call in calls], f"the size of {op}", path)
    among = [place.round.among for place in places]
    size: Number = "p"
    if any(groups != [list(range(p))] for groups, p in zip(among, fit.ranks, strict=True)):
        options["among"] = _groups(fit, among, op, path)
        size = options["among"]["size"]
    roots = [call.root for call in calls]
    if any(place.turns for place in places):
        options["root"] = _rotating(fit, places, loops, str(size), path)
    elif op in ROOTED and max(roots) > 0:
        options["root"] = fit.whole(roots, f"the roots of {op}", path)
    return options


def _rotating(fit: Fit, places: Sequence[Place], loops: Loops, size: str, path: str) -> str:
    """Return roots that differ from turn to turn as a formula of the step."""
    step, turns = loops[-1]
    roots = {
        p: [turn.call.root for turn in place.turns or [place.round] * place.period if turn.call]
        for p, place in zip(fit.ranks, places, strict=True)
    }
    text = formula(roots, step, rotations(roots, step, turns, size))
    if text is None:
        listing = "; ".join(", ".join(map(str, of[:8])) for of in roots.values())
        raise fit.refuse(f"position {path}", f"its roots follow no rule: {listing}")
    if ROTATING not in fit.warnings:
        fit.warn(ROTATING, DOUBTFUL)
    return text


def _groups(fit: Fit, among: Sequence[Sequence[Sequence[int]]], op: str, path: str) -> Written:
    """Return groups as rows or columns: their size, and the distance of their ranks."""
    pairs = map(_size_and_stride, among, fit.ranks)
    if any(len(groups) * len(groups[0]) < p for groups, p in zip(among, fit.ranks, strict=True)):
        fit.warn(f"position {path}: only some ranks do {op}; all groups of them are taken to")
    shapes = [shape for shape in pairs if shape]
    if len(shapes) < len(among):
        raise fit.refuse(f"position {path}", f"the groups of {op} are neither rows nor columns")
    sizes, strides = zip(*shapes, strict=True)
    apart = next((stride for size, stride in reversed(shapes) if size > 1), 1)
    strides = tuple(stride if size > 1 else apart for size, stride in shapes)  # of one rank: any
    return {
        "size": fit.whole(sizes, f"the sizes of groups of {op}", path),
        "stride": fit.whole(strides, f"the distances of ranks in groups of {op}", path),
    }


def _size_and_stride(groups: Sequence[Sequence[int]], ranks: int) -> tuple[int, int] | None:
    """Return the size of groups and the distance of their ranks, if these part all ranks alike.

    Not all of the groups need do something.
    """
    size = len(groups[0])
    stride = groups[0][1] - groups[0][0] if size > 1 else 1
    expected = sorted(
        [first + k * stride for k in range(size)]
        for first in range(ranks)
        if first // stride % size == 0
    )
    given = sorted(map(list, groups))
    even = given == expected or ranks % (size * stride) == 0
    return (size, stride) if even and all(group in expected for group in given) else None


def farm(fit: Fit, farms: Sequence[Farm], path: str) -> Written:
    """Return a farm of tasks."""
    written = farms[-1].exchange(fit.ranks[-1])
    subjects = (
        ("tasks", "tasks", "the number of tasks"),
        ("bytes", "task", "the size of a task"),
        ("reply", "result", "the size of a result"),
    )
    for key, name, subject in subjects:
        written[key] = fit.value([getattr(of, name) for of in farms], subject, path)
    if "compute" in written:
        by = _per_task(fit, [of.spent for of in farms], "a task", path)
        written["compute"] = {"time": times(written["compute"]["time"], by)}
    if "dispatch" in written:
        by = _per_task(fit, [of.dispatch for of in farms], "the master for a task", path)
        written["dispatch"] = times(written["dispatch"], by)
    return written


def _per_task(fit: Fit, spent: Sequence[Spent], subject: str, path: str) -> Number:
    """Return seconds for a task as parts of those on the most ranks."""
    noise = max(of_farm.error() / max(of_farm.mean, 1e-12) for of_farm in spent)
    means = [of_farm.mean / spent[-1].mean for of_farm in spent]
    return fit.value(means, f"the time of {subject}", path, noise=noise)


def exchange(fit: Fit, places: Sequence[Place], period: int, path: str) -> Written:
    """Return messages on a grid, along bits, or, if neither, between random neighbours."""
    rounds = [place.round for place in places]
    kind = rounds[0].kind
    if kind not in ("exchange", "stream"):
        raise fit.refuse(f"position {path}", f"its messages are of the flow {kind}")
    messages = [round_.messages for round_ in rounds]
    rows = [row_of(sent, p) for sent, p in zip(messages, fit.ranks, strict=True)]
    alike = [row for row in rows if row is not None]
    bits = len(alike) == len(rows)
    grid = offsets(messages, fit.ranks)
    sized = True  # all messages by their mean, and not by offset
    topology: str | Written | None
    if kind == "exchange" and all(map(_all_to_all, messages, fit.ranks)):
        topology = "all-to-all"
    elif grid is not None and not (bits and grid.grid.dimensions >= LIKELY_DIMENSIONS):
        topology, sized = _on_grid(fit, places, grid, path), False
    elif kind == "exchange":
        topology = _butterfly(fit, alike, path) if bits else _irregular(fit, messages, path)
    else:
        topology = _tree(messages, fit.ranks)
    if topology is None:
        raise fit.refuse(f"position {path}", "its messages are not offsets on a grid")
    exchange: Written = {"topology": topology, "flow": rounds[0].flow}
    if sized:
        sizes = [sum(size for _, _, size in m) / len(m) for m in messages]
        exchange["bytes"] = f"round({fit.value(sizes, 'the mean size of messages', path)})"
    within = fit.computing(places, 1, period, path)
    if within is not None:
        exchange["compute"] = within
    return exchange


def _tree(messages: Sequence[Messages], ranks: Sequence[int]) -> Written | None:
    """Return the tree along whose edges messages are sent, if rank 0 is its root; else None.

    That is a binomial tree, or all ranks are children of the root.
    """
    kinds: list[Written] = [{"degree": "p - 1"}, {"binomial": True}]
    ways: list[Written] = [{}, {"to-root": True}]
    for kind, way in product(kinds, ways):
        tree = {"tree": kind | way}
        if all(has_edges(m, tree, "stream", p) for m, p in zip(messages, ranks, strict=True)):
            return tree
    return None


def _all_to_all(messages: Messages, ranks: int) -> bool:
    """Whether each rank sends one message to each other one."""
    pairs = {(a, b) for a, b, _ in messages}
    return len(messages) == len(pairs) == ranks * (ranks - 1) and ranks > 2


def _on_grid(fit: Fit, places: Sequence[Place], grid: Offsets, path: str) -> Written:
    """Return messages to offsets; where their sizes differ between ranks, means are kept."""
    share = fit.left_out.share_of([[place] for place in places])
    if grid.uneven * share > MIN_UNRULED_SHARE:
        fit.warn(
            f"position {path}: sizes of messages differ by up to {grid.uneven:.0%} between "
            "ranks: their means are kept",
            grid.uneven * share,
        )
    listed = []
    for offset in grid.sizes[-1]:
        size = fit.value(
            [by.get(offset, math.nan) for by in grid.sizes],
            f"the size of messages to {offset}",
            path,
            first=faces(offset, grid.grid.dimensions),
        )
        listed.append({"to": list(offset), "bytes": size})
    options: Written = {"dimensions": grid.grid.dimensions, "list": listed}
    if grid.grid.periodic:
        options["periodic"] = True
    return {"offsets": options | grid.grid.numbering}


def _butterfly(fit: Fit, rows: Sequence[tuple[int, int]], path: str) -> Written | str:
    """Return a butterfly of all ranks, or of groups of them."""
    sizes, strides = zip(*rows, strict=True)
    if list(sizes) == fit.ranks:
        return "butterfly"
    size = fit.whole(sizes, "the sizes of groups of a butterfly", path)
    stride = fit.whole(strides, "the distances of ranks in a butterfly", path)
    return {"butterfly": {"size": size, "stride": stride}}


def _irregular(fit: Fit, messages: Sequence[Messages], path: str) -> Written:
    """Return a random graph of as many neighbours.

    Each rank has the fewest neighbours of a rank on a ring, and random ones in addition.
    """
    if offsets(messages[-1:], fit.ranks[-1:]) is not None:
        problem = (
            "its neighbours are offsets on a grid, but not on the same at all numbers of ranks"
        )
        raise fit.refuse(f"position {path}", problem)
    degrees = [len(m) / p for m, p in zip(messages, fit.ranks, strict=True)]
    pairs = all(len({a for a, _, _ in m}) == len(m) for m in messages)
    if pairs and not any(p % 2 for p in fit.ranks):  # of some, others alone
        fit.warn(
            f"position {path}: partners are no offsets on a grid; a random one of each rank is "
            "taken"
        )
        return {"random-regular": {"degree": 1}}
    sent = np.bincount([a for a, _, _ in messages[-1]], minlength=fit.ranks[-1])
    fewest = max(2, 2 * (int(sent.min()) // 2))
    extra = float(f"{min(max(degrees[-1] / fewest - 1, 0.0), 1.0):.3g}")
    graph: Written = {"generator": "newman_watts_strogatz_graph", "n": "p", "k": fewest, "p": extra}
    if degrees[-1] > MOST_GROWTH * degrees[-2]:
        degree = f"min({fit.value(degrees, 'the number of neighbours', path)}, p - 1)"
        ring = f"max(2, 2*floor({degree}/2))"
        graph |= {"k": ring, "p": f"max({degree}/{ring} - 1, 0)"}
    fit.warn(
        f"position {path}: neighbours are no offsets on a grid; random ones are taken, "
        f"{degrees[-1]:.1f} of each rank"
    )
    return {"networkx": graph}
