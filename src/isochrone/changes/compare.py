"""Comparison of two measurements: which components and points are slower, faster or the same.

Each side is one or more launches of the same command; the launch is the unit of repetition. The
rate of *any* wrong verdict is 5 %: it is divided among the kinds of components (all points, curves
or levels, nodes … and single points), within a kind by Bonferroni, among single points by Holm.
Times of a simulator are exact.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import inf, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from isochrone import views
from isochrone.base.arrays import Floats
from isochrone.base.documents import Hidden, Inline, Value, plain, shown
from isochrone.base.errors import InputError
from isochrone.base.inference import FALSE_CHANGE_RATE, Contrast, contrast, holm, without_chance
from isochrone.base.record import Members, Record
from isochrone.changes.comparability import check_comparable, environment
from isochrone.changes.components import (
    VERDICTS,
    Difference,
    Differences,
    Group,
    Part,
    changed_parts,
    contrasts,
)
from isochrone.changes.log_medians import measured
from isochrone.changes.thresholds import CHANGE_MARGIN, FAR_APART, LAUNCHES_DIFFER
from isochrone.runfile.environment import Differing
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import Run
from isochrone.views.view import Axes, Figure

if TYPE_CHECKING:
    from pandas import DataFrame


_COMMON = ("all", "curve", "level", "point")
"""Kinds of components that a change of the library or its settings affects. A single slow node has
another cause."""


_COLUMNS = {"p": "p_value"}
"""Names in a data frame, where ``p`` is a number of ranks."""


class Change(Record):
    """One point, measured on both sides.

    Attributes
    ----------
    key
        What the point is, for example ``{"op": "bcast", "p": 8, "bytes": 1024}``.
    before, after
        Times in seconds: geometric means over the launches of their medians, the slowest and the
        fastest left out where the ratio is without them.
    difference
        after / before, and the verdict on it.
    """

    key: dict[str, Value]
    before: float
    after: float
    difference: Inline[Difference]

    @property
    def ratio(self) -> float:
        """After / before."""
        return self.difference.ratio

    @property
    def verdict(self) -> str:
        """``slower``, ``faster``, ``same`` or ``not known``."""
        return self.difference.verdict


@dataclass(frozen=True)
class Changes:
    """All points, of which each is made when it is looked at: a map has half a million.

    Attributes
    ----------
    key
        Returns the key of a point.
    before, after
        Times in seconds.
    differences
        The ratios, and the verdicts on them.
    logs
        Logarithms of the medians in seconds, shape (launches, points): first the launches of A.
    levels
        Levels of a map, each with the numbers of its points.
    """

    key: Callable[[int], dict[str, Value]]
    before: Floats
    after: Floats
    differences: Differences
    logs: Floats
    levels: tuple[Group, ...] = ()

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, k: int) -> Change:
        return Change(self.key(k), float(self.before[k]), float(self.after[k]), self.differences[k])


class Sides(NamedTuple):
    """Launches of each side."""

    before: int
    after: int


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison.

    Attributes
    ----------
    experiment
        What was measured.
    kind
        What a point is: ``pair`` of a latency map, or ``point``.
    parts
        What changed, the largest first: components, then single points.
    overall
        All points as one; None if there is only one.
    differences
        Differences of the environment.
    explanations
        Likely explanations among them, the best first: settings, library, memory, machine. Empty
        if the change does not concern all ranks.
    launches
        Of each side.
    unit
        The unit of repetition: ``launch``; ``exact`` where times are exact, so that one launch is
        enough; ``start`` where the user accepts the ratios of single launches.
    margin
        Relative differences within it are the same.
    visible
        Smallest detectable ratio of a single point; None if not known.
    notes
        How points were matched, and what was left out.
    one_sided
        Number of points that only one side has, where sizes were not chosen by the measurement.
    partial
        Number of incomplete runs.
    changes
        All points.
    """

    experiment: str
    kind: Hidden[str]
    parts: list[Part]
    overall: Difference | None
    differences: list[dict[str, str]]
    launches: Sides
    unit: str
    margin: float
    visible: float | None
    notes: list[str]
    explanations: list[Differing] = field(default_factory=list)
    one_sided: Hidden[int] = 0
    partial: Hidden[int] = 0
    changes: Hidden[Changes] = field(kw_only=True)

    def to_json(self) -> Members:
        """Return the comparison for JSON."""
        document: Members = plain(self)
        return document

    @property
    @shown
    def counts(self) -> dict[str, int]:
        """Number of points with each verdict."""
        verdicts = self.changes.differences.verdicts
        return {verdict: verdicts.count(verdict) for verdict in VERDICTS}

    @cached_property
    @shown
    def points(self) -> list[Change]:
        """All points."""
        return [self.changes[k] for k in range(len(self.changes))]

    def moved(self, points: Iterable[int]) -> float | None:
        """Return the bytes of a message in a map of bandwidths, their median over points.

        None: times are compared, not bandwidths.
        """
        if self.experiment != "bandwidth-map":
            return None
        sizes = [self.changes.key(k)["bytes"] for k in points]
        return float(np.median([size for size in sizes if isinstance(size, int)]))

    @property
    def one_launch(self) -> bool:
        """Whether a side has only one launch: a verdict only on what is far apart."""
        return self.unit != "exact" and min(self.launches) < 2

    def to_pandas(self) -> "DataFrame":
        """Return a data frame: a row for each point, with its key, both times, and the ratio.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        rows = [
            {
                **one.key,
                "before": one.before,
                "after": one.after,
                **{_COLUMNS.get(k, k): v for k, v in plain(one.difference).items()},
            }
            for one in self.points
        ]
        from isochrone.base.frames import data_frame

        names = dict.fromkeys(name for row in rows for name in row)
        return data_frame({name: [row.get(name) for row in rows] for name in names})

    def plot(self, ax: Axes | None = None) -> Figure:
        """Plot the times of both sides and the ratios with their intervals.

        Parameters
        ----------
        ax
            Axes of a figure of yours, in whose place it is plotted; that figure is returned.
        """
        return views.draw("ratio", [], views.Options(comparison=self), ax)

    def __repr__(self) -> str:
        return f"<Comparison of {self.experiment}: {self.counts}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{component.difference.verdict}<td>{component.kind} {escape(component.who)}"
            f"<td>{component.difference.ratio:.3f}"
            for component in self.parts
        )
        return f"<b>{escape(self.experiment)}</b>: {self.counts}<table>{rows}</table>"


def compare(
    before: Sequence[Run],
    after: Sequence[Run],
    *,
    margin: float | None = None,
    at_most: float = inf,
    as_they_are: bool = False,
) -> Comparison:
    """Compare two measurements, each of one or more launches.

    Parameters
    ----------
    before, after
        Runs of one experiment with the same options.
    margin
        Relative differences within it are the same; None: 5 %, and 0 where times are exact.
    at_most
        Upper limit of the margin: what exceeds the limit of a gate is not the same.
    as_they_are
        Where a side has one launch, accept the ratios as exact.

    Raises
    ------
    InputError
        If the runs are not comparable; names the difference.
    """
    check_comparable([*before, *after])
    before, after, left_out = _without_shared_processors(before, after)
    runs = [*before, *after]
    for run in runs:
        if zeros := below_resolution(run):
            raise InputError(zeros, where=run.where, hint="use a larger --window or a finer clock")
    measurement = measured(runs)
    launches = len(before), len(after)
    present = ~np.isnan(measurement.logs)
    has = [np.asarray(side.any(axis=0)) for side in np.split(present, launches[:1])]
    shared = np.flatnonzero(has[0] & has[1])
    lost = measurement.logs.shape[1] - len(shared)
    if not len(shared):
        hint = measurement.others(*has) if measurement.kind == "point" else ""
        raise InputError("A and B have no point in common", hint=hint)
    if lost:
        left_out = [
            f"not compared, because measured on one side only: {measurement.others(*has)}",
            *left_out,
        ]
    left, right = np.split(measurement.logs[:, shared], launches[:1])
    kinds = measurement.kinds(shared)
    # they would give the same times again: simulated, or synthetic without noise
    certain = all(
        run.origin == "simulated" or (run.origin == "synthetic" and not run.options.get("noise"))
        for run in runs
    )
    if margin is None:
        margin = 0.0 if certain else CHANGE_MARGIN
    margin = min(margin, at_most)
    forced = as_they_are and min(launches) < 2
    test = without_chance if certain or forced else _launches_or_far_apart
    tests = len(kinds) + 1
    single = test(left, right)
    differing = Differences(single, tests * holm(single.p), margin)
    points = Changes(
        lambda k: measurement.key(shared[k]),
        np.exp(single.before),
        np.exp(single.after),
        differing,
        measurement.logs[:, shared],
        tuple(group for groups in kinds for group in groups if group.kind == "level"),
    )
    components, explained = changed_parts(
        left, right, kinds, test, single, tests=tests, margin=margin
    )
    changed = np.isin(differing.verdicts, VERDICTS[:2])
    unexplained = np.flatnonzero(changed & ~explained).tolist()
    components += [
        Part(
            measurement.kind,
            "",
            None,
            point.before,
            point.after,
            point.after - point.before,
            point.difference,
            (k,),
            1,
        )
        for k in sorted(unexplained, key=lambda k: -abs(single.change[k]))
        for point in (points[k],)
    ]
    overall = None
    if kinds:
        total = contrasts(left, right, [np.arange(len(shared))], test)
        overall = Differences(total, tests * total.p, margin)[0]
    unit = "exact" if certain else "start" if forced else "launch"
    # whether something changed that concerns all ranks
    common = any(component.kind in _COMMON for component in components) or (
        overall is not None and overall.changed
    )
    if unit == "launch" and min(launches) < 2:
        ratio = overall.ratio if overall else float(np.exp(np.max(single.change)))
        common = ratio > 0 and abs(log(ratio)) > log(LAUNCHES_DIFFER)
    explains, around = environment(before, after)
    return Comparison(
        experiment=runs[0].experiment,
        changes=points,
        kind=measurement.kind,
        parts=components,
        overall=overall,
        differences=around,
        launches=Sides(*launches),
        unit=unit,
        margin=margin,
        visible=_visible(single),
        notes=[*measurement.notes, *left_out],
        # launches differ in sizes that the measurement chose
        one_sided=0 if any(str(r.options.get("bytes")).startswith("auto") for r in runs) else lost,
        partial=sum(not run.complete for run in runs),
        explanations=explains if common else [],
    )


def _launches_or_far_apart(before: Floats, after: Floats) -> Contrast:
    """Compare launches; of single ones, only a ratio beyond `FAR_APART` is no chance."""
    found = contrast(before, after)
    far = np.isnan(found.p) & (np.abs(found.change) > log(FAR_APART))
    low, high = found.change - log(FAR_APART), found.change + log(FAR_APART)
    return found._replace(
        low=np.where(far, low, found.low),
        high=np.where(far, high, found.high),
        p=np.where(far, 0.0, found.p),
    )


def _without_shared_processors(
    before: Sequence[Run], after: Sequence[Run]
) -> tuple[Sequence[Run], Sequence[Run], list[str]]:
    """Leave out launches in which ranks shared a processor although there were enough processors.

    Where a side has no other launches, all are used. Also returns notes for the user.
    """
    unshared = [
        [run for run in side if not run.shared_processors or run.oversubscribed]
        for side in (before, after)
    ]
    shared = len(before) + len(after) - sum(map(len, unshared))
    if not shared:
        return before, after, []
    note = f"in {shared} launches ranks shared a processor; bind the ranks"
    if not all(unshared):
        return before, after, [f"{note} (used: a side has no other launches)"]
    return unshared[0], unshared[1], [f"{note} (these launches are skipped)"]


def _visible(single: Contrast) -> float | None:
    """Return the ratio that chance reaches at any point in one of 20 comparisons.

    The standard error is pooled over the points, which have similar variances.
    """
    errors = single.error[~np.isnan(single.error)]
    if not len(errors):
        return None
    return float(
        np.exp(ndtri(1 - FALSE_CHANGE_RATE / 2 / len(errors)) * np.sqrt(np.mean(errors**2)))
    )
