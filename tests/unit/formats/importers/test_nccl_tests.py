"""Output of nccl-tests: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beds.mpis import ROOT
from isochrone.base.errors import InputError
from isochrone.formats.importers import nccl_tests, nccl_tests_json
from isochrone.runfile import any_file
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves

GOLDEN = ROOT / "tests/golden/nccl-tests"
NEW = (GOLDEN / "all-reduce-2.17.txt").read_text()
OLD = (GOLDEN / "reduce-scatter-2.0.txt").read_text()


def of(folder: Path, text: str, ranks: int | None = None) -> Run:
    path = folder / "out.txt"
    path.write_text(text)
    run = nccl_tests.IMPORTER.read(path, ranks)
    assert isinstance(run, Run)
    return run


def test_an_all_reduce_is_a_collective_run_with_hosts_and_both_times() -> None:
    run = nccl_tests.IMPORTER.read(GOLDEN / "all-reduce-2.17.txt")
    (curve,) = curves(run)
    assert (curve.key["op"], curve.p, run.complete) == ("allreduce", 4, True)
    assert run.hosts == ["gpu01", "gpu01", "gpu02", "gpu02"]
    assert [rank.node for rank in run.ranks] == [0, 0, 1, 1]
    assert run.about.memory == "device"
    assert run.library.library == "NCCL 2.27.3"
    assert (curve.points[0].bytes, curve.points[-1].bytes) == (8, 67108864)
    assert curve.points[-1].median == pytest.approx(7401.2e-6)
    assert run.tables["sample"]["in_place"][0] == pytest.approx(21.95e-6)


def test_the_size_of_an_all_gather_becomes_that_of_the_block_of_one_rank(tmp_path: Path) -> None:
    """NCCL counts the whole buffer, an MPI call one rank's block; no time in place is no zero."""
    run = nccl_tests.IMPORTER.read(GOLDEN / "all-gather-2.13.txt")
    (curve,) = curves(run)
    assert curve.key["op"] == "allgather"
    assert [point.bytes for point in curve.points] == [4, 64, 1024, 16384, 262144]
    assert np.isnan(run.tables["sample"]["in_place"][-1])
    runs.write(run, tmp_path / "run.jsonl")
    assert curves(runs.read(tmp_path / "run.jsonl"))[0].points[1].median == pytest.approx(11.4e-6)


def test_tables_up_to_nccl_2_4_have_milliseconds_and_late_ranks() -> None:
    run = any_file.read(ROOT / "tests/golden/nccl-tests/all-reduce-2.4.txt")
    assert (run.size, run.hosts) == (2, ["node-a", "node-b"])
    (curve,) = curves(run)
    assert [(point.bytes, point.median) for point in curve.points] == [
        (2**20, pytest.approx(2.048e-3)),
        (2**21, pytest.approx(3.047e-3)),
    ]


def test_a_file_that_does_not_name_its_test_is_known_by_its_bandwidths(tmp_path: Path) -> None:
    (curve,) = curves(nccl_tests.IMPORTER.read(GOLDEN / "reduce-scatter-2.0.txt"))
    assert curve.key["op"] == "reduce_scatter_block"
    nameless = NEW.replace("all_reduce_perf", "a test")
    assert curves(of(tmp_path, nameless))[0].key["op"] == "allreduce"
    rooted = nameless.replace("sum      -1", "sum       0")
    assert curves(of(tmp_path, rooted))[0].key["op"] == "reduce"


OLDEST = """\
#   Rank  0 Pid 11 on n1 device  0 [0x00] A100
#   Rank  1 Pid 12 on n1 device  1 [0x00] A100
#   Rank  2 Pid 13 on n1 device  2 [0x00] A100
#   Rank  3 Pid 14 on n1 device  3 [0x00] A100
#       size   count   type   redop     time   algbw   busbw  error     time   algbw   busbw  error
     1048576  262144  float     sum    40.00   26.21   39.32    N/A    41.00   25.58   38.36    N/A
"""


def test_old_tables_without_a_root(tmp_path: Path) -> None:
    """Only an all-reduce moves 2 (p - 1)/p bytes; a column without a reduction is empty."""
    assert curves(of(tmp_path, OLDEST))[0].key["op"] == "allreduce"
    empty = "# alltoall_perf\n" + OLDEST.replace(" sum ", "     ")
    assert curves(of(tmp_path, empty))[0].key["op"] == "alltoall"
    once = OLDEST.replace("39.32", "19.66").replace("38.36", "19.18")
    with pytest.raises(InputError, match=":6"):
        of(tmp_path, once)


