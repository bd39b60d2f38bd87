"""How often maps of made-up processors are read right: as they are, and with defects."""

from __future__ import annotations

import pytest

from beds import rates
from beds.map_readings import processor_of, read
from made_up.processors import DEFECTS, FAMILIES, Defect

LEVELS = {"nested": 0.93, "hybrid": 0.66, "mesh": 0.96, "ring": 0.98}
"""Healthy processors whose levels are right, at least."""

NAMED = {
    "rank": {"nested": 0.95, "hybrid": 0.75, "mesh": 0.95, "ring": 0.97},
    "pair": {"nested": 0.85, "hybrid": 0.75, "mesh": 0.86, "ring": 0.95},
}
"""Defects beyond three deviations of their peers that are named, at least."""

FALSE = {"hybrid": 0.08, "nested": 0.01, "mesh": 0.01, "ring": 0.01}
"""Maps in which something else is called slow, at most."""


@pytest.mark.parametrize("family", FAMILIES)
def test_healthy_processors_have_their_levels_and_nothing_slow(family: str, trials: int) -> None:
    """Protects healthy machines from accusations, and their groups from being invented or lost."""
    found = [read(processor_of(family, "nothing", seed)) for seed in range(trials)]
    levels, false = (sum(getattr(one, what) for one in found) for what in ("levels", "false"))
    print(f"{family}: levels {levels}, false {false} of {trials}")
    rates.at_least(levels, trials, LEVELS[family])
    rates.at_most(false, trials, FALSE[family])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("defect", DEFECTS[1:])
def test_what_exceeds_its_peers_clearly_is_named(family: str, defect: Defect, trials: int) -> None:
    """Protects a rank at 1.5 times, and a pair at 2 times, from being taken for structure."""
    cases = [processor_of(family, defect, seed) for seed in range(trials)]
    found = [(case, read(case)) for case in cases]
    clear = [one.named for case, one in found if case.clear]
    false = sum(one.false for _, one in found)
    print(f"{family}, {defect}: named {sum(clear)} of {len(clear)}, false {false} of {trials}")
    rates.at_least(sum(clear), len(clear), NAMED[defect][family])
    rates.at_most(false, trials, FALSE[family])
