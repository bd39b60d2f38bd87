"""Programs of applications, made by hand: every step is known on paper."""

from __future__ import annotations

from collections.abc import Sequence

from isochrone.applications.description.program import (
    Application,
    Compute,
    Farm,
    Launch,
    Method,
    Mode,
    Phase,
    Program,
    Recv,
    Send,
    Serve,
    Step,
    Work,
)

TIME, SIZE, REPLY, DISPATCH = range(4)
"""Lists of values that `program` has: a computation, a message, its answer, and what the master of
a farm computes for each task."""


def program(
    *applications: Application,
    time: Sequence[float] = (100e-6,),
    size: Sequence[float] = (0,),
    reply: Sequence[float] = (0,),
    dispatch: Sequence[float] = (0,),
    launches: Sequence[Sequence[int]] = ((0,),),
    placement: str = "disjoint",
    seed: int = 7,
) -> Program:
    """Put applications into a program; `launches` say who runs together, in order."""
    return Program(
        seed=seed,
        values=(tuple(time), tuple(size), tuple(reply), tuple(dispatch)),
        applications=applications,
        launches=tuple(Launch(0, tuple(together)) for together in launches),
        placement=placement,  # type: ignore[arg-type]
    )


def application(
    steps: Sequence[Sequence[Step]],
    iterations: int,
    *,
    name: str = "one",
    method: Method = "message",
    path: str = "",
    background: bool = False,
    on: Sequence[int] = (),
    phases: int = 1,
) -> Application:
    """Return an application; `steps` are those of each rank."""
    return Application(
        name=name,
        phases=tuple(Phase(f"phase-{k}", method, path) for k in range(phases)),
        steps=tuple(map(tuple, steps)),
        iterations=iterations,
        background=background,
        on=tuple(on),
    )


def ring(ranks: int) -> list[list[Step]]:
    """Pass a token around: rank 0 sends first."""
    first: list[Step] = [Send(0, 1, SIZE), Recv(0, ranks - 1, SIZE)]
    rest: list[list[Step]] = [
        [Recv(0, r - 1, SIZE), Send(0, (r + 1) % ranks, SIZE)] for r in range(1, ranks)
    ]
    return [first, *rest]


def pipeline(ranks: int, mode: Mode = "cpu") -> list[list[Step]]:
    """Every stage receives, computes and sends on."""
    stages: list[list[Step]] = []
    for r in range(ranks):
        receive: list[Step] = [Recv(0, r - 1, SIZE)] if r > 0 else []
        send: list[Step] = [Send(0, r + 1, SIZE)] if r < ranks - 1 else []
        stages.append([*receive, Compute(0, TIME, mode=mode), *send])
    return stages


def clients(ranks: int, mode: Mode = "cpu") -> list[list[Step]]:
    """Rank 0 serves all others, each once."""
    serve = Serve(0, tuple(range(1, ranks)), SIZE, REPLY, TIME, mode)
    asks: list[list[Step]] = [[Send(0, 0, SIZE), Recv(0, 0, REPLY)] for _ in range(1, ranks)]
    return [[serve], *asks]


def farm(ranks: int, tasks: int, mode: Mode = "cpu") -> list[list[Step]]:
    """Rank 0 hands tasks out to all others."""
    lead = Farm(0, tuple(range(1, ranks)), tasks, SIZE, REPLY, DISPATCH, mode)
    work: list[list[Step]] = [[Work(0, 0, SIZE, REPLY, TIME, 1.0, mode)] for _ in range(1, ranks)]
    return [[lead], *work]
