"""What a measurement will take: counted, tried, and never said where it is not known."""

from __future__ import annotations

import pytest

from isochrone.measure.estimate import Expected, time_limit, work_of
from isochrone.runfile.run import Run
from made_up.sweeps import point_to_point

USUAL = {"--bytes": "64"}


def trial_of(latency: float, wall: float) -> Run:
    """A trial of two sizes whose messages all take the same time, in a job of ``wall`` seconds."""
    run = point_to_point()
    table = run.tables["sample"]
    table["seconds"][:] = latency
    run.end = {"record": "end", "seconds": wall, "complete": True}
    run.warnings = []
    return run


def test_messages_there_and_back_are_counted_for_each_size_and_repetition() -> None:
    work = work_of("point-to-point", ["--bytes", "8,64", "--repeats", "95"], 2, USUAL)
    assert work is not None
    found = work.expected(trial_of(1e-3, wall=3.0), wall=5.0)
    assert found.how == "about"
    # two seconds to start, then 2 sizes x (95 + 5) x there and back, and writing 200 samples
    assert found.seconds == pytest.approx(2.0 + 2 * 100 * (2e-3 + 1e-5))


@pytest.mark.parametrize(
    ("options", "size", "messages"),
    [
        ([], 64, 1),
        (["--mode", "bandwidth"], 1 << 20, 128),
        (["--window", "8"], 1 << 20, 16),
        (["--mode", "compare_and_swap"], 8, 2),
    ],
)
def test_a_map_without_sizes_is_counted_with_those_of_the_probe(
    options: list[str], size: int, messages: int
) -> None:
    """10 pairs of 5 ranks, and 10 µs of each message whatever its size."""
    work = work_of("latency-map", [*options, "--repeats", "95", "--schedule", "serial"], 5, {})
    assert work is not None
    assert work.sizes == [size]
    seconds = work.expected(trial_of(1e-5, wall=3.0), wall=5.0).seconds
    assert seconds == pytest.approx(2.0 + messages * 1e-5 * 10 * 100)


def test_a_map_is_counted_by_its_order_and_its_nodes() -> None:
    def rounds(ranks: int, hosts: list[str], *options: str) -> int:
        work = work_of("latency-map", options, ranks, USUAL)
        assert work is not None
        return work.rounds(hosts)

    assert rounds(8, ["a"] * 8) == 28
    assert rounds(8, list("abcdefgh")) == 7
    assert rounds(8, list("aabbccdd")) == 3 * 4 + 1
    assert rounds(8, list("aabbccdd"), "--schedule", "serial") == 28
    assert rounds(8, list("aabbccdd"), "--schedule=rounds") == 7


def test_a_trial_that_was_cut_short_says_at_least() -> None:
    work = work_of("point-to-point", ["--repeats", "995"], 2, USUAL)
    assert work is not None
    trial = trial_of(1.0, wall=20.0)
    trial.warnings = [{"record": "warning", "code": "cut-short", "text": "…"}]
    found = work.expected(trial, wall=21.0)
    assert found.how == "at least"
    assert found.seconds > 600


def test_the_bound_of_a_small_measurement_is_short_and_that_of_a_large_one_is_not() -> None:
    """Only what may be long costs a trial."""
    small = work_of("collective", ["--op", "bcast"], 16, {"--bytes": "8:512KiB:x4"})
    large = work_of("latency-map", ["--repeats", "1000"], 1024, USUAL)
    assert small is not None
    assert large is not None
    assert small.bound() < 600 < large.bound()


@pytest.mark.parametrize(
    ("experiment", "options"),
    [
        ("hotspot", []),
        ("tile-io", []),
        ("point-to-point", ["--bytes", "many"]),
        ("point-to-point", ["--repeats"]),
    ],
)
def test_what_cannot_be_counted_is_not_estimated(experiment: str, options: list[str]) -> None:
    assert work_of(experiment, options, 4, USUAL) is None


def test_with_a_precision_the_time_of_a_point_is_the_limit() -> None:
    options = ["--bytes", "8,64", "--precision", "0.05", "--max-time", "2"]
    work = work_of("point-to-point", options, 2, USUAL)
    assert work is not None
    found = work.expected(trial_of(1.0, wall=3.0), wall=3.0)
    assert found == Expected(4.0, "at most")


def test_limits_are_found_among_options() -> None:
    assert time_limit(["--bytes", "8", "--time-limit", "60"]) == 60
    assert time_limit(["--time-limit=60", "--time-limit=90"]) == 90
    assert time_limit(["--time-limit", "0"]) is None
    assert time_limit(["--bytes", "8"]) is None
    assert Expected(100.0).limited(60.0) == Expected(60.0, "at most")
    assert Expected(30.0).limited(60.0) == Expected(30.0)
