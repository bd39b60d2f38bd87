"""What is said of two measurements compared."""

from __future__ import annotations

from typing import Any

from isochrone.pages.comparison import blocks
from isochrone.pages.page import Sentence, Table
from isochrone.results.comparison import Change, Comparison


def point(nbytes: int, ratio: float, p: float = 0.001, width: float = 0.01) -> Change:
    key: dict[str, Any] = {"op": "bcast", "p": 8, "bytes": nbytes, "pairs": None}
    return Change(key, 1e-6, ratio * 1e-6, ratio, ratio - width, ratio + width, p)


def test_what_changed_most_comes_first_and_what_did_not_is_counted() -> None:
    points = [point(64, 1.1), point(1024, 1.5), point(4096, 1.0, p=0.9), point(8, 0.8)]
    differs = [{"what": "mpi library", "before": "A 1", "after": "A 2"}]
    head, difference, table = blocks(Comparison("collective", points, differs))
    assert isinstance(head, Sentence)
    assert (
        head.text == "collective: 4 points, 2 slower, 1 faster, 1 without a significant difference"
    )
    assert isinstance(difference, Sentence)
    assert difference.text.strip() == "differs: mpi library: A 1 | A 2"
    assert isinstance(table, Table)
    assert [row.cells for row in table.rows] == [
        ("slower", "1.500 [1.490, 1.510]", "1.00 µs -> 1.50 µs", "op bcast, p 8, 1 KiB"),
        ("faster", "0.800 [0.790, 0.810]", "1.00 µs -> 800 ns", "op bcast, p 8, 8 B"),
        ("slower", "1.100 [1.090, 1.110]", "1.00 µs -> 1.10 µs", "op bcast, p 8, 64 B"),
    ]


def test_where_nothing_changed_all_points_are_listed_up_to_a_limit() -> None:
    points = [point(size, 1.0, p=0.9, width=0.0) for size in range(25)]
    _, table = blocks(Comparison("collective", points, []))
    assert isinstance(table, Table)
    assert len(table.rows) == 20
    assert table.more == "and 5 more (--json lists all)"
    assert table.rows[0].cells[1] == "1.000 [–]"
