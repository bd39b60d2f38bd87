"""What a demo says on a busy machine can be: no time or rate below zero, no time that falls."""

from __future__ import annotations

from pathlib import Path

import pytest

from made_up.replayed import impossible, said_impossible


@pytest.mark.parametrize("text", ["-3.2 µs", "0 B/s", "0.00 µs", "inf", "at -1 GB/s"])
def test_what_is_impossible_is_seen(text: str) -> None:
    assert impossible(f"latency {text}, then 3 µs (-25 %), 64 B to 10 GB/s")
    assert not impossible("3 µs (-25 %), 10 GB/s, 0 B, 1.0 µs, information")


@pytest.mark.slow
def test_replayed_demos_say_nothing_impossible(tmp_path: Path) -> None:
    """Of 200, as `make bench` draws them, the first ten."""
    assert {seed: said for seed in range(10) if (said := said_impossible(seed, tmp_path))} == {}
