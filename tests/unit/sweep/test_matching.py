"""Matching: what an entry of a queue costs, in tables and in formulas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beds.command_line import Command
from isochrone import models
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from made_up.sweeps import matching

EACH = 6e-9


def shown(isochrone: Command, run: Run, tmp_path: Path) -> list[dict[str, Any]]:
    runs.write(run, tmp_path / "run.jsonl")
    answer = isochrone("show", tmp_path / "run.jsonl", "--json")
    queues: list[dict[str, Any]] = json.loads(answer.stdout)["matching"]["queues"]
    return queues


def test_each_entry_adds_its_cost_where_intervals_are_apart(
    isochrone: Command, tmp_path: Path
) -> None:
    """One more or less is lost in the noise of 2 %; a thousand are not."""
    queues = shown(isochrone, matching(EACH), tmp_path)
    assert [row["entries"] for row in queues] == [0, 1, 64, 1024] * 2
    assert [row["queue"] for row in queues] == ["posted"] * 4 + ["unexpected"] * 4
    for row in queues:
        if row["entries"] < 64:
            assert row["each"] is None
        if row["entries"] == 1024:
            assert row["each"] == pytest.approx(EACH, rel=0.05)
            assert row["low"] <= row["median"] <= row["high"]


def test_no_cost_is_seen_where_there_is_none(isochrone: Command, tmp_path: Path) -> None:
    """A library that finds messages by a hash."""
    assert [row["each"] for row in shown(isochrone, matching(0.0), tmp_path)] == [None] * 8


def test_fit_gives_the_cost_of_an_entry() -> None:
    """Formulas are kept apart by the queue; their variable is the number of entries."""
    model = models.fit([matching(EACH)])
    assert model.family == "queue"
    assert [segment.where for segment in model.segments] == [{"op": "posted"}, {"op": "unexpected"}]
    for segment in model.segments:
        assert list(segment.terms) == ["1", "entries"]
        np.testing.assert_allclose(segment.coefficients, [1e-6, EACH], rtol=0.05)
