"""The nightly verdict on simulated machines: the probe's own maps, whose truth is on paper."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from beds.simulation import Simulation
from isochrone.changes.check import Earlier, check
from isochrone.measure.platforms import parse
from isochrone.runfile.run import Run

FLAT = "nodes:16 cores:2"


@pytest.fixture(scope="module")
def measured(simulation: Simulation) -> Callable[[str], Run]:
    """Each machine is measured once for this file."""
    return functools.cache(lambda line: simulation.map(parse(line)))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("line", "verdict", "bad", "suspects"),
    [
        (FLAT, "good", [], []),
        ("torus:4x4x2", "good", [], []),
        ("dragonfly:4x3x2", "good", [], []),
        ("nodes:16 cores:2 slow-node:5*10", "slow", ["node-5"], []),
        ("dragonfly:4x3x2 slow-node:7*10", "slow", ["node-7"], []),
        ("nodes:16 slow-pair:2-11*5", "slow", [], ["node-2", "node-11"]),
        (
            "nodes:32 switches:8 slow-switch:6*10",
            "slow",
            [],
            ["node-24", "node-25", "node-26", "node-27"],
        ),
    ],
)
def test_the_verdict_is_that_on_paper(
    measured: Callable[[str], Run], line: str, verdict: str, bad: list[str], suspects: list[str]
) -> None:
    found = check(measured(line))
    assert found.verdict == verdict
    assert found.bad_hosts == bad
    assert found.suspects == suspects


@pytest.mark.few(1)
@pytest.mark.parametrize(("torus", "link"), [("4x4", 0), ("4x4", 9), ("8x4", 5), ("3x3x3", 20)])
def test_a_torus_with_one_slow_link_is_never_good(
    simulation: Simulation, torus: str, link: int
) -> None:
    """Its ends are not bad either: it is between them, and on the way of others."""
    names = sorted(name for name in parse(f"torus:{torus}").links if name != "loopback")
    found = check(simulation.map(parse(f"torus:{torus} slow-link:{names[link]}*10")))
    assert found.verdict in ("slow", "not known")
    assert found.bad_hosts == []


def test_times_without_chance_are_worse_from_the_margin_on(measured: Callable[[str], Run]) -> None:
    earlier = Earlier("nights", [measured(FLAT)] * 3)
    assert check(measured(FLAT), earlier).verdict == "good"
    found = check(measured(f"{FLAT} slow-node:5*1.2"), earlier)
    assert found.verdict in ("slower", "slow")
    assert found.bad_hosts == ["node-5"]
    lenient = check(measured(f"{FLAT} slow-node:5*1.2"), earlier, margin=0.5)
    assert not any(one.verdict == "slower" for one in lenient.findings)
