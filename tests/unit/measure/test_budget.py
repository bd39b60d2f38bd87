"""Planning a suite: what it will take, and how a short time is shared out."""

from __future__ import annotations

import pytest

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.measure.estimate import Cost, Trial, Work, share_out
from isochrone.measure.presets import (
    PRESETS,
    SUITES,
    find,
    for_question,
    plan,
    ranks_of_all_classes,
)

COSTS = [Cost(0.5, 20.0, 1.0), Cost(0.5, 10.0, 0.5), Cost(0.5, 2.0, 0.1)]


def test_with_time_to_spare_every_run_gets_at_least_its_estimate() -> None:
    shares = share_out(200.0, COSTS)
    assert not any(share.repeats_reduced or share.points_omitted for share in shares)
    for share, cost in zip(shares, COSTS, strict=True):
        assert share.seconds >= cost.full


def test_short_time_is_shared_equally_and_never_exceeded() -> None:
    """The shortest run is complete, the others have the same time."""
    shares = share_out(17.5, COSTS)
    assert [share.repeats_reduced for share in shares] == [True, True, False]
    assert not any(share.points_omitted for share in shares)
    assert [share.seconds for share in shares] == pytest.approx([7.0, 7.0, 2.0])


def test_too_short_a_time_is_said_to_leave_out_points() -> None:
    assert all(share.points_omitted for share in share_out(1.7, COSTS))
    assert all(share.points_omitted for share in share_out(-5.0, COSTS))


def test_the_whole_suite_stays_in_time_if_every_run_uses_all_it_got() -> None:
    """Shares are asked for again before each run, from the time that is left."""
    left = 60.0
    for k, cost in enumerate(COSTS):
        share = share_out(left, COSTS[k:])[0]
        left -= share.seconds + cost.startup
    assert left >= 0


def test_an_estimate_counts_every_operation() -> None:
    """long: 25 sizes of 256 KiB to 1 MiB, 105 round trips each of two messages."""
    work = Work("point-to-point", PRESETS["long"].options, 2)
    sizes = range(262144, 1048577, 32768)
    each = [2 * (1e-6 + size * 1e-9) + 1e-5 for size in sizes]  # and to write it down
    assert work.once(Trial(startup=0.3, start=1e-6, per_byte=1e-9)) == pytest.approx(sum(each))
    assert work.repeats == 105


def test_every_preset_can_be_estimated(subtests: pytest.Subtests) -> None:
    for preset in PRESETS.values():
        with subtests.test(str(preset)):
            work = Work(preset.experiment, preset.options, 8)
            assert 0 < work.once(Trial(0.1, 1e-6, 1e-10)) * work.repeats < 3600


def test_the_nine_experiments_of_mpptest_are_there_with_their_sizes() -> None:
    assert SUITES["mpptest"].presets == (
        "short",
        "long",
        "longnb",
        "shortc",
        "shortv",
        "bshort",
        "blong",
        "bcast",
        "dsum",
    )
    assert SUITES["mpptest"].max_time == 600
    sizes = {name: PRESETS[name].options for name in SUITES["mpptest"].presets}
    assert "256KiB:1MiB:32KiB" in sizes["long"]
    assert "0:8KiB:2KiB" in sizes["dsum"]  # 0 to 1,024 doubles in steps of 256


def test_pairs_are_measured_once_and_groups_with_every_number_of_ranks() -> None:
    runs = [(preset.name, ranks) for preset, ranks in plan(SUITES["mpptest"], (2, 4))]
    assert ("short", 2) in runs
    assert ("short", 4) not in runs
    assert ("blong", 2) in runs
    assert ("blong", 4) in runs


def test_a_preset_of_another_experiment_is_named(golden: Golden) -> None:
    with golden.refusal():
        find("dsum", "bisection")
    with pytest.raises(InputError, match="it has: bshort"):
        find("nothing", "bisection")


def test_a_question_is_measured_on_ranks_of_all_classes() -> None:
    suite, asked = for_question("allreduce at 4096")
    assert asked == 4096
    runs = list(plan(suite, ranks_of_all_classes(32)))
    assert {preset.experiment for preset, _ in runs} == {"collective"}
    counts = [count for _, count in runs]
    assert {2, 4, 8, 16, 32} <= set(counts)  # powers of two, and others: even and odd
    assert {3, 6, 12, 24} <= set(counts)
    assert {15, 31} <= set(counts)
    assert max(counts) == 32
    assert ranks_of_all_classes(2) == (2,)
    assert for_question("barrier on 64 ranks")[1] == 64


@pytest.mark.parametrize("text", ["allreduce", "allreduce at", "at 64", "allreduce at 0", "4096"])
def test_what_is_no_question_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        for_question(text)
