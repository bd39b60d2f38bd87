"""Planned measurements of which not all are needed."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from isochrone.base.errors import MeasurementError
from isochrone.cli.launches import measure_in
from isochrone.latency_map import confirm
from isochrone.measure.estimate import Cost
from isochrone.measure.presets import Preset
from isochrone.measure.setup import Setup
from isochrone.measure.suites import Planned

NAMES = ("messages", "bcast", "bcast", "allreduce", "bcast", "allreduce")


def runs() -> list[Planned]:
    return [
        Planned(Preset(name, "collective", (), name), 2 + k, Path("runs"))
        for k, name in enumerate(NAMES)
    ]


def launched(
    monkeypatch: pytest.MonkeyPatch,
    *,
    fails: int = -1,
    seconds: float = 100.0,
    each: bool = False,
) -> tuple[list[str], list[str]]:
    """Return the files that were measured, and the lines that are said."""
    done: list[str] = []
    said: list[str] = []

    def measured(what: object, path: Path, **options: object) -> Any:
        if len(done) == fails:
            done.append("")
            raise MeasurementError("it took too long")
        done.append(path.stem)
        return SimpleNamespace(warnings=[])

    monkeypatch.setattr(confirm, "measured", measured)
    monkeypatch.setattr(Planned, "within", lambda *_: None)
    end = time.monotonic() + seconds
    costs = [Cost(0.1, 1.0, 0.1)] * len(NAMES)
    measure_in(cast(Setup, None), runs(), costs, end, said.append, quiet=False, all_needed=each)
    return [one for one in done if one], said


def test_after_one_that_fails_others_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A larger one of the same would fail, too."""
    done, said = launched(monkeypatch, fails=2)
    assert done == ["messages-2", "bcast-3", "allreduce-5", "allreduce-7"]
    assert len(said) == len(NAMES)


def test_without_time_only_the_first_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    done, said = launched(monkeypatch, seconds=-1.0)
    assert done == ["messages-2"]
    assert len(said) == len(NAMES)


@pytest.mark.parametrize(("fails", "each"), [(0, False), (2, True)])
def test_the_first_one_and_those_of_a_suite_have_to_work(
    monkeypatch: pytest.MonkeyPatch, fails: int, each: bool
) -> None:
    with pytest.raises(MeasurementError):
        launched(monkeypatch, fails=fails, each=each)
