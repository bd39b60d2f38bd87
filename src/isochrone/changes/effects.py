"""Decomposition of repeated runs into effects of levels, nodes and pairs, or of curves and points.

Whole launches vary more than the components of one launch. The log-time of each pair of nodes,
relative to its baseline, is therefore the sum of effects of its level and both nodes, and a
residual,

    log t(a, b) - base(a, b) = level + node(a) + node(b) + residual(a, b),

fitted robustly against outlying pairs (Huber 1964, *Robust estimation of a location parameter*,
Annals of Mathematical Statistics 35, 73-101). Only the level effect contains what a launch has in
common. Likewise a curve has one effect, and each point a residual.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from isochrone.applications.emulation.summary import emulation
from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.stats import MAD_TO_SIGMA, median_of
from isochrone.base.table import Table
from isochrone.base.text import printable
from isochrone.base.units import format_bytes
from isochrone.changes.log_medians import Matched, aligned, by_curve, logs_of, matched
from isochrone.latency_map.hierarchy import Known
from isochrone.latency_map.partitions import numbered, parted
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Rank, Run

MIN_UNITS = 4
"""Of fewer nodes, or hosts that are compared inside, none is the odd one out."""

HUBER = 1.345
"""Tuning constant in standard deviations: 95 % efficiency for normal residuals."""

_ROUNDS = 30
_SETTLED = 1e-6

MIN_POINTS = 3
"""Minimum number of points of a curve for an effect of the curve."""


class Quantity(Record):
    """One thing that every run has a number for.

    Attributes
    ----------
    kind
        ``level``, ``node``, ``inside`` (of a node), ``rank``, ``pair``, ``curve`` or ``point``.
    who
        For a person. Host names come from elsewhere: escape them.
    hosts, ranks
        What it concerns; ranks by their numbers in the first run.
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


def called(kind: str, who: str) -> str:
    """Name a quantity, its kind in front unless it is there."""
    return who if who.startswith((kind, "inside")) else f"{kind} {who}"


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
    runs: Sequence[Run], earlier: int, known: Known | None = None
) -> tuple[Quantities, Further]:
    """Return the quantities of runs, and how to get those of one more run without these.

    Parameters
    ----------
    runs, earlier
        As for `quantities`.
    known
        Hierarchies found before.
    """
    if "pair" in runs[0].tables:
        return _of_maps(runs, earlier, known)
    keys, logs = _of_emulations(runs) if runs[0].kind == "emulation" else logs_of(runs)
    return _of_curves(runs[0], keys, logs, earlier), lambda _: None


def _together(
    columns: Iterable[_Column], groups: list[frozenset[str]], notes: list[str]
) -> Quantities:
    items, *numbers = zip(*columns, strict=True)
    shifts, seconds, lower = (np.array(of_each).T for of_each in numbers)
    return Quantities(list(items), shifts, seconds, lower, groups, notes)


# ---- maps --------------------------------------------------------------------------------------


def _of_maps(runs: Sequence[Run], earlier: int, known: Known | None) -> tuple[Quantities, Further]:
    found = matched(runs)
    whole = np.asarray(~np.isnan(found.logs).any(axis=0))
    notes = [found.places.note] if found.places.note else []
    if 2 * whole.sum() < len(whole):
        raise InputError(
            "the maps have less than half of their pairs in common", where=runs[-1].where
        )
    if not whole.all():
        notes.append(f"{int(np.sum(~whole))} pairs are skipped: not all runs have them")
    found = found.only(whole)
    level, names, groups = _levels(found, earlier, known)
    base = np.mean(found.logs[:earlier], axis=0)

    def columns(logs: Floats) -> Quantities:
        columns: list[_Column] = []
        for size, rows in parted(found.rows[:, 2], np.arange(len(found.rows))):
            own = found._replace(logs=logs).only(rows)
            nbytes = size if len(rows) < len(found.rows) else None
            columns += _Map(own, base[rows], level[rows], names, nbytes).columns()
        return _together(columns, groups, notes)

    def further(run: Run) -> Quantities | None:
        if notes or run.hosts != runs[0].hosts:
            return None
        own = matched([run])
        return columns(own.logs) if np.array_equal(own.rows, found.rows) else None

    return columns(found.logs), further


