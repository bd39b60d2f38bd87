"""Times made small for a page: exact to the three digits that the page writes."""

from __future__ import annotations

import base64
import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isochrone.pages.html.packed import MIN_TIME_POWER, codes, packed


def seconds_of(code: int) -> float:
    """Undo `codes` as the script of a page does."""
    decade, digits = divmod(code - 1, 900)
    return float(f"{100 + digits}e{decade + MIN_TIME_POWER - 2}")


@given(st.floats(1e-11, 9e5))
def test_a_time_is_kept_to_three_digits(seconds: float) -> None:
    """So that a page says of a pair what a table says of it; ties may be rounded either way."""
    back = seconds_of(int(codes(np.array([seconds]))[0]))
    unit = 10.0 ** (int(f"{seconds:.9e}".partition("e")[2]) - 2)
    assert abs(back - seconds) <= 0.5000001 * unit
    assert back == float(f"{back:.2e}")


def test_codes_have_the_order_of_the_times() -> None:
    seconds = np.sort(np.exp(np.random.default_rng(5).uniform(-25, 10, 10_000)))
    assert (np.diff(codes(seconds).astype(int)) >= 0).all()


def test_powers_of_ten_and_their_neighbours() -> None:
    """Where a logarithm may come out on the wrong side."""
    powers = 10.0 ** np.arange(-11, 6)
    for factor in (1 - 1e-12, 1.0, 1 + 1e-12, 0.9996):
        found = [seconds_of(int(code)) for code in codes(powers * factor)]
        assert np.allclose(found, powers, rtol=1e-9)


def test_what_is_no_time_is_0() -> None:
    assert codes(np.array([np.nan, np.inf, 0.0, -1.0])).tolist() == [0, 0, 0, 0]


def test_columns_come_back() -> None:
    columns = [np.array([0, 1, 255, 256, 65535], np.uint16), np.arange(5, dtype=np.uint16)]
    plain = zlib.decompress(base64.b64decode(packed(*columns)))
    assert len(plain) == 20
    for k, column in enumerate(columns):
        low, high = plain[10 * k : 10 * k + 5], plain[10 * k + 5 : 10 * k + 10]
        assert [a + 256 * b for a, b in zip(low, high, strict=True)] == column.tolist()
