"""What differs around two measurements is named, and what is not known is no difference."""

from __future__ import annotations

from typing import Any

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.runfile.environment import differing, environment_document, settings_in_words
from isochrone.runfile.header import Header, header_of

MACHINE = {"kernel": "5.14", "processor": "EPYC", "governor": "performance", "numa": 8}


def header(**members: Any) -> Header:
    known = {"settings": {}, "memory": "host", "machine": MACHINE, "mpi": {"library": "MPICH"}}
    return header_of({"experiment": "latency-map", "ranks": 2, **known, **members})


def told(before: Header, after: Header) -> list[tuple[str, str, str]]:
    return [(one.what, one.before, one.after) for one in differing([before], [after])]


def test_a_setting_that_only_one_side_has_is_not_set_on_the_other() -> None:
    tcp = header(settings={"UCX_TLS": "tcp,self"})
    assert told(header(), tcp) == [("UCX_TLS", "(not set)", "tcp,self")]
    assert told(tcp, header()) == [("UCX_TLS", "tcp,self", "(not set)")]
    assert told(tcp, tcp) == []


def test_a_file_that_does_not_say_is_not_taken_for_one_without_settings() -> None:
    """Files of older versions say nothing of settings, memory and machine."""
    old = header_of({"experiment": "latency-map", "ranks": 2, "mpi": {"library": "MPICH"}})
    new = header(settings={"UCX_TLS": "tcp"})
    assert told(old, new) == told(new, old) == []


def test_what_explains_most_comes_first() -> None:
    before = header(settings={"UCX_LOG_LEVEL": "info"})
    after = header(
        settings={"UCX_LOG_LEVEL": "warn", "UCX_TLS": "tcp"},
        mpi={"library": "Open MPI"},
        memory="device",
        machine={**MACHINE, "kernel": "6.1", "governor": "powersave", "numa": 2},
    )
    assert [one.what for one in differing([before], [after])] == [
        "UCX_TLS",
        "UCX_LOG_LEVEL",
        "mpi library",
        "memory",
        "NUMA nodes",
        "frequency governor",
        "kernel",
    ]
    kinds = [one.kind for one in differing([before], [after])]
    assert kinds == ["setting"] * 2 + ["library", "memory"] + ["machine"] * 3


def test_values_of_several_runs_are_all_named() -> None:
    one, other = header(settings={"UCX_TLS": "tcp"}), header(settings={"UCX_TLS": "sm"})
    (found,) = differing([one, header()], [other])
    assert (found.before, found.after) == ("(not set) and tcp", "sm")
    assert differing([one, other], [other, one]) == []


def test_a_secret_is_known_to_be_there_and_no_more(golden: Golden) -> None:
    left_out = header(settings_left_out=["FI_TOKEN"])
    assert told(left_out, left_out) == []
    golden(told(header(), left_out))


@pytest.mark.parametrize(
    ("one", "other"),
    [("x" * 400 + "a", "x" * 400 + "b"), ("\x1b[2J", "\x1b[3J"), ("a\x01", "a\x02"), ("é", "ë")],
)
def test_two_values_never_look_the_same(one: str, other: str) -> None:
    """They come from a file: a terminal must not obey them, and long ones are cut."""
    ((_, before, after),) = told(header(settings={"FI_X": one}), header(settings={"FI_X": other}))
    assert before != after
    assert (before + after).isprintable()
    assert max(len(before), len(after)) <= 121


def test_settings_are_said_in_a_line_and_in_a_document(golden: Golden) -> None:
    one = header(settings={"UCX_TLS": "tcp", "FI_A": "1"}, settings_left_out=["FI_TOKEN"])
    golden(settings_in_words(one))
    assert settings_in_words(header()) == ""
    assert environment_document(one) == {
        "settings": {"UCX_TLS": "tcp", "FI_A": "1"},
        "settings_left_out": ["FI_TOKEN"],
        "memory": "host",
        "machine": MACHINE,
    }
    assert environment_document(Header(ranks=2)) == {}


@pytest.mark.parametrize(
    "members",
    [
        {"settings": []},
        {"settings": {"UCX_TLS": 1}},
        {"machine": "big"},
        {"machine": {"numa": "x"}},
        {"memory": 3},
        {"settings_left_out": {"a": 1}},
    ],
)
def test_damaged_surroundings_are_refused_by_name(members: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(members))):
        header(**members)
