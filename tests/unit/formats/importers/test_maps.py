"""The readers of CSV, NumPy and MATLAB files: what they take, and what they complain about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.io import savemat
from scipy.sparse import csc_matrix

from beds.golden import Golden
from isochrone.base.errors import InputError
from isochrone.formats.exporters import csv as csv_exporter
from isochrone.formats.importers import csv, matlab, npz
from isochrone.runfile import file as runs
from isochrone.runfile.run import Rank, Run
from made_up import bombs

HEAD = "i,j,host_i,host_j,bytes,n,mean,stddev,min,median,p95,max,low,high,retest\n"
ROW = "0,1,a,b,8,100,1.25e-06,5e-08,,1.2e-06,,,,,false\n"
fixture_is_fine = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def sheet(tmp_path: Path, text: str | bytes) -> Run:
    path = tmp_path / "some.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return csv.read(path)


def codes(run: Run) -> list[str]:
    return [warning["code"] for warning in run.warnings]


def test_csv_is_read_in_full(tmp_path: Path) -> None:
    """Several sizes, retests and unmeasured pairs come back as they were."""
    run = sheet(
        tmp_path,
        HEAD + ROW + "0,1,a,b,8,90,1e-06,,,1.1e-06,,,,,true\n" + "0,2,a,c,8,,,,,,,,,,false\n",
    )
    assert (run.size, run.complete) == (3, False)
    assert run.hosts == ["a", "b", "c"]
    assert codes(run) == ["missing-pairs"]
    assert run.pairs().flag("retest").tolist() == [False, True]
    assert run.matrix()[0, 1] == 1.1e-6
    assert run.matrix(retested=False)[0, 1] == 1.2e-6
    assert run.pairs()["n"].tolist() == [100, 90]


def test_a_rank_without_a_host_leaves_all_without_and_the_run_can_be_read(tmp_path: Path) -> None:
    """A run describes all of its ranks or none: half a list is refused when the file is read."""
    run = sheet(tmp_path, HEAD + ROW + "0,2,a,,8,,1e-06,,,,,,,,false\n")
    assert codes(run) == ["hosts-unknown", "missing-pairs", "median-is-mean"]
    runs.write(run, tmp_path / "map.jsonl")
    assert runs.read(tmp_path / "map.jsonl").hosts == ["", "", ""]


def test_csv_of_the_users_own_with_few_columns_is_enough(tmp_path: Path) -> None:
    """Ranks, size and a time make a map; a column we do not know is named and ignored."""
    names, row = b"\xef\xbb\xbfbytes, j, i, median, colour\r\n", b"8, 0, 1, 2.5e-6, red\r\n\r\n"
    run = sheet(tmp_path, names + row)
    assert run.complete
    assert run.matrix()[0, 1] == 2.5e-6
    assert codes(run) == ["columns-ignored"]
    assert "colour" in run.warnings[0]["text"]


def test_csv_without_medians_lets_the_mean_stand_in_with_a_warning(tmp_path: Path) -> None:
    """As for a log: what is not known is said."""
    run = sheet(tmp_path, "i,j,bytes,mean\n0,1,8,2.5e-6\n")
    assert codes(run) == ["median-is-mean"]
    assert run.matrix()[0, 1] == 2.5e-6


def test_csv_pair_given_twice_alike_counts_once(tmp_path: Path) -> None:
    """Two tables put together may overlap."""
    assert len(sheet(tmp_path, HEAD + ROW + ROW.replace("0,1,a,b", "1,0,b,a")).pairs()) == 1


@pytest.mark.parametrize("cut", ["0,2,a,c,8,100,1.2", ROW[:-2], "9,0,x,y,8,1,1,1,,1,,,,,true"])
def test_csv_cut_in_its_last_line_is_partial(tmp_path: Path, cut: str) -> None:
    """Half a line is left out with a warning, and not read as a shorter number."""
    run = sheet(tmp_path, HEAD + ROW + cut)
    assert [rank.rank for rank in run.ranks] == [0, 1]
    assert len(run.pairs()) == 1
    assert "cut-short" in codes(run)
    assert not run.complete


CASES = [
    ("", 1, "the table has no column 'i' and no 'j'"),
    ("bytes;mean\n", 1, "the table has no column 'i' and no 'j'"),
    ("i,j,bytes\n", 1, "the table has no column 'mean'"),
    ("i,j,i,bytes,mean\n", 1, "the table has two columns 'i'"),
    (HEAD + ROW + "0,2\n" + ROW, 3, "the line has 2 columns, not 15"),
    (HEAD + "\n" + ROW.replace("1.25e-06", "fast"), 3, "'mean' is 'fast', not a number"),
    (HEAD + ROW.replace("1.25e-06", "nan"), 2, "'mean' is 'nan', not a number"),
    (HEAD + ROW.replace("1.25e-06", "-1"), 2, "'mean' is negative: -1"),
    (HEAD + ROW.replace("100", "1.5"), 2, "'n' is '1.5', not a whole number"),
    (HEAD + ROW.replace("0,1", "0,-1"), 2, "'j' is '-1', not a whole number"),
    (HEAD + ROW.replace("0,1", "0,99999999"), 2, "rank 99999999 exceeds the limit of"),
    (HEAD + ROW.replace("false", "maybe"), 2, "'retest' is 'maybe', not true or false"),
    (HEAD + "0,1,a,b,8,,,1e-9,,,,,,,false\n", 2, "the line has neither a mean nor a median"),
    (HEAD + ROW + "0,2,x,c,8,1,1,1,,1,,,,,\n", 3, "rank 0 is on host x, but was on a before"),
    (HEAD + ROW + ROW.replace("1.25", "1.26"), 3, "ranks 0 and 1 appear twice, with different"),
    (HEAD + ROW + '"0,1\n', 3, "the line has 1 columns, not 15"),
]


@pytest.mark.parametrize("mark", [";", "\t"], ids=["semicolon", "tab"])
def test_other_separators_than_commas_are_understood(tmp_path: Path, mark: str) -> None:
    """Spreadsheets of many countries write semicolons."""
    run = sheet(tmp_path, f"i{mark}j{mark}mean\n0{mark}1{mark}1.5e-06\n")
    assert run.pairs()["mean"].tolist() == [1.5e-06]


def test_csv_errors_name_the_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The user finds the cell that is wrong."""
    for text, line, what in CASES:
        with subtests.test(str((text, line, what))):
            with pytest.raises(InputError) as caught:
                sheet(tmp_path, text)
            assert caught.value.where == f"{tmp_path / 'some.csv'}:{line}"
            assert caught.value.what.startswith(what)


