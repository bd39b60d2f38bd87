"""What messages cost, from windows and both directions: gaps, ports, sends that wait."""

from __future__ import annotations

import pytest

from beds.golden import Golden
from isochrone.applications.predict.message_times import MessageTimes
from isochrone.models import Model, Segment
from made_up.applications import LATENCY, PER_BYTE, collectives, message, messages

GAP = 3e-7
WINDOW = 64
SIZE = 10_000.0


def window(
    *, mode: str, own: float, per_byte: float, low: float = 0.0, high: float = 2.0**22
) -> Segment:
    """Return a segment of a window: messages follow each other by ``own + per_byte * b``."""
    first = 2 * LATENCY + (WINDOW - 1) * own
    each = [first / WINDOW, (PER_BYTE + (WINDOW - 1) * per_byte) / WINDOW]
    return Segment(
        "hockney",
        ["1", "b"],
        each,
        where={"mode": mode},
        fitted={"b": (low, high), "w": (WINDOW, WINDOW)},
    )


def of(*segments: Segment, nodes: int = 2) -> Model:
    return Model(list(segments), experiment="point-to-point", constant={"nodes": float(nodes)})


def test_a_message_alone_takes_what_was_measured() -> None:
    cost = MessageTimes([messages()]).cost("network", SIZE)
    assert cost.alone == pytest.approx(message(SIZE))


def test_a_window_says_by_what_messages_follow_each_other() -> None:
    """T(b) + (w - 1) g(b) + T(0) seconds for w messages and their answer, as in LogGP."""
    posted = of(window(mode="nonblocking", own=GAP, per_byte=PER_BYTE))
    cost = MessageTimes([messages(), posted]).cost("network", SIZE)
    assert cost.gap == pytest.approx(GAP + PER_BYTE * SIZE)
    assert cost.wire == pytest.approx(PER_BYTE * SIZE)


def test_without_a_window_the_gap_is_the_time_per_byte_and_that_is_said(golden: Golden) -> None:
    times = MessageTimes([messages()])
    assert times.cost("network", SIZE).gap == pytest.approx(PER_BYTE * SIZE)
    (said,) = times.warnings
    golden(said)
    assert "--mode nonblocking --window 64" in said


def test_messages_within_a_node_need_no_port_of_it() -> None:
    cost = MessageTimes([messages(), messages(nodes=1)]).cost("node", SIZE)
    assert cost.wire == 0
    assert cost.gap == pytest.approx(PER_BYTE * SIZE)


@pytest.mark.parametrize(("factor", "both"), [(2.0, 2.0), (1.0, 1.0), (1.02, 1.0), (1.5, 1.5)])
def test_both_directions_say_whether_a_link_carries_one_at_a_time(
    factor: float, both: float
) -> None:
    two_ways = messages(mode="bidirectional", per_byte=factor * PER_BYTE)
    cost = MessageTimes([messages(), two_ways]).cost("network", SIZE)
    assert cost.both == pytest.approx(both)


def test_sends_wait_from_where_a_window_of_blocking_ones_takes_the_latency_each() -> None:
    """Below 16 KiB they follow each other by the gap, from there on by the whole time."""
    small = window(mode="blocking", own=GAP, per_byte=PER_BYTE, high=16383)
    small.range = {"b": (None, 16383.0)}
    small.switch = {"b": (None, 16383.0)}
    large = window(mode="blocking", own=LATENCY, per_byte=PER_BYTE, low=16384)
    large.range = {"b": (16384.0, None)}
    large.switch = {"b": (16384.0, None)}
    posted = of(window(mode="nonblocking", own=GAP, per_byte=PER_BYTE))
    times = MessageTimes([messages(), posted, of(small, large)])
    assert [times.cost("network", size).waits for size in (16000, 16383, 16384, 1 << 20)] == [
        False,
        False,
        True,
        True,
    ]


def test_between_two_measured_sizes_a_send_waits_as_on_the_upper_one_only() -> None:
    """32 KiB and 64 KiB were measured; the formulas meet at 48 KiB."""
    small = window(mode="blocking", own=GAP, per_byte=PER_BYTE, high=32768)
    small.range = small.switch = {"b": (None, 49152.0)}
    large = window(mode="blocking", own=LATENCY, per_byte=PER_BYTE, low=65536)
    large.range = large.switch = {"b": (49152.0, None)}
    posted = of(window(mode="nonblocking", own=GAP, per_byte=PER_BYTE))
    times = MessageTimes([messages(), posted, of(small, large)])
    assert [times.cost("network", size).waits for size in (54104, 65535, 65536)] == [
        False,
        False,
        True,
    ]


def test_where_that_was_not_measured_sends_wait_from_64_kib_on() -> None:
    times = MessageTimes([messages()])
    assert [times.cost("network", size).waits for size in (65535, 65536)] == [False, True]


def test_both_modes_at_once_may_be_in_one_model() -> None:
    both = of(
        *messages().segments,
        window(mode="nonblocking", own=GAP, per_byte=PER_BYTE),
    )
    assert MessageTimes([both]).cost("network", 0).gap == pytest.approx(GAP)


def test_a_model_that_does_not_say_where_its_ranks_were_is_for_all() -> None:
    times = MessageTimes([messages(nodes=None)])
    assert times.cost("node", SIZE).alone == times.cost("network", SIZE).alone


def test_what_is_missing_is_named(golden: Golden) -> None:
    with golden.refusal():
        MessageTimes([collectives(bcast=(1e-6, 0.0))]).cost("network", 8)
    with golden.refusal():
        MessageTimes([messages(nodes=1)]).cost("network", 8)
    only_windows = of(window(mode="nonblocking", own=GAP, per_byte=PER_BYTE))
    with golden.refusal():
        MessageTimes([only_windows]).cost("network", 8)