def _levels(
    found: Matched, earlier: int, known: Known | None
) -> tuple[Ints, list[str], list[frozenset[str]]]:
    """Return the level of each row, their names, and the hosts that are together on them.

    They are those that the earlier runs together show.
    """
    first = found.only(found.rows[:, 2] == found.rows[:, 2].min())
    hosts = found.places.hosts
    nodes = numbered(hosts).tolist()
    ranks = [Rank(k, hosts[k], nodes[k]) for k in range(len(hosts))]
    table = dict(zip(("i", "j", "bytes"), first.rows.T, strict=True))
    table["median"] = np.exp(np.median(first.logs[:earlier], axis=0))
    middle = Run(
        header={"experiment": "latency-map", "ranks": len(hosts)},
        ranks=ranks if all(hosts) else [], tables={"pair": Table(table)}, end={"complete": True},
    )  # fmt: skip
    shown = analyse(middle, known=known)
    level = shown.level_of(found.rows[:, 0], found.rows[:, 1])
    together = {
        frozenset(hosts[seat] for seat in group) for one in shown.levels for group in one.groups
    }
    groups = sorted((one for one in together if 1 < len(one) < len(set(hosts))), key=len)
    return level, [one.name for one in shown.levels], groups


class _Map:
    """The pairs of one message size, split into quantities; ``base`` is what they usually are."""

    def __init__(
        self, found: Matched, base: Floats, level: Ints, names: list[str], nbytes: int | None
    ) -> None:
        self.places, self.names, self.level, self.nbytes = found.places, names, level, nbytes
        self.logs, self.delta = found.logs, found.logs - base
        self.a, self.b = found.rows[:, 0], found.rows[:, 1]
        hosts = found.places.hosts
        host = numbered(hosts)
        self.host_names = list(dict.fromkeys(hosts))
        self.by_host = all(hosts) and bool(np.any(host[self.a] != host[self.b]))
        self.seat_host = host if self.by_host else np.arange(len(hosts))
        self.outer = self.seat_host[self.a] != self.seat_host[self.b]

    def columns(self) -> Iterator[_Column]:
        """Yield each quantity."""
        yield from self._levels()
        yield from self._network()
        if self.by_host:
            yield from self._insides()

    def _column(
        self, quantity: Quantity, shift: Floats, rows: Any, own: Floats | None = None
    ) -> _Column:
        """Return a column; ``own`` are the shifts of the pairs it is made of."""
        lower = np.full(len(shift), np.nan) if own is None else _lower_quartile(own)
        return _Column(quantity, shift, np.exp(np.median(self.logs[:, rows], axis=1)), lower)

    def _about(
        self, kind: str, who: str, seats: Iterable[int], rows: Ints, level: int | None = None
    ) -> Quantity:
        hosts = dict.fromkeys(self.places.hosts[seat] for seat in seats)
        ranks = tuple(self.places.rank[seat] for seat in seats)
        return Quantity(kind, who, tuple(filter(None, hosts)), ranks, level, self.nbytes, len(rows))

    def _rank(self, seat: int, rows: Ints) -> Quantity:
        host = self.places.hosts[seat]
        who = f"rank {self.places.rank[seat]}" + (f" ({printable(host, 60)})" if host else "")
        return self._about("rank", who, [seat], rows)

    @cached_property
    def _on(self) -> dict[int, Ints]:
        """The places on each node."""
        return dict(parted(self.seat_host, np.arange(len(self.seat_host))))

    def _seats(self, *units: int) -> list[int]:
        """Return the places on some nodes; or some ranks, by their numbers."""
        if self.by_host:
            return sorted(seat for unit in units for seat in self._on[unit].tolist())
        return sorted(units, key=self.places.rank.__getitem__)

    def _levels(self) -> Iterator[_Column]:
        level, levels = self._units[1], self._fit[0]
        for k, name in enumerate(self.names):
            rows = np.flatnonzero(self.level == k)
            if not len(rows):
                continue
            shift = np.median(self.delta[:, rows], axis=1)
            if (level == k).any():  # of the network: without what single nodes add
                shift = levels[:, np.unique(level).tolist().index(k)]
            about = self._about("level", f"level {k} ({name})", (), rows, k)
            yield self._column(about, shift, rows)

    @cached_property
    def _units(self) -> tuple[Ints, Ints, Floats, list[Ints]]:
        """The pairs of nodes (or ranks), and the level, the shifts and the rows of each."""
        rows = np.flatnonzero(self.outer)
        one, other = self.seat_host[self.a[rows]], self.seat_host[self.b[rows]]
        count = int(self.seat_host.max()) + 1
        code = np.minimum(one, other) * count + np.maximum(one, other)
        codes, parts = zip(*parted(code, rows), strict=True)
        pairs = np.column_stack(np.divmod(codes, count))
        level = np.array([int(median_of(self.level[own])) for own in parts])
        return pairs, level, _medians(self.delta, parts), list(parts)

    @cached_property
    def _fit(self) -> tuple[Floats, Floats, Floats]:
        """Shifts of levels and units, and the rests of the pairs of units, of all runs."""
        pairs, level, delta, _ = self._units
        found = [shifts_of(pairs, level, values) for values in delta]
        levels, units, rest = (np.array(side) for side in zip(*found, strict=True))
        return levels, units, rest

    def _network(self) -> Iterator[_Column]:
        """Yield nodes, their ranks, and pairs of nodes; or ranks and their pairs."""
        pairs, level, delta, parts = self._units
        levels, units, rest = self._fit
        beyond = delta - levels[:, np.unique(level, return_inverse=True)[1]]
        if units.shape[1] >= MIN_UNITS:
            for k in np.unique(pairs).tolist():
                own = np.flatnonzero((pairs == k).any(axis=1))
                rows = np.concatenate([parts[p] for p in own])
                about = (
                    self._about("node", self.host_names[k], self._seats(k), rows)
                    if self.by_host else self._rank(k, rows)
                )  # fmt: skip
                yield self._column(about, units[:, k], rows, beyond[:, own])
        if self.by_host:
            yield from self._ranks()
        seconds = np.exp(_medians(self.logs, parts))
        none = np.full(len(self.logs), np.nan)
        for k, units_ in enumerate(pairs.tolist()):
            seats = self._seats(*units_)
            names = [self.host_names[u] for u in units_] if self.by_host else [
                str(self.places.rank[seat]) for seat in seats
            ]  # fmt: skip
            about = self._about("pair", "-".join(names), seats, parts[k], int(level[k]))
            yield _Column(about, rest[:, k], seconds[:, k], none)

    def _ranks(self) -> Iterator[_Column]:
        """Yield what each rank adds to that of its node, where nodes have several."""
        _, _, delta, parts = self._units
        place = np.empty(len(self.a), np.int64)
        for k, own in enumerate(parts):
            place[own] = k
        for seat in range(len(self.seat_host)):
            rows = np.flatnonzero(self.outer & ((self.a == seat) | (self.b == seat)))
            if len(rows) and len(self._on[int(self.seat_host[seat])]) > 1:
                added = self.delta[:, rows] - delta[:, place[rows]]
                shift = np.median(added, axis=1)
                yield self._column(self._rank(seat, rows), shift, rows, added)

    def _insides(self) -> Iterator[_Column]:
        """Yield what each node adds within itself, over the others."""
        inner = np.flatnonzero(~self.outer)
        own = dict(parted(self.seat_host[self.a[inner]], inner))
        if len(own) < MIN_UNITS:
            return
        shift = _medians(self.delta, list(own.values())).T
        shift = shift - np.median(shift, axis=0)
        for (k, rows), values in zip(own.items(), shift, strict=True):
            who = f"inside of {printable(self.host_names[k], 60)}"
            yield self._column(self._about("inside", who, self._seats(k), rows), values, rows)


