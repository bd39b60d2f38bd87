"""A run compared with its baseline: earlier runs of the same kind and settings.

Each quantity (`effects`) has the mean m and the standard deviation s over the n earlier runs that
have it, without outliers (`without_outliers`). The upper prediction limit of the next run is

    m + t s √(1 + 1/n)

with t the quantile of Student's distribution (Hahn & Meeker 1991, *Statistical Intervals*, 4.7), or
of one with tails as long as those of similar quantities, if that is larger (`tail_freedom`). A node
that fewer than `ENOUGH` runs have is predicted from these and from the other nodes
(`Components.next_one`); other quantities are then not judged.

The rate of *any* false alarm, `RATE`, is divided by `SHARES` among levels (or curves), nodes and
ranks, and pairs (or points), and within each of these by Bonferroni. Variances are shrunk towards
those of similar quantities (`moderated`).

Whole runs vary more than their components. A level (or curve) is therefore also slower if it is
slower relative to the other levels of the same launch. Levels are compared only with runs of the
same MPI library and numbers of ranks per node.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.inference import Means, components, means, moderated, tail_freedom
from isochrone.base.record import Record
from isochrone.base.stats import median_of, row_medians
from isochrone.changes.effects import (
    MIN_UNITS,
    Further,
    Quantities,
    Quantity,
    quantities,
    with_further,
)
from isochrone.latency_map.hierarchy import Known
from isochrone.pages.words import plural
from isochrone.runfile.run import Run

ENOUGH = 3
"""Minimum number of earlier runs."""

LATEST = 60
"""Earlier runs that a run is compared with, at most: more hardly say more of the next one, and old
ones less of what is usual now."""

MARGIN = 0.05
"""Threshold: smaller slowdowns are not reported."""

RATE = 0.03
"""Probability of any false alarm in a run of an unchanged machine, at most."""

SHARES = {"level": 1 / 15, "node": 1 / 60, "pair": 1 / 60, "curve": 1 / 2, "point": 1 / 2}
"""Fractions of `RATE` for levels, nodes and ranks, and pairs of a map, which take a tenth of it, so
that a job of every night has one false alarm a year; and for curves and points. Levels vary most
from launch to launch and are few, so that a smaller fraction would cost them most."""

JUDGING = 0.9
"""Fraction of `RATE` for judging the run; the remainder is for removing outliers."""

OUTLIER_RATE = 0.002
"""Probability that a normal run is removed from a quantity as an outlier."""

RUNS_PER_OUTLIER = 5
"""At most one run in this number is removed: fewer do not show which is the outlier."""

BLIND = 1.6
"""Above this detection limit the test has too little power to pass a run."""

_LARGEST = 50.0
_TINY = 1e-12

SEVERAL = 2
MOST_OF = 0.6
"""Nodes, and fraction of the nodes behind a switch, from which on the switch is blamed."""

_TAILED = ("node", "inside", "rank", "pair")
"""Kinds of quantities that are many enough to show how long their tails are."""

_FAMILIES = {
    "level": "level", "curve": "curve", "node": "node", "inside": "node", "rank": "node",
    "pair": "pair", "point": "point",
}  # fmt: skip


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
        Number of earlier runs that have it; below `ENOUGH`, it is also compared with its peers.
    proved
        For a node or rank: whether it is the only explanation. A slow link makes only some of its
        round trips slower, a slow switch all nodes behind it.
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
    return float(np.exp(min(float(log), _LARGEST)))


class _Usual(NamedTuple):
    """What columns usually are, the limit of the next run above it, and in how many each is odd."""

    middle: Floats
    limit: Floats
    odd: Ints


def _next(
    found: Means, chance: float, *, similar: bool = True, peers: Ints | None = None,
    tails: float = math.inf,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the mean of each column, and the distance to its upper prediction limit.

    Variances of ``similar`` columns are shrunk towards each other. Columns of fewer than `ENOUGH`
    values are predicted from these and from their ``peers``, the columns of the same number; the
    limit is infinite if there are none. Values have ``tails`` like Student's distribution of these
    degrees of freedom.
    """
    from scipy.special import stdtrit  # SciPy takes long to import

    squared, freedom, middle = found.squared * found.n, found.freedom.copy(), found.middle.copy()
    several = found.n > 1
    if similar and several.any():
        squared[several], freedom[several] = moderated(squared[several], freedom[several])
    squared *= 1 + 1 / np.maximum(found.n, 1)
    if peers is not None:
        few = found.n < ENOUGH
        squared[few] = freedom[few] = np.inf
        for number in np.unique(peers[few & (peers >= 0)]).tolist():
            own = peers == number
            of_peers = components(Means(*(one[own] for one in found)))
            own &= few
            if of_peers.columns >= MIN_UNITS:
                middle[own], squared[own], freedom[own] = of_peers.next_one(
                    found.n[own], middle[own]
                )
    quantile = stdtrit(freedom, 1 - chance)
    if tails < np.inf:
        quantile = np.maximum(quantile, stdtrit(tails, 1 - chance) * np.sqrt(1 - 2 / tails))
    return middle, quantile * np.sqrt(squared)


