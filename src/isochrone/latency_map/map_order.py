"""In which order a picture shows the ranks of a map: as numbered, by node, by level, by cost."""

from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Ints
from isochrone.base.errors import InputError
from isochrone.base.stats import row_medians
from isochrone.latency_map import topology
from isochrone.latency_map.partitions import numbered
from isochrone.runfile.run import Run
from isochrone.views.view import Options

SORTS = {
    "rank": "",
    "node": "ranks sorted by node",
    "level": "ranks sorted by level",
    "cost": "ranks sorted by their median round trip",
}
"""The orders, each with what is said of it below the title."""


def order_of(run: Run, options: Options) -> Ints:
    """Return the ranks of a map from the upper left to the lower right.

    Ranks that are alike keep the order of their numbers: those of a node, of a group of a level.

    Raises
    ------
    InputError
        If there is no such order.
    """
    if options.sort not in SORTS:
        known = ", ".join(SORTS)
        raise InputError(f"there is no order '{options.sort}'", hint=f"there are: {known}")
    if options.sort == "node":
        return np.argsort(numbered(run.hosts), kind="stable")
    if options.sort == "level":
        # the groups of the farthest level side by side, in each those of the next, and so on
        found = options.analysis or topology.analyse(run, options.size)
        return np.lexsort([np.arange(run.size), *found.chain])
    if options.sort == "cost":
        # whatever is drawn, the ranks are in the order of their times; those without any are last
        matrix = run.matrix(run.statistic(), options.size)
        return np.argsort(row_medians(matrix), kind="stable")
    return np.arange(run.size)


def scattered(hosts: list[str]) -> bool:
    """Whether ranks of one host lie apart, so that its block is not seen in the order of ranks."""
    changes = sum(a != b for a, b in pairwise(hosts))
    return changes + 1 > len(set(hosts))
