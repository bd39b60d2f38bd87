"""Output of the OSU and Intel benchmarks: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beds.golden import Golden
from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.cli.main import main
from isochrone.formats import exporter as exporters
from isochrone.formats.importers import imb, osu
from isochrone.runfile import file as runs
from isochrone.runfile.any_file import read_all
from isochrone.runfile.importer import Wanted
from isochrone.runfile.run import Run
from isochrone.sweep.curves import Curve, curves

GOLDEN = ROOT / "tests/golden"
many = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
LATENCY = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n"
PINGPONG = (
    "# Benchmarking PingPong\n# #processes = 2\n"
    "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
)


def of(module: Any, tmp_path: Path, text: str, **options: Any) -> Run:
    path = tmp_path / "out.txt"
    path.write_text(text)
    run = module.IMPORTER.read(path, **options)
    assert isinstance(run, Run)
    return run


def points(curve: Curve) -> dict[int, float]:
    return {point.bytes: round(point.median * 1e6, 4) for point in curve.points}


def test_osu_latency_of_all_layouts(golden: Golden) -> None:
    """The order of the comment lines, a validation column and percentiles differ by version."""
    run = osu.IMPORTER.read(GOLDEN / "osu/latency-7.2.txt")
    (curve,) = curves(run)
    assert curve.key == {"pair": [0, 1]}
    assert points(curve)[1048576] == 259.63
    assert (run.experiment, run.size, run.complete) == ("point-to-point", 2, True)
    golden(run.header["seconds_are"])
    assert [w["code"] for w in run.warnings] == ["median-is-mean"]
    (curve,) = curves(osu.IMPORTER.read(GOLDEN / "osu/latency-7.5-validated.txt"))
    assert points(curve) == {1: 3.0, 2: 2.99, 4: 2.99, 1024: 4.43}


def test_osu_percentiles_give_the_true_median() -> None:
    run = osu.IMPORTER.read(GOLDEN / "osu/latency-7.4-tail.txt")
    (curve,) = curves(run)
    assert points(curve) == {1: 1.58, 2: 1.57, 1024: 2.2}
    assert curve.points[0].mean == pytest.approx(1.67e-6)
    assert run.warnings == []
    assert "median_is_mean" not in run.header


def test_rows_with_wrong_data_are_left_out(tmp_path: Path) -> None:
    text = "# OSU MPI Latency Test v7.4\n# Size  Avg Latency(us)  Validation\n"
    run = of(osu, tmp_path, text + "1  1.5  Pass\n2  2.5  Fail\n4  3.5  Pass\n")
    (curve,) = curves(run)
    assert points(curve) == {1: 1.5, 4: 3.5}
    (warning,) = (one for one in run.warnings if one["code"] == "invalid-data")
    assert "4" in warning["text"], "the number of the line"


def test_names_of_tests_differ_in_upper_case(tmp_path: Path) -> None:
    text = LATENCY.replace("OSU MPI Latency", "OSU MPI_Get latency") + "1  34.7\n"
    run = of(osu, tmp_path, text)
    assert run.header["options"]["mode"] == "get"


def test_the_median_of_a_collective_is_its_50th_percentile(tmp_path: Path) -> None:
    text = "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)  P50 Tail Lat(us)\n"
    run = of(osu, tmp_path, text + "1  10.0  4.0\n", ranks=4)
    (curve,) = curves(run)
    assert points(curve) == {1: 4.0}
    assert "median_is_mean" not in run.header


def test_osu_bandwidth_in_one_and_both_directions() -> None:
    (curve,) = curves(osu.IMPORTER.read(GOLDEN / "osu/bw-7.1.txt"))
    assert curve.points[-1].bandwidth == pytest.approx(23012.88e6)
    assert curve.points[-1].median == pytest.approx(4194304 / 23012.88e6)
    assert curve.points[0].message_rate == pytest.approx(3.45e6)
    (both,) = curves(osu.IMPORTER.read(GOLDEN / "osu/bibw-5.6.2.txt"))
    assert both.points[-1].bandwidth == pytest.approx(28.51e6)
    assert both.points[-1].median == pytest.approx(16 / 28.51e6)


def test_osu_persistent_messages_have_their_modes() -> None:
    """Version 7 writes "Latency Persistent"."""
    runs = osu.IMPORTER.all_runs(GOLDEN / "osu/persistent-7.4.txt", Wanted())
    assert [run.options["mode"] for run in runs] == [
        "persistent",
        "persistent",
        "bidirectional_persistent",
    ]
    (latency,), _, (both,) = map(curves, runs)
    assert latency.points[0].median == pytest.approx(1.78e-6)
    assert both.points[0].median == pytest.approx(2 * 8 / 9.28e6)
    assert both.points[0].bandwidth == pytest.approx(9.28e6)


def test_osu_neighbours_without_their_name_are_not_all_ranks() -> None:
    """`osu_neighbor_alltoallw` of 7.4 has the title of `osu_alltoallw`."""
    (curve,) = curves(osu.IMPORTER.read(GOLDEN / "osu/neighbor_alltoallw-7.4.txt", ranks=3))
    assert curve.key["op"] == "neighbor_alltoallw"


def test_osu_message_rate_is_a_bisection_of_its_pairs() -> None:
    run = osu.IMPORTER.read(GOLDEN / "osu/mbw_mr-3.6.txt")
    (curve,) = curves(run)
    assert (curve.key, curve.p, run.size) == ({"pairs": 2}, 4, 4)
    assert curve.points[-1].bandwidth == pytest.approx(2906.57e6)
    assert list(run.tables["cut"].rows()) == [{"i": 0, "j": 2}, {"i": 1, "j": 3}]


def test_osu_multi_latency_is_of_pairs_at_once(tmp_path: Path) -> None:
    """OSU prints the mean over the pairs; how many there are has to be said."""
    text = "# OSU MPI Multi Latency Test v7.5\n# Size          Latency (us)\n0 1.5\n8 2.0\n"
    with pytest.raises(InputError) as caught:
        of(osu, tmp_path, text)
    assert "--ranks N" in caught.value.hint
    (curve,) = curves(osu.IMPORTER.read(tmp_path / "out.txt", ranks=6))
    assert (curve.key, curve.p, points(curve)) == ({"pairs": 3}, 6, {0: 1.5, 8: 2.0})


def test_osu_collectives_need_the_number_of_ranks(golden: Golden) -> None:
    path = GOLDEN / "osu/collectives-5.8.txt"
    with pytest.raises(InputError) as caught:
        osu.IMPORTER.read(path)
    golden(caught.value)
    assert "--ranks N" in caught.value.hint
    allreduce, barrier = curves(osu.IMPORTER.read(path, ranks=384))
    assert (allreduce.key, allreduce.p) == ({"op": "allreduce"}, 384)
    assert points(allreduce)[1048576] == 2159.77
    assert points(barrier) == {0: 12.57}
    assert barrier.points[0].bandwidth is None


def test_osu_full_output_gives_the_slowest_rank() -> None:
    run = osu.IMPORTER.read(GOLDEN / "osu/bcast-7.0-full.txt", ranks=4)
    (curve,) = curves(run)
    assert points(curve)[8] == 164.88
    assert curve.points[0].n == 1000
    assert run.header["seconds_are"] == "operation, slowest rank"


def test_osu_one_sided() -> None:
    run = osu.IMPORTER.read(GOLDEN / "osu/put-5.8.txt")
    assert run.header["options"]["mode"] == "put"
    assert points(curves(run)[0])[1024] == 0.15


@pytest.mark.parametrize(
    ("title", "mode"),
    [
        ("OSU MPI_Put Bi-directional Bandwidth Test", "bidirectional_put"),
        ("OSU MPI_Accumulate Latency Test", "accumulate"),
        ("OSU MPI_Get_accumulate latency Test", "get_accumulate"),
        ("OSU MPI_Fetch_and_op latency Test", "fetch_and_op"),
        ("OSU MPI_Compare_and_swap latency Test", "compare_and_swap"),
    ],
)
def test_osu_one_sided_tests_have_our_modes(tmp_path: Path, title: str, mode: str) -> None:
    """And the lines below the title are our options."""
    column = "Bandwidth (MB/s)" if "Bandwidth" in title else "Latency (us)"
    text = (
        f"# {title} v5.8\n# Window creation: MPI_Win_create_dynamic\n"
        f"# Synchronization: MPI_Win_lock/unlock\n# Size  {column}\n8  2.0\n"
    )
    run = of(osu, tmp_path, text)
    assert run.options["mode"] == mode
    assert (run.options["rma-window"], run.options["rma-sync"]) == ("dynamic", "lock")


def test_the_same_table_again_is_another_repetition(tmp_path: Path) -> None:
    text = LATENCY + "8 1.5\n64 1.7\n\n" + LATENCY + "8 1.7\n64 1.9\n"
    (curve,) = curves(of(osu, tmp_path, text))
    assert [(p.n, round(p.median * 1e6, 3)) for p in curve.points] == [(2, 1.6), (2, 1.8)]


CASES = [
    ("", None, "the file has no table"),
    (LATENCY, None, "the file has no table"),
    (LATENCY + "8 fast\n", 3, "'mean' is 'fast', not a number"),
    (LATENCY + "8 -1\n", 3, "'mean' is negative"),
    (LATENCY + "8 1e30\n", 3, "'mean' is '1e30', which is not a time"),
    (LATENCY + "8.5 1\n", 3, "'size' is '8.5'"),
    (LATENCY + "99999999999999999999 1\n", 3, "'size' is '9999"),
    (LATENCY + "8 1 2\n", 3, "the line has 3 columns, not 2"),
    (LATENCY + "8 1\n8 2\n", 4, "the table has two lines for 8 bytes"),
    (
        LATENCY.replace("Latency Test", "Odd Latency Test") + "8 1\n",
        1,
        "the test 'Odd Latency' is not supported",
    ),
    (
        LATENCY.replace("Latency Test", "Bandwidth Test") + "8 1\n",
        1,
        "the table lacks columns of its test",
    ),
    (
        LATENCY + "8 1\n" + LATENCY.replace("MPI L", "MPI_Put L") + "8 1\n",
        None,
        "the file has several tests:",
    ),
]


def test_osu_errors_name_the_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text, line, what in CASES:
        with subtests.test(str((text, line, what))):
            with pytest.raises(InputError) as caught:
                of(osu, tmp_path, text)
            where = str(tmp_path / "out.txt") + (f":{line}" if line else "")
            assert caught.value.where == where
            assert caught.value.what.startswith(what)


@pytest.mark.parametrize(("module", "head"), [(osu, LATENCY), (imb, PINGPONG)])
def test_a_last_line_that_was_cut_is_left_out(module: Any, head: str, tmp_path: Path) -> None:
    row = "8 1.5" if module is osu else "8 1000 1.5 2.0"
    run = of(module, tmp_path, f"{head}{row}\n64")
    assert not run.complete
    assert run.warnings[0]["code"] == "cut-short"
    assert points(curves(run)[0]) == {8: 1.5}


def test_imb_pingpong_alone_is_point_to_point() -> None:
    run = imb.IMPORTER.read(GOLDEN / "imb/pingpong-2021.txt")
    (curve,) = curves(run)
    assert (run.experiment, curve.key) == ("point-to-point", {"pair": [0, 1]})
    assert points(curve)[256] == 2.14
    assert curve.points[-1].n == 1000
    assert curve.points[-1].bandwidth == pytest.approx(256 / 2.14e-6)


def test_imb_several_tables_are_collectives_with_their_numbers_of_processes() -> None:
    """The time is that of the slowest rank; MB/s are counted anew: versions mean 10**6 or 2**20."""
    pair, run = read_all(GOLDEN / "imb/several.txt")
    found = {(c.key["op"], c.p): c for c in curves(run)}
    assert set(found) == {("sendrecv", 4), ("bcast", 2), ("bcast", 4), ("barrier", 4)}
    assert (run.size, pair.size) == (4, 2)
    assert points(found["bcast", 4]) == {0: 0.03, 1: 170.76, 2: 171.1}
    assert points(found["barrier", 4]) == {0: 12.75}
    assert found["sendrecv", 4].points[-1].bandwidth == pytest.approx(2 * 512 / 8.91e-6)
    assert curves(pair)[0].points[-1].bandwidth == pytest.approx(512 / 3.41e-6)


def test_imb_groups_at_once_have_the_time_of_the_slowest(tmp_path: Path) -> None:
    grouped = (
        PINGPONG.replace("PingPong", "Multi-PingPong")
        .replace("# #processes = 2", "# ( 2 groups of 2 processes each running simultaneous )")
        .replace("#bytes", "Group #bytes")
    )
    run = of(imb, tmp_path, grouped + "0 8 1000 1.5 5.3\n1 8 1000 1.6 5.0\n")
    (curve,) = curves(run)
    assert (run.experiment, run.size, curve.p, curve.key) == ("bisection", 4, 4, {"pairs": 2})
    assert points(curve) == {8: 1.6}
    assert curve.points[0].bandwidth == pytest.approx(2 * 8 / 1.6e-6)
    assert list(run.tables["cut"].rows()) == [{"i": 0, "j": 1}, {"i": 2, "j": 3}]


def test_imb_bands_are_bisections_by_their_message_rate(tmp_path: Path) -> None:
    """Mbytes are 2**20 in some versions; messages are messages."""
    text = (
        "# Benchmarking Biband\n# #processes = 4\n"
        "#bytes #repetitions Mbytes/sec Msg/sec\n0 10 0.00 1000000\n8 10 7.63 1000000\n"
    )
    run = of(imb, tmp_path, text)
    (curve,) = curves(run)
    assert (run.experiment, curve.key, curve.p) == ("bisection", {"pairs": 2}, 4)
    assert points(curve) == {0: 4.0, 8: 4.0}
    assert curve.points[-1].bandwidth == pytest.approx(8e6)


def test_a_row_that_is_not_understood_is_left_out(tmp_path: Path) -> None:
    """The warning names the line; the others are read."""
    run = of(osu, tmp_path, LATENCY + "8 1.5\n16 fast\n17: Error\n32 2.5\n")
    assert points(curves(run)[0]) == {8: 1.5, 32: 2.5}
    (warning,) = (one["text"] for one in run.warnings if one["code"] == "lines-ignored")
    assert "4, 5" in warning


def test_imb_of_a_page_has_the_ranks_of_its_command(tmp_path: Path) -> None:
    """Pages leave the comments out, the number of processes among them."""
    text = (
        "   mpirun -np 256 IMB-MPI1 \\\n       -npmin 256 Bcast\n   Benchmarking Bcast \n"
        "     #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
        "          8         1000         0.90        41.66        22.70\n"
    )
    (curve,) = curves(of(imb, tmp_path, text))
    assert (curve.key, curve.p, points(curve)) == ({"op": "bcast"}, 256, {8: 41.66})


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", None, "the file has no table of the Intel MPI Benchmarks"),
        (PINGPONG + "8 1000 x 2\n", 4, "'t[usec]' is 'x', not a number"),
        (PINGPONG + "8 1000 1\n", 4, "the line has 3 columns, not 4"),
        (PINGPONG + "8 1.5 1 1\n", 4, "'repetitions' is '1.5'"),
        (PINGPONG + "8 1 1 1\n8 1 1 1\n", 5, "the table has two lines for 8 bytes"),
        (
            PINGPONG.replace("2\n", "0\n", 1) + "8 1 1 1\n",
            1,
            "the file does not contain the number of ranks",
        ),
        (PINGPONG.replace("t[usec]", "time") + "8 1 1 1\n", 1, "the table has no times"),
    ],
)
def test_imb_errors_name_the_line(tmp_path: Path, text: str, line: int | None, what: str) -> None:
    with pytest.raises(InputError) as caught:
        of(imb, tmp_path, text)
    assert caught.value.where == str(tmp_path / "out.txt") + (f":{line}" if line else "")
    assert caught.value.what.startswith(what)


ALPHABET = "01289.eE-+# \t\n:=()[]aLtTencySizMPO_"


@pytest.mark.parametrize(("module", "head"), [(osu, LATENCY), (imb, PINGPONG)])
@many
@given(tail=st.one_of(st.text(ALPHABET, max_size=120), st.text(max_size=60)))
def test_any_text_below_a_header_gives_a_run_or_one_line(
    module: Any, head: str, tail: str, tmp_path: Path
) -> None:
    """What strangers send never ends in a traceback, and what is read can be written and shown."""
    path = tmp_path / "out.txt"
    path.write_bytes((head + tail).encode("utf-8", "surrogatepass"))
    try:
        run = module.IMPORTER.run(path)
    except InputError as error:
        assert "\n" not in str(error)
        return
    runs.write(run, tmp_path / "a.jsonl", overwrite=True)
    assert curves(runs.read(tmp_path / "a.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["osu", "imb"])
def test_damaged_output_gives_a_run_or_one_line(folder: str, tmp_path: Path) -> None:
    module = {"osu": osu, "imb": imb}[folder]
    dice = np.random.default_rng(3)
    for path in sorted((GOLDEN / folder).iterdir()):
        data = path.read_bytes()
        for _ in range(100):
            broken = bytearray(data)
            for at in dice.integers(0, len(data), 3):
                broken[at] = int(dice.integers(0, 256))
            (tmp_path / "x").write_bytes(broken[: int(dice.integers(20, 2 * len(data)))])
            try:
                run = module.IMPORTER.run(tmp_path / "x", 4 if folder == "osu" else None)
            except InputError as error:
                assert "\n" not in str(error)
            else:
                runs.write(run, tmp_path / "a.jsonl", overwrite=True)
                curves(runs.read(tmp_path / "a.jsonl"))


def test_the_command_line_takes_the_number_of_ranks(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    path = str(GOLDEN / "osu/collectives-5.8.txt")
    assert main(["import", path, "--from", "osu", "--ranks", "8", "-o", str(out)]) == 0
    assert {c.p for c in curves(runs.read(out))} == {8}
    assert main(["import", path, "--from", "imb", "--ranks", "8", "-o", str(tmp_path / "b")]) == 2
    assert not (tmp_path / "b").exists()
    with pytest.raises(SystemExit):
        main(["import", path, "--from", "osu", "--ranks", "0", "-o", str(tmp_path / "b")])


OVERLAP = """\
# OSU MPI Non-blocking All-to-All Latency Test v5.6.3
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
2                      10.87              6.04              5.10              5.46
4                       9.98              5.87              4.93             16.62
8                       9.10              4.76              3.97              0.00
"""
OVERLAP_IN_FULL = """\
# OSU MPI Non-blocking Broadcast Latency Test v7.0
# Size  Overall(us)  Compute(us)  Coll. Init(us)  MPI_Test(us)  MPI_Wait(us)  Pure Comm.(us)  \
Min Comm.(us)  Max Comm.(us)  Overlap(%)
8        20.00        12.00           1.00          0.00          7.00           10.00          \
 9.00          12.00       20.00