@fixture_is_fine
@given(
    st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=60).map(lambda tail: (HEAD + ROW).encode() + tail),
        st.text("01,ab.e-\"'\n\r;=", max_size=80).map(lambda tail: (HEAD + tail).encode()),
    )
)
def test_any_bytes_give_a_run_or_an_error(tmp_path: Path, data: bytes) -> None:
    """No table ends in a traceback, and what is read can always be saved."""
    try:
        run = sheet(tmp_path, data)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        runs.write(run, tmp_path / "map.jsonl", overwrite=True)
        runs.read(tmp_path / "map.jsonl")


@fixture_is_fine
@given(
    st.lists(
        st.text("=+-@'ab,\"; ", min_size=1, max_size=6).map(str.strip).filter(bool), min_size=2
    )
)
def test_host_names_come_back_from_csv_whatever_they_are(tmp_path: Path, names: list[str]) -> None:
    """The mark against formulas is taken away again, and only that."""
    rows = [f"0,{j},,,8,1e-6" for j in range(1, len(names))]
    run = sheet(tmp_path, "i,j,host_i,host_j,bytes,mean\n" + "\n".join(rows) + "\n")
    run.ranks = [Rank(rank, name, node=0) for rank, name in enumerate(names)]
    csv_exporter.write(run, tmp_path / "again.csv")
    assert csv.read(tmp_path / "again.csv").hosts == names


def of_matrices(tmp_path: Path, importer: Any, **content: Any) -> Run:
    path = tmp_path / "some.file"
    with path.open("wb") as stream:
        if importer is npz:
            np.savez(stream, **content)
        else:
            savemat(stream, content)
    return importer.read(path)


AVG = np.array([[0, 2.5], [2.5, 0]])


@pytest.mark.parametrize("importer", [npz, matlab])
def test_the_two_matrices_of_the_seeds_script_are_enough(tmp_path: Path, importer: Any) -> None:
    """mmpi2mat.py wrote neither hosts nor sizes: its files are read, with warnings."""
    run = of_matrices(tmp_path, importer, avg=AVG, stddev=AVG / 10)
    assert codes(run) == ["bytes-unknown", "hosts-unknown", "median-is-mean"]
    assert run.matrix("mean")[0, 1] == 2.5e-6
    assert run.complete


