"""Two measurements of the same thing: what became slower, what is the same, what is not known.

Each side is one or more launches of the same command; a launch is what is repeated (`verdict`).
Of many points some differ by chance. The chance of *any* wrong verdict is 5 %: it is shared out
among the kinds of parts (all points, the curves or levels, the nodes … and the single points), and
within a kind by Bonferroni, among the single points by Holm. Times of a simulator know no chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, log
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from scipy.special import ndtri

from isochrone.base.documents import Hidden, Inline, Value, plain, shown
from isochrone.base.errors import InputError
from isochrone.base.inference import RATE, Contrast, contrast, holm, without_chance
from isochrone.changes.comparability import check_alike, environment
from isochrone.changes.components import (
    VERDICTS,
    Difference,
    Part,
    changed_parts,
    differences,
    overall,
)
from isochrone.changes.log_medians import measured
from isochrone.runfile.environment import Differing
from isochrone.runfile.rules import below_resolution
from isochrone.runfile.run import Run

MARGIN: Final = 0.05
"""Times that differ by less than this are the same, unless the user says otherwise."""

STARTS_DIFFER: Final = 1.3
"""Ratio up to which single starts of one command were seen to differ."""

_COMMON: Final = ("all", "curve", "level", "point")
"""Kinds of parts that are not of some nodes or ranks: how a library is set, or which it is, changes
these. A single node that became slow has a reason of its own."""


@dataclass(frozen=True)
class Change:
    """One point, measured on both sides.

    Attributes
    ----------
    key
        What the point is, for example ``{"op": "bcast", "p": 8, "bytes": 1024}``.
    before, after
        Times in seconds: geometric means over the launches of their medians.
    difference
        after / before, and what may be said of it.
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
        """``slower``, ``faster``, ``same`` or ``unclear``."""
        return self.difference.verdict


class Sides(NamedTuple):
    """Launches of each side."""

    before: int
    after: int


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    experiment
        What was measured.
    points
        All points.
    kind
        What a point is: ``pair`` of a latency map, or ``point``.
    parts
        What changed, the largest first: parts with all their points, then single points.
    overall
        All points as one; None if there is only one.
    differences
        What differs around the measurement.
    explanations
        Those of them that explain a change likely, the best first: settings, library, memory,
        machine. Empty if nothing changed that all ranks have in common.
    launches
        Of each side.
    unit
        What is repeated: ``launch``; ``exact`` where times know no chance, so that one launch is
        enough; ``start`` where the user wants the ratios of single launches taken as they are.
    margin
        Within it times are the same.
    visible
        Ratio from which on a single point would stand out from chance; None if not known.
    notes
        How points were matched, and what was left out.
    one_sided
        Number of points that only one side has, where sizes were not chosen by the measurement.
    partial
        Number of runs that did not come to their end.
    """

    experiment: str
    points: list[Change]
    kind: Hidden[str]
    parts: list[Part]
    overall: Difference | None
    differences: list[dict[str, str]]
    launches: Hidden[tuple[int, int]]
    unit: str
    margin: float
    visible: float | None
    notes: list[str]
    explanations: list[Differing] = field(default_factory=list)
    one_sided: Hidden[int] = 0
    partial: Hidden[int] = 0

    def to_json(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        document: dict[str, Any] = plain(self)
        return document

    @property
    @shown
    def sides(self) -> Annotated[Sides, "as launches"]:
        """Number of launches of each side."""
        return Sides(*self.launches)

    @property
    @shown
    def counts(self) -> dict[str, int]:
        """Number of points with each verdict."""
        verdicts = [point.verdict for point in self.points]
        return {word: verdicts.count(word) for word in VERDICTS}

    @property
    def one_start(self) -> bool:
        """Whether a side has only one launch, so that nothing can be said of the machine."""
        return self.unit != "exact" and min(self.launches) < 2


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
        Times that differ by less are the same; None: 5 %, and 0 where times know no chance.
    at_most
        The margin is not above this: what is beyond the limit of a gate is not the same.
    as_they_are
        Where a side has one launch, take the ratios for the truth.

    Raises
    ------
    InputError
        If they measured unlike things; says what differs.
    """
    check_alike([*before, *after])
    before, after, left_out = _without_shared_processors(before, after)
    runs = [*before, *after]
    for run in runs:
        if zeros := below_resolution(run):
            raise InputError(zeros, where=run.where, hint="measure more repetitions at once")
    found = measured(runs)
    launches = len(before), len(after)
    known = ~np.isnan(found.logs)
    has = [np.asarray(side.any(axis=0)) for side in np.split(known, launches[:1])]
    both = np.flatnonzero(has[0] & has[1])
    lost = len(found.keys) - len(both)
    if not len(both):
        hint = found.others(*has) if found.kind == "point" else ""
        raise InputError("the two sides have no point in common", hint=hint)
    if lost:
        left_out = [f"left out, as not on both sides: {found.others(*has)}", *left_out]
    left, right = np.split(found.logs[:, both], launches[:1])
    kinds = found.kinds(both)
    certain = all(map(_deterministic, runs))
    if margin is None:
        margin = 0.0 if certain else MARGIN
    margin = min(margin, at_most)
    forced = as_they_are and min(launches) < 2
    test = without_chance if certain or forced else contrast
    tests = len(kinds) + 1
    single = test(left, right)
    seconds = (np.exp(np.nanmean(side, axis=0)).tolist() for side in (left, right))
    differing = differences(single, tests * holm(single.p), margin)
    points = [
        Change(found.keys[k], *one)
        for k, *one in zip(both.tolist(), *seconds, differing, strict=True)
    ]
    parts, explained = changed_parts(left, right, kinds, test, single, tests=tests, margin=margin)
    alone = [k for k, one in enumerate(differing) if one.changed and not explained[k]]
    parts += [
        Part(found.kind, "", None, one.before, one.after, one.after - one.before, one.difference,
             (k,), 1)
        for k in sorted(alone, key=lambda k: -abs(np.log(differing[k].ratio)))
        for one in (points[k],)
    ]  # fmt: skip
    whole = None
    if kinds:
        one = overall(left, right, test)
        whole = differences(one, tests * one.p, margin)[0]
    unit = "exact" if certain else "start" if forced else "launch"
    common = _of_all_ranks(
        parts, whole, [one.ratio for one in differing],
        one_start=unit == "launch" and min(launches) < 2,
    )  # fmt: skip
    explains, around = environment(before, after)
    return Comparison(
        experiment=runs[0].experiment,
        points=points,
        kind=found.kind,
        parts=parts,
        overall=whole,
        differences=around,
        launches=launches,
        unit=unit,
        margin=margin,
        visible=_visible(single),
        notes=[*found.notes, *left_out],
        one_sided=0 if any(map(_chose_sizes, runs)) else lost,
        partial=sum(not run.complete for run in runs),
        explanations=explains if common else [],
    )


