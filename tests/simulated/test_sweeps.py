"""Size sweeps against truths: machines whose every time is a sum on paper."""

from __future__ import annotations

import numpy as np
import pytest

from beds.simulation import Simulation
from isochrone.base.errors import InputError
from isochrone.measure.platforms import Platform, parse
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves

MACHINE = "nodes:4 cores:1"
SIZES = [0, 8, 1024, 65536, 1048576]
LISTED = ",".join(map(str, SIZES))


def medians(run: Run) -> dict[int, float]:
    samples = run.tables["sample"]
    return {
        size: float(np.median(samples["seconds"][samples["bytes"] == size]))
        for size in sorted(set(samples["bytes"].tolist()))
    }


def one_way(machine: Platform, nbytes: int) -> float:
    return machine.one_way(0, machine.nodes - 1, nbytes)


MODES = ["blocking", "nonblocking", "persistent", "bidirectional", "put", "get"]
DETACHED = "--launcher-arg=--cfg=smpi/async-small-thresh:65536"
"""Short messages leave at once, and no send waits until its message has arrived."""


@pytest.mark.few(3)
@pytest.mark.parametrize("mode", ["blocking", "nonblocking", "persistent", "put", "get"])
def test_a_message_takes_latency_plus_size_over_bandwidth(
    simulation: Simulation, mode: str
) -> None:
    machine = parse(MACHINE)
    run = simulation.measure("point-to-point", machine, "--bytes", LISTED, "--mode", mode)
    found = medians(run)
    assert list(found) == SIZES
    for size, seconds in found.items():
        assert seconds == pytest.approx(one_way(machine, size), rel=0.01)


THERE_AND_BACK = ("get_accumulate", "fetch_and_op", "compare_and_swap")
"""In SimGrid the operands go there, and what was there comes back as a second message."""


@pytest.mark.few(4)
@pytest.mark.parametrize("sync", ["flush", "lock", "lock_all", "pscw"])
@pytest.mark.parametrize("mode", ["put", "get", "accumulate", *THERE_AND_BACK])
def test_an_access_takes_its_messages(simulation: Simulation, mode: str, sync: str) -> None:
    """With pscw the partner first says that it may begin, and the target waits for the end."""
    machine = parse(MACHINE + " latency:5us")
    sizes = () if mode in THERE_AND_BACK[1:] else ("--bytes", "8,64KiB")
    run = simulation.measure("point-to-point", machine, "--mode", mode, "--rma-sync", sync, *sizes)
    for size, seconds in medians(run).items():
        expected = one_way(machine, size) * (1 + (mode in THERE_AND_BACK))
        if sync == "pscw":
            adds = "accumulate" in mode or mode == "fetch_and_op"
            expected += one_way(machine, 0) * (1 + adds)
        assert seconds == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("machine", "options"),
    [
        ("nodes:2 cores:1", ("--rma-window", "shared")),
        ("nodes:3 cores:1", ("--rma-sync", "fence")),
        ("nodes:2 cores:1", ("--mode", "partitioned")),
    ],
    ids=["shared", "fence", "partitioned"],
)
def test_what_these_ranks_cannot_do_is_refused(
    simulation: Simulation, machine: str, options: tuple[str, ...]
) -> None:
    """Memory is shared on one node only, and all ranks take part in a fence. Nothing is left.
    SimGrid has no partitioned messages.
    """
    taken = ("--mode", "put", "--bytes", "8", "--repeats", "2", *options)
    with pytest.raises(InputError):  # of the file
        simulation.measure_file(
            "point-to-point", parse(machine).xml(), parse(machine).hosts(), *taken, code=2
        )


def of_a_window(machine: Platform, mode: str, window: int, nbytes: int) -> float:
    """Say on paper how long a message of a window takes.

    W messages leave one after the other. Those to a rank end with an empty answer, which is one
    latency more; a blocking send of a long message waits for its own latency, too. Both directions
    share the links.
    """
    empty = one_way(machine, 0)
    occupied = one_way(machine, nbytes) - empty
    if mode == "bidirectional":
        return empty / window + 2 * occupied
    if mode in ("put", "get"):
        return empty / window + occupied
    if mode == "blocking" and nbytes >= 65536:
        return empty + occupied + empty / window
    return 2 * empty / window + occupied


