"""The verdict as JUnit XML: well-formed whatever names say, and true to the verdict."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from isochrone.changes.check import Check, check
from isochrone.changes.pages.junit import junit
from isochrone.changes.waivers import parse_rule
from made_up.latency_maps import block, flat, leaving, map_of, noisy, one_slow_host

HOSTILE = "<&\"'>]]>\x1b[2J\x00\ud800\ufffe n2"


def slow_map(name: str = "n{}") -> Check:
    return check(one_slow_host(name=name))


def test_each_host_is_a_case_and_the_bad_one_fails() -> None:
    root = Xml.fromstring(junit([slow_map()]))
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("9", "1", "0")
    (failed,) = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed.get("name") == "host n2"
    assert "adds" in failed.findtext("failure", "")


def test_what_is_not_known_is_skipped_and_what_is_allowed_passes(golden: Golden) -> None:
    unknown = Xml.fromstring(junit([check(map_of(flat(3), block(3)))]))
    assert unknown.get("failures") == "0"
    assert unknown.get("skipped") == "1"
    slow = noisy(flat(8) + 3 * leaving(np.arange(8) == 2), 0.02, 1)
    suspect = Xml.fromstring(junit([check(map_of(slow, block(8)))]))
    assert (suspect.get("failures"), suspect.get("skipped")) == ("0", "2")
    allowed = check(one_slow_host(), rules=[parse_rule("host=n2")])
    root = Xml.fromstring(junit([allowed]))
    assert root.get("failures") == "0"
    golden("".join(root.itertext()))


def test_hostile_names_leave_it_well_formed() -> None:
    root = Xml.fromstring(junit([slow_map(HOSTILE + "{}")]))
    assert root.get("failures") == "1"


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_name_leaves_it_well_formed(name: str) -> None:
    run = map_of(flat(4), [f"{name}{k}" for k in range(4)])
    Xml.fromstring(junit([Check(run, [], [name], [])]))
