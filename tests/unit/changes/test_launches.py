"""What is said of several launches together."""

from __future__ import annotations

import numpy as np

from beds.golden import Golden
from isochrone.changes.launches import Launches, over_launches, pool
from isochrone.changes.pages.launches import MAX_PAIRS, blocks
from isochrone.pages.page import Sentence, Table
from made_up.latency_maps import block, map_of, noisy, tree
from made_up.launches import launches

NOTHING = over_launches([], np.empty((3, 0)))


def table_of(found: Launches) -> Table:
    (table,) = (one for one in blocks(found) if isinstance(one, Table))
    return table


def test_a_sweep_shows_each_point_with_both_intervals() -> None:
    logs = np.log(np.array([[1e-6], [1.1e-6], [1.21e-6]]))
    times = over_launches([{"op": "bcast", "p": 4, "bytes": 1024}], logs)
    found = Launches("collective", "sweep", 3, times, NOTHING, [], [])
    (row,) = table_of(found).rows
    assert row.cells == (
        "op bcast, p 4, 1 KiB",
        "1.10 µs",
        "868 ns … 1.39 µs",
        "685 ns … 1.77 µs",
        "9.5 %",
        "3",
    )


def test_what_one_launch_measured_has_no_interval() -> None:
    times = over_launches([{"bytes": 8}], np.array([[np.log(1e-6)], [np.nan], [np.nan]]))
    (row,) = table_of(Launches("x", "sweep", 3, times, NOTHING, [], [])).rows
    assert row.cells == ("8 B", "1.00 µs", "–", "–", "–", "1")


def test_a_map_shows_its_levels_and_says_where_its_pairs_are(golden: Golden) -> None:
    times = tree([4, 2], [1, 4])
    maps = [map_of(noisy(times, 0.02, k), block(2, 4)) for k in range(3)]
    table = table_of(pool(maps))
    assert len(table.rows) == 2
    golden(table.more)


def test_pairs_without_levels_are_listed_up_to_a_limit(golden: Golden) -> None:
    keys = [{"i": 0, "j": k, "bytes": 8} for k in range(1, 26)]
    times = over_launches(keys, np.zeros((3, 25)))
    table = table_of(Launches("latency-map", "latency-map", 3, times, NOTHING, [], []))
    assert len(table.rows) == MAX_PAIRS
    golden(table.more)


def test_what_differs_around_the_launches_is_said() -> None:
    dice = np.random.default_rng(1)
    one = launches(2, dice, notes={"launcher": "a"})
    other = launches(1, dice, notes={"launcher": "b"})
    said = [b.text for b in blocks(pool([*one, *other])) if isinstance(b, Sentence)]
    assert any("differs: launcher: a | a and b" in text for text in said), said
