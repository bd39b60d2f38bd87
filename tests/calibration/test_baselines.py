"""Runs compared with earlier ones: false alarms are rare, and one bad night hides nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from beds import rates
from isochrone.changes import effects
from isochrone.changes.baseline import Reference
from isochrone.latency_map.topology import Topology, analyse
from isochrone.runfile.run import Run
from made_up import nights
from made_up.latency_maps import flat, tree
from made_up.nights import Machine, Truth, launch

Dice = np.random.Generator

MACHINES = [
    Machine("two ranks a node", flat(6), 1.0, np.arange(6).repeat(2)),
    Machine("switches", tree([4, 2], [3, 5]), 1.0, np.arange(8)),
    Machine("one rank a node", flat(7), 1.0, np.arange(7)),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing again, and find the levels of each machine once; others test both."""
    found: dict[int, Topology] = {}

    def known(run: Run, **_: object) -> Topology:
        if run.size not in found:
            found[run.size] = analyse(run)
        return found[run.size]

    monkeypatch.setattr(nights, "confirmed", lambda run, again: run)
    monkeypatch.setattr(effects, "analyse", known)


def node(machine: Machine, which: int, by: float) -> Truth:
    factor = np.ones((machine.nodes,) * 2)
    factor[which, :] = factor[:, which] = by
    return Truth("node", factor)


def everything(machine: Machine, which: int, by: float) -> Truth:
    return Truth("everything", np.full((machine.nodes,) * 2, by))


Kind = Callable[[Machine, int, float], Truth]


def seen(
    trial: int, earlier: int, kind: Kind, by: float, bad_night: float
) -> tuple[bool, bool, float]:
    """Judge one more night: is what is slow seen, is anything in a healthy one, with what limit."""
    dice = np.random.default_rng([99_000, earlier, trial])
    machine = MACHINES[trial % len(MACHINES)]
    which = int(dice.integers(machine.nodes))
    bad = launch(machine, dice, kind(machine, which, bad_night))
    before = [*(launch(machine, dice) for _ in range(earlier - 1)), bad]
    changes = Reference(before).judge(launch(machine, dice, kind(machine, which, by))).worse
    healthy = Reference(before).judge(launch(machine, dice))
    kinds = ("level",) if kind is everything else ("node", "rank")
    hosts = () if kind is everything else (f"n{which:02d}",)
    found = any(one.what.kind in kinds and one.what.hosts == hosts for one in changes)
    return found, bool(healthy.worse), healthy.visible[kinds[0]]


@pytest.mark.few(2)
@pytest.mark.parametrize("earlier", [5, 10, 20, 3])
def test_healthy_nights_hardly_ever_alarm(earlier: int, trials: int) -> None:
    alarms = [seen(trial, earlier, node, 1.0, 1.0)[1] for trial in range(trials)]
    print(f"{earlier} nights: {sum(alarms)} of {trials} healthy nights are worse")
    rates.at_most(sum(alarms), trials, 0.03)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "earlier", "by", "rate"),
    [
        (node, 5, 1.25, 0.95),
        (node, 5, 1.5, 0.97),
        (node, 5, 2.0, 0.97),
        (node, 10, 1.25, 0.97),
        (node, 20, 1.25, 0.97),
        (everything, 5, 1.5, 0.4),
        (everything, 10, 1.5, 0.95),
    ],
)
def test_one_bad_night_hides_nothing(
    kind: Kind, earlier: int, by: float, rate: float, trials: int
) -> None:
    """A node, or everything, takes longer tonight, and took twice as long in one night before."""
    clean = [seen(trial, earlier, kind, by, 1.0) for trial in range(trials)]
    found = [seen(trial, earlier, kind, by, 2.0) for trial in range(trials)]
    hits = [sum(one[0] for one in some) for some in (clean, found)]
    limits = [np.median([one[2] for one in some]) for some in (clean, found)]
    alarms = sum(one[1] for one in found)
    print(f"x{by}: seen in {hits} of {trials}, beyond {limits}; {alarms} false alarms")
    rates.at_least(hits[1], trials, rate)
    rates.at_most(alarms, trials, 0.03)
    assert limits[1] - 1 < 2 * (limits[0] - 1) or kind is everything
