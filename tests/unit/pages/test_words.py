"""Words that several kinds of results share."""

from __future__ import annotations

import pytest

from beds.golden import Golden
from isochrone.pages.words import ranges, warnings_of


@pytest.mark.parametrize(
    ("ranks", "text"), [([0, 1, 2, 3, 8], "0-3,8"), ([5], "5"), ([], ""), ([2, 1, 4], "1-2,4")]
)
def test_ranks_are_written_briefly(ranks: list[int], text: str) -> None:
    assert ranges(ranks) == text


def test_warnings_are_said_once_and_of_very_many_the_first(golden: Golden) -> None:
    one = {"code": "noisy", "text": "the machine was busy"}
    golden(warnings_of([one, one]).items)
    many = warnings_of([{"text": str(k)} for k in range(30)]).items
    assert len(many) == 21
    assert many[-1] == "and 10 more"


def test_warnings_without_a_text_are_named_by_their_code(golden: Golden) -> None:
    found = warnings_of([{}, {"text": None}, {"code": 3}]).items
    golden(found)
