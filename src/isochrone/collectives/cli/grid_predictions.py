"""Options and output of predictions of collectives on grids."""

import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from isochrone import models
from isochrone.base.errors import InputError, located
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collectives.grid_collectives import LIBRARY, NAMES, OPERATIONS, Grid, all_grids
from isochrone.collectives.predicted_grids import (
    NOISE,
    GridTime,
    Machine,
    PhaseTime,
    predict,
    ranked,
    verdict,
    warnings_of,
)
from isochrone.console.decision_page import VERDICT, check_page_file, tell_decision
from isochrone.models import Model
from isochrone.models.cli.predictions import check_subject
from isochrone.models.pages.model import predicted_by, sections_of
from isochrone.pages.page import Section, Sentence
from isochrone.pages.words import plural

_BEST = "best"
_ALL = "all"


def add_grid(parser: ArgumentParser) -> None:
    """Add ``--grid``."""
    parser.add_argument(
        "--grid",
        metavar="GRID",
        help="grids to predict: 4x16 (4 rows of 16), rows-of-8, nodes (a row per node), library "
        "(no grid), a list, all, or best (all, fastest first)",
    )


def answer(args: Namespace) -> int:
    """Predict all combinations of ranks, bytes and grids, and print them.

    Raises
    ------
    InputError
        If a grid does not fit the ranks, the operation has no grid algorithm, or the model lacks
        the operation.
    """
    check_page_file(args, [args.model])
    model = models.read(args.model)
    op = _operation(args, model)
    where = str(args.model)
    check_subject(model, "collective", where)
    if not args.bytes:
        raise InputError("--grid needs the block size of a rank", hint="give --bytes")
    points = []
    for machine, ranks in _machines(args, model):
        grids = _grids(args.grid, ranks, machine)
        with located(where):
            predictions = predict(model, op, ranks, grids, args.bytes, machine)
        points += [
            [grid_time for grid_time in predictions if grid_time.bytes == size]
            for size in args.bytes
        ]
    points = [times for times in points if times]
    if args.grid == _BEST:
        points = [ranked(times) for times in points]
    document = _document(points, model, by_best=args.grid == _BEST)
    lines = (Sentence(line) for times in points for line in _lines(times))
    sections = [
        Section(VERDICT, (predicted_by(model), *lines)),
        *sections_of([model], document.warnings),
    ]
    tell_decision(args, document, f"Predicted time of {op} on grids", sections, args.model.name)
    if not args.json:
        for warning in document.warnings:
            print(f"Warning: {printable(warning, 500)}", file=sys.stderr)
    return 0


def _operation(args: Namespace, model: Model) -> str:
    """Return the requested operation, or the only one of the model."""
    operations = model.selectors.get("op", [])
    if args.op is None and len(operations) != 1:
        hint = f"give --op: {', '.join(map(str, operations))}" if operations else "give --op"
        raise InputError("the model has several operations", hint=hint)
    op = str(operations[0]) if args.op is None else args.op
    if op not in OPERATIONS:
        raise InputError(
            f"'{op[:40]}' has no two-phase algorithm", hint=f"one of {', '.join(OPERATIONS)}"
        )
    return op


