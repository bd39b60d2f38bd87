"""What the script of a page knows of a latency map: times, names, levels, slow parts."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.latency_map.map_to_draw import Drawn, as_drawn
from isochrone.latency_map.partitions import numbered
from isochrone.latency_map.topology import Slow, Topology
from isochrone.pages.html.packed import ESTIMATED, MIN_TIME_POWER, codes, packed
from isochrone.pages.page import MIN_RANKS
from isochrone.runfile.run import Run
from isochrone.views.style import short_names, stops
from isochrone.views.view import Options

Codes = NDArray[np.uint16]

MAX_TEXT = 1_750_000
"""Characters of packed times: a page of 1,024 ranks, with its pictures, shall stay below 3 MB."""

MAX_UNITS = 3000
"""Ranks, or else nodes, that a map is made of; a browser holds some squares of this number."""

MAX_PARTS = 40
_MAX_HOST_NAME = 200
_COLOURS = 32


def map_data(
    run: Run, analysis: Topology, statistic: str, where: Sequence[str], title: str
) -> dict[str, object] | None:
    """Return the data of a map as JSON; None if there is nothing to look into, or too much.

    Parameters
    ----------
    run, analysis, statistic
        The map, its analysis, and ``median`` or ``mean``.
    where
        Which ranks are as far apart as each level, in words.
    title
        What it is called where several are compared.
    """
    hosts = list(dict.fromkeys(run.hosts))
    options = Options(statistic, (analysis.nbytes,), analysis=analysis)
    times = _times(run, options) if run.size >= MIN_RANKS else None
    if times is None:
        return None
    short = short_names(hosts)
    return {
        "title": title,
        "about": f"{statistic} {run.pair_quantity} of {format_bytes(analysis.nbytes)}",
        "ranks": run.size,
        "hosts": [printable(host, _MAX_HOST_NAME) if host else "" for host in hosts],
        "labels": [short[host] if host else "" for host in hosts],
        "host": numbered(run.hosts).tolist(),
        "levels": _levels(analysis, where),
        "slow": [_part(component, short) for component in analysis.slow[:MAX_PARTS]],
        "colours": stops(_COLOURS),
        "smallest": MIN_TIME_POWER,
        **times,
    }


def _levels(analysis: Topology, where: Sequence[str]) -> list[dict[str, object]]:
    """Describe each level: its name, and the number of the group of each rank."""
    return [
        {
            "name": level.name,
            "where": caption,
            "groups": groups.tolist(),
            "seconds": level.median if np.isfinite(level.median) else 0.0,
        }
        for level, groups, caption in zip(analysis.levels, analysis.chain, where, strict=True)
    ]


def _part(component: Slow, short: Mapping[str, str]) -> dict[str, object]:
    label = component.name
    for host in component.hosts:
        label = label.replace(host, short[host])
    return {
        "label": printable(label, _MAX_HOST_NAME),
        "concerns": component.of.concerns,
        "link": component.of.link,
        "name": printable(component.name, _MAX_HOST_NAME),
        "ratio": component.ratio,
        "ranks": list(component.ranks),
        "evidence": printable(component.evidence, 400),
        "sure": component.retested,
    }


def _times(run: Run, options: Options) -> dict[str, object] | None:
    """Pack the times with their intervals, else without, else of nodes: what a page has room for.

    They are listed row by row of the upper triangle, diagonal included.
    """
    if run.size <= MAX_UNITS:
        columns = _columns(as_drawn(run, options))
        for selected in (columns, columns[:1]):
            text = packed(*selected)
            if len(text) <= MAX_TEXT:
                return {"unit": "rank", "packed": text, "columns": len(selected)}
    if all(run.hosts) and len(set(run.hosts)) < min(MAX_UNITS + 1, run.size):
        columns = _columns(as_drawn(run, options, MAX_UNITS))
        return {"unit": "node", "packed": packed(*columns), "columns": len(columns)}
    return None


def _columns(drawn: Drawn) -> list[Codes]:
    """Return the codes of all pairs, and if known the lengths of their intervals."""
    run, i, j = drawn.run, *np.triu_indices(len(drawn.matrix))
    seconds = drawn.matrix[i, j]
    unknown = np.isnan(seconds) & (i < j) & drawn.guessed
    ends = [run.matrix(end)[i, j] for end in ("low", "high") if end in run.pairs()]
    if unknown.any():
        ends = ends or [seconds.copy(), seconds.copy()]
        guess, half = drawn.estimates(i[unknown], j[unknown])
        for values, by in zip((seconds, *ends), (0, -1, 1), strict=True):
            values[unknown] = guess + by * half
    middle, *others = (codes(values) for values in (seconds, *ends))
    if len(others) == 2:
        low, high = others
        # an interval that does not hold its median, or is not known, has no length
        valid = (low > 0) & (low <= middle) & (middle <= high)
        others = [np.where(valid, middle - low, 0), np.where(valid, high - middle, 0)]
        others = [length.astype(np.uint16) for length in others]
    return [middle + np.uint16(ESTIMATED) * (unknown & (middle > 0)), *others]
