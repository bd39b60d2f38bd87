"""Rules of what is allowed: read strictly, and they allow nothing that they do not name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.changes.waivers import is_host_name, parse_rule


@pytest.mark.parametrize(
    ("text", "kind", "names", "by"),
    [
        ("host=n05", "host", ("n05",), None),
        ("host=node-7.cluster.example:25%", "host", ("node-7.cluster.example",), 0.25),
        ("rank=3", "rank", ("3",), None),
        ("pair=n1,n2", "pair", ("n1", "n2"), None),
        ("pair=n1,n2:7.5%", "pair", ("n1", "n2"), 0.075),
        ("level=2:30%", "level", ("2",), 0.3),
    ],
)
def test_a_rule_says_what_is_allowed_and_how_much(
    text: str, kind: str, names: tuple[str, ...], by: float | None
) -> None:
    rule = parse_rule(text)
    assert (rule.kind, rule.names) == (kind, names)
    assert rule.by == pytest.approx(by)


@pytest.mark.parametrize(
    "text",
    [
        "host=n5;rm",
        "host=$(reboot)",
        "host=",
        "host=n1,n2",
        "host=-rf",
        "host=n5\n",
        " host=n5",
        "pair=n1",
        "pair=n1,n2,n3",
        "level=two",
        "level=2:30",
        "level=2:%",
        "level=2:-3%",
        "rank=-1",
        "level=2:1e3%",
        "level=٢",
        "__import__('os')",
        "",
        "host=n\u202e5",
        "HOST=n5",
        "host=n5:30%%",
    ],
)
def test_anything_else_is_refused_in_one_line(text: str, golden: Golden) -> None:
    with pytest.raises(InputError) as refused:
        parse_rule(text)
    golden(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30))
def test_no_text_is_read_as_a_rule_by_accident(text: str) -> None:
    """Whatever comes: a rule of known form, or a refusal."""
    try:
        rule = parse_rule(text)
    except InputError:
        return
    assert text.partition("=")[0] == rule.kind


@pytest.mark.parametrize("name", ["n5", "N-5", "a.b.c", "node_1", "10.0.0.7"])
def test_names_of_hosts_are_taken(name: str) -> None:
    assert is_host_name(name)


@pytest.mark.parametrize(
    "name", ["", "-n", ".n", "n 5", "n5\n", "n5;x", "ñ", "n5\x1b[2J", "a" * 300]
)
def test_what_could_harm_a_shell_or_a_scheduler_is_no_name(name: str) -> None:
    assert not is_host_name(name)


def test_a_rule_covers_what_it_names_and_no_more() -> None:
    host, limited = parse_rule("host=n5"), parse_rule("host=n5:30%")
    assert host.covers("node", ("n5",), (5,), None, 9.0)
    assert host.covers("pair", ("n5", "n7"), (5, 7), None, 9.0), "its pairs are laid to it"
    assert not host.covers("switch", ("n4", "n5"), (4, 5), None, 9.0)
    assert not host.covers("node", ("n6",), (6,), None, 1.2)
    assert limited.covers("node", ("n5",), (5,), None, 1.3)
    assert not limited.covers("node", ("n5",), (5,), None, 1.31)
    pair = parse_rule("pair=n7,n5")
    assert pair.covers("pair", ("n5", "n7"), (5, 7), None, 3.0)
    assert not pair.covers("node", ("n5",), (5,), None, 3.0)
    assert parse_rule("pair=5,7").covers("pair", ("n0",), (5, 7), None, 3.0), "of ranks, too"
    level = parse_rule("level=2:30%")
    assert level.covers("level", (), (), 2, 1.2)
    assert not level.covers("level", (), (), 1, 1.2)
    assert not level.covers("pair", ("a", "b"), (0, 1), 2, 1.2)