"""
NBC = """\
# Benchmarking Ibcast
# #processes = 4
       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
         1024         1000        15.00        10.00        10.00        50.00
"""


def test_overlap_is_that_of_the_columns(tmp_path: Path) -> None:
    """Published rows of OSU: within half a point of what OSU printed, whose numbers are rounded."""
    (curve,) = curves(of(osu, tmp_path, OVERLAP, ranks=2))
    found = [point.overlap for point in curve.points]
    assert found == pytest.approx([0.0546, 0.1662, 0.0], abs=0.005)
    assert points(curve) == {2: 5.1, 4: 4.93, 8: 3.97}
    (curve,) = curves(of(osu, tmp_path, OVERLAP_IN_FULL, ranks=2))
    (point,) = curve.points
    assert (point.post, point.complete) == (pytest.approx(1e-6), pytest.approx(7e-6))
    assert (point.median, point.overlap) == (pytest.approx(12e-6), pytest.approx(1 - 8 / 12))
    (curve,) = curves(of(imb, tmp_path, NBC))
    assert [point.overlap for point in curve.points] == pytest.approx([0.5])


def test_overlap_is_exported_in_the_columns_of_osu(tmp_path: Path) -> None:
    exporters.load("osu").write(of(osu, tmp_path, OVERLAP, ranks=2), tmp_path / "again.txt")
    written = [line.split() for line in (tmp_path / "again.txt").read_text().splitlines()]
    rows = [line.split() for line in OVERLAP.splitlines()[-3:]]
    times = [[float(word) for word in row[:-1]] for row in written[-3:]]
    assert times == [[float(word) for word in row[:-1]] for row in rows]
    (before,), (after,) = (
        curves(of(osu, tmp_path, OVERLAP, ranks=2)),
        curves(osu.IMPORTER.read(tmp_path / "again.txt", ranks=2)),
    )
    assert [p.overlap for p in after.points] == [p.overlap for p in before.points]


def test_rows_of_a_table_without_a_title_are_not_taken_for_those_of_the_one_before(
    tmp_path: Path, golden: Golden
) -> None:
    """As in a report where the marks of the second title were lost."""
    path = tmp_path / "report.md"
    path.write_text(LATENCY + "8 1\n16 2\n\nBetween sockets:\n8 3\n16 5\n32 9\n")
    (run,) = read_all(path, Wanted())
    assert run.tables["sample"]["seconds"].tolist() == [1e-6, 2e-6]
    golden([warning["text"] for warning in run.warnings])
