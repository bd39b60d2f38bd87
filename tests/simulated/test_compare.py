"""Maps of simulated machines of which one thing became slow: that thing is named, by one part."""

from __future__ import annotations

import pytest

from beds.simulation import Simulation
from isochrone.changes.compare import compare
from isochrone.measure.platforms import parse
from isochrone.runfile.run import Run

MACHINE = "nodes:6 cores:2 switches:2"


@pytest.fixture(scope="module")
def before(simulation: Simulation) -> Run:
    return simulation.map(parse(MACHINE))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("slow", "kind", "who", "pairs"),
    [
        ("slow-node:3", "node", "node-3", 20),  # unlike factors near and far, the same added time
        ("slow-pair:1-4", "pair", "node-1 – node-4", 4),
        ("slow-switch:1*10", "switch", "switch of node-3 … node-5 (3 nodes)", 48),
        ("slow-link:trunk-1*10", "level", "level 2 (network)", 36),
    ],
)
def test_what_became_slow_is_one_part(
    simulation: Simulation, before: Run, slow: str, kind: str, who: str, pairs: int
) -> None:
    found = compare([before], [simulation.map(parse(f"{MACHINE} {slow}"))])
    (part,) = found.parts
    assert (part.kind, part.who, len(part.points), part.of) == (kind, who, pairs, pairs)
    assert part.difference.verdict == "slower"
    assert found.counts["slower"] == pairs


def test_the_same_machine_twice_is_the_same(simulation: Simulation, before: Run) -> None:
    found = compare([before], [simulation.map(parse(MACHINE))])
    assert {point.verdict for point in found.points} == {"same"}
