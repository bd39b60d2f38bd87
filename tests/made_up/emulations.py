"""Emulations made up from a truth: how long applications take, alone and beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from isochrone.runfile.run import Run
from made_up.sweeps import run_of

Dice = np.random.Generator
Row = dict[str, Any]


@dataclass(frozen=True)
class Truth:
    """One application: what is true of it alone.

    Attributes
    ----------
    name, ranks, iterations, background
        As described.
    seconds
        Of an iteration, on average.
    computing
        Part of it in computation, the same at all ranks but the last, which has half of it.
    slowed
        How many times as long it takes beside another one, by its name; what is beside several
        multiplies.
    jitter
        Standard deviation of the logarithm of an iteration.
    phases
        Names, the first computation; the others share the rest of the time.
    delivered
        Computation delivered by that asked for.
    switches
        Involuntary context switches of a rank in a second.
    """

    name: str
    ranks: int = 4
    iterations: int = 200
    background: bool = False
    seconds: float = 1e-3
    computing: float = 0.6
    slowed: Mapping[str, float] = field(default_factory=dict)
    jitter: float = 0.1
    phases: Sequence[str] = ("compute", "exchange")
    delivered: float = 1.002
    switches: float = 1.0


VICTIM = Truth("victim", slowed={"bully": 1.5}, jitter=0.2)
BULLY = Truth("bully", background=True, seconds=2e-3, computing=0.1)
QUIET = Truth("quiet", ranks=2, seconds=4e-4, computing=0.9)


def together(count: int, runs: Sequence[str] = ("alone", "pairs", "all")) -> list[tuple[int, ...]]:
    """Return which applications run together, each set once."""
    sizes = {"alone": 1, "pairs": 2, "all": count}
    sets = [one for run in runs for one in combinations(range(count), sizes[run])]
    return list(dict.fromkeys(sets))


def emulation(
    truths: Sequence[Truth] = (VICTIM, BULLY, QUIET),
    *,
    repeats: int = 5,
    noise: float = 0.05,
    drift: float = 0.1,
    seed: int = 7,
    runs: Sequence[str] = ("alone", "pairs", "all"),
    overlap: float = 1.0,
    complete: bool = True,
    events: bool = True,
) -> Run:
    """Make a run: ``noise`` is that of a launch, ``drift`` what all launches of a repeat share.

    Both are standard deviations of logarithms; the factors have the median 1.
    """
    dice = np.random.default_rng(seed)
    sets = together(len(truths), runs)
    records: dict[str, list[Row]] = {
        name: []
        for name in (
            "app",
            "phase",
            "launch",
            "wall",
            "iterations",
            "rank_time",
            "phase_time",
            "edge",
            "event",
        )
    }
    _describe(records, truths)
    launch = 0
    for repeat in range(repeats):
        common = dice.lognormal(0, drift)
        for k in dice.permutation(len(sets)):
            names = " ".join(map(str, sets[k]))
            records["launch"].append({"launch": launch, "repeat": repeat, "together": names})
            for app in sets[k]:
                others = [truths[other] for other in sets[k] if other != app]
                factor = common * dice.lognormal(0, noise)
                _launch(records, truths[app], launch, app, others, factor, overlap, dice)
            launch += 1
    if events:
        _events(records, truths)
    ranks = sum(truth.ranks for truth in truths)
    run = run_of("app", ranks, 8, records, {"program": "a.program"}, "", complete=complete)
    run.header["kind"] = "emulation"
    return run


def _describe(records: dict[str, list[Row]], truths: Sequence[Truth]) -> None:
    first = 0
    for number, truth in enumerate(truths):
        own = " ".join(str(first + k) for k in range(truth.ranks))
        records["app"].append(
            {
                "app": number,
                "name": truth.name,
                "ranks": own,
                "iterations": truth.iterations,
                "background": truth.background,
            }
        )
        for phase, name in enumerate(truth.phases):
            records["phase"].append(
                {"app": number, "phase": phase, "name": name, "method": "message"}
            )
        for rank in range(truth.ranks):
            records["edge"].append(
                {
                    "app": number,
                    "from": rank,
                    "to": (rank + 1) % truth.ranks,
                    "messages": truth.iterations,
                    "bytes": truth.iterations * 1024 * (rank + 1),
                }
            )
        first += truth.ranks


def _launch(
    records: dict[str, list[Row]],
    truth: Truth,
    launch: int,
    app: int,
    others: Sequence[Truth],
    factor: float,
    overlap: float,
    dice: Dice,
) -> None:
    """Write down what one application did in one launch."""
    factor *= float(np.prod([truth.slowed.get(other.name, 1.0) for other in others]))
    count = truth.iterations * (1 + (truth.background and bool(others)))
    middle = truth.seconds * factor * np.exp(-(truth.jitter**2) / 2)
    times = middle * dice.lognormal(0, truth.jitter, count)
    wall = float(times.sum())
    common = {"launch": launch, "app": app}
    records["wall"].append(
        {
            **common,
            "seconds": wall,
            "iterations": count,
            "overlap": overlap if others else 1.0,
        }
    )
    records["iterations"].append({**common, "seconds": times.tolist()})
    asked = truth.seconds * truth.computing * count
    for rank in range(truth.ranks):
        own = asked * (0.5 if rank == truth.ranks - 1 else 1.0)
        records["rank_time"].append(
            {
                **common,
                "rank": rank,
                "seconds": wall,
                "communication": max(0.0, wall - own * truth.delivered),
                "asked": own,
                "delivered": own * truth.delivered,
                "switches": int(truth.switches * wall),
            }
        )
    rest = max(0.0, truth.seconds * factor - truth.seconds * truth.computing)
    for phase in range(len(truth.phases)):
        mean = truth.seconds * truth.computing if phase == 0 else rest / (len(truth.phases) - 1)
        records["phase_time"].append({**common, "phase": phase, "mean": mean, "max": 1.2 * mean})


def _events(records: dict[str, list[Row]], truths: Sequence[Truth]) -> None:
    """Write down one iteration of each application, alone and of the first launch of all."""
    first: dict[tuple[int, ...], int] = {}
    for row in records["launch"]:
        first.setdefault(tuple(map(int, row["together"].split())), row["launch"])
    whole = tuple(range(len(truths)))
    for apps, launch in first.items():
        if len(apps) == 1 or apps == whole:
            for app in apps:
                for event in _iteration(truths[app], len(apps) > 1):
                    records["event"].append({"launch": launch, "app": app, **event})


def _iteration(truth: Truth, slow: bool) -> Iterator[Row]:
    """Yield the events of one iteration: compute, then one step of each other phase."""
    for rank in range(truth.ranks):
        begin = 0.5 + 0.02 * truth.seconds * rank
        own = truth.seconds * truth.computing * (0.5 if rank == truth.ranks - 1 else 1.0)
        yield {"rank": rank, "phase": 0, "what": "compute", "begin": begin, "end": begin + own}
        now = begin + own
        rest = (truth.seconds - own) * (1.5 if slow else 1.0) / (len(truth.phases) - 1)
        for phase in range(1, len(truth.phases)):
            for what, part in (("send", 0.3), ("recv", 0.7)):
                yield {
                    "rank": rank,
                    "phase": phase,
                    "what": what,
                    "begin": now,
                    "end": now + part * rest,
                }
                now += part * rest
