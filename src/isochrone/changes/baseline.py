"""A run compared with its baseline: earlier runs of the same kind, hosts and settings.

Each quantity (`effects`) has the mean m and the standard deviation s over n earlier runs, without
outliers (`without_outliers`). The upper prediction limit of the next run is

    m + t s √(1 + 1/n)

with t the quantile of Student's distribution (Hahn & Meeker 1991, *Statistical Intervals*, 4.7).
The rate of *any* false alarm, `RATE`, is divided among levels (or curves), nodes and ranks, and
pairs (or points), and within each of these by Bonferroni. Variances are shrunk towards those of
similar quantities (`moderated`).

Whole runs vary more than their components. A level (or curve) is therefore also slower if it is
slower relative to the other levels of the same launch.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
from msgspec.structs import replace

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.inference import means, moderated
from isochrone.base.record import Record
from isochrone.base.stats import median_of
from isochrone.changes.effects import (
    Further,
    Quantities,
    Quantity,
    quantities,
    with_further,
)
from isochrone.latency_map.hierarchy import Known
from isochrone.runfile.run import Run

ENOUGH = 3
"""Minimum number of earlier runs."""

LATEST = 60
"""Earlier runs that a run is compared with, at most: more hardly say more of the next one, and old
ones less of what is usual now."""

MARGIN = 0.05
"""Threshold: smaller slowdowns are not reported."""

RATE = 0.03
"""Probability of any false alarm in a run of an unchanged machine."""

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

_FAMILIES = {
    "level": "level", "curve": "level", "node": "node", "inside": "node", "rank": "node",
    "pair": "pair", "point": "pair",
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
    proved
        For a node or rank: whether it is the only explanation. A slow link makes only some of its
        round trips slower, a slow switch all nodes behind it.
    """

    what: Quantity
    ratio: float
    limit: float
    seconds: float
    usual: float
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


def _next(before: Floats, chance: float, *, similar: bool = True) -> tuple[Floats, Floats]:
    """Return the mean of each column, and the distance to its upper prediction limit.

    NaN is a missing value. Variances of ``similar`` columns are shrunk towards each other.
    """
    from scipy.special import stdtrit  # SciPy takes long to import

    found = means(before)
    squared, freedom = found.squared * found.n, found.freedom
    if similar:
        squared, freedom = moderated(squared, freedom)
    return found.middle, stdtrit(freedom, 1 - chance) * np.sqrt(squared * (1 + 1 / found.n))


def without_outliers(before: Floats, *, similar: bool = True) -> Floats:
    """Replace outliers of each column by NaN.

    Each run is compared with the others, as a new run is, and the most extreme is removed first.
    """
    left = before.copy()
    columns = np.arange(before.shape[1])
    for _ in range(len(before) // RUNS_PER_OUTLIER):
        beyond = np.empty(before.shape)
        for k in range(len(before)):
            chance = OUTLIER_RATE / 2 / len(before)
            usual, limit = _next(np.delete(left, k, axis=0), chance, similar=similar)
            beyond[k] = np.nan_to_num(np.abs(left[k] - usual) / np.maximum(limit, _TINY))
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
        self._usual: dict[tuple[str, bool], _Usual] = {}

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

    def _usually(self, kind: str, values: Floats, chance: float, *, beside: bool = False) -> _Usual:
        if (kind, beside) not in self._usual:
            before = without_outliers(values[:-1])
            odd = np.isnan(before).sum(axis=1)
            self._usual[kind, beside] = _Usual(*_next(before, chance), odd)
        return self._usual[kind, beside]

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
        families = np.array([_FAMILIES[one.kind] for one in found.items])
        kinds = np.array([f"{one.kind} {one.nbytes}" for one in found.items])
        names = list(dict.fromkeys(families.tolist()))
        rate = RATE * (JUDGING if earlier >= RUNS_PER_OUTLIER else 1)
        for family in names:
            chance = rate / len(names) / int(np.sum(families == family))
            for kind in dict.fromkeys(kinds[families == family].tolist()):
                own = np.flatnonzero(kinds == kind)
                values = found.shifts[:, own]
                either = family == "level" and len(own) > 1
                one = self._usually(kind, values, chance / (1 + either))
                shift[own], limit[own] = one.middle, one.limit
                beyond[own] = values[-1] - one.middle > one.limit
                odd += one.odd
                if either:
                    others = [np.delete(values, k, axis=1) for k in range(len(own))]
                    values = values - np.median(others, axis=2).T  # of the same run
                    other = self._usually(kind, values, chance / 2, beside=True)
                    limit[own] = np.minimum(limit[own], other.limit)
                    beyond[own] |= values[-1] - other.middle > other.limit
        return _judged(found, shift, limit, beyond, margin, odd)


def _judged(
    found: Quantities, shift: Floats, limit: Floats, beyond: Bools, margin: float,
    odd: Ints,
) -> Against:  # fmt: skip
    """Put what is beyond its limit into words, and what it may be laid to."""
    ratio = np.exp(found.shifts[-1] - shift)
    usual = np.median(found.seconds[:-1], axis=0)
    lower = found.lower[-1] - np.median(found.lower[:-1], axis=0)
    changes = [
        Change(
            found.items[k], float(ratio[k]), _ratio(limit[k]), float(found.seconds[-1, k]),
            float(usual[k]), not lower[k] < np.log(ratio[k]) / 2,
        )
        for k in np.flatnonzero(beyond & (ratio > 1 + margin)).tolist()
    ]  # fmt: skip
    worse = sorted(_of_switches(_first_causes(changes), found), key=lambda one: -one.ratio)
    each = np.array([one.kind for one in found.items])
    visible = {
        kind: _ratio(median_of(limit[each == kind])) for kind in dict.fromkeys(each.tolist())
    }
    return Against(worse, visible, len(found.items), odd.tolist(), found.notes)


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
    n = len(runs)
    mean, half = _next(logs, 0.025, similar=False)
    return [
        {
            "kind": one.kind, "who": one.who, "bytes": one.nbytes, "points": one.points,
            "runs": int(np.sum(~np.isnan(logs[:, k]))), "seconds": float(np.exp(mean[k])),
            "low": float(np.exp(mean[k] - half[k])) if n > 1 else None,
            "high": float(np.exp(mean[k] + half[k])) if n > 1 else None,
        }
        for k, one in enumerate(found.items)
    ]  # fmt: skip
