"""Where ranks were: ``nodes`` and ``ppn``, as far as they say what the number of ranks does not."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.models.data.extension import added
from isochrone.runfile.run import Run

PLACES = ("nodes", "ppn")

GROUP = "group"
"""Selector of models of groups of ranks: formulas of each kind of group are kept apart."""

CG = "CG"
"""The group of all ranks of a job, or of ranks that follow each other, such as a row of a grid."""


def placement_of(run: Run) -> dict[str, float]:
    """Return the nodes of a run and the ranks on each.

    One node may hold fewer, as the last one does that is filled; where more do, only the nodes are
    told. Empty if it is not recorded on which hosts the ranks were.
    """
    hosts = run.hosts
    if not all(hosts):
        return {}
    counts = sorted(Counter(hosts).values(), reverse=True)
    even = all(count == counts[0] for count in counts[:-1])
    return {"nodes": float(len(counts))} | ({"ppn": float(counts[0])} if even else {})


def pairs_on_nodes(run: Run, first: Ints, second: Ints) -> dict[str, Floats]:
    """Return on how many nodes the pairs of ranks of a run are, 1 or 2; shape (n,).

    Empty if it is not recorded on which hosts the ranks were, or some pairs are within a node and
    others are not.
    """
    if not all(run.hosts):
        return {}
    hosts = np.unique(np.array(run.hosts), return_inverse=True)[1]
    nodes = np.where(hosts[first] == hosts[second], 1.0, 2.0)
    return {} if np.ptp(nodes) else {"nodes": nodes}


def unfilled(variables: Mapping[str, Floats]) -> Bools:
    """Return where so many ranks cannot fill so many nodes with so many on each but the last."""
    if not {"p", *PLACES} <= variables.keys():
        return np.zeros(1, dtype=bool)
    p, nodes, ppn = (variables[name] for name in ("p", *PLACES))
    return np.atleast_1d((p > nodes * ppn) | (p <= (nodes - 1) * ppn))


def completed_places(variables: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the third of ranks, nodes and ranks on each of a table that has two of them.

    Empty if it does not follow: ranks that do not divide evenly among nodes say no ``ppn``.
    """
    missing = [name for name in ("p", *PLACES) if name not in variables]
    if len(missing) != 1:
        return {}
    if missing == ["p"]:
        return {"p": variables["nodes"] * variables["ppn"]}
    if missing == ["nodes"]:
        return {"nodes": np.ceil(variables["p"] / variables["ppn"])}
    ppn = variables["p"] / variables["nodes"]
    return {"ppn": ppn} if np.all(ppn == np.floor(ppn)) else {}


def informative(variables: dict[str, Floats]) -> tuple[dict[str, Floats], dict[str, float]]:
    """Leave out what the number of ranks says as well.

    A constant number of nodes, or of ranks on each, makes the other one-to-one with ``p``: a
    formula cannot tell them apart.

    Returns
    -------
    tuple
        The variables that are left, with ``p`` if it follows from the others; and what is
        constant, by name.
    """
    placement = {name: variables[name] for name in PLACES if name in variables}
    if len(placement) == len(PLACES):
        variables = {**completed_places(variables), **variables}
    constant = {name: float(v[0]) for name, v in placement.items() if np.ptp(v) == 0}
    left_out = set(constant)
    if len(placement) == len(PLACES) and constant:
        left_out = set(placement)
    elif len(placement) == 1 and "p" in variables:
        [(name, values)], p = placement.items(), variables["p"]
        pairs = len(np.unique(np.column_stack([values, p]), axis=0))
        if pairs == len(np.unique(values)) == len(np.unique(p)):  # it says the same as p
            left_out.add(name)
    return {name: v for name, v in variables.items() if name not in left_out}, constant


def full_node(variables: Mapping[str, Floats]) -> int:
    """Return the ranks on a full node if one node was filled after the other; 0 if not."""
    if not set(PLACES) <= variables.keys():
        return 0
    nodes, ppn = variables["nodes"], variables["ppn"]
    largest = float(ppn.max())
    return int(largest) if np.all((nodes == 1) | (ppn == largest)) and np.any(nodes > 1) else 0


def grouping(variables: Mapping[str, Floats]) -> list[str]:
    """Name the variables whose values are left out of a fit, one after the other, to test it.

    Where ``p`` varies, it stands for ``nodes`` and ``ppn``, too: all data of one node are half of
    them, and what is left cannot tell what is inside a node. Bytes follow from messages and their
    size; and what has a value where it is not known was measured or was not.
    """
    follow = {*(PLACES if "p" in variables else ())}
    for extension in added():
        follow |= {*extension.unless_known, *(extension.bytes if "b" in variables else ())}
    return [name for name in variables if name not in follow]


def farther(variables: Mapping[str, Floats], factor: float) -> dict[str, Floats]:
    """Return the same points with ``factor`` times the most ranks, on as many more full nodes."""
    points = dict(variables)
    for name, growth in (("p", factor), ("nodes", factor), ("ppn", 1.0)):
        if name in points:
            points[name] = np.full_like(points[name], growth * points[name].max())
    return points


def what_to_vary(missing: Iterable[str], constant: Mapping[str, float]) -> str:
    """Say which of the variables a family needs are the same everywhere; empty if none is."""
    constants = [f"{name} is always {constant[name]:g}" for name in missing if name in constant]
    return f"{' and '.join(constants)}: measure other values of it" if constants else ""
