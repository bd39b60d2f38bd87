"""How often the intervals of an emulation hold the truth."""

from __future__ import annotations

import pytest

from beds import rates
from isochrone.applications.emulation.summary import Emulation
from isochrone.applications.emulation.summary import emulation as summary
from isochrone.applications.emulation.timing import Slowdown
from made_up.emulations import Truth, emulation

PAIR = (
    Truth("victim", ranks=1, iterations=4, slowed={"bully": 1.5}, jitter=0.0),
    Truth("bully", ranks=1, iterations=4, background=True, jitter=0.0),
)


def of(found: Emulation, app: int, *beside: int) -> Slowdown:
    (one,) = [one for one in found.slowdowns if (one.number, one.others) == (app, beside)]
    return one


@pytest.mark.parametrize("repeats", [5, 8])
def test_intervals_of_walls_and_slowdowns_hold_the_truth_in_19_of_20_emulations(
    repeats: int, trials: int
) -> None:
    """Five repeats hold it with 93.75 %."""
    walls, ratios, ones = [], [], []
    for seed in range(3 * trials):
        found = summary(emulation(PAIR, repeats=repeats, seed=seed, drift=0.05, events=False))
        alone = found.alone(0)
        assert alone is not None
        walls.append(alone.seconds.low <= 4e-3 <= alone.seconds.high)
        slow = of(found, 0, 1)
        ratios.append(slow.wall.low <= 1.5 <= slow.wall.high)
        ones.append(not of(found, 1, 0).wall.differs)
    for held in (walls, ratios, ones):
        rates.near(held, 0.945)
