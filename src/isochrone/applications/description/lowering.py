"""Descriptions worked out as programs: expressions become numbers, phases steps of ranks."""

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

import numpy as np

from isochrone.applications.description.description import App, Description
from isochrone.applications.description.distributions import values
from isochrone.applications.description.draws import index
from isochrone.applications.description.exchanges import exchange
from isochrone.applications.description.expression import Quantity
from isochrone.applications.description.phases import (
    Among,
    Coarser,
    CollectiveSpec,
    ComputeSpec,
    ExchangeSpec,
    PhaseSpec,
    RepeatSpec,
    leaves,
)
from isochrone.applications.description.program import (
    MAX_RANKS,
    Application,
    Collective,
    Compute,
    Launch,
    Phase,
    Program,
    Repeat,
    Step,
)
from isochrone.applications.description.quantities import count, seconds, share, size
from isochrone.applications.description.quantities import number as plain_number
from isochrone.applications.description.resolved import (
    Resolved,
    Values,
    number_of_ranks,
    parameters,
)
from isochrone.base.errors import InputError
from isochrone.base.operations import REDUCING, ROOTED
from isochrone.collectives.grid_collectives import Grid

MAX_LAUNCHES = 100_000

_ORDER = 2**32 - 1
"""Stands for the application in the key of a draw that orders launches."""


def launches(description: Description) -> tuple[Launch, ...]:
    """Return all launches: each repetition has all of them, in an order drawn from the seed.

    What runs together is launched once in a repetition, however often it was asked for.

    Raises
    ------
    InputError
        If there are more than `MAX_LAUNCHES`.
    """
    names = [app.name for app in description.apps]
    every = range(len(names))
    groups = {"alone": combinations(every, 1), "pairs": combinations(every, 2), "all": [(*every,)]}
    together = list(
        dict.fromkeys(
            chain.from_iterable(
                groups[run] if isinstance(run, str) else [tuple(sorted(map(names.index, run)))]
                for run in description.runs
            )
        )
    )
    total = len(together) * description.repeats
    if total > MAX_LAUNCHES:
        raise description.at.key("repeats").error(
            f"the description asks for {total} runs of {len(together)} combinations",
            f"at most {MAX_LAUNCHES}",
        )
    launched = []
    for repeat in range(description.repeats):
        keys = index(description.seed, 2**32, _ORDER, repeat, list(range(len(together))))
        launched += [Launch(repeat, together[k]) for k in np.argsort(keys, kind="stable")]
    return tuple(launched)


MAX_ITERATIONS = 10_000_000

_DOUBLE = 8


def program(description: Description, ranks: int | None = None) -> Program:
    """Return what every rank does in each iteration, and which applications run when.

    Parameters
    ----------
    description
        Its expressions are worked out here.
    ranks
        Of the job. An application that does not say its ranks has all of them.

    Raises
    ------
    InputError
        With the path of what cannot be worked out; if more ranks are asked for than there are.
    """
    sizes = [_ranks(description, app, ranks) for app in description.apps]
    _check_ranks(description, sizes, ranks)
    value_lists = Values()
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects, all of which stay: looking through them doubles it
    try:
        applications = tuple(
            _application(description, k, p, value_lists) for k, p in enumerate(sizes)
        )
    finally:
        if collecting:
            gc.enable()
    _check_places(description, applications, ranks)
    return Program(
        seed=description.seed,
        values=tuple(value_lists.lists),
        applications=applications,
        launches=launches(description),
        placement=description.place,
    )


def _ranks(description: Description, app: App, ranks: int | None) -> int:
    """Return the number of ranks of an application, without a starter outside."""
    if app.ranks is not None:
        return number_of_ranks(description.parameters, app, app.ranks)
    at = app.at.key("ranks")
    if app.on is not None:
        total = len(app.on)
    elif len(description.apps) > 1:
        raise at.error("the number of ranks is missing", "only a single application uses all ranks")
    elif ranks is None:
        raise at.error("the number of ranks is missing")
    else:
        total = ranks
    if total - app.outside < 1:
        raise at.error("a flow with a starter needs two ranks or more")
    return total - app.outside