def _of_all_ranks(
    parts: Sequence[Part], whole: Difference | None, ratios: Sequence[float], *, one_start: bool
) -> bool:
    """Tell whether something changed that all ranks have in common.

    Parameters
    ----------
    parts
        What changed.
    whole
        All points as one; None if there is only one.
    ratios
        Of each point.
    one_start
        Whether a side has one start, so that there is no verdict: then a change counts that is
        larger than starts differ.
    """
    if one_start:
        ratio = whole.ratio if whole is not None else max(ratios, default=1.0)
        return ratio > 0 and abs(log(ratio)) > log(STARTS_DIFFER)
    return any(part.kind in _COMMON for part in parts) or (whole is not None and whole.changed)


def _without_shared_processors(
    before: Sequence[Run], after: Sequence[Run]
) -> tuple[Sequence[Run], Sequence[Run], list[str]]:
    """Leave out launches in which ranks shared a processor although there were enough of them.

    That is how the ranks were started, and nothing that changed. Where a side has no other
    launches, all stay. Also returns what to say of it.
    """
    found = [[run for run in side if not _shares(run)] for side in (before, after)]
    shared = len(before) + len(after) - sum(map(len, found))
    if not shared:
        return before, after, []
    what = f"in {shared} launches ranks shared a processor; bind the ranks"
    if not all(found):
        return before, after, [f"{what}; they were not left out, since a side has no others"]
    return found[0], found[1], [f"{what}; they were left out"]


def _shares(run: Run) -> bool:
    return bool(run.shared_processors) and not run.oversubscribed


def _deterministic(run: Run) -> bool:
    """Whether a run would give the same times again: simulated, or synthetic without noise."""
    exact = run.origin == "synthetic" and not run.options.get("noise")
    return run.origin == "simulated" or exact


def _chose_sizes(run: Run) -> bool:
    """Tell whether the measurement chose its sizes, so that launches differ in them."""
    return str(run.options.get("bytes", "")).startswith("auto")


def _visible(single: Contrast) -> float | None:
    """Return the ratio that chance reaches in one of 20 comparisons, at any of the points.

    The points of a comparison scatter alike, so that their common scatter is known far better than
    that of each.
    """
    errors = single.error[~np.isnan(single.error)]
    if not len(errors):
        return None
    return float(np.exp(ndtri(1 - RATE / 2 / len(errors)) * np.sqrt(np.mean(errors**2))))
