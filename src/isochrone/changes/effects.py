"""Decomposition of repeated runs into effects of levels, nodes and pairs, or of curves and points.

Whole launches vary more than the components of one launch. The log-time of each pair of nodes is
therefore the sum of effects of its level and both nodes, of what is peculiar to the pair, and a
residual,

    log t(a, b) = level + node(a) + node(b) + pair(a, b) + residual(a, b),

fitted in each run, robustly against outlying pairs (Huber 1964, *Robust estimation of a location
parameter*, Annals of Mathematical Statistics 35, 73-101). What is peculiar to a pair is estimated
over the earlier runs that have it, and shrunk by how reliable that is (`_peculiar`). Only the level
effect contains what a launch has in common. Likewise a curve has one effect, and each point a
residual.

Maps are seen from the places of the last one: an earlier run tells of the hosts that it shares with
it. Effects of nodes are relative to those of the other nodes that the runs share (`aligned_with`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from isochrone.applications.emulation.summary import emulation
from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.inference import components, means
from isochrone.base.record import Members, Record
from isochrone.base.stats import MAD_TO_SIGMA, median_of, row_medians
from isochrone.base.table import Table
from isochrone.base.text import listed, printable
from isochrone.base.units import format_bytes
from isochrone.changes.log_medians import aligned, by_curve, logs_of
from isochrone.changes.seen import Seen, seen_from
from isochrone.changes.thresholds import (
    EFFECTS_CONVERGED,
    HUBER,
    MAX_EFFECT_STEPS,
    MIN_POINTS,
    MIN_UNITS,
)
from isochrone.latency_map.hierarchy import Known
from isochrone.latency_map.partitions import numbered, parted
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run

_AT_ONCE = 2**22
"""Numbers in the normal equations that are solved together, at most: 32 MiB."""


class Quantity(Record):
    """One thing that every run has a number for.

    Attributes
    ----------
    kind
        ``level``, ``node``, ``inside`` (of a node), ``rank``, ``pair``, ``curve`` or ``point``.
    who
        For a person. Host names come from elsewhere: escape them.
    hosts, ranks
        What it concerns; ranks by their numbers in the last run.
    level
        Number of a level, or of the one a pair is on; None for others.
    nbytes
        Message size, if it is of one.
    points
        How many pairs or points it is the middle of.
    """

    kind: str
    who: str
    hosts: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    level: int | None = None
    nbytes: int | None = None
    points: int = 1


class Quantities(Record):
    """Numbers of several runs.

    Attributes
    ----------
    items
        What each column is.
    shifts
        Logarithm of each over what it usually is, without what its level or curve has in common;
        shape (runs, items).
    seconds
        Median times, shape (runs, items), in seconds.
    lower
        Of a node or rank the lower quartile of the shifts of its pairs, likewise; else NaN.
    groups
        Of a map the hosts that are together on a level: those of a switch.
    notes
        What was left out.
    """

    items: list[Quantity]
    shifts: Floats
    seconds: Floats
    lower: Floats
    groups: list[frozenset[str]]
    notes: list[str]


def called(kind: str, name: str) -> str:
    """Name a quantity, its kind in front unless it is there."""
    return name if name.startswith((kind, "inside")) else f"{kind} {name}"


def at_size(kind: str, nbytes: int | None) -> str:
    """Return the message size to be written after a name; the name of a point holds it."""
    return "" if nbytes is None or kind == "point" else f", {format_bytes(nbytes)}"


class _Column(NamedTuple):
    """A quantity with its shifts, its medians and the lower quartiles, of all runs."""

    what: Quantity
    shift: Floats
    seconds: Floats
    lower: Floats


Further = Callable[[Run], "Quantities | None"]
"""Quantities of one more run, over what is usual; None if it has not the same pairs or hosts."""


def quantities(runs: Sequence[Run], earlier: int) -> Quantities:
    """Split runs of one thing into quantities; the first ``earlier`` runs say what is usual.

    Raises
    ------
    InputError
        If a run holds no times, or they have too little in common.
    """
    return with_further(runs, earlier)[0]


def with_further(
    runs: Sequence[Run], earlier: int, hierarchies: Known | None = None
) -> tuple[Quantities, Further]:
    """Return the quantities of runs, and how to get those of one more run without these.

    Parameters
    ----------
    runs, earlier
        As for `quantities`.
    hierarchies
        Hierarchies found before.
    """
    if "pair" in runs[0].tables:
        return _of_maps(runs, earlier, hierarchies)
    keys, logs = _of_emulations(runs) if runs[0].kind == "emulation" else logs_of(runs)
    return _of_curves(runs[0], keys, logs, earlier), lambda _: None


def _together(
    columns: Iterable[_Column], groups: list[frozenset[str]], notes: list[str]
) -> Quantities:
    items, *numbers = zip(*columns, strict=True)
    shifts, seconds, lower = (np.array(of_each).T for of_each in numbers)
    return Quantities(list(items), shifts, seconds, lower, groups, notes)


# ---- maps --------------------------------------------------------------------------------------


def _of_maps(
    runs: Sequence[Run], earlier: int, hierarchies: Known | None
) -> tuple[Quantities, Further]:
    seen_pairs = seen_from(runs[-1], runs)
    notes = _not_seen(runs[-1], seen_pairs, earlier)
    level, names, groups = _levels(seen_pairs, earlier, hierarchies)
    size_maps = []
    sizes = [*parted(seen_pairs.rows[:, 2], np.arange(len(seen_pairs.rows)))]
    for size, rows in sizes:
        observed = seen_pairs.only(rows)
        if (~np.isnan(observed.logs[:earlier])).any():
            nbytes = size if len(sizes) > 1 else None
            size_maps.append((rows, _Map(observed.first(earlier), level[rows], names, nbytes)))
    if not size_maps:
        raise InputError("the maps have no pairs in common", where=runs[-1].where)

    def columns(seen: Seen) -> Quantities:
        map_columns = [
            column for rows, size_map in size_maps for column in size_map.columns(seen.only(rows))
        ]
        return _together(map_columns, groups, notes)

    def further(run: Run) -> Quantities | None:
        if notes or run.hosts != runs[-1].hosts:
            return None
        observed = seen_from(run, [run])
        return columns(observed) if np.array_equal(observed.rows, seen_pairs.rows) else None

    return columns(seen_pairs), further


def _not_seen(run: Run, seen_pairs: Seen, earlier: int) -> list[str]:
    """Say what of a map no earlier one has."""
    rows, in_earlier = seen_pairs.rows, ~np.isnan(seen_pairs.logs[:earlier])
    notes = []
    for size in np.unique(rows[:, 2]).tolist():
        if not in_earlier[:, rows[:, 2] == size].any():
            notes.append(f"{format_bytes(size)}: no earlier run has this message size")
    hosts = np.array(run.hosts, dtype=object)
    seen = {host for ends in rows[in_earlier.any(axis=0), :2].T for host in hosts[ends]}
    new = [host for host in dict.fromkeys(run.hosts) if host not in seen]
    if new and len(new) < len(set(run.hosts)):
        host_names = listed([printable(host, 40) for host in new], 5)
        notes.append(f"no earlier run has {host_names}: compared with other hosts")
    return notes


def _levels(
    seen_pairs: Seen, earlier: int, hierarchies: Known | None
) -> tuple[Ints, list[str], list[frozenset[str]]]:
    """Return the level of each row, their names, and the hosts that are together on them.

    They are those that the earlier runs together show; of new pairs, those of the last run.
    """
    smallest = seen_pairs.rows[:, 2] == seen_pairs.rows[:, 2].min()
    first, hosts = seen_pairs.only(smallest), seen_pairs.hosts
    nodes = numbered(hosts).tolist()
    ranks = [Rank(k, hosts[k], nodes[k]) for k in range(len(hosts))]
    table = dict(zip(("i", "j", "bytes"), first.rows.T, strict=True))
    table["median"] = np.exp(_usual_map(first.logs, earlier))
    middle = Run(
        header={"experiment": "latency-map", "ranks": len(hosts)},
        ranks=ranks if all(hosts) else [],
        tables={"pair": Table(table)},
        end={"complete": True},
    )
    hierarchy = analyse(middle, explanations=hierarchies)
    level = hierarchy.level_of(seen_pairs.rows[:, 0], seen_pairs.rows[:, 1])
    together = {
        frozenset(hosts[seat] for seat in group)
        for tree_level in hierarchy.levels
        for group in tree_level.groups
    }
    groups = sorted((group for group in together if 1 < len(group) < len(set(hosts))), key=len)
    return level, [tree_level.name for tree_level in hierarchy.levels], groups


def _usual_map(logs: Floats, earlier: int) -> Floats:
    """Return what each pair usually takes; where no earlier run has it, what it takes in the last.

    Launches are made equal to the last one by the pairs that they share with it.
    """
    if not np.isnan(logs).any():
        return np.asarray(np.median(logs[:earlier], axis=0))
    last = logs[-1]
    expected = row_medians((logs[:earlier] - row_medians(logs[:earlier] - last)[:, None]).T)
    return np.where(np.isnan(expected), last, expected)


class _Map:
    """The pairs of one message size, split into quantities.

    What is usual is estimated from ``before``, the earlier maps.
    """

    def __init__(self, observed: Seen, level: Ints, names: list[str], nbytes: int | None) -> None:
        self.hosts, self.by_host, self.unit = observed.hosts, observed.by_host, observed.unit
        self.names, self.level, self.nbytes = names, level, nbytes
        self.host_names = list(dict.fromkeys(self.hosts))
        self.a, self.b = observed.rows[:, 0], observed.rows[:, 1]
        self.outer = self.unit[self.a] != self.unit[self.b]
        exact = np.where(observed.exact, observed.logs, np.nan)
        self.usual = means(exact).middle
        for k in np.unique(level[~self.outer]).tolist():
            rows = np.flatnonzero(~self.outer & (level == k))
            self.usual[rows] = usual_of(exact[:, rows])
        self.peculiar = np.zeros(len(self._pairs))
        self.of_units = np.full(int(self.unit.max()) + 1, np.nan)
        self.peculiar = _peculiar(self._fit(observed.logs)[2])
        self.of_units = usual_of(self._fit(observed.logs)[1])
        self.of_insides = usual_of(self._over(exact, [*self._inner.values()]))

    def columns(self, seen: Seen) -> Iterator[_Column]:
        """Yield each quantity of some maps."""
        self.logs = seen.logs
        self.exact = np.where(seen.exact, seen.logs, np.nan)
        fit = self._fit(self.logs)
        yield from self._levels(fit[0])
        yield from self._network(*fit)
        if self.by_host:
            yield from self._insides()

    def _column(
        self, quantity: Quantity, shift: Floats, rows: Any, pair_shifts: Floats | None = None
    ) -> _Column:
        """Return a column; ``pair_shifts`` are the shifts of the pairs it is made of."""
        lower = np.full(len(shift), np.nan) if pair_shifts is None else _lower_quartile(pair_shifts)
        return _Column(quantity, shift, np.exp(row_medians(self.logs[:, rows])), lower)

    def _about(
        self, kind: str, name: str, ranks: Iterable[int], rows: Ints, level: int | None = None
    ) -> Quantity:
        ranks = tuple(ranks)
        hosts = dict.fromkeys(self.hosts[rank] for rank in ranks)
        return Quantity(
            kind, name, tuple(filter(None, hosts)), ranks, level, self.nbytes, len(rows)
        )

    def _rank(self, rank: int, rows: Ints) -> Quantity:
        host = self.hosts[rank]
        return self._about(
            "rank", f"rank {rank}" + (f" ({printable(host, 60)})" if host else ""), [rank], rows
        )

    @cached_property
    def _on(self) -> dict[int, list[int]]:
        """The ranks of each unit."""
        return {k: ranks.tolist() for k, ranks in parted(self.unit, np.arange(len(self.unit)))}

    # ---- pairs of units ----

    @cached_property
    def _among(self) -> Floats:
        """What is usual of each row, over the mean of those between the same units."""
        ends = np.sort(self.unit[np.column_stack([self.a, self.b])], axis=1)
        _, pair = np.unique(ends @ [len(self.unit), 1], return_inverse=True)
        present, count = ~np.isnan(self.usual), pair.max() + 1
        total = np.bincount(pair[present], self.usual[present], count)
        pair_counts = np.maximum(np.bincount(pair[present], minlength=count), 1)
        return np.asarray(self.usual - (total / pair_counts)[pair])

    @cached_property
    def _parts(self) -> list[Ints]:
        """The rows of each pair of units."""
        rows = np.flatnonzero(self.outer)
        ends = np.sort(self.unit[np.column_stack([self.a, self.b])[rows]], axis=1)
        return [members for _, members in parted(ends[:, 0] * len(self.unit) + ends[:, 1], rows)]

    @cached_property
    def _pairs(self) -> Ints:
        """The units of each pair."""
        first_rows = [members[0] for members in self._parts]
        return np.sort(self.unit[np.column_stack([self.a, self.b])[first_rows]], axis=1)

    @cached_property
    def _level(self) -> Ints:
        """The level of each pair of units."""
        return np.array([int(median_of(self.level[members])) for members in self._parts], np.int64)

    def _over(self, logs: Floats, row_groups: Sequence[Ints]) -> Floats:
        """Return the median over the rows of each part, without what is usual among them."""
        medians = np.empty((len(logs), len(row_groups)))
        for size, which in parted(
            np.array([len(members) for members in row_groups]), np.arange(len(row_groups))
        ):
            rows = np.stack([row_groups[k] for k in which])
            if size == 1:
                medians[:, which] = logs[:, rows[:, 0]]
                continue
            medians[:, which] = row_medians(logs[:, rows] - np.nan_to_num(self._among[rows]))
        return medians

    def _fit(self, logs: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the effects of levels and units, and the rests of pairs of units, of all maps.

        NaN is what a map says nothing of.
        """
        values = self._over(logs, self._parts) - self.peculiar
        judged = len(np.unique(self._pairs)) >= MIN_UNITS
        levels, units, residuals = shifts_of(
            self._pairs, self._level, values, len(self.names), len(self.of_units)
        )
        sparse = judged & (np.sum(~np.isnan(units), axis=1) < MIN_UNITS)
        levels[sparse], units[sparse], residuals[sparse] = np.nan, np.nan, np.nan
        common = np.nan_to_num(off_usual(units, self.of_units))
        return levels + 2 * common, units - common, residuals + self.peculiar

    # ---- quantities ----

    def _levels(self, levels: Floats) -> Iterator[_Column]:
        for k, name in enumerate(self.names):
            rows = np.flatnonzero(self.level == k)
            if not len(rows):
                continue
            shift = levels[:, k]
            if not (self._level == k).any():  # within nodes
                shift = row_medians(self.exact[:, rows] - self.usual[rows])
            about = self._about("level", f"level {k} ({name})", (), rows, k)
            yield self._column(about, shift, rows)

    def _network(self, levels: Floats, units: Floats, residuals: Floats) -> Iterator[_Column]:
        """Yield nodes, their ranks, and pairs of nodes; or ranks and their pairs."""
        pairs, level = self._pairs, self._level
        between = self._over(self.logs, self._parts)
        expected = np.nan_to_num(self.of_units)[pairs].sum(axis=1)
        beyond = between - self.peculiar - expected - levels[:, level]
        units_seen = np.unique(pairs).tolist()
        if len(units_seen) >= MIN_UNITS:
            for k in units_seen:
                of_unit = np.flatnonzero((pairs == k).any(axis=1))
                rows = np.concatenate([self._parts[p] for p in of_unit])
                about = (
                    self._about("node", self.host_names[k], self._on[k], rows)
                    if self.by_host
                    else self._rank(k, rows)
                )
                yield self._column(about, units[:, k], rows, beyond[:, of_unit])
        if self.by_host:
            yield from self._ranks(between)
        seconds = np.exp(between)
        none = np.full(len(self.logs), np.nan)
        for k, ends in enumerate(pairs.tolist()):
            names = [self.host_names[u] if self.by_host else str(u) for u in ends]
            ranks = [rank for u in ends for rank in self._on[u]]
            about = self._about("pair", "-".join(names), sorted(ranks), self._parts[k], level[k])
            yield _Column(about, residuals[:, k], seconds[:, k], none)

    def _ranks(self, between: Floats) -> Iterator[_Column]:
        """Yield what each rank adds to that of its node, where nodes have several."""
        pair_index = np.empty(len(self.a), np.int64)
        for k, members in enumerate(self._parts):
            pair_index[members] = k
        for rank, unit in enumerate(self.unit.tolist()):
            rows = np.flatnonzero(self.outer & ((self.a == rank) | (self.b == rank)))
            if len(rows) and len(self._on[unit]) > 1:
                added = self.exact[:, rows] - self._among[rows] - between[:, pair_index[rows]]
                yield self._column(self._rank(rank, rows), row_medians(added), rows, added)

    @cached_property
    def _inner(self) -> dict[int, Ints]:
        """The rows within each unit."""
        inner = np.flatnonzero(~self.outer)
        return dict(parted(self.unit[self.a[inner]], inner))

    def _insides(self) -> Iterator[_Column]:
        """Yield what each node adds within itself, over the others."""
        if len(self._inner) < MIN_UNITS:
            return
        shift = self._over(self.exact, [*self._inner.values()])
        shift = shift - off_usual(shift, self.of_insides)
        for (k, rows), values in zip(self._inner.items(), shift.T, strict=True):
            name = f"inside of {printable(self.host_names[k], 60)}"
            yield self._column(self._about("inside", name, self._on[k], rows), values, rows)