@pytest.mark.few(3)
@pytest.mark.parametrize("window", [4, 64])
@pytest.mark.parametrize("mode", MODES)
def test_a_window_of_messages_fills_the_link(
    simulation: Simulation, mode: str, window: int
) -> None:
    machine = parse(MACHINE + " latency:5us")
    options = ("--bytes", "8,1MiB", "--window", str(window), "--mode", mode)
    run = simulation.measure("point-to-point", machine, *options)
    for size, seconds in medians(run).items():
        assert seconds == pytest.approx(of_a_window(machine, mode, window, size), rel=0.02)


@pytest.mark.few
@pytest.mark.parametrize("window", [1, 4, 64])
@pytest.mark.parametrize("launcher", [(), (DETACHED,)], ids=["waiting", "detached"])
def test_an_exchange_takes_as_long_however_the_two_ranks_are_in_phase(
    simulation: Simulation, launcher: tuple[str, ...], window: int
) -> None:
    """With detached sends a rank ran half a phase ahead: samples alternated between 0 and 2x."""
    machine = parse("nodes:2 cores:1 latency:5us")
    options = ("--bytes", "8", "--window", str(window), "--mode", "bidirectional", "--repeats", "9")
    run = simulation.measure("point-to-point", machine, *options, launcher=launcher)
    expected = of_a_window(machine, "bidirectional", window, 8)
    for seconds in run.tables["sample"]["seconds"]:
        assert seconds == pytest.approx(expected, rel=0.05)


def test_a_bisection_of_idle_links_is_as_fast_as_each_pair(simulation: Simulation) -> None:
    """Every pair has its own links here: each takes its own time, and the rates add up."""
    machine = parse(MACHINE)
    run = simulation.measure("bisection", machine, "--bytes", "64KiB")
    samples = run.tables["sample"]
    expected = one_way(machine, 65536)
    for times in samples["times"]:
        assert times == pytest.approx([expected, expected], rel=0.01)
    assert samples["rate"] == pytest.approx(2 * 65536 / expected, rel=0.01)


def test_pairs_that_share_a_link_share_its_rate(simulation: Simulation) -> None:
    """Two pairs over one node's port: large messages take twice as long as alone."""
    machine = parse("nodes:2 cores:2")
    run = simulation.measure("bisection", machine, "--bytes", "4MiB")
    alone = one_way(machine, 4 << 20)
    assert medians(run)[4 << 20] == pytest.approx(2 * alone, rel=0.02)


def test_aggregate_bandwidth_of_pairs_on_one_link_is_that_of_the_link(
    simulation: Simulation,
) -> None:
    """P pairs over one port share its bandwidth: the sum stays, and the efficiency is 1/P."""
    machine = parse("nodes:2 cores:4")
    nbytes = 4 << 20
    options = ("--pairs-at-once", "1,2,4", "--bytes", str(nbytes))
    run = simulation.measure("point-to-point", machine, *options)
    alone = nbytes / machine.one_way(0, 1, nbytes)
    for curve in curves(run):
        (point,) = curve.points
        assert point.bandwidth == pytest.approx(alone, rel=0.03)
        if curve.key["pairs"] > 1:
            assert point.efficiency == pytest.approx(1 / curve.key["pairs"], rel=0.03)


def test_queues_cost_nothing_where_matching_takes_no_time(simulation: Simulation) -> None:
    """The simulator finds a receive at once: what is in the queue does not show in the time."""
    machine = parse("nodes:2 cores:1")
    options = ("--entries", "0,200", "--queue", "posted,wildcard")
    run = simulation.measure("matching", machine, *options)
    for curve in curves(run):
        assert curve.points[0].median == pytest.approx(one_way(machine, 8), rel=0.01)


def test_pairs_of_idle_links_scale_with_their_number(simulation: Simulation) -> None:
    """Neighbours on nodes of their own do not share a link: the efficiency is 1."""
    options = ("--pairs-at-once", "1,2,3", "--pairing", "neighbours", "--bytes", "64KiB")
    run = simulation.measure("point-to-point", parse("nodes:6 cores:1"), *options)
    efficiencies = {curve.key["pairs"]: curve.points[0].efficiency for curve in curves(run)}
    assert efficiencies == {1: None, 2: pytest.approx(1, rel=0.01), 3: pytest.approx(1, rel=0.01)}


