"""What makes measured times doubtful before a formula is fitted to them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, ndtri

from isochrone.base.arrays import Array, Floats, Ints
from isochrone.base.stats import MEDIAN_LOSS, median_of, medians_by
from isochrone.base.text import printable
from isochrone.base.units import format_ratio
from isochrone.models.data.observations import Samples
from isochrone.models.data.starts import numbered, spread_of
from isochrone.models.data.terms import number
from isochrone.models.thresholds import (
    FALSE_ALARMS,
    MAX_CHANCE_ERRORS,
    MAX_DISTURBED_SHARE,
    MAX_FACTOR_VALUES,
    MAX_MODES_CHANCE,
    MAX_SECONDS_PER_BYTE,
    MAX_SHORT_SECONDS,
    MIN_GROUP_RATIO,
    MIN_GROUP_REPETITIONS,
    MIN_SHORT_SECONDS,
    MIN_VALUES_RATIO,
    SHORT_MESSAGE,
    TICKS,
)

_WITHOUT_CHANCE = {"simulated", "synthetic", "made up"}
"""Origins of times that are the same in every start."""

_OF_OTHERS = {"imported", "tabulated"}
"""Origins of times whose starts are known only from a column `launch`."""


def questionable(samples: Samples) -> list[str]:
    """Say what is doubtful, one sentence each.

    That is: columns that are not used, repetitions in two groups, and times of one start only.
    """
    point = samples.points()
    columns = unused(samples.others, point, samples.seconds)
    remarks = [
        *_units(samples),
        *samples.remarks,
        *words(columns),
        *_groups(samples, point, [entry.name for entry in columns if entry.ratio > 1]),
    ]
    origins = set(samples.origin.split(" and ")) - _WITHOUT_CHANCE
    if samples.start.max() < max(len(samples.made_from), 1):  # a start for each file, at most
        origins -= _OF_OTHERS
    if origins and numbered(point, samples.start).max() == point.max():  # one start of each point
        remarks.append(
            "each point is from a single launch; intervals do not include differences "
            "between launches: use measure --launches 5"
        )
    return remarks


def _units(samples: Samples) -> list[str]:
    """Question times that no network has: they may be in another unit."""
    variables, seconds = samples.variables, samples.seconds
    if "n" in variables or not {"p", "b"} & variables.keys():
        return []
    hint = "check the unit (--map-columns time=seconds:us)"
    ranks = variables.get("p", np.full(len(seconds), 2.0))
    size = variables.get("b", np.zeros(len(seconds)))
    per_rank = seconds / np.maximum(ranks, 2)  # of one rank after the other
    worst = int(np.argmin(seconds))
    if seconds[worst] < MIN_SHORT_SECONDS:
        return [f"a time of {seconds[worst]:.3g} s is too short for a message: {hint}"]
    short = size <= SHORT_MESSAGE
    slow = per_rank[short].min() if short.any() else (per_rank / size).min() * SHORT_MESSAGE
    if slow > MAX_SHORT_SECONDS or (
        size.any() and (per_rank / np.maximum(size, SHORT_MESSAGE)).min() > MAX_SECONDS_PER_BYTE
    ):
        row = int(np.argmin(per_rank))
        location = ", ".join(f"{k} = {number(k, v[row])}" for k, v in variables.items())
        return [f"times are implausibly long, {seconds[row]:.3g} s at {location}: {hint}"]
    return []


def _groups(samples: Samples, point: Ints, apart: list[str]) -> list[str]:
    """Say where repetitions of one start, equal in the columns ``apart``, are in two groups."""
    same = numbered(point, samples.start, *(samples.others[name] for name in apart))
    groups = two_groups(samples.seconds, same)
    if not len(groups.points):
        return []
    row = int(np.flatnonzero(same == groups.points[np.argmax(groups.ratio)])[0])
    where = [str(values[row]) for values in samples.selectors.values()]
    where += [f"{k} = {number(k, v[row])}" for k, v in samples.variables.items() if np.ptp(v)]
    points = len(np.unique(point[np.isin(same, groups.points)]))
    location = f"{format_ratio(groups.ratio.max())}x at {', '.join(where)}"
    return [
        f"the repetitions at {points} of {point.max() + 1} points form two groups with a ratio "
        f"of {format_ratio(median_of(groups.ratio))} (at most {location}): the median is that "
        f"of the larger group ({100 * (1 - median_of(groups.share)):.0f} % of the repetitions)"
    ]


# --- repetitions that differ widely ---------------------------------------------------------------


MORE_REPETITIONS = "measure more repetitions, on a quiet machine; more points would not help"


def noise_behind(samples: Samples, error: float) -> str:
    """Say how far repetitions differ, if that explains an error of predicted times; else nothing.

    Parameters
    ----------
    samples
        The measured times.
    error
        How far predictions are off on average: the deviation, a part of the smaller time.
    """
    point, logs = samples.points(), np.log(samples.seconds)
    count = np.bincount(point)
    repeated = count[point] > 1
    if not repeated.any():
        return ""
    residuals = (logs - medians_by(point, logs)[1][point])[repeated]
    spread = spread_of(residuals, int(repeated.sum() - (count > 1).sum()))
    if np.log1p(error) > MAX_CHANCE_ERRORS * spread * MEDIAN_LOSS / np.sqrt(
        median_of(count[count > 1])
    ):
        return ""
    slowest, fastest = np.full(len(count), -np.inf), np.full(len(count), np.inf)
    np.maximum.at(slowest, point, logs)
    np.minimum.at(fastest, point, logs)
    ratio = np.exp(slowest - fastest)
    row = int(np.flatnonzero(point == ratio.argmax())[0])
    location = ", ".join(f"{k} = {number(k, v[row])}" for k, v in samples.variables.items())
    return (
        f"repetitions of a point differ by up to {ratio.max():.3g}x (at {location}), typically "
        f"{median_of(ratio[count > 1]):.3g}x"
    )


# --- columns that are not used --------------------------------------------------------------------


QUIET = ("pair", "pairs", "root", "i", "j", "host_i", "host_j")
"""Columns of our own: a model is of all pairs together, and that is said only if it matters."""


@dataclass(frozen=True)
class Unused:
    """A column that varies and is no variable.

    Attributes
    ----------
    name, values
        Its name, and how many values it has.
    merged
        Whether rows of one point differ in it.
    ratio
        How many times longer the slowest of its values takes than the fastest at the same point,
        typically; 1 if that may be chance.
    slowest, fastest
        These values; empty if ``ratio`` is 1.
    """

    name: str
    values: int
    merged: bool
    ratio: float = 1.0
    slowest: str = ""
    fastest: str = ""


def unused(others: Mapping[str, Array], point: Ints, seconds: Floats) -> list[Unused]:
    """Look at all columns that are no variables.

    Parameters
    ----------
    others
        The columns, texts of shape (n,).
    point
        Number of the point of each row, from 0; shape (n,).
    seconds
        Measured times, shape (n,).
    """
    columns = []
    for name, column in others.items():
        values, code = np.unique(column, return_inverse=True)
        if len(values) > 1:
            columns.append(_look(name, values, code.ravel(), point, np.log(seconds)))
    return [entry for entry in columns if entry.ratio > 1 or entry.name not in QUIET]


def words(columns: list[Unused]) -> list[str]:
    """Say which columns are not used, and which of them should be."""
    sentences = []
    for entry in (entry for entry in columns if entry.ratio > 1):
        name = printable(entry.name, 40)
        sentences.append(
            f"'{name}' is not used, but its {entry.values} values differ {entry.ratio:.3g}x at the "
            f"same point ({printable(entry.slowest, 30)} against {printable(entry.fastest, 30)}), "
            "more than repetitions: one formula is fitted to all; fit a table of "
            f"each, or write '{name}' into the column 'op' and choose with --op"
        )
    harmless = [entry for entry in columns if entry.ratio == 1]
    if harmless:
        listed = ", ".join(
            f"'{printable(entry.name, 40)}' ({entry.values} values)" for entry in harmless
        )
        merged = (
            ""
            if not any(entry.merged for entry in harmless)
            else (
                f": rows that differ only in {'it' if len(harmless) == 1 else 'them'} count as "
                "repetitions"
            )
        )
        plural = len(harmless) > 1
        sentences.append(
            f"the column{'s' * plural} {listed} {'are' if plural else 'is'} not used{merged}"
        )
    return sentences


def _look(name: str, values: Array, code: Ints, point: Ints, logs: Floats) -> Unused:
    """Compare the times of a column's values at the same point."""
    codes, cell = np.unique(point * len(values) + code, return_inverse=True)
    cell = cell.ravel()
    owner, value = codes // len(values), codes % len(values)
    several = np.bincount(owner)[owner] > 1
    plain = Unused(name, len(values), bool(several.any()))
    if not plain.merged or not _is_factor(values, len(logs)):
        return plain
    median = medians_by(cell, logs)[1]
    rows = np.bincount(cell)
    typical = median_of(rows[several])
    # how a row is spread around the mean of those that are alike
    alike = several & (rows > 1)
    freedom = int(rows[alike].sum() - alike.sum())
    residuals = (logs - (np.bincount(cell, logs) / rows)[cell])[alike[cell]]
    owner, value = numbered(owner[several]), numbered(value[several])
    median = median[several]
    away = median - medians_by(owner, median)[1][owner]
    offset = medians_by(value, away)[1]
    slow, fast = int(offset.argmax()), int(offset.argmin())
    names = values[np.unique(codes[several] % len(values))]
    ends = str(names[slow]), str(names[fast])
    if freedom < 3:  # single rows: the same value is slower at almost all points
        table = np.full((owner.max() + 1, value.max() + 1), np.nan)
        table[owner, value] = median
        longer = table[:, slow] - table[:, fast]
        longer = longer[~np.isnan(longer)]
        chance = len(names) ** 2 * float(bdtrc(np.sum(longer > 0) - 1, len(longer), 0.5))
        if not len(longer) or chance > MAX_MODES_CHANCE:
            return plain
        ratio = float(np.exp(median_of(longer)))
        return Unused(name, len(values), True, ratio, *ends) if ratio > MIN_VALUES_RATIO else plain
    spread = spread_of(residuals, freedom)
    per_point = median_of(np.bincount(owner))
    error = spread * (MEDIAN_LOSS if typical >= 3 else 1.0) / np.sqrt(typical)
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    ranges = np.maximum.reduceat(median, first) - np.minimum.reduceat(median, first)
    apart = median_of(ranges)
    # Twice what the farthest of so many normal values is away at most: the range they may have.
    if apart < max(
        spread,
        -2 * float(ndtri(MAX_MODES_CHANCE / per_point)) * error,
        float(np.log(MIN_VALUES_RATIO)),
    ):
        return plain
    return Unused(name, len(values), True, float(np.exp(apart)), *ends)


