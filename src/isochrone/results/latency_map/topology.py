"""What a latency map says about the machine: levels, groups, placement, and what is slow.

The reading has four steps, each in a module of its own: the levels of the hierarchy (`levels`, with
`singletons` for slow parts that would blur it), the placement of the ranks (`placement`), what each
rank and each link costs beyond its level (`costs`), and what costs too much (`diagnosis`, which
names it as `slow`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.stats import INTERVAL_WIDTH, median_interval
from isochrone.results.latency_map.diagnosis import SlowFinder, hosts_known
from isochrone.results.latency_map.levels import Partition, find_partitions, groups_of, level_matrix
from isochrone.results.latency_map.placement import Placement, placement_of
from isochrone.results.latency_map.slow import Slow
from isochrone.runfile.run import Run

__all__ = ["Level", "Placement", "Slow", "Topology", "analyse"]

Matrix = NDArray[np.float64]

MIN_RANKS_TO_JUDGE: Final = 6
OUTLIER_RATIO: Final = 1.5
"""With fewer ranks no single pair can be called slow; one that is so far off is mentioned."""

MIN_NODES: Final = 4
"""With fewer nodes a slow one cannot be told from the others."""

MAX_PAIRS: Final = 20
"""Slow pairs that are listed; more are only counted."""

MAX_MISSING: Final = 0.2
"""If a greater part of the pairs was not measured, levels that do not show prove nothing."""


@dataclass(frozen=True)
class Level:
    """One level of the communication hierarchy.

    Attributes
    ----------
    level
        0 for the closest.
    name
        ``package``, ``numa`` or ``node`` where the groups are what the machine recorded under that
        name, ``network`` for the last level beyond nodes, else ``group``.
    median, low, high
        Median round trip of its pairs in seconds, and a 95 % interval of this median.
    pairs
        Number of its measured pairs: those within one group that are in two on any closer level.
    groups
        The sets of ranks that can reach each other within this level.
    """

    level: int
    name: str
    median: float
    low: float
    high: float
    pairs: int
    groups: list[list[int]]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; times in seconds."""
        return {
            "level": self.level, "name": self.name, "median": self.median, "low": self.low,
            "high": self.high, "pairs": self.pairs, "groups": self.groups,
        }  # fmt: skip


@dataclass(frozen=True)
class Topology:
    """What a latency map says about the machine.

    Attributes
    ----------
    ranks
        Number of ranks.
    nbytes
        Message size the reading rests on.
    levels
        From the closest to the farthest.
    placement
        How the ranks were dealt out to the hosts.
    slow
        The slow parts, the worst first.
    warnings
        Those of the run, then those of the reading: dicts with ``code`` and ``text``.
    """

    ranks: int
    nbytes: int
    levels: list[Level]
    placement: Placement
    slow: list[Slow]
    warnings: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Return what ``isochrone show --json`` prints."""
        return {
            "ranks": self.ranks,
            "bytes": self.nbytes,
            "levels": [level.to_json() for level in self.levels],
            "placement": self.placement.to_json(),
            "slow": [part.to_json() for part in self.slow],
            "warnings": self.warnings,
        }


def analyse(run: Run, nbytes: int | None = None) -> Topology:
    """Read the hierarchy, the placement and the slow parts out of a latency map.

    Parameters
    ----------
    run
        A latency map; a partial one will do.
    nbytes
        Message size; the smallest one measured if None.

    Raises
    ------
    InputError
        If the run is not a latency map, or has no pairs of that size.
    """
    nbytes = run.message_sizes()[0] if nbytes is None else nbytes
    what = "median" if "median" in run.pairs() else "mean"  # mmpi logs know no median
    times = _positive(run.matrix(what, nbytes))
    error, retested = _standard_errors(run, nbytes), _retested(run, nbytes)
    told = _recorded_partitions(run)
    partitions = find_partitions(times, list(told.values()), float(np.median(error)))
    finder = SlowFinder(
        times=times,
        first=_positive(run.matrix(what, nbytes, retested=False)) if retested.any() else times,
        retested=retested,
        partitions=partitions,
        hosts=run.hosts,
        error=error,
    )
    slow, unlisted = _worst(finder.find())
    warnings = _warnings(run, times, partitions, bool(slow), unlisted)
    return Topology(
        ranks=run.size,
        nbytes=nbytes,
        levels=_levels(times, partitions, told),
        placement=placement_of(run.hosts),
        slow=slow,
        warnings=[*run.warnings, *warnings],
    )


def _positive(times: Matrix) -> Matrix:
    """Replace a time of 0, which a coarse clock makes, by the smallest one it could see."""
    seen = times[times > 0]
    return np.maximum(times, seen.min() if seen.size else 1e-9)


def _standard_errors(run: Run, nbytes: int) -> Matrix:
    """Return the standard error of each pair's log median by its interval; 0 without one."""
    error = np.zeros((run.size, run.size))
    if "low" in run.pairs() and "high" in run.pairs():
        low, high = _positive(run.matrix("low", nbytes)), _positive(run.matrix("high", nbytes))
        error = np.nan_to_num(np.log(np.maximum(high, low) / low)) / INTERVAL_WIDTH
    return error