@pytest.mark.few(2)
@pytest.mark.parametrize("op", ["bcast", "reduce", "scatter", "gather"])
def test_a_collective_of_two_ranks_is_one_message(simulation: Simulation, op: str) -> None:
    """Started at one moment, as --sync window does: latency plus size over bandwidth."""
    machine = parse("nodes:2 cores:1")
    options = ("--op", op, "--bytes", "8,64KiB", "--sync", "window")
    run = simulation.measure("collective", machine, *options)
    for size, seconds in medians(run).items():
        assert seconds == pytest.approx(one_way(machine, size), rel=0.01)


@pytest.mark.few(2)
@pytest.mark.parametrize("op", ["bcast", "reduce", "scatter", "gather"])
def test_a_barrier_adds_at_most_the_skew_of_leaving_it(simulation: Simulation, op: str) -> None:
    """The last rank leaves a barrier one latency after the first: so wrong is --sync barrier."""
    machine = parse("nodes:2 cores:1")
    run = simulation.measure("collective", machine, "--op", op, "--bytes", "8,64KiB")
    for size, seconds in medians(run).items():
        right = one_way(machine, size)
        assert 0.99 * right <= seconds <= right + 1.01 * one_way(machine, 0)


def test_sixteen_ranks_each_report_their_own_time(simulation: Simulation) -> None:
    """The root of a broadcast is done first, the last leaf of the tree determines the time."""
    machine = parse("nodes:16 cores:1")
    options = ("--op", "bcast", "--bytes", "1KiB", "--sync", "window")
    samples = simulation.measure("collective", machine, *options).tables["sample"]
    for times, seconds in zip(samples["times"], samples["seconds"], strict=True):
        assert len(times) == 16
        assert times[0] == min(times)
        assert seconds == max(times) >= 4 * one_way(machine, 0)


BREAKS = [4096, 50000, 200000]
FACTORS = (
    "--launcher-arg=--cfg=smpi/bw-factor:0:1;4096:0.8;50000:0.9;200000:0.6",
    "--launcher-arg=--cfg=smpi/lat-factor:0:1;4096:4;50000:9;200000:30",
)
GAP = 256
STOP = 262144


def test_auto_finds_every_protocol_switch_with_few_points(simulation: Simulation) -> None:
    """Each break lies between two neighbouring sizes that are no further apart than the smallest
    gap or 2 %, for at most a quarter of the points that equal steps of that gap would take; and no
    interval of 2 % is divided.
    """
    options = (
        "--bytes",
        f"auto:0:{STOP}",
        "--smallest-gap",
        str(GAP),
        "--max-points",
        "1000",
    )
    run = simulation.measure("point-to-point", parse(MACHINE), *options, launcher=FACTORS)
    sizes = np.array(sorted(medians(run)))
    for edge in BREAKS:
        k = int(np.searchsorted(sizes, edge - 16 * 1.001))  # the message has a header of 16 bytes
        assert sizes[k] - sizes[k - 1] <= max(GAP, 0.02 * sizes[k])
    assert len(sizes) <= (STOP / GAP + 1) / 4
    steps, above = np.diff(sizes), sizes[1:]
    assert np.all((steps > 0.0099 * above)[above > 4 * GAP / 0.02])


def test_auto_spends_no_points_on_a_straight_line(simulation: Simulation) -> None:
    """The starting sizes and the middles between them show that it is straight."""
    run = simulation.measure("point-to-point", parse(MACHINE), "--bytes", "auto:0:1MiB")
    assert len(medians(run)) <= 17


def test_auto_stops_at_the_largest_number_of_points(simulation: Simulation) -> None:
    options = ("--bytes", f"auto:0:{STOP}", "--max-points", "15")
    run = simulation.measure("point-to-point", parse(MACHINE), *options, launcher=FACTORS)
    assert len(medians(run)) == 15
    assert "max-points" in {warning["code"] for warning in run.warnings}


def test_short_time_lowers_repetitions_before_points(simulation: Simulation) -> None:
    """A limit that is far too short for all repetitions still leaves every size some."""
    options = ("--bytes", "8,64,512,4KiB", "--repeats", "1000000", "--time-limit", "0.01")
    run = simulation.measure("point-to-point", parse("nodes:2"), *options)
    sizes, counts = np.unique(run.tables["sample"]["bytes"], return_counts=True)
    assert sizes.tolist() == [8, 64, 512, 4096]
    assert min(counts) >= 3
    assert max(counts) < 1000000
    assert "repeats-lowered" in {warning["code"] for warning in run.warnings}