def _is_factor(values: Array, rows: int) -> bool:
    """Whether values name something; many different ones, or fractions, were measured."""
    if len(values) > min(MAX_FACTOR_VALUES, rows / 2):
        return False
    try:
        return all(float(value).is_integer() for value in values)
    except ValueError:
        return True


# --- repetitions in two groups --------------------------------------------------------------------

# Repetitions that fall into two groups, such as those of two protocols: their median is of one.
#
# At a point, the sorted logarithms of the times are parted at a gap. In a distribution with a
# single peak, spacings grow with the distance from the peak, so the gap is no wider than those of
# one of its sides; it takes the part x or more of itself and of r spacings like it with the chance
# (1 - x)^r (David & Nagaraja 2003, *Order Statistics*, 6.4). Both sides must be that much denser.
# The outermost tenths, which outliers stretch, are no part of a side; and since a tenth of the
# repetitions may be disturbed, so many slow ones as are found must not be likely of that. The
# chances at all points are judged together (Berk & Jones 1979, *Goodness-of-fit test statistics
# that dominate the Kolmogorov statistics*).


@dataclass(frozen=True)
class TwoGroups:
    """Points whose repetitions fall into two groups.

    Attributes
    ----------
    points
        Their numbers.
    ratio
        How many times longer the slower group takes, at each; shape (points,).
    share
        Part of the repetitions in the smaller group, at each; shape (points,).
    """

    points: Ints
    ratio: Floats
    share: Floats


