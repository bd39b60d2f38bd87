"""Lines through measured times: every median is met, whatever the curve looks like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isochrone.formats.protocol_lines import MAX_LINE_DEVIATION, lines, scaled
from made_up.sweeps import three_protocols

SIZES = [0, 1, 8, 64, 512, 1024, 4096, 16384, 65536, 131072, 262144, 1048576, 4194304]


def test_protocols_are_found_as_they_are() -> None:
    """Three protocols, at thirteen sizes, without noise: three lines with their numbers."""
    found = lines(SIZES, [three_protocols(size) for size in SIZES])
    assert [line.above for line in found] == [-1, 1024, 65536]
    for line, (latency, rate) in zip(
        found, [(1.2e-6, 4e9), (2e-6, 7e9), (6e-6, 11e9)], strict=True
    ):
        assert line.latency == pytest.approx(latency, rel=1e-6)
        assert 1 / line.per_byte == pytest.approx(rate, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=len(SIZES)),
    st.integers(0, 3),
)
def test_any_times_are_met_and_no_line_begins_below_zero(times: list[float], first: int) -> None:
    """Times that jump, fall or repeat have more lines, but each is one a simulator can have."""
    sizes = SIZES[first : first + len(times)]
    times = times[: len(sizes)]
    found = lines(sizes, times, 16)
    for size, seconds in zip(sizes, times, strict=True):
        own = [line for line in found if line.above < size][-1]
        met = own.latency + own.per_byte * (size + 16)
        assert met == pytest.approx(seconds, rel=1.01 * MAX_LINE_DEVIATION + 1e-9)
    assert all(line.latency >= 0 and line.per_byte > 0 for line in found)
    assert all(np.isfinite([line.latency, line.per_byte]).all() for line in found)
    assert len({line.above for line in found}) == len(found)


def test_another_curve_is_met_as_well_as_common_factors_allow() -> None:
    """Half the latency and twice the bandwidth of the same protocols is met exactly."""
    found = lines(SIZES, [1e-6 + size / 5e9 for size in SIZES])
    latency, per_byte, off = scaled(found, SIZES, [0.5e-6 + size / 1e10 for size in SIZES])
    assert (latency, per_byte) == pytest.approx((0.5, 0.5), rel=1e-6)
    assert off < 1e-6
    unlike = [0.5e-6 + size / 1e10 * (1 + (size > 4096)) for size in SIZES]
    assert scaled(found, SIZES, unlike)[2] > 0.05