def _retested(run: Run, nbytes: int) -> NDArray[np.bool_]:
    """Mark the pairs that were measured again alone."""
    table = run.pairs()
    again = table.flag("retest") & (table["bytes"] == nbytes)
    mask = np.zeros((run.size, run.size), dtype=bool)
    mask[table["i"][again], table["j"][again]] = True
    return mask | mask.T


def _recorded_partitions(run: Run) -> dict[str, Partition]:
    """Return the partitions that the machine told, by the name of what they are."""
    if len(run.ranks) < run.size or not all(run.hosts):
        return {}
    ranks = sorted(run.ranks, key=lambda r: r.rank)
    keys: dict[str, list[tuple[Any, ...]]] = {"node": [(r.host,) for r in ranks]}
    if all(r.package >= 0 for r in ranks):
        keys["package"] = [(r.host, r.package) for r in ranks]
    if all(r.numa >= 0 for r in ranks):
        keys["numa"] = [(r.host, r.numa) for r in ranks]
    return {name: _numbered(key) for name, key in keys.items()}


def _numbered(keys: Sequence[tuple[Any, ...]]) -> Partition:
    number = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    return np.array([number[key] for key in keys], dtype=np.int64)


def _levels(
    times: Matrix, partitions: Sequence[Partition], told: dict[str, Partition]
) -> list[Level]:
    """Describe each level; pairs that were not measured are in none."""
    level = np.where(np.triu(np.isfinite(times), 1), level_matrix(partitions), -1)
    found = []
    for k, partition in enumerate(partitions):
        members = times[level == k]
        low, high = median_interval(members)
        median = float(np.median(members)) if members.size else float("nan")
        name = _name(partition, told)
        found.append(Level(k, name, median, low, high, members.size, groups_of(partition)))
    return found


def _name(partition: Partition, told: dict[str, Partition]) -> str:
    for name, known in told.items():
        if np.array_equal(partition, known):
            return name
    return "group" if partition.any() else "network"


def _worst(slow: Sequence[Slow]) -> tuple[list[Slow], int]:
    """Keep every part but only the worst pairs; return them and how many pairs were left out."""
    pairs = [part for part in slow if part.kind == "pair"]
    left_out = pairs[MAX_PAIRS:]
    return [part for part in slow if part not in left_out], len(left_out)


def _warnings(
    run: Run, times: Matrix, partitions: Sequence[Partition], named: bool, unlisted: int
) -> list[dict[str, Any]]:
    """Say what makes the reading doubtful."""
    warnings = []

    def warn(code: str, text: str) -> None:
        warnings.append({"code": code, "text": text})

    missing = int(np.isnan(times[np.triu_indices(run.size, 1)]).sum())
    total = run.size * (run.size - 1) // 2
    if missing:
        warn("incomplete-map", f"{missing} of {total} pairs were not measured")
    hosts = run.hosts
    if hosts_known(hosts):
        nodes = _numbered([(host,) for host in hosts])
        visible = 1 < len(set(hosts)) < run.size and missing <= MAX_MISSING * total
        if visible and not any(np.array_equal(nodes, partition) for partition in partitions):
            warn("hosts-disagree", "the latencies do not reflect the recorded hosts")
        if len(set(hosts)) < MIN_NODES:
            warn("few-nodes", f"with fewer than {MIN_NODES} nodes a slow node cannot be identified")
    elif not all(hosts):
        warn("hosts-unknown", "the hosts of the ranks are not recorded: no node can be named")
    if (
        run.size < MIN_RANKS_TO_JUDGE
        and len(partitions) == 1
        and not named
        and np.isfinite(times).any()
    ):
        i, j = np.unravel_index(np.nanargmax(times), times.shape)
        ratio = times[i, j] / np.nanmedian(times)
        if ratio >= OUTLIER_RATIO:
            text = f"pair {min(i, j)}-{max(i, j)} takes {ratio:.1f}x the median; with fewer than"
            warn("few-ranks", f"{text} {MIN_RANKS_TO_JUDGE} ranks a slow one cannot be identified")
    if unlisted:
        warn("many-slow-pairs", f"{unlisted} more slow pairs are not listed")
    return warnings