def usual_of(values: Floats) -> Floats:
    """Return what each column usually is, without what all of a map have in common.

    Maps lack columns, so the two are fitted in turn: means of columns, and medians of maps.
    """
    common = np.zeros((len(values), 1))
    for _ in range(MAX_EFFECT_STEPS if np.isnan(values).any() else 1):
        middle = means(values - common).middle
        previous, common = common, np.nan_to_num(row_medians(values - middle))[:, None]
        if np.max(np.abs(common - previous), initial=0) < EFFECTS_CONVERGED:
            break
    return middle


def off_usual(values: Floats, expected: Floats) -> Floats:
    """Return how far each map is off what is usual, as a column; NaN of few columns."""
    beside = values - expected
    enough = np.sum(~np.isnan(beside), axis=1) >= MIN_UNITS
    return np.where(enough, row_medians(beside), np.nan)[:, None]


def _peculiar(residuals: Floats) -> Floats:
    """Return what each pair adds to its level and nodes, from the rests of several maps.

    The median over the maps is shrunk towards 0, depending on how much pairs differ, and how much
    a pair differs from map to map: the best linear prediction (Robinson 1991, *That BLUP is a good
    thing: the estimation of random effects*, Statistical Science 6, 15-32).
    """
    pair_means = means(residuals)
    reliable = components(pair_means).reliability(pair_means.n)
    return np.nan_to_num(row_medians(residuals.T) * reliable)


