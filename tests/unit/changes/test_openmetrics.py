"""The verdict as metrics: what Prometheus reads from them, whatever names say."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import parser as text_format
from prometheus_client.openmetrics import parser as openmetrics_format

from isochrone.changes.check import Check, Earlier, check
from isochrone.changes.pages.junit import junit
from isochrone.changes.pages.openmetrics import openmetrics
from made_up.latency_maps import flat, map_of, one_slow_host

Samples = dict[str, dict[str, float]]
"""Value by the text of the only label, by the name of the metric."""

FORMATS = [
    text_format.text_string_to_metric_families,
    openmetrics_format.text_string_to_metric_families,
]

BEGIN = "isochrone_check_"


def read(text: str, parse: Callable[[str], object] = FORMATS[0]) -> Samples:
    found: Samples = {}
    for family in parse(text):  # type: ignore[attr-defined]
        assert family.type == "gauge"
        assert family.documentation
        assert family.name.startswith(BEGIN)
        values = found.setdefault(family.name.removeprefix(BEGIN), {})
        for sample in family.samples:
            label = "".join(sample.labels.values())
            assert label not in values
            values[label] = sample.value
    return found


@pytest.mark.parametrize("parse", FORMATS)
def test_a_slow_host_is_in_all_metrics_that_concern_it(parse: Callable[[str], object]) -> None:
    run = one_slow_host()
    run.header["started"] = "2026-11-28T03:00:00+00:00"
    found = read(openmetrics([check(run)]), parse)
    assert found["verdict"] == {"slow": 1, "slower": 0, "not known": 0, "good": 0}
    assert found["timestamp_seconds"] == {"": 1795834800}
    assert found["pairs_measured"] == {"": 28}
    assert found["host_slowdown_ratio"].keys() == {f"n{k}" for k in range(8)}
    assert max(found["host_slowdown_ratio"], key=found["host_slowdown_ratio"].__getitem__) == "n2"
    assert [host for host, bad in found["host_bad"].items() if bad] == ["n2"]
    assert not any(found["host_suspect"].values())
    assert "earlier_runs" not in found


def test_what_cannot_be_known_has_no_sample() -> None:
    run = one_slow_host(0.0)
    run.header["started"] = "when nobody looked"
    found = read(openmetrics([check(run, Earlier("nights", []))]))
    assert found["verdict"]["not known"] == 1
    assert found["earlier_runs"] == {"": 0}
    assert "timestamp_seconds" not in found


def test_of_several_runs_the_worst_counts() -> None:
    good, slow = check(one_slow_host(0.0)), check(one_slow_host())
    found, alone = read(openmetrics([good, slow])), read(openmetrics([slow]))
    assert found["verdict"]["slow"] == 1
    assert found["host_slowdown_ratio"]["n2"] == alone["host_slowdown_ratio"]["n2"]
    assert found["pairs_measured"] == {"": 56}


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=20))
def test_any_name_is_read_back_or_loses_its_control_characters(name: str) -> None:
    run = map_of(flat(4), [f"{name}{k}" for k in range(4)])
    text = openmetrics([Check(run, [], [], [], hosts={f"{name}{k}": 1.0 for k in range(4)})])
    for parse in FORMATS:
        hosts = read(text, parse)["host_slowdown_ratio"]
        assert len(hosts) == 4
        if name.isprintable():
            assert hosts.keys() == {f"{name}{k}" for k in range(4)}
    assert re.fullmatch(r"(?:[ -~]|[^\x00-\x9f]|\n)*", text)


def test_junit_and_json_have_the_same_numbers() -> None:
    found = check(one_slow_host())
    (suite,) = Xml.fromstring(junit([found]))
    own = {one.get("name"): one.get("value") for one in suite.findall("properties/property")}
    assert own["pairs_measured"] == "28"
    ratios = {
        str(case.get("name")).removeprefix("host "): float(one.get("value", "0"))
        for case in suite.iter("testcase")
        for one in case.findall("properties/property")
    }
    assert ratios == pytest.approx(found.hosts, rel=1e-5)
    assert read(openmetrics([found]))["host_slowdown_ratio"] == pytest.approx(found.hosts)


def test_a_run_without_hosts_has_no_metrics_of_hosts() -> None:
    found = read(openmetrics([check(map_of(flat(8), [""] * 8))]))
    assert found.keys() <= {"verdict", "timestamp_seconds", "pairs_measured", "detectable_ratio"}
