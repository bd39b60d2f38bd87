"""What ranks and phases did, and what makes the numbers doubtful."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from beds.golden import Golden
from isochrone.applications.emulation.summary import emulation as summary
from isochrone.base.documents import plain
from made_up.emulations import BULLY, QUIET, VICTIM, Truth, emulation


def test_communication_is_what_is_left_of_the_wall_time_rank_by_rank() -> None:
    """The last rank computes half as long as the others, and waits for them."""
    found = summary(emulation([VICTIM], noise=0.0, drift=0.0)).shares
    (share,) = found
    assert share.communication.min == pytest.approx(0.4, abs=0.02)
    assert share.communication.max == pytest.approx(0.7, abs=0.02)
    assert share.communication.mean == pytest.approx((3 * 0.4 + 0.7) / 4, abs=0.02)
    assert share.delivered == pytest.approx(1.002)


def test_what_asks_for_no_computation_delivers_no_share_of_it() -> None:
    found = summary(emulation([replace(VICTIM, computing=0.0)]))
    assert np.isnan(found.shares[0].delivered)
    assert plain(found)["shares"][0]["delivered"] is None
    assert not found.doubts()


def test_phases_have_names_and_intervals() -> None:
    found = summary(emulation([VICTIM, QUIET]))
    alone = [one for one in found.phases if one.number == 0 and not one.beside]
    assert [one.name for one in alone] == ["compute", "exchange"]
    assert alone[0].mean.median == pytest.approx(6e-4)
    assert alone[0].max == pytest.approx(1.2 * 6e-4)
    assert alone[1].mean.known


def test_a_sound_emulation_is_not_doubted() -> None:
    assert summary(emulation()).doubts() == []


@pytest.mark.parametrize(
    ("truth", "overlap", "words"),
    [
        (VICTIM, 0.6, "bully ended early and disturbed victim only 60 %"),
        (replace(VICTIM, switches=150.0), 1.0, "was preempted 1"),
        (replace(VICTIM, delivered=1.06), 1.0, "victim alone computed 6 % longer than requested"),
        (replace(VICTIM, delivered=0.9), 1.0, "10 % shorter than requested"),
    ],
)
def test_what_is_doubtful_is_said(truth: Truth, overlap: float, words: str) -> None:
    long = replace(truth, seconds=0.1)
    found = summary(emulation([long, BULLY], overlap=overlap)).doubts()
    assert any(words in text for text in found), found


def test_doubts_about_the_overlap_are_one_sentence(golden: Golden) -> None:
    (text,) = summary(emulation(overlap=0.5)).doubts()
    golden(text)


def test_a_simulator_that_is_preempted_does_no_harm() -> None:
    run = emulation([replace(VICTIM, switches=1e4)])
    assert summary(run).doubts()
    run.header["clock"] = {"source": "MPI_Wtime", "simulated": True}
    assert summary(run).doubts() == []
