"""Results of a run of collective operations on grids of ranks.

A run of ``measure collective --grid`` holds, for each operation and size, the library's algorithm,
the whole operation on each grid, and the separate phases of each grid: the group of rank 0 alone,
and all groups at once. A run without grids holds the library's only.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from math import hypot, isnan
from typing import Literal

from isochrone.base.documents import IfKnown, MaybeNan
from isochrone.base.errors import InputError
from isochrone.base.inference import ratio_interval, verdict
from isochrone.base.record import Members, Record
from isochrone.base.table import Table, grouped
from isochrone.base.text import printable
from isochrone.collectives.grid_collectives import WORD
from isochrone.runfile.run import Run
from isochrone.runfile.samples import points as by_point
from isochrone.runfile.samples import summarise
from isochrone.sweep.curves import is_sweep, samples

LIBRARY = "library"
TOTAL = "total"
PHASES = ("LG", "CG")

Key = tuple[str, int, int]

_MEMBER = "grid"
"""Header member of runs with grids."""


class GridPoint(Record):
    """One point: a whole operation, or one separate phase of it, at one size.

    Attributes
    ----------
    op, ranks, bytes
        Of the whole operation; the block of one rank.
    grid
        ``library``, or the grid as it was typed.
    phase
        ``total``, ``LG`` or ``CG``.
    groups
        At work at the same time.
    n, seconds, low, high
        Repetitions, their median, and its 95 % interval; NaN of a single repetition.
    phase_op, phase_ranks, phase_bytes
        Operation called in the phase, its ranks (of the largest group) and block bytes; None for a
        whole operation.
    nodes, ppn
        Of the group of rank 0 (of a whole operation: of the run): nodes that it touches, and its
        ranks on the one where they are most; 0 if unknown.
    """

    op: str
    ranks: int
    bytes: int
    grid: str
    phase: str
    groups: int
    n: int
    seconds: float
    low: MaybeNan
    high: MaybeNan
    phase_op: IfKnown[str] = None
    phase_ranks: IfKnown[int] = None
    phase_bytes: IfKnown[int] = None
    nodes: int = 0
    ppn: int = 0

    @property
    def estimate(self) -> tuple[float, float, float]:
        """The median and its interval, for a ratio."""
        return self.seconds, self.low, self.high


class Disturbance(Record):
    """Comparison of all groups of a phase at once with one of them alone.

    Attributes
    ----------
    factor, low, high
        Median of all at once over that of one alone, and its 95 % interval; 1: they do not
        disturb each other.
    groups
        At work at the same time.
    sharing
        Most of them that have a member on the same node; 0 if the nodes are unknown.
    """

    op: str
    ranks: int
    grid: str
    phase: str
    phase_op: str
    phase_ranks: int
    phase_bytes: int
    groups: int
    factor: float
    low: MaybeNan
    high: MaybeNan
    sharing: int
    bytes: int = 0


def is_grid_run(run: Run) -> bool:
    """Whether realisations on grids were measured, too."""
    return is_sweep(run) and _MEMBER in run.by


def points(run: Run) -> list[GridPoint]:
    """Return the points of a run of collectives, in the order of the file.

    Those of a run without grids are all of the library and whole.

    Raises
    ------
    InputError
        If the run is of no collectives, or its samples are damaged.
    """
    table = samples(run)
    if "op" not in run.by:
        raise InputError(
            "the run does not measure collective operations",
            where=run.where,
            hint="measure them with isochrone measure collective",
        )
    place_of = cache(partial(_places, run))
    grid_points = []
    for key, rows in by_point(table, (*run.by, "bytes"), run.where).items():
        of = dict(key)
        grid, phase = str(of.get("grid", LIBRARY)), str(of.get("phase", TOTAL))
        times = summarise(table, rows)
        nodes, ppn = place_of(grid, phase)
        grid_points.append(
            GridPoint(
                str(of["op"]),
                int(of.get("p", run.size)),
                int(of["bytes"]),
                grid,
                phase,
                _whole(of.get("groups", 1), "groups", run),
                times.n,
                times.median,
                times.low,
                times.high,
                **_phase(run, table, int(rows[0]), phase),
                nodes=nodes,
                ppn=ppn,
            )
        )
    return grid_points


def disturbances(run: Run, measured: Sequence[GridPoint] | None = None) -> list[Disturbance]:
    """Compare all groups of a phase at once with one of them alone.

    Parameters
    ----------
    measured
        Points of the run, if they were read already.

    Raises
    ------
    InputError
        As `points`.
    """
    if not is_grid_run(run):
        return []
    phase_points = [p for p in (points(run) if measured is None else measured) if p.phase != TOTAL]
    undisturbed_points = {_phase_of(point): point for point in phase_points if point.groups == 1}
    groups = cache(partial(groups_of, run))
    compared = []
    for point in phase_points:
        undisturbed = undisturbed_points.get(_phase_of(point))
        if point.groups == 1 or undisturbed is None or undisturbed.seconds <= 0:
            continue
        sharing = most_sharing(run, groups(point.grid, point.phase)) if all(run.hosts) else 0
        assert point.phase_op and point.phase_ranks and point.phase_bytes is not None
        compared.append(
            Disturbance(
                point.op,
                point.ranks,
                point.grid,
                point.phase,
                point.phase_op,
                point.phase_ranks,
                point.phase_bytes,
                point.groups,
                point.seconds / undisturbed.seconds,
                *ratio_interval(point.estimate, undisturbed.estimate),
                sharing,
                point.bytes,
            )
        )
    return compared


def algorithm(run: Run) -> dict[str, str]:
    """Return the library's algorithms that were forced: ``{"bcast": "binomial"}``.

    Raises
    ------
    InputError
        If the header's note cannot be read.
    """
    note = run.notes.get("algorithm", "")
    forced = {}
    for choice in filter(None, (text.strip() for text in note.split(","))):
        op, sign, name = choice.partition("=")
        if not (op and sign and name):
            raise InputError(
                f"the note 'algorithm' says '{printable(choice, 40)}', not OP=NAME", where=run.where
            )
        forced[op] = name
    return forced


# --- which ranks work together --------------------------------------------------------------------


def groups_of(run: Run, grid: str, phase: str) -> list[list[int]]:
    """Return the groups of a phase as the probe arranges them, that of rank 0 first.

    Rows are CG. Columns are LG: they have a member in each row, where a row is shorter its last.

    Parameters
    ----------
    phase
        ``LG`` or ``CG``.
    """
    rows = _rows_of(run, grid)
    groups = rows
    if phase == "LG":
        longest = max(map(len, rows))
        groups = [[row[min(column, len(row) - 1)] for row in rows] for column in range(longest)]
    return sorted(groups, key=lambda group: 0 not in group)


def most_sharing(run: Run, groups: list[list[int]]) -> int:
    """Count the groups that have a member on the same node, on the node where they are most."""
    hosts = run.hosts
    on = Counter(host for group in groups for host in {hosts[rank] for rank in group})
    return max(on.values())


def _rows_of(run: Run, grid: str) -> list[list[int]]:
    """Return the ranks of a run row by row, as ``probe/grid/shape.h`` has them.

    Raises
    ------
    InputError
        If it is not a grid, or rows are nodes and those are unknown.
    """
    if grid == "nodes":
        on = grouped((host, rank) for rank, host in enumerate(run.hosts))
        if "" in on:
            raise InputError(
                "the grid 'nodes' needs hosts, which the run does not record", where=run.where
            )
        return list(on.values())
    match = WORD.fullmatch(grid)
    if match is None:
        raise InputError(f"'{printable(grid, 40)}' is not a grid", where=run.where)
    length = int(match[2] or match[3])
    return [
        list(range(first, min(first + length, run.size))) for first in range(0, run.size, length)
    ]


# --- points ---------------------------------------------------------------------------------------


def _phase_of(point: GridPoint) -> tuple[Key, str, str]:
    return _key(point), point.grid, point.phase


def _places(run: Run, grid: str, phase: str) -> tuple[int, int]:
    """Return nodes and ranks on each of the group of rank 0, or of the run."""
    hosts = run.hosts
    if not all(hosts):
        return 0, 0
    members = range(run.size) if phase == TOTAL else groups_of(run, grid, phase)[0]
    counts = Counter(hosts[rank] for rank in members)
    return len(counts), max(counts.values())


def _phase(run: Run, table: Table, row: int, phase: str) -> Members:
    """Return the operation called in a phase."""
    if phase == TOTAL:
        return {}
    if phase not in PHASES:
        raise InputError(
            f"a 'sample' record has an unknown phase '{printable(phase, 40)}'", where=run.where
        )
    for name in ("phase_op", "phase_p", "phase_bytes"):
        if name not in table:
            raise InputError(f"a 'sample' record of a phase has no '{name}'", where=run.where)
    op = table["phase_op"][row]
    if not (isinstance(op, str) and op):
        raise InputError("a 'sample' record of a phase has no 'phase_op'", where=run.where)
    return {
        "phase_op": op,
        "phase_ranks": _whole(table["phase_p"][row], "phase_p", run),
        "phase_bytes": _whole(table["phase_bytes"][row], "phase_bytes", run, minimum=0),
    }


def _whole(value: float, name: str, run: Run, *, minimum: int = 1) -> int:
    """Return a whole number of a sample."""
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        count = minimum - 1
    if count < minimum or count != value or count >= 2**62:
        raise InputError(f"the '{name}' of a 'sample' record is out of range", where=run.where)
    return count


# --- comparisons ---------------------------------------------------------------------------------

# Comparison of grids with the library, and of operations with the sum of their phases.

MIN_GRID_GAIN = 0.02
"""Of the time: who is less faster is not called so."""

ADDS_UP = 0.1
"""Of the time: by how much the sum of the phases may miss the total."""

Verdict = Literal["faster", "slower", "within the noise"]

_WORDS: dict[str, Verdict] = {
    "faster": "faster",
    "slower": "slower",
    "same": "within the noise",
    "not known": "within the noise",
}


class Gain(Record):
    """Comparison of a grid with the library, for one operation and size.

    Attributes
    ----------
    library, on_grid
        The whole operation, both ways.
    ratio, low, high
        Library over grid and its 95 % interval; above 1 the grid is faster. The interval is NaN
        without repetitions.
    """

    library: GridPoint
    on_grid: GridPoint
    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Whether the grid is significantly faster."""
        low, high = _ends(self)
        return _WORDS[verdict(1 / self.ratio, 1 / high, 1 / low, threshold=MIN_GRID_GAIN)]

    def document(self) -> Members:
        """Return it for a document."""
        point = self.on_grid
        return {
            "op": point.op,
            "p": point.ranks,
            "bytes": point.bytes,
            "grid": point.grid,
            "seconds": point.seconds,
            "library": self.library.seconds,
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
        }


