"""Programs as the text that the probe reads; ``probe/experiments/app/program.h`` tells it."""

from __future__ import annotations

from collections.abc import Iterator

from isochrone.applications.description.program import (
    Application,
    Collective,
    Compute,
    Farm,
    Irecv,
    Isend,
    Program,
    Recv,
    Send,
    Serve,
    Step,
    Wait,
    Work,
)

__all__ = ["text"]


def text(program: Program) -> str:
    """Return a program as the probe reads it."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield "isochrone-program 1"
    yield f"seed {program.seed}"
    yield f"placement {program.placement}"
    for k, values in enumerate(program.values):
        yield f"values {k} {len(values)} {' '.join(map(_number, values))}"
    for k, app in enumerate(program.applications):
        yield from _application(k, app)
    for launch in program.launches:
        yield _words("run", launch.repeat, *launch.together)
    yield "end"


def _application(index: int, app: Application) -> Iterator[str]:
    background = int(app.background)
    yield (
        f"app {index} {app.name} ranks {app.ranks} iterations {app.iterations} "
        f"background {background}"
    )
    if app.on:
        yield _words("on", index, *app.on)
    for k, phase in enumerate(app.phases):
        yield " ".join(["phase", str(index), str(k), phase.name, phase.method, phase.path]).rstrip()
    for rank, steps in enumerate(app.steps):
        yield f"steps {index} {rank}"
        for step in steps:
            yield f"  {_step(step)}"


def _number(value: float) -> str:
    """Write a number so that it is read as the same one; bytes have no fraction."""
    return str(int(value)) if value == int(value) else repr(float(value))


def _words(*words: object) -> str:
    return " ".join(map(str, words))


def _step(step: Step) -> str:
    match step:
        case Compute(phase, time, factor, mode):
            return _words("compute", phase, time, _number(factor), mode)
        case Send(phase, to, size):
            return _words("send", phase, to, size)
        case Isend(phase, to, size):
            return _words("isend", phase, to, size)
        case Recv(phase, source, size):
            return _words("recv", phase, source, size)
        case Irecv(phase, source, size):
            return _words("irecv", phase, source, size)
        case Wait(phase):
            return _words("wait", phase)
        case Serve(phase, clients, request, reply, time, mode):
            return _words("serve", phase, request, reply, time, mode, *clients)
        case Farm(phase, workers, tasks, task, result):
            return _words("farm", phase, tasks, task, result, *workers)
        case Work(phase, master, task, result, time, factor, mode):
            return _words("work", phase, master, task, result, time, _number(factor), mode)
        case Collective(phase, op, size, root, grid, among):
            return _words("collective", phase, op, size, root, grid or "-", *among)