@pytest.mark.parametrize("importer", [npz, matlab])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({"stddev": AVG}, "the file has no matrix 'avg'"),
        ({"avg": AVG[:1], "stddev": AVG}, "the matrix 'avg' is not square"),
        ({"avg": AVG, "stddev": np.zeros((3, 3))}, "'stddev' is 3 x 3, 'avg' 2 x 2"),
        ({"avg": AVG * 1j, "stddev": AVG}, "'avg' is not a matrix of real numbers"),
        ({"avg": -AVG, "stddev": AVG}, "'avg' of ranks 0 and 1 is not a time"),
        ({"avg": AVG, "stddev": AVG + np.inf}, "'stddev' of ranks 0 and 0 is not a time"),
        ({"avg": np.zeros((1, 1)), "stddev": np.zeros((1, 1))}, "the map has 1 ranks"),
        ({"avg": AVG * np.nan, "stddev": AVG}, "no measured pair"),
    ],
)
def test_matrices_that_are_no_map_are_refused(
    tmp_path: Path, importer: Any, content: dict[str, Any], what: str
) -> None:
    """A matrix of another kind is not taken for a latency map."""
    with pytest.raises(InputError, match=what):
        of_matrices(tmp_path, importer, **content)


@pytest.mark.parametrize("hosts", [["a"], np.array([["a", "b"]]), np.array([1, 2])])
def test_npz_hosts_that_do_not_fit_are_unknown(tmp_path: Path, hosts: Any) -> None:
    """Names that cannot be given to the ranks are left out with a warning."""
    run = of_matrices(tmp_path, npz, avg=AVG, stddev=AVG, hosts=hosts, bytes=8)
    assert "hosts-unknown" in codes(run)
    assert run.hosts == ["", ""]


def test_npz_with_pickled_objects_is_not_loaded(tmp_path: Path, golden: Golden) -> None:
    """A pickle can run any program."""
    with golden.refusal():
        of_matrices(tmp_path, npz, avg=AVG, stddev=AVG, hosts=np.array([{}, None], dtype=object))


def test_npz_that_is_a_single_array_is_named_as_such(tmp_path: Path) -> None:
    """numpy.save and numpy.savez are easily mixed up."""
    np.save(tmp_path / "some.npy", AVG)
    with pytest.raises(InputError, match="a single array"):
        npz.read(tmp_path / "some.npy")


def test_matlab_hosts_may_be_a_char_matrix(tmp_path: Path) -> None:
    """``char('n1', 'node2')`` pads with blanks."""
    run = of_matrices(tmp_path, matlab, avg=AVG, stddev=AVG, hosts=np.array(["n1", "node2"]))
    assert run.hosts == ["n1", "node2"]


def test_matlab_7_3_says_what_to_do(tmp_path: Path) -> None:
    """MATLAB's newest format is HDF5, which scipy does not read."""
    path = tmp_path / "new.mat"
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    path.write_bytes(head + bytes(384) + b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0" + bytes(100))
    with pytest.raises(InputError, match="-v7"):
        matlab.read(path)


@pytest.mark.parametrize("packed", [True, False])
def test_matlab_hosts_of_another_class_are_unknown(tmp_path: Path, packed: bool) -> None:
    """They are no reason to refuse the times."""
    path = tmp_path / "map.mat"
    content = {"avg": AVG, "stddev": AVG, "hosts": {"a": "n1"}, "bytes": {"b": 8}}
    savemat(path, content, do_compression=packed)
    run = matlab.read(path)
    assert run.hosts == [""] * run.size
    assert {"hosts-unknown", "bytes-unknown"} <= set(codes(run))


def test_a_sparse_matrix_is_said_to_be_one_that_is_not_full(tmp_path: Path, golden: Golden) -> None:
    path = tmp_path / "map.mat"
    savemat(path, {"avg": csc_matrix(AVG), "stddev": AVG})
    with golden.refusal():
        matlab.read(path)


@pytest.mark.parametrize("kind", [0, 8, 10, 11, 14, 19, 33000])
def test_types_that_scipy_does_not_know_do_not_reach_it(tmp_path: Path, kind: int) -> None:
    """It looks them up without asking whether it knows them, and Python crashes."""
    path = tmp_path / "map.mat"
    path.write_bytes(bombs.mat(bombs.matrix(6, (1, 1), bombs.element(kind, bytes(8)))))
    with pytest.raises(InputError, match="damaged"):
        matlab.read(path)


def test_other_variables_of_a_matlab_file_are_left_alone(tmp_path: Path) -> None:
    """Whatever else a user has saved: structures, cells in cells, and more than a map may be."""
    others = {"s": {"a": 1.0}, "c": np.array([[1], "x"], dtype=object), "z": np.zeros((3000, 3000))}
    path = tmp_path / "map.mat"
    savemat(path, {"avg": AVG, "stddev": AVG, **others}, do_compression=True)
    assert matlab.read(path).size == len(AVG)
