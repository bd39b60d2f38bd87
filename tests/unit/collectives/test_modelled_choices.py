"""Choices by a model: only where its intervals leave no doubt."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import pytest

from isochrone.collectives.grid_collectives import LIBRARY, Grid, Phase
from isochrone.collectives.predicted_grids import GridTime, Machine, PhaseTime
from isochrone.collectives.tune import tuning
from isochrone.collectives.tune.tuning import modelled_savings
from isochrone.models import Model

MACHINE = Machine(4, 2)


def predicted(
    monkeypatch: pytest.MonkeyPatch, **times: tuple[float, float, float]
) -> list[tuple[str, float]]:
    """Return what is chosen if each realisation has this time and interval."""

    def predict(
        model: Model,
        op: str,
        ranks: int,
        grids: Sequence[Grid | None],
        sizes: Sequence[int],
        machine: Machine,
    ) -> list[GridTime]:
        assert [grid.word if grid else LIBRARY for grid in grids] == [
            LIBRARY,
            "4x2",
            "2x4",
            "nodes",
        ]
        phase = Phase("CG", op, 2, 64, 4)
        return [
            GridTime(
                op,
                ranks,
                size,
                name.replace("by", "").replace("_", "x"),
                (PhaseTime(phase, *ends, 1.0),),
                [],
            )
            for size in sizes
            for name, ends in times.items()
        ]

    monkeypatch.setattr(tuning, "predict", predict)
    model: Any = object()
    found = modelled_savings(model, "allgather", 8, [64], MACHINE, 0.05)
    assert all(one.place == ("allgather", 8, 4) for one in found)
    return [(one.choice.name, one.gain.low) for one in found]


def test_a_grid_whose_upper_end_saves_enough_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"library": (10.0, 9.0, 11.0), "by4_2": (5.0, 4.0, 6.0), "by2_4": (6.0, 5.5, 6.5)}
    assert predicted(monkeypatch, **times) == [("4x2", pytest.approx(1 - 6 / 9))]


@pytest.mark.parametrize(
    "grid", [(8.0, 7.0, 8.6), (5.0, nan, nan), (9.5, 9.0, 10.0)], ids=["overlap", "unknown", "slow"]
)
def test_what_is_not_certain_is_left_to_the_library(
    grid: tuple[float, float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """8.6 of at least 9.0 saves 4 %, less than the 5 % that are wanted."""
    assert predicted(monkeypatch, library=(10.0, 9.0, 11.0), by4_2=grid) == []


def test_a_library_without_interval_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert predicted(monkeypatch, library=(10.0, nan, nan), by4_2=(1.0, 0.9, 1.1)) == []