def _check_ranks(description: Description, sizes: Sequence[int], ranks: int | None) -> None:
    """Refuse more ranks than there are, and other ranks than a description is for."""
    needed = [p + app.outside for p, app in zip(sizes, description.apps, strict=True)]
    available = MAX_RANKS if ranks is None else ranks
    for app, p in zip(description.apps, needed, strict=True):
        if app.recorded is None:
            continue
        fixed = count(app.recorded, {}, 1, MAX_RANKS)
        requested = ranks if ranks and p == fixed and len(needed) == 1 and not app.place else p
        if requested != fixed:
            raise app.at.key("ranks").error(
                f"the description is for {fixed} ranks, not {requested}",
                f"isochrone scale; --set p={requested} if all is written as functions of p",
            )
    if sum(needed) > available:
        raise description.at.key("apps").error(
            f"the applications need {sum(needed)} ranks, but the job has {available}",
            "applications cannot share ranks",
        )


def _application(description: Description, index: int, p: int, value_lists: Values) -> Application:
    """Return one application as steps."""
    app = description.apps[index]
    names = parameters(description.parameters, app, p)
    worked = Resolved(index, p, names, value_lists, description.seed, description.folder)
    specs = list(leaves(app.phases))
    worked.check_steps(p * len(specs), app.at.key("phases"))
    numbering = {id(spec): k for k, spec in enumerate(specs)}
    iterations = count(app.iterations, names, 1, MAX_ITERATIONS)
    steps = _steps(app, app.phases, numbering, worked, iterations)
    return Application(
        name=app.name,
        phases=tuple(
            Phase(spec.name, spec.method.method, spec.method.path)
            if isinstance(spec, ExchangeSpec)
            else Phase(spec.name)
            for spec in specs
        ),
        steps=tuple(map(tuple, steps)),
        iterations=iterations,
        background=app.background,
        omitted=share(app.omitted, names),
        uncertainty=plain_number(app.uncertainty, names),
        bounded=tuple((op, seconds(bound, names)) for op, bound in app.bounded.items()),
        on=tuple(count(rank, names, 0, MAX_RANKS - 1) for rank in app.on or ()),
    )


def _steps(
    app: App,
    phases: Sequence[PhaseSpec],
    numbering: Mapping[int, int],
    worked: Resolved,
    turns: int,
) -> list[list[Step]]:
    """Return the steps of each rank in some phases, which are numbered by their identity.

    `turns` is how often they are done in all.
    """
    p = worked.p
    everyone = tuple(range(p))
    by_rank: list[list[Step]] = [[] for _ in range(p + app.outside)]
    for spec in phases:
        steps: list[list[Step]] = [[] for _ in by_rank]
        every = count(spec.every, worked.scope, 1, MAX_ITERATIONS)
        if isinstance(spec, RepeatSpec):
            steps = _repeated(app, spec, numbering, worked, turns, every)
        elif isinstance(spec, ComputeSpec):
            k = numbering[id(spec)]
            time, schedule = worked.times(spec), worked.schedule(spec)
            factors = worked.factors(spec, k)
            computations = {f: Compute(k, time, f, spec.mode, schedule) for f in set(factors)}
            for of_rank, factor in zip(steps, factors, strict=False):
                of_rank.append(computations[factor])
        elif isinstance(spec, CollectiveSpec):
            groups = _parts(spec, worked) or [everyone if app.outside else ()]
            for group in groups:
                step = _collective(spec, numbering[id(spec)], worked, group, alone=len(groups) == 1)
                for rank in group or everyone:
                    steps[rank].append(step)
        else:
            for rank, added in exchange(spec, numbering[id(spec)], worked).items():
                steps[rank] += added
        for all_steps, added in zip(by_rank, steps, strict=True):
            if added and every > 1 and not isinstance(spec, RepeatSpec):
                added = [Repeat(1, every, tuple(added), numbering[id(spec)], 0, 1)]
            all_steps += added
    return by_rank


