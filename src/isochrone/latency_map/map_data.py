"""What the script of a page knows of a latency map: times, names, levels, slow parts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isochrone.base.arrays import Floats, Ints
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.latency_map.pairs import partition_of
from isochrone.latency_map.partitions import numbered
from isochrone.latency_map.topology import Slow, Topology
from isochrone.pages.html.packed import SMALLEST, codes, packed
from isochrone.pages.page import MIN_RANKS
from isochrone.runfile.run import Run
from isochrone.views.style import short_names, stops

Codes = NDArray[np.uint16]

MAX_TEXT = 1_750_000
"""Characters of packed times: a page of 1,024 ranks, with its pictures, shall stay below 3 MB."""

MAX_UNITS = 3000
"""Ranks, or else nodes, that a map is made of; a browser holds some squares of this number."""

MAX_PARTS = 40
_LONGEST = 200
_COLOURS = 32


def map_data(
    run: Run, found: Topology, what: str, where: Sequence[str], title: str
) -> dict[str, Any] | None:
    """Return the data of a map as JSON; None if there is nothing to look into, or too much.

    Parameters
    ----------
    run, found, what
        The map, its analysis, and ``median`` or ``mean``.
    where
        Which ranks are as far apart as each level, in words.
    title
        What it is called where several are compared.
    """
    hosts = list(dict.fromkeys(run.hosts))
    node = numbered(run.hosts)
    times = _times(run, found.nbytes, what, node) if run.size >= MIN_RANKS else None
    if times is None:
        return None
    short = short_names(hosts)
    return {
        "title": title,
        "about": f"{what} round trip of {format_bytes(found.nbytes)}",
        "ranks": run.size,
        "hosts": [printable(host, _LONGEST) if host else "" for host in hosts],
        "labels": [short[host] if host else "" for host in hosts],
        "host": node.tolist(),
        "levels": _levels(found, run.size, where),
        "slow": [_part(part, short) for part in found.slow[:MAX_PARTS]],
        "colours": stops(_COLOURS),
        "smallest": SMALLEST,
        **times,
    }


def _levels(found: Topology, size: int, where: Sequence[str]) -> list[dict[str, Any]]:
    """Describe each level: its name, and the number of the group of each rank."""
    listed = []
    for level, words in zip(found.levels, where, strict=True):
        groups = partition_of(level, size).tolist()
        median = level.median if np.isfinite(level.median) else 0.0
        listed.append({"name": level.name, "where": words, "seconds": median, "groups": groups})
    return listed


def _part(part: Slow, short: Mapping[str, str]) -> dict[str, Any]:
    label = part.name
    for host in part.hosts:
        label = label.replace(host, short[host])
    return {
        "label": printable(label, _LONGEST),
        "concerns": part.of.concerns, "link": part.of.link,
        "name": printable(part.name, _LONGEST), "ratio": part.ratio,
        "ranks": list(part.ranks), "evidence": printable(part.evidence, 400),
        "sure": part.retested,
    }  # fmt: skip


def _times(run: Run, nbytes: int, what: str, node: Ints) -> dict[str, Any] | None:
    """Pack the times with their intervals, else without, else of nodes: what a page has room for.

    They are listed row by row of the upper triangle, diagonal included.
    """
    seconds = run.matrix(what, nbytes)
    if run.size <= MAX_UNITS:
        for columns in _of_ranks(run, nbytes, seconds):
            text = packed(*columns)
            if len(text) <= MAX_TEXT:
                return {"unit": "rank", "packed": text, "columns": len(columns)}
    if all(run.hosts) and node.max() < min(MAX_UNITS, run.size - 1):
        return {"unit": "node", "packed": packed(*_of_nodes(seconds, node)), "columns": 3}
    return None


def _of_ranks(run: Run, nbytes: int, seconds: Floats) -> Iterator[list[Codes]]:
    """Yield the codes of all pairs: with the lengths of their intervals if known, and without."""
    upper = np.triu_indices(run.size)
    middle = codes(seconds[upper])
    table = run.pairs()
    if "low" in table and "high" in table:
        low, high = (codes(run.matrix(end, nbytes)[upper]) for end in ("low", "high"))
        # an interval that does not hold its median, or is not known, has no length
        known = (low > 0) & (low <= middle) & (middle <= high)
        yield [middle, np.where(known, middle - low, 0).astype(np.uint16),
               np.where(known, high - middle, 0).astype(np.uint16)]  # fmt: skip
    yield [middle]


def _of_nodes(seconds: Floats, node: Ints) -> list[Codes]:
    """Return the median of the pairs of each two nodes, and how far down and up they reach."""
    members = [np.flatnonzero(node == k) for k in range(int(node.max()) + 1)]
    count, most = len(members), max(map(len, members))
    # one column more, of no times, is for the ranks that smaller nodes lack
    wide = np.column_stack([seconds, np.full(len(seconds), np.nan)])
    columns = np.full((count, most), len(seconds))
    for k, ranks in enumerate(members):
        columns[k, : len(ranks)] = ranks
    rows = np.arange(count)
    cells = np.empty((3, count, count))
    for k, ranks in enumerate(members):
        times = np.sort(wide[ranks][:, columns].swapaxes(0, 1).reshape(count, -1), axis=1)
        last = np.maximum(np.isfinite(times).sum(axis=1) - 1, 0)
        middle = (times[rows, last // 2] + times[rows, (last + 1) // 2]) / 2
        cells[:, k] = middle, times[:, 0], times[rows, last]
    middle, low, high = codes(cells[(slice(None), *np.triu_indices(count))])
    return [middle, (middle - low).astype(np.uint16), (high - middle).astype(np.uint16)]
