"""Protocol switches: found where they are, and not where there is only noise."""

from __future__ import annotations

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.sweep.curves import Curve, Point, curves
from isochrone.sweep.switches import describe, switches
from made_up.sweeps import SIZES, collective, line, switching


def with_noise(time: object, sizes: tuple[int, ...], noise: float, seed: int) -> Curve:
    """Make a curve whose medians themselves are off, as those of a busy machine are."""
    dice = np.random.default_rng(seed)
    points = []
    for nbytes in sizes:
        middle = float(time(nbytes) * dice.lognormal(0, noise))  # type: ignore[operator]
        rate = nbytes / middle if middle else None
        points.append(
            Point(
                bytes=nbytes,
                n=20,
                median=middle,
                low=0.995 * middle,
                high=1.005 * middle,
                min=0.98 * middle,
                mean=1.01 * middle,
                max=1.1 * middle,
                bandwidth=rate,
            )
        )
    return Curve({"pair": [0, 1]}, 2, tuple(points))


def test_it_says_what_changed(golden: Golden) -> None:
    """Jump and bandwidths are those of the two lines the times were made from."""
    (found,) = switches(with_noise(switching, SIZES, 0.0, 1))
    old, new = 1.2e-6 + 131072 / 6e9, 5.2e-6 + 131072 / 11e9
    assert found.jump == pytest.approx(new - old, rel=1e-6)
    assert found.ratio == pytest.approx(new / old, rel=1e-6)
    assert found.bandwidth_before == pytest.approx(6e9, rel=1e-6)
    assert found.bandwidth_after == pytest.approx(11e9, rel=1e-6)
    golden(describe(found))


def test_two_switches_are_found() -> None:
    def time(nbytes: int) -> float:
        return 1e-6 + nbytes / 4e9 + (nbytes > 1024) * 2e-6 + (nbytes > 65536) * 2e-5

    sizes = tuple(1 << k for k in range(23))
    found = switches(with_noise(time, sizes, 0.01, 3))
    assert [(s.after, s.before) for s in found] == [(1024, 2048), (65536, 131072)]


def test_a_change_of_bandwidth_without_a_jump_is_found() -> None:
    def time(nbytes: int) -> float:
        return 1e-6 + nbytes / 8e9 + max(0, nbytes - 262144) / 4e9

    found = switches(with_noise(time, SIZES, 0.01, 3))
    assert len(found) == 1
    assert found[0].after in (131072, 262144, 524288)
    assert found[0].bandwidth_before == pytest.approx(8e9, rel=0.1)


def test_a_small_jump_is_no_switch() -> None:
    """0.8 % more above some size is nothing to tell anyone, however sure it is."""

    def time(nbytes: int) -> float:
        return (1e-6 + nbytes / 8e9) * (1.008 if nbytes > 4096 else 1.0)

    assert switches(with_noise(time, SIZES, 0.0, 3)) == []


NEAR = (
    0,
    1024,
    2048,
    4096,
    6144,
    7168,
    7680,
    7936,
    8064,
    8128,
    8192,
    8256,
    8320,
    8384,
    8448,
    8704,
    9216,
    10240,
    12288,
    16384,
    24576,
    32768,
    65536,
)
"""As automatic sizes come, 64 bytes apart where the time jumps."""


@pytest.mark.parametrize("second", [1e-6, -0.7e-6])
def test_two_jumps_128_bytes_apart_are_two_switches(second: float) -> None:
    """Only two sizes lie between them; they were taken for one."""

    def time(nbytes: int) -> float:
        return line()(nbytes) + (nbytes > 8160) * 1e-6 + (nbytes > 8288) * second

    exact = 0
    for seed in range(50):
        found = switches(with_noise(time, NEAR, 0.01, seed))
        exact += [(s.after, s.before) for s in found] == [(8128, 8192), (8256, 8320)]
    assert exact >= 45
    up, then = switches(with_noise(time, NEAR, 0.0, 1))
    assert (up.jump, then.jump) == pytest.approx((1e-6, second), rel=0.03)


def test_a_single_jump_among_near_sizes_is_one_switch() -> None:
    """Noise of 2 % beyond the intervals makes no short piece beside it."""

    def time(nbytes: int) -> float:
        return line()(nbytes) + (nbytes > 8160) * 1e-6

    found = [switches(with_noise(time, NEAR, 0.02, seed)) for seed in range(100)]
    assert sum(len(f) == 1 and f[0].after == 8128 for f in found) >= 90
    assert sum(len(f) > 1 for f in found) <= 5


def test_few_sizes_and_times_of_zero_have_none() -> None:
    assert switches(with_noise(switching, SIZES[:5], 0.01, 1)) == []
    assert switches(with_noise(lambda nbytes: 0.0, SIZES, 0.0, 1)) == []
    assert switches(curves(collective(("barrier",)))[0]) == []
