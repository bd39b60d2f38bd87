"""How often a description is derived from the trace of a random program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from beds import rates
from isochrone.applications.description.lowering import program
from isochrone.applications.description.program import (
    Collective,
    Compute,
    Program,
    Repeat,
    Serve,
    Single,
    Step,
)
from isochrone.applications.description.reading import parse
from isochrone.applications.traces.deriving import describe
from isochrone.base.errors import InputError
from made_up import described
from made_up.programs_run import Seen

Phases = list[dict[str, Any]]
ITERATIONS = 60


def document(phases: Phases, ranks: int = 8, iterations: int = ITERATIONS) -> dict[str, Any]:
    app = {"name": "x", "ranks": ranks, "iterations": iterations, "phases": phases}
    return {"isochrone": "app/1", "apps": [app]}


def worked_out(written: dict[str, Any]) -> Program:
    return program(parse(written, "test"))


def repeated(steps: Sequence[Step], times: int = 1) -> Iterator[tuple[Single, int]]:
    """Yield steps, and how often each is done in an iteration."""
    for step in steps:
        if isinstance(step, Repeat):
            yield from repeated(step.steps, times * step.times // step.every)
        else:
            yield step, times


def messages(made: Program, iterations: int) -> Counter[tuple[object, ...]]:
    """Count what each rank does with whom, and how many bytes."""
    found: Counter[tuple[object, ...]] = Counter()
    (app,) = made.applications
    for rank, steps in enumerate(app.steps):
        for step, times in repeated(steps):
            kind = type(step).__name__
            if isinstance(step, Collective):
                members = step.among or tuple(range(app.ranks))
                rooted = step.op in ("bcast", "reduce", "gather", "scatter")
                key = (step.op, members, step.root if rooted else -1, made.values[step.size])
            elif isinstance(step, Serve):
                key = (kind, step.clients, made.values[step.request], made.values[step.reply])
            elif kind in ("Send", "Isend", "Recv", "Irecv"):
                peer = getattr(step, "to", getattr(step, "source", None))
                key = (kind[-4:].lower(), peer, made.values[step.size])  # type: ignore[union-attr]
            else:
                continue
            found[(rank, *key)] += iterations * times
    return found


def computation(made: Program) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of each rank's computation in an iteration."""
    (app,) = made.applications
    mean, variance = np.zeros(app.ranks), np.zeros(app.ranks)
    for rank, steps in enumerate(app.steps):
        for step, turns in repeated(steps):
            if isinstance(step, Compute | Serve):
                times = turns * (1 if isinstance(step, Compute) else len(step.clients))
                factor = step.factor if isinstance(step, Compute) else 1.0
                mean[rank] += times * factor * np.mean(made.values[step.time])
                variance[rank] += times * factor**2 * np.var(made.values[step.time])
    return mean, variance


def test_random_programs_come_back(trials: int) -> None:
    """Of random phases on 4 to 16 ranks: iterations, messages, operations and computation.

    Right means: the same messages of the same sizes between the same ranks as often, the same
    operations, and the computation of each rank within 5 % or four standard errors of what was
    drawn. "Not known" counts as not right.
    """
    right, wrong, unknown = [], [], []
    for seed in range(trials):
        written = described.random_description(seed, ITERATIONS)
        made = worked_out(written)
        try:
            found, _ = describe(Seen(made, noise=0.01, seed=seed).trace())
        except InputError:
            unknown.append(seed)
            continue
        back = worked_out(found)
        count = found["apps"][0]["iterations"]
        same = messages(made, ITERATIONS) == messages(back, count)
        mean, variance = computation(made)
        allowed = 0.05 * mean + 4 * np.sqrt(variance / ITERATIONS) + 2e-5
        off = np.abs(computation(back)[0] * count / ITERATIONS - mean)
        calls = [
            any(not isinstance(s, Compute) for s in steps) for steps in made.applications[0].steps
        ]
        (right if same and (off <= allowed)[calls].all() else wrong).append(seed)
    print(f"wrong: {wrong}, not known: {unknown}")
    rates.at_least(len(right), trials, 0.97)
