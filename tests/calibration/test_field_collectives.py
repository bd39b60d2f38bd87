"""How well collectives of real machines are predicted; their times are not part of the checkout."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from beds.field_maps import field_folder
from beds.mpis import ROOT

sys.path.insert(0, str(ROOT / "bench"))

from field_models import Answer, judge

EVERY = 3
"""Tables that are tried, unless all are asked for."""

WORSE = 1.1
"""How much larger the error between measured ranks may be than that of a line, in any table."""

HELD = 0.85
"""Measured times that the intervals hold, in the mean of all tables."""


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> list[Answer]:
    """Fit parts of each table, and ask for the rest."""
    every = 1 if request.config.getoption("--full") else EVERY
    tables = sorted(field_folder("collectives").glob("*.csv"))
    return [answer for path in tables[::every] for answer in judge(path)]


def test_no_question_with_measured_neighbours_is_refused(answers: list[Answer]) -> None:
    assert [name for name, figures, _ in answers if figures is None] == []


def test_between_measured_ranks_no_table_is_worse_than_a_line(answers: list[Answer]) -> None:
    """Protects real data from formulas that a spreadsheet's interpolation beats."""
    errors = list(of("inside", answers))
    assert errors
    for error, line in errors:
        assert error <= WORSE * line


@pytest.mark.parametrize("question", ["inside", "2x", "4x"])
def test_intervals_hold_what_was_measured(question: str, answers: list[Answer]) -> None:
    held = [figures["hold"] for name, figures, _ in answers if figures and name == question]
    assert np.mean(held) >= HELD


def of(question: str, answers: list[Answer]) -> Iterator[tuple[float, float]]:
    """Yield our error and that of the spreadsheet's rule."""
    for name, figures, rival in answers:
        if figures and name == question:
            yield figures["error"], rival
