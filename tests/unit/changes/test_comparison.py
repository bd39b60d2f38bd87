"""What is said of two measurements compared."""

from __future__ import annotations

from math import nan
from typing import Any, NamedTuple

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.base.inference import Contrast
from isochrone.changes.compare import Changes, Comparison
from isochrone.changes.components import Difference, Differences, Part
from isochrone.changes.gate import Limit
from isochrone.changes.pages.comparison import blocks, complaint, name_of, passed
from isochrone.pages.page import Sentence, Table
from isochrone.runfile.environment import Differing


class Point(NamedTuple):
    """A point of so many bytes."""

    nbytes: int
    ratio: float
    width: float | None = 0.01
    sure: bool = False


def found(points: list[Point], parts: list[Part], **other: Any) -> Comparison:
    given: dict[str, Any] = {
        "kind": "point",
        "overall": None,
        "differences": [],
        "launches": (5, 4),
        "unit": "launch",
        "margin": 0.05,
        "visible": 1.12,
        "notes": [],
        **other,
    }
    logs = [
        [one.ratio, 1.0, one.ratio - (one.width or 0), one.ratio + (one.width or 0)]
        for one in points
    ]
    p = np.array([nan if one.width is None else 0.01 if one.sure else 0.9 for one in points])
    contrast = Contrast(*np.log(np.reshape(logs, (-1, 4))).T, p, *np.zeros((2, len(p))))
    changes = Changes(
        lambda k: {"op": "bcast", "p": 8, "bytes": points[k].nbytes, "pairs": None},
        np.full(len(p), 1e-6),
        1e-6 * np.exp(contrast.change),
        Differences(contrast, p, given["margin"]),
        np.zeros((9, len(p))),
    )
    return Comparison("collective", changes=changes, parts=parts, **given)


def part(kind: str, who: str, points: int, of: int, nbytes: int | None = None) -> Part:
    difference = Difference(3.0, 2.9, 3.1, 0.001, "slower")
    return Part(kind, who, nbytes, 8e-6, 24e-6, 16e-6, difference, tuple(range(points)), of)


def test_the_parts_that_changed_are_listed_and_what_did_not_is_counted(golden: Golden) -> None:
    points = [Point(64, 3.0, sure=True), Point(8, 1.0), Point(1024, 1.2)]
    head, basis, difference, table = blocks(
        found(
            points,
            [part("node", "n5", 2, 3, 64), part("point", "", 1, 1)],
            differences=[{"what": "mpi library", "before": "A 1", "after": "A 2"}],
            overall=Difference(1.1, 0.99, 1.22, 0.2, "not known"),
        )
    )
    golden([s.text for s in (head, basis, difference) if isinstance(s, Sentence)])
    assert isinstance(table, Table)
    assert [row.cells for row in table.rows] == [
        (
            "slower",
            "3.000 [2.900, 3.100]",
            "8.00 µs -> 24.0 µs",
            "node n5, 64 B: 2 of its 3 points, median +16.0 µs",
        ),
        ("slower", "3.000 [2.900, 3.100]", "8.00 µs -> 24.0 µs", "op bcast, p 8, 64 B, +16.0 µs"),
    ]


def test_where_nothing_changed_the_points_are_listed_up_to_a_limit(golden: Golden) -> None:
    points = [Point(size, 1.0 + size / 1000) for size in range(25)]
    *_, table = blocks(found(points, []))
    assert isinstance(table, Table)
    assert len(table.rows) == 20
    golden(table.more)
    assert table.rows[0].cells[3] == "op bcast, p 8, 24 B"


def test_one_launch_a_side_is_no_verdict_and_has_no_interval(golden: Golden) -> None:
    said = blocks(found([Point(64, 2.0, None)], [], launches=(1, 5)))
    assert isinstance(said[1], Sentence)
    golden(said[1].text)
    assert "isochrone measure … --launches 5" in said[1].text
    assert isinstance(said[2], Table)
    assert said[2].rows[0].cells[1] == "2.000 [not known]"


def test_simulated_times_that_are_all_the_same_need_no_table() -> None:
    equal = found([Point(64, 1.0, 0.0)], [], unit="exact", margin=0.0)
    assert not any(isinstance(block, Table) for block in blocks(equal))


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (part("node", "n5", 2, 2), "slower by 200.0 %: node n5: 2 points, median +16.0 µs"),
        (
            part("level", "level 1 (network)", 1, 2),
            "slower by 200.0 %: level 1 (network): 1 of its 2 points, median +16.0 µs",
        ),
        (part("point", "", 1, 1), "slower by 200.0 %: op bcast, p 8, 64 B, +16.0 µs"),
    ],
)
def test_what_is_not_allowed_is_one_line_a_part(one: Part, says: str) -> None:
    points = [Point(64, 3.0, sure=True), Point(8, 3.0, sure=True)]
    assert complaint(one, found(points, [one])) == says


def test_what_passes_says_what_would_have_been_seen(golden: Golden) -> None:
    golden(passed(found([], []), [Limit("slower", 0.05)]))


def test_a_pair_is_named_by_its_places() -> None:
    assert name_of({"i": 1, "j": 9, "bytes": 64}) == "ranks 1–9, 64 B"
    places = {"i": 1, "j": 9, "bytes": 64, "places": ["n0:1", "n2:1"]}
    assert name_of(places) == "n0:1–n2:1, 64 B"


def test_the_likely_explanation_comes_first_and_is_said_once(golden: Golden) -> None:
    one = Differing("setting", "UCX_TLS", "(not set)", "tcp,self")
    other = Differing("library", "mpi library", "A 1", "A 2")
    differences = [
        {"what": what, "before": "x", "after": "y"} for what in ("UCX_TLS", "mpi library", "hosts")
    ]

    def said(*explanations: Differing) -> list[str]:
        all_ = blocks(
            found(
                [],
                [part("all", "all 8 pairs", 8, 8)],
                differences=differences,
                explanations=list(explanations),
            )
        )
        return [block.text for block in all_[2:] if isinstance(block, Sentence)]

    assert said(one) == [
        "  likely explanation: UCX_TLS: (not set) → tcp,self",
        "  differs: mpi library: x | y",
        "  differs: hosts: x | y",
    ]
    golden(said(one, other))
    assert said()[0] == "  differs: UCX_TLS: x | y"