def _repeated(
    app: App,
    spec: RepeatSpec,
    numbering: Mapping[int, int],
    worked: Resolved,
    turns: int,
    every: int,
) -> list[list[Step]]:
    """Return the steps of each rank in a loop: one repeat, or one for each turn if they differ."""
    times = count(spec.times, worked.scope, 0, MAX_ITERATIONS)
    if turns * times > MAX_ITERATIONS:
        raise spec.times.at.error(
            f"the phases are repeated {turns * times} times in all", f"at most {MAX_ITERATIONS}"
        )
    first = numbering[id(next(leaves(spec.phases)))]
    by_rank: list[list[Step]] = [[] for _ in range(worked.p + app.outside)]
    if spec.step in worked.scope:
        raise spec.at.key("step").error(f"'{spec.step}' is a number already", "choose another name")
    for turn in range(times if spec.step else 1):
        in_turn = worked
        if spec.step:
            worked.check_steps(worked.p * len(list(leaves(spec.phases))), spec.at)
            scope = {**worked.scope, spec.step: Quantity(float(turn))}
            in_turn = replace(worked, scope=scope)
        steps = _steps(app, spec.phases, numbering, in_turn, turns * times)
        repeats = 1 if spec.step else times
        for all_steps, added in zip(by_rank, steps, strict=True):
            if added and (times, every) != (1, 1):
                added = [Repeat(repeats, every, tuple(added), first, turn, times)]
            all_steps += added
    return by_rank


def _parts(spec: CollectiveSpec, app: Resolved) -> list[tuple[int, ...]]:
    """Return the ranks of each part that does a collective operation on its own."""
    if isinstance(spec.among, Among):  # ranks whose numbers differ by a stride
        size = count(spec.among.size, app.scope, 1, app.p)
        stride = count(spec.among.stride, app.scope, 1, app.p)
        if app.p % (size * stride):
            raise spec.among.at.error(
                f"groups of {size} ranks with stride {stride} do not divide {app.p} ranks"
            )
        groups = [
            tuple(range(first, first + size * stride, stride))
            for first in range(app.p)
            if first // stride % size == 0
        ]
    elif isinstance(spec.among, Coarser):
        groups = [app.coarser(spec.among)]
    else:
        groups = [tuple(app.rank(rank) for rank in group) for group in spec.among]
    ranks = [rank for group in groups for rank in group]
    if len(set(ranks)) < len(ranks):
        raise spec.at.key("among").error("the list has a rank twice")
    if spec.op in ROOTED and groups:
        root, at = app.rank(spec.root), spec.at.key("root")
        if len(groups) == 1 and root not in groups[0]:
            raise at.error(f"the root {root} is not one of the ranks of the operation")
        smallest = min(map(len, groups))
        if len(groups) > 1 and root >= smallest:
            raise at.error(f"there is no position {root} in a group of {smallest} ranks")
    return groups


def _collective(
    spec: CollectiveSpec, phase: int, app: Resolved, among: tuple[int, ...], *, alone: bool
) -> Collective:
    """Return a collective operation; what is reduced are whole doubles.

    Of one that several groups do, the root is a position in each.
    """
    blocks = [0.0] if spec.bytes is None else values(spec.bytes, size, app.scope)
    if spec.op in REDUCING:
        blocks = [-(-block // _DOUBLE) * _DOUBLE for block in blocks]
    if spec.grid:
        grid = Grid.parse(spec.grid)
        if grid.rows:
            try:
                grid.over(len(among) or app.p)
            except InputError as error:
                hint = f"rows-of-{grid.length} takes any number"
                raise spec.at.key("grid").error(error.what, hint) from None
    root = app.rank(spec.root)
    if not alone and spec.op in ROOTED:
        root = among[root]
    elif among and root not in among:  # of an operation without one
        root = among[0]
    return Collective(phase, spec.op, app.values(blocks), root, spec.grid, among)


def _check_places(
    description: Description, applications: Sequence[Application], ranks: int | None
) -> None:
    """Refuse ranks of the job that are not there, are too few, or are asked for twice."""
    owners: dict[int, str] = {}
    for app, application in zip(description.apps, applications, strict=True):
        at = app.at.key("place").key("ranks")
        if application.on and len(application.on) != application.ranks:
            raise at.error(
                f"the list has {len(application.on)} ranks, but the application {application.ranks}"
            )
        for k, rank in enumerate(application.on):
            if ranks is not None and rank >= ranks:
                raise at.item(k).error(f"there is no rank {rank} in a job of {ranks} ranks")
            if rank in owners:
                raise at.item(k).error(f"rank {rank} is taken by {owners[rank]}")
            owners[rank] = application.name