def _medians(values: Floats, parts: Sequence[Ints]) -> Floats:
    """Return the medians of each row over the columns of each part; quickly of one each."""
    if all(len(own) == 1 for own in parts):
        return values[:, np.concatenate(parts)]
    return np.array([np.median(values[:, own], axis=1) for own in parts]).T


# ---- curves and points -------------------------------------------------------------------------


def _of_curves(run: Run, keys: list[dict[str, Any]], logs: Floats, earlier: int) -> Quantities:
    whole = np.asarray(~np.isnan(logs).any(axis=0))
    if 2 * whole.sum() < len(whole) or not whole.any():
        raise InputError("the runs have less than half of their points in common", where=run.where)
    left_out = int(np.sum(~whole))
    notes = [f"{left_out} points are skipped: not all runs have them"] * bool(left_out)
    keys = [*compress(keys, whole)]
    logs = logs[:, whole]
    delta = logs - np.mean(logs[:earlier], axis=0)
    none = np.full(len(logs), np.nan)
    columns = []
    for about, own in by_curve(keys, run.by).items():
        common = np.zeros(len(logs))
        if len(own) >= MIN_POINTS:
            common = np.median(delta[:, own], axis=1)
            curve = Quantity("curve", _point(dict(about)) or "all points", points=len(own))
            middle = np.exp(np.median(logs[:, own], axis=1))
            columns.append(_Column(curve, common, middle, none))
        for k in own:
            point = Quantity("point", _point(keys[k]), nbytes=keys[k].get("bytes"))
            columns.append(_Column(point, delta[:, k] - common, np.exp(logs[:, k]), none))
    return _together(columns, [], notes)