def two_groups(seconds: Floats, point: Ints) -> TwoGroups:
    """Find the points whose repetitions fall into two groups.

    Parameters
    ----------
    seconds
        Measured times, shape (n,).
    point
        Number of the point of each, from 0, none left out; shape (n,).
    """
    order = np.lexsort((seconds, point))
    counts = np.bincount(point)
    first = np.cumsum(counts) - counts
    steps = np.diff(np.unique(seconds))  # the smallest is the resolution of a coarse clock
    steps = steps[steps > 1e-9 * seconds.min()]
    tick = float(steps.min()) if len(steps) else 0.0
    splits = [
        _part(seconds[order][first[members, None] + np.arange(n)], members, tick)
        for n in np.unique(counts[counts >= 2 * MIN_GROUP_REPETITIONS]).tolist()
        if len(members := np.flatnonzero(counts == n))
    ]
    if not splits:
        return TwoGroups(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    chance, points, ratio, share = (np.concatenate(column) for column in zip(*splits, strict=True))
    rank = np.argsort(chance, kind="stable")
    number = np.arange(1, len(rank) + 1)
    together = bdtrc(number - 1.0, len(rank), chance[rank])
    accepted = rank[: np.flatnonzero(together <= FALSE_ALARMS).max(initial=-1) + 1]
    accepted = accepted[np.argsort(points[accepted])]
    return TwoGroups(points[accepted], ratio[accepted], share[accepted])


def _part(rows: Floats, members: Ints, tick: float) -> tuple[Floats, Ints, Floats, Floats]:
    """Part the repetitions of points with as many each, shape (points, n), sorted.

    Returns
    -------
    tuple
        For each point the chance of such a gap, its number, the ratio of the two groups and the
        share of the smaller one.
    """
    n = rows.shape[1]
    cut = n // 10
    min_size = max(MIN_GROUP_REPETITIONS, -(-n // 5))
    split = np.arange(min_size, n - min_size + 1)
    logs = np.log(rows)
    gap = logs[:, split] - logs[:, split - 1]
    gap = np.where(rows[:, split] - rows[:, split - 1] > TICKS * tick, gap, 0.0)
    lower = logs[:, split - 1] - logs[:, [cut]]
    upper = logs[:, [n - 1 - cut]] - logs[:, split]
    chances = [
        (side / np.maximum(gap + side, 1e-300)) ** spacings
        for side, spacings in ((lower, split - 1 - cut), (upper, n - 1 - cut - split))
    ]
    likely = np.where(gap > 0, np.maximum(*chances) * len(split), 1.0)
    likely = np.maximum(likely, bdtrc(n - split - 1.0, n, MAX_DISTURBED_SHARE))
    best = likely.argmin(axis=1)
    index = np.arange(len(rows))
    chance = np.minimum(likely[index, best], 1.0)
    size = split[best]
    ratio = np.exp(logs[index, (size + n) // 2] - logs[index, size // 2])
    chance = np.where(ratio < MIN_GROUP_RATIO, 1.0, chance)
    return chance, members, ratio, np.minimum(size, n - size) / n