def without_outliers(before: Floats, *, similar: bool = True, peers: Ints | None = None) -> Floats:
    """Replace outliers of each column by NaN.

    Each run is compared with the others, as a new run is, and the most extreme is removed first: of
    columns with ``peers`` at least one, which these show.
    """
    left = before.copy()
    columns = np.arange(before.shape[1])
    most = np.sum(~np.isnan(before), axis=0) // RUNS_PER_OUTLIER
    if peers is not None:
        most = np.maximum(most, peers >= 0)
    chance = OUTLIER_RATE / 2 / len(before)
    for _ in range(most.max(initial=0)):
        beyond, found = np.empty(before.shape), means(left)
        for k, own in enumerate(left):
            usual, limit = _next(found.without(own), chance, similar=similar, peers=peers)
            beyond[k] = np.nan_to_num(np.abs(own - usual) / np.maximum(limit, _TINY))
        beyond[:, np.sum(np.isnan(left) & ~np.isnan(before), axis=0) >= most] = 0
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
        If there are fewer than `ENOUGH`.
    """

    def __init__(self, runs: Sequence[Run], known: Known | None = None) -> None:
        if len(runs) < ENOUGH:
            raise InputError(
                f"the baseline has {len(runs)} comparable runs", hint=f"add at least {ENOUGH}"
            )
        self.runs, self.known = runs, known
        self._found: tuple[Quantities, Further] | None = None
        self._usual: dict[tuple[str, bool, bytes], _Usual] = {}

    def _quantities(self, new: Run) -> Quantities:
        """Return the quantities of the earlier runs and, last, of a new one."""
        if self._found:
            earlier, further = self._found
            own = further(new)
            if own:
                both: dict[str, Any] = {
                    name: np.concatenate([getattr(earlier, name)[:-1], getattr(own, name)])
                    for name in ("shifts", "seconds", "lower")
                }
                return replace(earlier, **both)
        self._usual.clear()
        self._found = with_further([*self.runs, new], len(self.runs), self.known)
        return self._found[0]

    def _alike(self, new: Run) -> tuple[Bools, list[str]]:
        """Return whose levels a run can be compared with, and what is said of the others.

        The times of a level depend on the library, and on which pairs of ranks nodes have.
        """
        if "pair" not in new.tables:
            return np.ones(len(self.runs), bool), []
        here = Counter(new.hosts)
        notes, alike = [], []
        for run in self.runs:
            there = Counter(run.hosts)
            alike.append(
                "MPI library" if run.library.library != new.library.library
                else "number of ranks per node"
                if any(here[host] != there[host] for host in here.keys() & there.keys()) else ""
            )  # fmt: skip
        for what in dict.fromkeys(filter(None, alike)):
            runs = plural(alike.count(what), "earlier run")
            notes.append(f"levels are not compared with {runs}: other {what}")
        return np.array([not what for what in alike]), notes

    def _usually(
        self, kind: str, before: Floats, chance: float, peers: Ints, *, beside: bool = False
    ) -> _Usual:
        key = kind, beside, np.isnan(before).tobytes() + peers.tobytes()
        if key not in self._usual:
            left = without_outliers(before, peers=peers)
            odd = np.sum(np.isnan(left) & ~np.isnan(before), axis=1)
            usual = means(left)
            tails = tail_freedom(before, usual.middle) if kind.split()[0] in _TAILED else math.inf
            limits = _next(usual, chance, peers=peers, tails=tails)
            self._usual[key] = _Usual(*limits, odd)
        return self._usual[key]

    def judge(self, new: Run, margin: float = MARGIN) -> Against:
        """Say what of a run is worse than in the earlier ones.

        Raises
        ------
        InputError
            If a run holds no times, or they have too little in common.
        """
        earlier = len(self.runs)
        found = self._quantities(new)
        shift, limit = np.empty(len(found.items)), np.empty(len(found.items))
        beyond, odd = np.zeros(len(found.items), bool), np.zeros(earlier, np.int64)
        peers_of = _peers(found.items, new)
        families = np.array([_FAMILIES[one.kind] for one in found.items])
        kinds = np.array([f"{one.kind} {one.nbytes}" for one in found.items])
        names = list(dict.fromkeys(families.tolist()))
        alike, notes = self._alike(new)
        rate = RATE * (JUDGING if earlier >= RUNS_PER_OUTLIER else 1)
        for family in names:
            chance = rate * SHARES[family] / int(np.sum(families == family))
            for kind in dict.fromkeys(kinds[families == family].tolist()):
                own = np.flatnonzero(kinds == kind)
                peers = peers_of[own]
                values = found.shifts[:, own]
                if family == "level":
                    values[:-1][~alike] = np.nan
                either = family in ("level", "curve") and len(own) > 1
                one = self._usually(kind, values[:-1], chance / (1 + either), peers)
                shift[own], limit[own] = one.middle, one.limit
                beyond[own] = values[-1] - one.middle > one.limit
                odd += one.odd
                if either:
                    others = [np.delete(values, k, axis=1) for k in range(len(own))]
                    values = values - row_medians(np.array(others)).T  # of the same run
                    other = self._usually(kind, values[:-1], chance / 2, peers, beside=True)
                    limit[own] = np.minimum(limit[own], other.limit)
                    beyond[own] |= values[-1] - other.middle > other.limit
        return _judged(found, shift, limit, beyond, margin, odd, notes)


def _peers(items: Sequence[Quantity], run: Run) -> Ints:
    """Return a number that quantities of one class share; -1 if one is compared with itself only.

    A class is the nodes whose processors are of one model, or the insides of those with as many
    ranks. Of pairs, tails would decide, which few nights do not show.
    """
    models = {rank.host: rank.processor for rank in run.ranks if rank.processor}
    classes: dict[tuple[str, int], int] = {}
    return np.array([
        classes.setdefault(
            (models.get(one.hosts[0], ""), len(one.ranks) * (one.kind == "inside")), len(classes)
        ) if one.kind in ("node", "inside") and one.hosts else -1
        for one in items
    ])  # fmt: skip


def _judged(
    found: Quantities, shift: Floats, limit: Floats, beyond: Bools, margin: float,
    odd: Ints, notes: list[str],
) -> Against:  # fmt: skip
    """Put what is beyond its limit into words, and what it may be laid to."""
    ratio = np.exp(found.shifts[-1] - shift)
    known = ~np.isnan(found.shifts[:-1])
    usual = row_medians(found.seconds[:-1].T)
    usual = np.where(known.all(axis=0), usual, found.seconds[-1] / ratio)
    lower = found.lower[-1] - np.nan_to_num(row_medians(found.lower[:-1].T))
    changes = [
        Change(
            found.items[k], float(ratio[k]), _ratio(limit[k]), float(found.seconds[-1, k]),
            float(usual[k]), int(known[:, k].sum()), not lower[k] < np.log(ratio[k]) / 2,
        )
        for k in np.flatnonzero(beyond & (ratio > 1 + margin)).tolist()
    ]  # fmt: skip
    worse = sorted(_of_switches(_first_causes(changes), found), key=lambda one: -one.ratio)
    each = np.array([one.kind for one in found.items])
    judged = np.isfinite(limit)
    visible = {
        kind: _ratio(median_of(limit[judged & (each == kind)]))
        for kind in dict.fromkeys(each[judged].tolist())
    }
    return Against(worse, visible, len(found.items), odd.tolist(), [*found.notes, *notes])


def _of_switches(changes: list[Change], found: Quantities) -> list[Change]:
    """Replace the slower nodes behind one switch by the switch.

    Where no switch is known, and a third of all nodes is slower, none of them is proved bad.
    """
    nodes = [one for one in changes if one.what.kind == "node"]
    hosts = dict.fromkeys(one.what.hosts[0] for one in nodes)
    if len(hosts) < SEVERAL:
        return changes
    others = [one for one in changes if one.what.kind != "node"]
    switch = next(
        (group for group in found.groups
         if hosts.keys() <= group and len(hosts) > MOST_OF * len(group)), None,
    )  # fmt: skip
    if switch is None:
        every = sum(one.kind == "node" and one.nbytes == nodes[0].what.nbytes
                    for one in found.items)  # fmt: skip
        common = 3 * len(hosts) > every
        return [*others, *(replace(one, proved=one.proved and not common) for one in nodes)]
    worst = max(nodes, key=lambda one: one.ratio)
    ranks = tuple(sorted({rank for one in nodes for rank in one.what.ranks}))
    what = replace(
        worst.what, kind="switch", who=f"switch of {', '.join(hosts)}", hosts=tuple(hosts),
        ranks=ranks,
    )  # fmt: skip
    return [*others, replace(worst, what=what, proved=False)]


def _first_causes(changes: Sequence[Change]) -> list[Change]:
    """Remove what a larger component explains: pairs and ranks of a slower node."""
    nodes, inside = (
        {one.what.hosts[0] for one in changes if one.what.kind == kind}
        for kind in ("node", "inside")
    )
    ranks = {one.what.ranks[0] for one in changes if one.what.kind == "rank"}

    def explained(what: Quantity) -> bool:
        hosts = set(what.hosts)
        if what.kind == "pair":
            single = len(what.ranks) == 2 and bool(ranks & set(what.ranks))
            return single or bool(nodes & hosts)
        if what.kind == "rank":
            return bool(hosts) and hosts <= nodes | inside
        return what.kind == "inside" and hosts <= nodes

    return [one for one in changes if not explained(one.what)]


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
    found = quantities(runs, len(runs))
    logs = without_outliers(np.log(found.seconds), similar=False)
    n = np.sum(~np.isnan(logs), axis=0)
    mean, half = _next(means(logs), 0.025, similar=False)
    return [
        {
            "kind": one.kind, "who": one.who, "bytes": one.nbytes, "points": one.points,
            "runs": int(n[k]), "seconds": float(np.exp(mean[k])),
            "low": float(np.exp(mean[k] - half[k])) if n[k] > 1 else None,
            "high": float(np.exp(mean[k] + half[k])) if n[k] > 1 else None,
        }
        for k, one in enumerate(found.items)
    ]  # fmt: skip