# ---- curves and points -------------------------------------------------------------------------


def _of_curves(run: Run, keys: list[Members], logs: Floats, earlier: int) -> Quantities:
    complete = np.asarray(~np.isnan(logs).any(axis=0))
    if 2 * complete.sum() < len(complete) or not complete.any():
        raise InputError("the runs have less than half of their points in common", where=run.where)
    left_out = int(np.sum(~complete))
    notes = [f"{left_out} points are skipped: not all runs have them"] * bool(left_out)
    keys = [*compress(keys, complete)]
    logs = logs[:, complete]
    delta = logs - np.mean(logs[:earlier], axis=0)
    none = np.full(len(logs), np.nan)
    columns = []
    for about, members in by_curve(keys, run.by).items():
        common = np.zeros(len(logs))
        if len(members) >= MIN_POINTS:
            common = np.median(delta[:, members], axis=1)
            curve = Quantity("curve", _point(dict(about)) or "all points", points=len(members))
            middle = np.exp(np.median(logs[:, members], axis=1))
            columns.append(_Column(curve, common, middle, none))
        for k in members:
            point = Quantity("point", _point(keys[k]), nbytes=keys[k].get("bytes"))
            columns.append(_Column(point, delta[:, k] - common, np.exp(logs[:, k]), none))
    return _together(columns, [], notes)