CASES = [
    ("", "no table of nccl-tests"),
    ("\0\0", "not a text file"),
    (OLD.replace("sum ", "none"), "the file does not name the operation"),
    (OLD.replace("float", "quad"), "'quad' is not a data type of nccl-tests"),
    (OLD.replace("#   Rank", "#   Sank"), "the file does not contain the number of ranks"),
    (OLD.replace("Rank  3", "Rank  3000000"), "3000001 is not valid"),
    (OLD.replace("Rank  1 Pid   2200 on     dgx-1", "Rank  0 Pid  1 on x"), "two hosts"),
]
LEFT_OUT = [
    (OLD, "16777216  ", "167x7216  ", "not a number"),
    (OLD, "268.40", "-268.4", "negative"),
    (OLD, "268.40", "1e300", "not a time"),
    (OLD, "268.40", "nan", "not a number"),
    (OLD, "1048576   float     sum", "1e99   float     sum", "impossible"),
    (NEW, "    0    21.95", "    0    ", "the line has 12 columns, not 13"),
]


def test_rows_that_are_not_understood_are_left_out(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for text, word, wrong, says in LEFT_OUT:
        with subtests.test(says):
            whole, run = of(tmp_path, text), of(tmp_path, text.replace(word, wrong))
            assert len(run.tables["sample"]) == len(whole.tables["sample"]) - 1
            (warning,) = (one["text"] for one in run.warnings if one["code"] == "lines-ignored")
            assert says in warning


def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text, says in CASES:
        with subtests.test(str((text, says))):
            with pytest.raises(InputError, match=says) as caught:
                of(tmp_path, text)
            assert "\n" not in str(caught.value)


def test_a_number_of_ranks_is_taken_where_none_is_listed(tmp_path: Path) -> None:
    text = OLD.replace("#   Rank", "#   Sank")
    assert curves(of(tmp_path, text, 4))[0].p == 4
    assert curves(of(tmp_path, OLD, 5))[0].p == 4, "what the file says counts"


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.integers(0, len(NEW)), at=st.integers(0, len(NEW) - 1), char=st.characters())
def test_cut_or_damaged_output_is_read_or_refused(
    tmp_path: Path, cut: int, at: int, char: str
) -> None:
    """A truncated or damaged file is a partial run or one line, never anything else."""
    for text in (NEW[:cut], NEW[:at] + char + NEW[at + 1 :]):
        path = tmp_path / "out.txt"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            run = nccl_tests.IMPORTER.read(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert curves(run)[0].points


JSON = ROOT / "tests/golden/nccl-tests-json/all_reduce.json"


def test_the_json_file_has_the_rows_of_the_table() -> None:
    """Without MPI it lists the first of eight GPUs; the row with wrong data in place counts."""
    run = nccl_tests_json.IMPORTER.read(JSON)
    (curve,) = curves(run)
    assert (curve.key["op"], curve.p) == ("allreduce", 8)
    assert run.hosts == ["node1"] * 8
    assert run.library.library == "NCCL 2.28.3"
    assert {p.bytes: p.median for p in curve.points} == pytest.approx(
        {8388608: 82.31e-6, 16777216: 130.12e-6, 33554432: 231.45e-6}
    )


def test_iterations_of_the_json_file_are_repetitions(tmp_path: Path) -> None:
    """With `-I 1`: medians with intervals. Results with wrong data are left out."""
    document = json.loads(JSON.read_text())
    for result in document["results"]:
        times = [result["out_of_place"]["time"] * factor for factor in (0.9, 1.0, 1.0, 1.1, 1.3)]
        result["out_of_place_per_iter"] = {"skipped_iterations": 0, "times_us": times}
    document["results"][0]["out_of_place"]["nwrong"] = 4.0
    (tmp_path / "out.json").write_text(json.dumps(document))
    (curve,) = curves(nccl_tests_json.IMPORTER.read(tmp_path / "out.json"))
    assert [(p.bytes, p.n) for p in curve.points] == [(16777216, 5), (33554432, 5)]
    assert curve.points[0].median == pytest.approx(130.12e-6)


@pytest.mark.parametrize("cut", [40, 400, 1200])
def test_a_json_file_that_is_cut_is_refused(tmp_path: Path, cut: int) -> None:
    (tmp_path / "out.json").write_text(JSON.read_text()[:cut])
    with pytest.raises(InputError):
        nccl_tests_json.IMPORTER.read(tmp_path / "out.json")