class Parts(Record):
    """A whole operation on a grid compared with its phases.

    Attributes
    ----------
    total
        The whole operation.
    phases
        LG and CG, each with all groups at work.
    ratio, low, high
        Sum of the phases over the total and its 95 % interval, NaN without repetitions.
    """

    total: GridPoint
    phases: tuple[GridPoint, GridPoint]
    ratio: float
    low: float
    high: float

    @property
    def adds_up(self) -> bool:
        """Whether the sum of the phases equals the total, within the interval."""
        low, high = _ends(self)
        return bool(low <= 1 + ADDS_UP and high >= 1 - ADDS_UP)

    def document(self) -> Members:
        """Return it for a document."""
        return {
            "op": self.total.op,
            "p": self.total.ranks,
            "bytes": self.total.bytes,
            "grid": self.total.grid,
            "total": self.total.seconds,
            **{phase.phase: phase.seconds for phase in self.phases},
            "ratio": self.ratio,
            "low": self.low,
            "high": self.high,
        }


def gains(measured: Sequence[GridPoint]) -> list[Gain]:
    """Compare each grid with the library at the same operation, ranks and size."""
    library = {_key(p): p for p in measured if p.grid == LIBRARY and p.phase == TOTAL}
    return [
        Gain(
            library_point,
            point,
            library_point.seconds / point.seconds,
            *ratio_interval(library_point.estimate, point.estimate),
        )
        for point in measured
        if point.grid != LIBRARY
        and point.phase == TOTAL
        and point.seconds > 0
        and (library_point := library.get(_key(point))) is not None
    ]