def _of_emulations(runs: Sequence[Run]) -> tuple[list[Members], Floats]:
    """Return the wall time of each application, alone and concurrently with others."""
    medians = []
    for run in runs:
        walls = emulation(run).walls
        medians.append({(wall.app, ", ".join(wall.beside)): wall.seconds.median for wall in walls})
    keys, seconds = aligned(medians)
    return [{"app": app, "beside": beside or "nothing"} for app, beside in keys], np.log(seconds)


def _lower_quartile(values: Floats) -> Floats:
    """Return the lower quartile of each row without NaN; `numpy.nanquantile` takes far longer."""
    position = np.maximum(np.sum(~np.isnan(values), axis=1, keepdims=True) - 1, 0) / 4
    low = position.astype(np.int64)
    ordered = np.sort(values, axis=1)
    below, above = (
        np.take_along_axis(ordered, np.minimum(k, values.shape[1] - 1), axis=1)
        for k in (low, low + (position > low))
    )
    return np.asarray(below + (position - low) * (above - below))[:, 0]


def _point(key: Members) -> str:
    return printable(", ".join(f"{name} {value}" for name, value in key.items()), 200)


# ---- shifts of levels and nodes, which a few odd pairs do not move -----------------------------


def shifts_of(
    pairs: Ints, level: Ints, values: Floats, levels: int, units: int
) -> tuple[Floats, Floats, Floats]:
    """Return the effects of levels and units, and the residuals of pairs, of each map.

    ``values`` has the shape (maps, pairs). NaN is a pair that a map lacks, and the effect of what
    it lacks. What all units have in common belongs to the levels: the unit in the middle has none.
    Of fewer than `MIN_UNITS` all is the level's.
    """
    with_level, with_unit = (np.zeros((len(values), count), bool) for count in (levels, units))
    maps, rows = np.nonzero(~np.isnan(values))
    with_level[maps, level[rows]] = with_unit[maps, pairs[rows, 0]] = True
    with_unit[maps, pairs[rows, 1]] = True
    middle = np.array([row_medians(values[:, level == k]) for k in range(levels)]).T
    of_level, of_unit = middle, np.zeros((len(values), units))
    if len(np.unique(pairs)) >= MIN_UNITS:
        ends = level, levels + pairs[:, 0], levels + pairs[:, 1]
        size = max(1, _AT_ONCE // (levels + units) ** 2)
        effects = np.concatenate(
            [
                _fitted(ends, values[k : k + size], middle[k : k + size, level], levels + units)
                for k in range(0, len(values), size)
            ]
        )
        of_level, of_unit = effects[:, :levels], np.where(with_unit, effects[:, levels:], np.nan)
        common = row_medians(of_unit)[:, None]
        of_level, of_unit = of_level + 2 * common, of_unit - common
    residuals = values - of_level[:, level] - np.nan_to_num(of_unit)[:, pairs].sum(axis=2)
    of_level, of_unit = (
        np.where(present, effect, np.nan)
        for present, effect in ((with_level, of_level), (with_unit, of_unit))
    )
    return of_level, of_unit, residuals


def _fitted(ends: Sequence[Ints], values: Floats, middle: Floats, count: int) -> Floats:
    """Return the numbers of which each value of a map is the sum of three, robustly."""
    residuals, effects = values - middle, np.zeros((len(values), count))
    for _ in range(MAX_EFFECT_STEPS):
        spread = np.maximum(MAD_TO_SIGMA * row_medians(np.abs(residuals)), 1e-6)[:, None]
        weight = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(residuals), 1e-12))
        previous, effects = effects, _least_squares(ends, np.nan_to_num(weight), values, count)
        residuals = values - sum(effects[:, end] for end in ends)
        if np.max(np.abs(effects - previous)) < EFFECTS_CONVERGED:
            break
    return effects


def _least_squares(ends: Sequence[Ints], weight: Floats, values: Floats, count: int) -> Floats:
    """Solve for numbers of which each value is the sum of three, by the normal equations."""
    maps = len(values)
    of_map = count * np.arange(maps)[:, None]
    weighted, weight = (weight * np.nan_to_num(values)).ravel(), weight.ravel()
    square, right = np.zeros((maps, count, count)), np.zeros((maps, count, 1))
    for end in ends:
        right += np.bincount((of_map + end).ravel(), weighted, right.size).reshape(right.shape)
        for other_end in ends:
            at = (count * (of_map + end) + other_end).ravel()
            square += np.bincount(at, weight, square.size).reshape(square.shape)
    trace = np.trace(square, axis1=1, axis2=2)[:, None, None]
    scale = np.maximum(trace / count, 1.0)
    return np.asarray(np.linalg.solve(square + 1e-9 * scale * np.eye(count), right)[:, :, 0])
