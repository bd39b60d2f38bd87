"""Headers of files of every age: one name for one thing, whatever the file calls it."""

from __future__ import annotations

import pytest

from isochrone.runfile.header import header_of


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