def best(measured: Sequence[GridPoint]) -> list[Gain]:
    """Return of each operation and size the grid that took the shortest time."""
    shortest: dict[Key, Gain] = {}
    for gain in gains(measured):
        key = _key(gain.on_grid)
        if key not in shortest or gain.ratio > shortest[key].ratio:
            shortest[key] = gain
    return list(shortest.values())


def parts(measured: Sequence[GridPoint]) -> list[Parts]:
    """Compare the phases of each grid, all groups at work, with the whole operation."""
    working: dict[tuple[Key, str, str], GridPoint] = {}
    for point in measured:
        phase_key = _phase_of(point)
        if phase_key not in working or point.groups > working[phase_key].groups:
            working[phase_key] = point
    listed = []
    for (key, grid, phase), total in working.items():
        leaders, rows = (working.get((key, grid, name)) for name in PHASES)
        if phase == TOTAL and leaders and rows and total.seconds > 0:
            seconds = leaders.seconds + rows.seconds
            # the distances of their ends are those of independent errors
            down = hypot(leaders.seconds - leaders.low, rows.seconds - rows.low)
            up = hypot(leaders.high - leaders.seconds, rows.high - rows.seconds)
            ends = ratio_interval((seconds, seconds - down, seconds + up), total.estimate)
            listed.append(Parts(total, (leaders, rows), seconds / total.seconds, *ends))
    return listed


def _ends(comparison: Gain | Parts) -> tuple[float, ...]:
    """Return the ends of an interval; unknown ones are the ratio itself."""
    return tuple(
        comparison.ratio if isnan(end) else end for end in (comparison.low, comparison.high)
    )


def _key(point: GridPoint) -> Key:
    return point.op, point.ranks, point.bytes