def _of_emulations(runs: Sequence[Run]) -> tuple[list[dict[str, Any]], Floats]:
    """Return the wall time of each application, alone and concurrently with others."""
    found = []
    for run in runs:
        walls = emulation(run).walls
        found.append({(one.app, ", ".join(one.beside)): one.seconds.median for one in walls})
    keys, seconds = aligned(found)
    return [{"app": app, "beside": beside or "nothing"} for app, beside in keys], np.log(seconds)


def _lower_quartile(values: Floats) -> Floats:
    """Return the lower quartile of each row; `numpy.quantile` takes ten times as long."""
    place = (values.shape[1] - 1) / 4
    low = int(place)
    ordered = np.sort(values, axis=1)
    high = min(low + 1, values.shape[1] - 1)
    return np.asarray(ordered[:, low] + (place - low) * (ordered[:, high] - ordered[:, low]))


def _point(key: dict[str, Any]) -> str:
    return printable(", ".join(f"{name} {value}" for name, value in key.items()), 200)


# ---- shifts of levels and nodes, which a few odd pairs do not move -----------------------------


def shifts_of(pairs: Ints, level: Ints, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the effect of each level and unit, and the residual of each pair.

    What all units have in common belongs to the levels: the unit in the middle has none. Of fewer
    than `MIN_UNITS` all is the level's.
    """
    levels, of_level = np.unique(level, return_inverse=True)
    units = int(pairs.max()) + 1
    middle = np.array([median_of(values[of_level == k]) for k in range(len(levels))])
    if len(np.unique(pairs)) < MIN_UNITS:
        return middle, np.zeros(units), values - middle[of_level]
    ends = of_level, len(levels) + pairs[:, 0], len(levels) + pairs[:, 1]
    count = len(levels) + units
    found, rest = np.zeros(count), values - middle[of_level]
    for _ in range(_ROUNDS):
        spread = max(MAD_TO_SIGMA * median_of(np.abs(rest)), 1e-6)
        weight = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(rest), 1e-12))
        before, found = found, _least_squares(ends, weight, values, count)
        rest = values - sum(found[end] for end in ends)
        if np.max(np.abs(found - before)) < _SETTLED:
            break
    own = found[len(levels) :]
    common = median_of(own[np.unique(pairs)])
    return found[: len(levels)] + 2 * common, own - common, rest


def _least_squares(ends: Sequence[Ints], weight: Floats, values: Floats, count: int) -> Floats:
    """Solve for numbers of which each value is the sum of three, by the normal equations."""
    square = np.zeros((count, count))
    right = np.zeros(count)
    for one in ends:
        right += np.bincount(one, weight * values, count)
        for other in ends:
            square += np.bincount(one * count + other, weight, count**2).reshape(count, count)
    scale = max(float(np.trace(square)) / count, 1.0)
    return np.asarray(np.linalg.solve(square + 1e-9 * scale * np.eye(count), right), np.float64)
