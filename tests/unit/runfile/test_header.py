"""Headers of files of every age: one name for one thing, whatever the file calls it."""

from __future__ import annotations

import pytest

from isochrone.changes.comparability import groups_of
from isochrone.runfile.header import header_of
from made_up import hotspots, sweeps


def test_an_early_synthetic_map_is_one() -> None:
    found = header_of({"ranks": 4, "experiment": "null"})
    assert (found.experiment, found.kind, found.origin) == ("synthetic", "latency-map", "synthetic")


@pytest.mark.parametrize(("early", "now"), [("quiet", "isolated"), ("serial", "serial")])
def test_an_early_order_of_pairs_is_a_schedule(early: str, now: str) -> None:
    options = {"bytes": [64], "order": early}
    found = header_of({"ranks": 4, "experiment": "latency-map", "options": options})
    assert found.options == {"bytes": [64], "schedule": now}


def test_an_order_of_another_experiment_is_left_alone() -> None:
    found = header_of({"ranks": 4, "experiment": "hotspot", "options": {"order": "quiet"}})
    assert found.options == {"order": "quiet"}


@pytest.mark.parametrize(
    ("experiment", "early", "now"),
    [
        ("collective", "again", "retest"),
        ("hotspot", "grid", "points"),
        ("collective", "grid", "grid"),
    ],
)
def test_an_option_has_its_name_of_today(experiment: str, early: str, now: str) -> None:
    found = header_of({"ranks": 4, "experiment": experiment, "options": {early: 3}})
    assert found.options == {now: 3}


def test_runs_with_early_names_of_options_are_comparable_with_those_of_today() -> None:
    for make, early, now in (
        (hotspots.hotspot, "grid", "points"),
        (lambda: sweeps.collective(("bcast",)), "again", "retest"),
    ):
        runs = [make(), make()]
        for run, name in zip(runs, (early, now), strict=True):
            run.header["options"][name] = 3
        assert len(groups_of(runs)) == 1