def _machines(args: Namespace, model: Model) -> Iterator[tuple[Machine, int]]:
    """Yield all requested numbers and positions of ranks."""
    constant = int(model.constant.get("ppn", 0)) or model.full_node
    for nodes in args.nodes or [0]:
        for ppn in args.ppn or [0]:
            numbers = args.ranks or ([nodes * ppn] if nodes and ppn else [])
            if not numbers:
                raise InputError("--grid needs the number of ranks", hint="give --ranks")
            for ranks in numbers:
                per_node = ppn or (-(-ranks // nodes) if nodes else min(constant, ranks))
                if nodes and not (nodes - 1) * per_node < ranks <= nodes * per_node:
                    raise InputError(
                        f"{ranks} ranks do not fill {nodes} nodes with {per_node} on each",
                        hint="give two of --ranks, --nodes and --ppn",
                    )
                yield Machine(nodes, per_node, args.placement), ranks


def _grids(grid_names: str, ranks: int, machine: Machine) -> list[Grid | None]:
    """Return the grids that are meant; None is the library's own."""
    if grid_names in (_BEST, _ALL):
        grids = all_grids(ranks)
        if not grids:  # a prime number: the last row is shorter
            grids = [Grid.parse(f"rows-of-{2**k}") for k in range(1, (ranks - 1).bit_length())]
        if 1 < machine.ppn < ranks:
            grids.append(Grid.parse("nodes"))
        return [None, *grids]
    named = [
        None if grid_name == LIBRARY else Grid.parse(grid_name)
        for grid_name in grid_names.split(",")
    ]
    for grid in named:
        if grid is not None:
            grid.over(ranks, machine.ppn or None)  # refuses one that is not of so many ranks
    return named


class _Best(NamedTuple):
    op: str
    ranks: int
    bytes: int
    grid: str
    seconds: float
    verdict: str


class OnGrids(msgspec.Struct):
    """Predicted times of collective operations on grids of ranks."""

    predictions: list[GridTime]
    best: list[_Best] | None
    origin: str | None
    warnings: list[str]


def _document(points: Sequence[Sequence[GridTime]], model: Model, *, by_best: bool) -> OnGrids:
    """Return the JSON document."""
    rows, best = [], []
    for times in points:
        winner = verdict(times)
        rows += [
            replace(grid_time, verdict=winner) if by_best else grid_time for grid_time in times
        ]
        first = ranked(times)[0]
        best.append(_Best(first.op, first.ranks, first.bytes, first.grid, first.seconds, winner))
    compared = any(len(times) > 1 for times in points)
    warnings = warnings_of(grid_time for times in points for grid_time in times)
    return OnGrids(rows, best if compared else None, model.origin or None, warnings)


def _lines(times: Sequence[GridTime]) -> Iterator[str]:
    """Write what was predicted for one operation, number of ranks and size."""
    first = times[0]
    yield f"{first.op}, {first.ranks} ranks, {format_bytes(first.bytes)}"
    wide = max(len(grid_time.grid) for grid_time in times)
    library_seconds = next(
        (grid_time.seconds for grid_time in times if grid_time.grid == LIBRARY), None
    )
    for grid_time in times:
        interval = "95 % interval not known"
        if not math.isnan(grid_time.low):
            interval = f"95 %: {format_seconds(grid_time.low)} to {format_seconds(grid_time.high)}"
        cells = [
            f"  {grid_time.grid:<{wide}}",
            f"{format_seconds(grid_time.seconds, 4):>10}",
            interval,
        ]
        if library_seconds and len(times) > 1 and grid_time.grid != LIBRARY:
            cells.append(f"{library_seconds / grid_time.seconds:.2f}x")
        phase_times = grid_time.phases if len(grid_time.phases) > 1 else ()
        cells.append(" + ".join(map(_phase, phase_times)))
        yield "  ".join(cells)
    if len(times) > 1:
        winner = verdict(times)
        yield f"  best: {ranked(times)[0].grid}{f', {NOISE}' if winner == NOISE else ''}"


def _phase(phase_time: PhaseTime) -> str:
    """Write one phase: ``16 rows of 4 ranks, 8 B: 12.1 µs``."""
    phase = phase_time.phase
    groups = plural(phase.groups, NAMES[phase.group].removesuffix("s"))
    factor = (
        f" (slowdown {phase_time.factor:.2f}x)"
        if phase_time.factor_known and phase.groups > 1
        else ""
    )
    size = format_bytes(phase.bytes)
    return f"{groups} of {phase.ranks} ranks, {size}: {format_seconds(phase_time.seconds)}{factor}"
