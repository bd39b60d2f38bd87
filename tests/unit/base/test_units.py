"""Sizes and times: read as a person types them, written as a person reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isochrone.base.errors import InputError
from isochrone.base.units import (
    LARGEST,
    format_bytes,
    format_ratio,
    format_seconds,
    parse_bytes,
    parse_seconds,
    parse_sizes,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("64", 64),
        ("1KiB", 1024),
        ("1 kib", 1024),
        ("4k", 4096),
        ("1kB", 1000),
        ("1.5MiB", 1572864),
        ("2GB", 2000000000),
    ],
)
def test_sizes_with_binary_and_decimal_prefixes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


CASES = [
    "",
    "B",
    "-1",
    "1.5",
    "1e",
    "1 XB",
    "0x10",
    "1,5KiB",
    "inf",
    "1e999999999",
    "1e-999999999",
    "9" * 5000,
]


def test_what_is_no_size_is_refused(subtests: pytest.Subtests) -> None:
    for text in CASES:
        with subtests.test(str(text)), pytest.raises(InputError):
            parse_bytes(text)


@given(st.integers(0, LARGEST))
def test_a_size_is_the_same_after_writing_and_reading(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ns"),
        (2.5e-10, "0.250 ns"),
        (1.044e-6, "1.04 µs"),
        (9.996e-7, "1.00 µs"),
        (2.31e-2, "23.1 ms"),
        (0.9999, "1.00 s"),
        (125.0, "125 s"),
        (float("nan"), "–"),
    ],
)
def test_times_get_the_unit_a_person_would_choose(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 10), ("250ms", 0.25), ("2min", 120), ("5m", 300), ("1.5us", 1.5e-6)],
)
def test_times_are_read_with_their_unit(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("64,1KiB", [64, 1024]),
        ("0:1KiB:256", [0, 256, 512, 768, 1024]),
        ("0,1:8:x2,6", [0, 1, 2, 4, 8, 6]),
        ("3:10:x1.5", [3, 4, 6, 9]),
    ],
)
def test_sizes_are_read_as_the_probe_reads_them(text: str, sizes: list[int]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    "text", ["", "1:2", "8:4:2", "0:8:0", "0:8:x2", "1:8:x1", "1:8:xx", "1:1TB:1"]
)
def test_what_are_no_sizes_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "1.00"),
        (1.094, "1.09"),
        (1.003, "1.003"),
        (0.9996, "0.9996"),
        (0.0, "0.00"),
        (9.99, "9.99"),
        (12.34, "12.3"),
        (1234.5, "1234"),
        (float("nan"), "–"),
    ],
)
def test_a_ratio_that_is_not_1_is_not_written_as_1(ratio: float, text: str) -> None:
    """Whether an interval contains 1 must be seen in its ends."""
    assert format_ratio(ratio) == text
