"""Benchmarks of the layers below MPI: their numbers, units and what their times mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.changes.compare import compare
from isochrone.runfile import any_file
from isochrone.runfile.any_file import read, read_all
from isochrone.sweep.curves import curves

HALF, WINDOW = "half a round trip", "message of a window"
BOTH = "exchange of a window in both directions"
MIB = 2**20

TIMES = {
    "perftest/send-lat.txt": ("ib_send_lat", HALF, {2: 1.67, 8: 1.80, 64: 1.76}),
    "perftest/write-bw.txt": (
        "ib_write_bw",
        WINDOW,
        {64: 64e6 / 332.85 / MIB, 1024: 1024e6 / 3405.64 / MIB},
    ),
    "perftest/read-bw-gbits.txt": ("ib_read_bw", BOTH, {65536: 2 * 65536 * 8e-3 / 96.40}),
    "ucx-perftest/tag-lat.txt": ("ucx_tag_lat", HALF, {8: 1.523}),
    "ucx-perftest/put-lat-1.3.txt": ("ucx_put_lat", HALF, {8: 0.844}),
    "ucx-perftest/tag-bw.txt": ("ucx_tag_bw", WINDOW, {104857600: 2202.916}),
    "ucx-perftest/tag-bw-1.5.txt": ("ucx_tag_bw", WINDOW, {65536: 5.460}),
    "fabtests/pingpong.txt": ("fi_pingpong", HALF, {64: 4.97, 1024: 4.38, 65536: 9.27, MIB: 49.38}),
    "fabtests/unnamed.txt": ("fabtests", "transfer", {1: 14.94, 2: 15.24}),
    "iperf3/tcp.json": ("point-to-point", WINDOW, {131072: 131072 * 8e6 / 350296574.28915393}),
    "netgauge/one-one.txt": (
        "netgauge_one_one",
        HALF,
        {1: 8 / 7.02, 2: 8 * 2 / 13.91, 4: 8 * 4 / 28.07},
    ),
    "netgauge/one-one-v.txt": ("netgauge_one_one", HALF, {1: 1.14, 1024: 2.02}),
    "netgauge/loggp.txt": ("netgauge_loggp", HALF, {1: 1.125, 1025: 1.6625, 2049: 2.345}),
    "netpipe/mpi.txt": ("netpipe", HALF, {1: 36.05, 2: 36.12, 3: 36.21}),
    "netpipe/tagged.txt": ("netpipe", HALF, {1: 5.652, 16386: 5.604}),
    "sockperf/ping-pong.txt": ("sockperf", HALF, {64: 88.170}),
}


@pytest.mark.parametrize("file", TIMES)
def test_times_of_pairs(file: str) -> None:
    test, meaning, times = TIMES[file]
    run = read(ROOT / "tests/golden" / file)
    (curve,) = curves(run)
    assert (run.experiment, run.size, curve.key) == ("point-to-point", 2, {"pair": [0, 1]})
    assert run.header["seconds_are"] == meaning
    assert [point.bytes for point in curve.points] == [*times]
    micro = [point.median * 1e6 for point in curve.points]
    assert micro == pytest.approx([*times.values()], rel=1e-9)
    assert any_file.tests_of(run) == test


def test_bandwidths_are_those_of_the_message_rates() -> None:
    """MB of perftest are 2**20: only so bytes times messages a second are the bandwidth."""
    (curve,) = curves(read(ROOT / "tests/golden/perftest/write-bw.txt"))
    rates = {64: 5.453383e6, 1024: 3.487379e6}
    for point in curve.points:
        assert point.bandwidth == pytest.approx(point.bytes * rates[point.bytes], rel=1e-4)


def test_ping_pong_and_rings_of_hpcc() -> None:
    run = read(ROOT / "tests/golden/hpcc/summary.txt")
    found = {(c.key["op"], c.p, p.bytes): p.median * 1e6 for c in curves(run) for p in c.points}
    assert found == pytest.approx(
        {
            ("pingpong", 2, 8): 1.29715,
            ("pingpong", 2, 2_000_000): 2000 / 4.0223,
            ("natural_ring", 16, 8): 1.5974,
            ("random_ring", 16, 8): 1.67591,
        }
    )


def test_operations_of_mpibench_have_the_time_of_the_slowest_rank() -> None:
    run = read(ROOT / "tests/golden/mpibench/mpibench-1.5.txt")
    found = {curve.key["op"]: curve for curve in curves(run)}
    assert {op: [p.bytes for p in curve.points] for op, curve in found.items()} == {
        "barrier": [0],
        "bcast": [8, 64, 1024],
        "alltoall": [8, 64, 1024],
        "reduce": [8, 64, 1024],
    }
    assert {curve.p for curve in found.values()} == {2}
    assert found["bcast"].points[0].median == pytest.approx(1.4176e-6)
    assert found["bcast"].points[0].n == 20


def test_tables_of_skampi_have_the_ranks_and_sizes_of_their_rows() -> None:
    """A ping-pong is half of the printed time; ranks are those of `procs=` or of the times."""
    path = ROOT / "tests/golden/skampi/skampi-6.0.txt"
    pair, collectives = read_all(path)
    assert pair.header["seconds_are"] == HALF
    (curve,) = curves(pair)
    assert {p.bytes: p.median for p in curve.points} == pytest.approx(
        {4: 3.8e-6, 16: 2.15e-6, 64: 2.5e-6, 256: 2.25e-6, 1024: 2.4e-6, 4096: 3.55e-6}
    )
    sizes = {(c.key["op"], c.p): [p.bytes for p in c.points] for c in curves(collectives)}
    assert sizes == {
        ("bcast", 2): [1024],
        ("bcast", 3): [4, 16, 64, 256, 1024, 4096],
        ("barrier", 2): [0],
        ("barrier", 3): [0],
    }
    assert [warning["code"] for warning in pair.warnings].count("benchmarks-ignored") == 1


def test_rows_of_skampi_may_have_two_variables(tmp_path: Path) -> None:
    path = tmp_path / "skampi.txt"
    path.write_text(
        '# begin result "MPI_Bcast-nodes-length"\n'
        "nodes= 2 count= 1        1       6.6       0.1       54       3.1       6.6\n"
    )
    (curve,) = curves(read(path))
    assert (curve.p, curve.points[0].bytes, curve.points[0].median) == (2, 1, pytest.approx(6.6e-6))


@pytest.mark.parametrize(
    ("sample", "cut"),
    [("fabtests/unnamed.txt", 12), ("ucx-perftest/tag-bw-1.5.txt", 20)],
)
def test_rows_that_are_cut_are_named(sample: str, cut: int, tmp_path: Path) -> None:
    """Protects from numbers that are lost without a word."""
    whole = (ROOT / "tests/golden" / sample).read_text().rstrip()
    last = whole.splitlines()[-1]
    path = tmp_path / "cut.txt"
    path.write_text(f"{whole}\n{last[:-cut]}\nend\n")
    run = read(path)
    assert [w["code"] for w in run.warnings if w["code"] == "lines-ignored"] == ["lines-ignored"]


def test_every_repetition_of_repro_mpi_counts() -> None:
    (curve,) = curves(read(ROOT / "tests/golden/repro-mpi/raw.txt"))
    assert (curve.key, curve.p) == ({"op": "allreduce"}, 4)
    assert [(point.bytes, point.n) for point in curve.points] == [(1, 3), (10, 3)]
    assert [p.median for p in curve.points] == pytest.approx([3.0911e-6, 2.946e-6])
    run = read(ROOT / "tests/golden/repro-mpi/summary.txt")
    assert "median_is_mean" not in run.header
    (curve,) = curves(run)
    assert {p.bytes: p.median for p in curve.points} == pytest.approx({8: 4.1e-6, 80: 4.4e-6})


def test_gpcnet_shows_what_congestion_costs() -> None:
    alone, congested = read_all(ROOT / "tests/golden/gpcnet/network-load-test.txt")
    found = compare([alone], [congested], as_they_are=True)
    ratios = {point.key["op"]: point.ratio for point in found.points}
    assert ratios == pytest.approx(
        {
            "rr_two_sided_lat": 2.9 / 1.9,
            "rr_two_sided_bw_sync": 4057.7 / 2057.7,
            "multiple_allreduce": 20.3 / 10.3,
        }
    )
    assert [one["what"] for one in found.differences] == ["network"]
    (point,) = (c.points[0] for c in curves(alone) if c.key["op"] == "rr_two_sided_bw_sync")
    assert point.bandwidth == pytest.approx(4057.7 * MIB)


@pytest.mark.parametrize("file", ["ucx-perftest/tag-lat.txt", "sockperf/ping-pong.txt"])
def test_a_size_that_the_file_does_not_say_is_not_guessed(file: str, tmp_path: Path) -> None:
    text = (ROOT / "tests/golden" / file).read_text().partition("\n")[2]
    path = tmp_path / "out.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert "command" in caught.value.hint


def test_the_fabric_is_compared_with_mpi(tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text("# OSU MPI Latency Test v7.3\n# Size  Latency (us)\n2 2.10\n8 2.20\n64 2.30\n")
    found = compare(
        read_all(ROOT / "tests/golden/perftest/send-lat.txt"), read_all(path), as_they_are=True
    )
    overhead = {point.key["bytes"]: point.after - point.before for point in found.points}
    assert overhead == pytest.approx({2: 0.43e-6, 8: 0.40e-6, 64: 0.54e-6})


def test_the_last_stage_of_a_run_that_was_ended_is_its_result(tmp_path: Path) -> None:
    text = (ROOT / "tests/golden/ucx-perftest/tag-lat.txt").read_text().partition("Final:")[0]
    path = tmp_path / "out.txt"
    path.write_text(text.replace("1.523 ", "1.527 "))
    (curve,) = curves(read(path))
    assert [(point.bytes, round(point.median * 1e6, 3)) for point in curve.points] == [(8, 1.527)]


def test_numbers_of_transfers_are_thousands_and_sizes_powers_of_two(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    head = "bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n"
    path.write_text(head + "1k      10k     19m         0.30s      0.07      14.94       0.07\n")
    (point,) = curves(read(path))[0].points
    assert (point.bytes, point.n) == (1024, 10_000)
