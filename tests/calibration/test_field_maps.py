"""How often maps of real processors are read right; they are not part of the checkout."""

from __future__ import annotations

import pytest

from beds.field_maps import field_cases, field_folder
from beds.map_readings import Case, Outcome, read
from made_up.processors import DEFECTS

LEVELS, RIGHT = 0.92, 0.88
"""Healthy maps with right levels; and with nothing called slow, too."""

FALSE = 0.04
"""Healthy maps in which something is called slow, at most."""

NAMED = 0.85
"""Defects that are named: a rank at 1.5 times, a pair at 2 times."""

SECONDS = 5.0
"""Processor time of a map, at most."""

Readings = list[tuple[Case, Outcome]]


@pytest.fixture(scope="module")
def readings() -> Readings:
    """Read all maps: as they are, and with each defect."""
    return [(case, read(case)) for case in field_cases(field_folder("maps"))]


def test_real_processors_have_their_levels_and_nothing_slow(readings: Readings) -> None:
    """Protects healthy processors, as people own them, from accusations and invented groups."""
    healthy = [found for case, found in readings if not case.slow]
    levels, right, false = (
        sum(getattr(found, what) for found in healthy) for what in ("levels", "exact", "false")
    )
    print(f"levels {levels}, right {right}, false {false} of {len(healthy)}")
    assert levels >= LEVELS * len(healthy)
    assert right >= RIGHT * len(healthy)
    assert false <= FALSE * len(healthy)


def test_defects_of_real_processors_are_named(readings: Readings) -> None:
    """Protects a slow rank, and a slow pair, from drowning in what is usual on real processors."""
    defects = [found for case, found in readings if case.slow]
    assert len(defects) == (len(DEFECTS) - 1) * (len(readings) - len(defects))
    named = sum(found.named for found in defects)
    print(f"named {named} of {len(defects)}")
    assert named >= NAMED * len(defects)


def test_no_real_map_takes_long(readings: Readings) -> None:
    """Protects maps of hundreds of ranks from searches that do not end."""
    slowest = max(readings, key=lambda one: one[1].seconds)
    assert slowest[1].seconds <= SECONDS, slowest[0].name
