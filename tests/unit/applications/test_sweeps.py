"""Settings for many values: lists, ranges, all combinations."""

from __future__ import annotations

import pytest

from isochrone.applications.description.sweeps import settings
from isochrone.base.errors import InputError
from isochrone.console.options import read_setting


def test_lists_and_ranges_are_combined() -> None:
    assert settings(map(read_setting, ["n=1024,2048", "p=4:16:x2"])) == [
        {"n": n, "p": p} for n in ("1024", "2048") for p in ("4", "8", "16")
    ]
    assert settings(map(read_setting, ["p=2:8:3,64"])) == [{"p": p} for p in ("2", "5", "8", "64")]


def test_values_are_as_in_a_description() -> None:
    """Units and expressions stay as they are; commas in parentheses are theirs."""
    assert settings(map(read_setting, ["t_op=1.2ns", "app.size=max(8, n),4KiB"])) == [
        {"t_op": "1.2ns", "app.size": "max(8, n)"},
        {"t_op": "1.2ns", "app.size": "4KiB"},
    ]


def test_nothing_is_one_setting() -> None:
    assert settings([]) == [{}]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["n=4,,8"], "--set n: the value is empty"),
        (["n=4", "n=8"], "'n' is set twice"),
        (["n=8:4:1"], "--set n: the range .* is empty"),
        (["n=0:4:x2"], "--set n: "),
        (["n=1:20000:1"], "too many|more than"),
        (["n=1:200:1", "m=1:200:1"], "the values have more than 10000 combinations"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(texts: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        settings(map(read_setting, texts))
