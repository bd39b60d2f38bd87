"""A run compared with its baseline: earlier runs of the same kind and settings.

Each quantity (`effects`) has the mean m and the standard deviation s over the n earlier runs that
have it, without outliers (`without_outliers`). The upper prediction limit of the next run is

    m + t s √(1 + 1/n)

with t the quantile of Student's distribution (Hahn & Meeker 1991, *Statistical Intervals*, 4.7), or
of one with tails as long as those of similar quantities, if that is larger (`tail_freedom`). A node
that fewer than `MIN_BASELINE_RUNS` runs have is predicted from these and from the other nodes
(`Components.next_one`); other quantities are then not judged.

The rate of *any* false alarm, `FALSE_ALARM_RATE`, is divided by `SHARES` among levels (or curves),
nodes and ranks, and pairs (or points), and within each of these by Bonferroni. Variances are shrunk
towards those of similar quantities (`moderated`).

Whole runs vary more than their components. A level (or curve) is therefore also slower if it is
slower relative to the other levels of the same launch. Levels are compared only with runs of the
same MPI library and numbers of ranks per node.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.inference import Means, components, means, moderated, tail_freedom
from isochrone.base.record import Members, Record
from isochrone.base.stats import median_of, row_medians
from isochrone.changes.effects import Further, Quantities, Quantity, quantities, with_further
from isochrone.changes.thresholds import (
    CHANGE_MARGIN,
    FALSE_ALARM_RATE,
    JUDGING,
    MIN_BASELINE_RUNS,
    MIN_SLOW_POINTS,
    MIN_UNITS,
    MOST_OF,
    OUTLIER_RATE,
    RUNS_PER_OUTLIER,
)
from isochrone.latency_map.hierarchy import Known
from isochrone.pages.words import plural
from isochrone.runfile.run import Run

SHARES = {"level": 1 / 15, "node": 1 / 60, "pair": 1 / 60, "curve": 1 / 2, "point": 1 / 2}
"""Fractions of `FALSE_ALARM_RATE` for levels, nodes and ranks, and pairs of a map, which take a
tenth of it, so that a job of every night has one false alarm a year; and for curves and points.
Levels vary most from launch to launch and are few, so that a smaller fraction would cost them
most."""


_TAILED = ("node", "inside", "rank", "pair")
"""Kinds of quantities that are many enough to show how long their tails are."""

_FAMILIES = {
    "level": "level",
    "curve": "curve",
    "node": "node",
    "inside": "node",
    "rank": "node",
    "pair": "pair",
    "point": "point",
}


class Change(Record):
    """One quantity of the new run that is slower.

    Attributes
    ----------
    what
        The quantity.
    ratio
        Its time over its baseline.
    limit
        Upper limit of normal variation, a ratio.
    seconds, usual
        Median in the new run, and typical median of the earlier ones, in seconds.
    runs
        Number of earlier runs that have it; below `MIN_BASELINE_RUNS`, it is also compared with its
        peers. proved For a node or rank: whether it is the only explanation. A slow link makes only
        some of its round trips slower, a slow switch all nodes behind it.
    """

    what: Quantity
    ratio: float
    limit: float
    seconds: float
    usual: float
    runs: int
    proved: bool = True


class Against(NamedTuple):
    """A run compared with earlier ones.

    Attributes
    ----------
    worse
        The slower quantities, most severe first.
    visible
        Median of the smallest detectable ratios, by kind.
    items
        Number of quantities.
    odd
        Number of quantities in which each earlier run is an outlier.
    notes
        What was left out of all runs.
    """

    worse: list[Change]
    visible: dict[str, float]
    items: int
    odd: list[int]
    notes: list[str]


def _ratio(log: float) -> float:
    """Return the ratio of a logarithm, clamped to a finite number."""
    return float(np.exp(min(float(log), 50.0)))


class _Usual(NamedTuple):
    """What columns usually are, the limit of the next run above it, and in how many each is odd."""

    middle: Floats
    limit: Floats
    odd: Ints


def _next(
    column_means: Means,
    chance: float,
    *,
    similar: bool = True,
    peers: Ints | None = None,
    tails: float = math.inf,
) -> tuple[Floats, Floats]:
    """Return the mean of each column, and the distance to its upper prediction limit.

    Variances of ``similar`` columns are shrunk towards each other. Columns of fewer than
    `MIN_BASELINE_RUNS` values are predicted from these and from their ``peers``, the columns of the
    same number; the limit is infinite if there are none. Values have ``tails`` like Student's
    distribution of these degrees of freedom.
    """
    from scipy.special import stdtrit  # SciPy takes long to import

    squared, freedom, middle = (
        column_means.squared * column_means.n,
        column_means.freedom.copy(),
        column_means.middle.copy(),
    )
    several = column_means.n > 1
    if similar and several.any():
        squared[several], freedom[several] = moderated(squared[several], freedom[several])
    squared *= 1 + 1 / np.maximum(column_means.n, 1)
    if peers is not None:
        sparse = column_means.n < MIN_BASELINE_RUNS
        squared[sparse] = freedom[sparse] = np.inf
        for peer_group in np.unique(peers[sparse & (peers >= 0)]).tolist():
            members = peers == peer_group
            of_peers = components(Means(*(field[members] for field in column_means)))
            members &= sparse
            if of_peers.columns >= MIN_UNITS:
                middle[members], squared[members], freedom[members] = of_peers.next_one(
                    column_means.n[members], middle[members]
                )
    quantile = stdtrit(freedom, 1 - chance)
    if tails < np.inf:
        quantile = np.maximum(quantile, stdtrit(tails, 1 - chance) * np.sqrt(1 - 2 / tails))
    return middle, quantile * np.sqrt(squared)


def without_outliers(earlier: Floats, *, similar: bool = True, peers: Ints | None = None) -> Floats:
    """Replace outliers of each column by NaN.

    Each run is compared with the others, as a new run is, and the most extreme is removed first: of
    columns with ``peers`` at least one, which these show.
    """
    left = earlier.copy()
    columns = np.arange(earlier.shape[1])
    max_outliers = np.sum(~np.isnan(earlier), axis=0) // RUNS_PER_OUTLIER
    if peers is not None:
        max_outliers = np.maximum(max_outliers, peers >= 0)
    chance = OUTLIER_RATE / 2 / len(earlier)
    for _ in range(max_outliers.max(initial=0)):
        beyond, column_means = np.empty(earlier.shape), means(left)
        for k, row in enumerate(left):
            expected, limit = _next(column_means.without(row), chance, similar=similar, peers=peers)
            beyond[k] = np.nan_to_num(np.abs(row - expected) / np.maximum(limit, 1e-12))
        beyond[:, np.sum(np.isnan(left) & ~np.isnan(earlier), axis=0) >= max_outliers] = 0
        worst = np.argmax(beyond, axis=0)
        odd = beyond[worst, columns] > 1
        if not odd.any():
            break
        left[worst[odd], columns[odd]] = np.nan
    return left


class Reference:
    """Earlier runs that others are compared with; what follows from these is computed once.

    Parameters
    ----------
    runs
        The earlier runs.
    known
        Hierarchies of maps that were found before.

    Raises
    ------
    InputError
        If there are fewer than `MIN_BASELINE_RUNS`.
    """

    def __init__(self, runs: Sequence[Run], hierarchies: Known | None = None) -> None:
        if len(runs) < MIN_BASELINE_RUNS:
            raise InputError(
                f"the baseline has {len(runs)} comparable runs",
                hint=f"add at least {MIN_BASELINE_RUNS}",
            )
        self.runs, self.known = runs, hierarchies
        self._found: tuple[Quantities, Further] | None = None
        self._usual: dict[tuple[str, bool, bytes], _Usual] = {}

    def _quantities(self, new: Run) -> Quantities:
        """Return the quantities of the earlier runs and, last, of a new one."""
        if self._found:
            earlier, further = self._found
            newest = further(new)
            if newest:
                joined: Members = {
                    name: np.concatenate([getattr(earlier, name)[:-1], getattr(newest, name)])
                    for name in ("shifts", "seconds", "lower")
                }
                return replace(earlier, **joined)
        self._usual.clear()
        self._found = with_further([*self.runs, new], len(self.runs), self.known)
        return self._found[0]

    def _alike(self, new: Run) -> tuple[Bools, list[str]]:
        """Return whose levels a run can be compared with, and what is said of the others.

        The times of a level depend on the library, and on which pairs of ranks nodes have.
        """
        if "pair" not in new.tables:
            return np.ones(len(self.runs), bool), []
        new_counts = Counter(new.hosts)
        notes, alike = [], []
        for run in self.runs:
            run_counts = Counter(run.hosts)
            alike.append(
                "MPI library"
                if run.library.library != new.library.library
                else "number of ranks per node"
                if any(
                    new_counts[host] != run_counts[host]
                    for host in new_counts.keys() & run_counts.keys()
                )
                else ""
            )
        for reason in dict.fromkeys(filter(None, alike)):
            runs = plural(alike.count(reason), "earlier run")
            notes.append(f"levels are not compared with {runs}: other {reason}")
        return np.array([not reason for reason in alike]), notes

    def _usually(
        self, kind: str, earlier: Floats, chance: float, peers: Ints, *, beside: bool = False
    ) -> _Usual:
        key = kind, beside, np.isnan(earlier).tobytes() + peers.tobytes()
        if key not in self._usual:
            left = without_outliers(earlier, peers=peers)
            odd = np.sum(np.isnan(left) & ~np.isnan(earlier), axis=1)
            column_means = means(left)
            tails = (
                tail_freedom(earlier, column_means.middle)
                if kind.split()[0] in _TAILED
                else math.inf
            )
            limits = _next(column_means, chance, peers=peers, tails=tails)
            self._usual[key] = _Usual(*limits, odd)
        return self._usual[key]

    def judge(self, new: Run, margin: float = CHANGE_MARGIN) -> Against:
        """Say what of a run is worse than in the earlier ones.

        Raises
        ------
        InputError
            If a run holds no times, or they have too little in common.
        """
        earlier = len(self.runs)
        measured = self._quantities(new)
        shift, limit = np.empty(len(measured.items)), np.empty(len(measured.items))
        beyond, odd = np.zeros(len(measured.items), bool), np.zeros(earlier, np.int64)
        peers_of = _peers(measured.items, new)
        families = np.array([_FAMILIES[quantity.kind] for quantity in measured.items])
        kinds = np.array([f"{quantity.kind} {quantity.nbytes}" for quantity in measured.items])
        names = list(dict.fromkeys(families.tolist()))
        alike, notes = self._alike(new)
        rate = FALSE_ALARM_RATE * (JUDGING if earlier >= RUNS_PER_OUTLIER else 1)
        for family in names:
            chance = rate * SHARES[family] / int(np.sum(families == family))
            for kind in dict.fromkeys(kinds[families == family].tolist()):
                columns = np.flatnonzero(kinds == kind)
                peers = peers_of[columns]
                values = measured.shifts[:, columns]
                if family == "level":
                    values[:-1][~alike] = np.nan
                either = family in ("level", "curve") and len(columns) > 1
                expected = self._usually(kind, values[:-1], chance / (1 + either), peers)
                shift[columns], limit[columns] = expected.middle, expected.limit
                beyond[columns] = values[-1] - expected.middle > expected.limit
                odd += expected.odd
                if either:
                    others = [np.delete(values, k, axis=1) for k in range(len(columns))]
                    values = values - row_medians(np.array(others)).T  # of the same run
                    relative = self._usually(kind, values[:-1], chance / 2, peers, beside=True)
                    limit[columns] = np.minimum(limit[columns], relative.limit)
                    beyond[columns] |= values[-1] - relative.middle > relative.limit
        return _judged(measured, shift, limit, beyond, margin, odd, notes)


def _peers(items: Sequence[Quantity], run: Run) -> Ints:
    """Return a number that quantities of one class share; -1 if one is compared with itself only.

    A class is the nodes whose processors are of one model, or the insides of those with as many
    ranks. Of pairs, tails would decide, which few nights do not show.
    """
    models = {rank.host: rank.processor for rank in run.ranks if rank.processor}
    classes: dict[tuple[str, int], int] = {}
    return np.array(
        [
            classes.setdefault(
                (
                    models.get(quantity.hosts[0], ""),
                    len(quantity.ranks) * (quantity.kind == "inside"),
                ),
                len(classes),
            )
            if quantity.kind in ("node", "inside") and quantity.hosts
            else -1
            for quantity in items
        ]
    )


def _judged(
    measured: Quantities,
    shift: Floats,
    limit: Floats,
    beyond: Bools,
    margin: float,
    odd: Ints,
    notes: list[str],
) -> Against:
    """Put what is beyond its limit into words, and what it may be laid to."""
    ratio = np.exp(measured.shifts[-1] - shift)
    has_value = ~np.isnan(measured.shifts[:-1])
    baseline = row_medians(measured.seconds[:-1].T)
    baseline = np.where(has_value.all(axis=0), baseline, measured.seconds[-1] / ratio)
    lower = measured.lower[-1] - np.nan_to_num(row_medians(measured.lower[:-1].T))
    changes = [
        Change(
            measured.items[k],
            float(ratio[k]),
            _ratio(limit[k]),
            float(measured.seconds[-1, k]),
            float(baseline[k]),
            int(has_value[:, k].sum()),
            not lower[k] < np.log(ratio[k]) / 2,
        )
        for k in np.flatnonzero(beyond & (ratio > 1 + margin)).tolist()
    ]
    worse = sorted(_of_switches(_first_causes(changes), measured), key=lambda change: -change.ratio)
    kinds = np.array([quantity.kind for quantity in measured.items])
    judged = np.isfinite(limit)
    visible = {
        kind: _ratio(median_of(limit[judged & (kinds == kind)]))
        for kind in dict.fromkeys(kinds[judged].tolist())
    }
    return Against(worse, visible, len(measured.items), odd.tolist(), [*measured.notes, *notes])


def _of_switches(changes: list[Change], measured: Quantities) -> list[Change]:
    """Replace the slower nodes behind one switch by the switch.

    Where no switch is known, and a third of all nodes is slower, none of them is proved bad.
    """
    nodes = [change for change in changes if change.what.kind == "node"]
    hosts = dict.fromkeys(change.what.hosts[0] for change in nodes)
    if len(hosts) < MIN_SLOW_POINTS:
        return changes
    others = [change for change in changes if change.what.kind != "node"]
    switch = next(
        (
            group
            for group in measured.groups
            if hosts.keys() <= group and len(hosts) > MOST_OF * len(group)
        ),
        None,
    )
    if switch is None:
        every = sum(
            quantity.kind == "node" and quantity.nbytes == nodes[0].what.nbytes
            for quantity in measured.items
        )
        common = 3 * len(hosts) > every
        return [
            *others,
            *(replace(change, proved=change.proved and not common) for change in nodes),
        ]
    worst = max(nodes, key=lambda change: change.ratio)
    ranks = tuple(sorted({rank for change in nodes for rank in change.what.ranks}))
    component = replace(
        worst.what,
        kind="switch",
        who=f"switch of {', '.join(hosts)}",
        hosts=tuple(hosts),
        ranks=ranks,
    )
    return [*others, replace(worst, what=component, proved=False)]


def _first_causes(changes: Sequence[Change]) -> list[Change]:
    """Remove what a larger component explains: pairs and ranks of a slower node."""
    nodes, inside = (
        {change.what.hosts[0] for change in changes if change.what.kind == kind}
        for kind in ("node", "inside")
    )
    ranks = {change.what.ranks[0] for change in changes if change.what.kind == "rank"}

    def explained(quantity: Quantity) -> bool:
        hosts = set(quantity.hosts)
        if quantity.kind == "pair":
            single = len(quantity.ranks) == 2 and bool(ranks & set(quantity.ranks))
            return single or bool(nodes & hosts)
        if quantity.kind == "rank":
            return bool(hosts) and hosts <= nodes | inside
        return quantity.kind == "inside" and hosts <= nodes

    return [change for change in changes if not explained(change.what)]


class Typical(TypedDict):
    """Typical time of a quantity without outliers; no interval for fewer than two runs."""

    kind: str
    who: str
    bytes: int | None
    points: int
    runs: int
    seconds: float
    low: float | None
    high: float | None


def typical(runs: Sequence[Run]) -> list[Typical]:
    """Return typical times of the quantities of comparable runs, as plain data.

    Each has ``kind``, ``who``, ``runs`` (without outliers), ``seconds`` (geometric mean of their
    medians) and ``low`` and ``high``, the 95 % prediction interval of the next run; None for fewer
    than two runs.

    Raises
    ------
    InputError
        If a run holds no times, or they have too little in common.
    """
    measured = quantities(runs, len(runs))
    logs = without_outliers(np.log(measured.seconds), similar=False)
    n = np.sum(~np.isnan(logs), axis=0)
    mean, half = _next(means(logs), 0.025, similar=False)
    return [
        {
            "kind": quantity.kind,
            "who": quantity.who,
            "bytes": quantity.nbytes,
            "points": quantity.points,
            "runs": int(n[k]),
            "seconds": float(np.exp(mean[k])),
            "low": float(np.exp(mean[k] - half[k])) if n[k] > 1 else None,
            "high": float(np.exp(mean[k] + half[k])) if n[k] > 1 else None,
        }
        for k, quantity in enumerate(measured.items)
    ]
