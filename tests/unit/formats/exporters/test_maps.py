"""What each export format looks like to the program that is going to read it."""

from __future__ import annotations

import csv as stdlib_csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat

from beds.golden import Golden
from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.table import Table
from isochrone.formats.exporters import csv, matlab, mmpi, npz
from isochrone.runfile import file as runs
from isochrone.runfile.run import MAX_MATRIX_RANKS, Run
from made_up.hotspots import hotspot
from made_up.latency_maps import cyclic, latency_map, three_ranks


def log_of(run: Run, tmp_path: Path) -> list[str]:
    mmpi.write(run, tmp_path / "map.log")
    return (tmp_path / "map.log").read_text().splitlines()


def cells_of(run: Run, tmp_path: Path) -> list[dict[str, str]]:
    csv.write(run, tmp_path / "map.csv")
    with (tmp_path / "map.csv").open(newline="") as stream:
        return list(stdlib_csv.DictReader(stream))


def test_a_log_says_what_is_known_and_leaves_out_what_was_not_measured(tmp_path: Path) -> None:
    """Rank 0's host is the tested one, the repeats are the least, retests replace first tries."""
    assert log_of(three_ranks(), tmp_path) == [
        "# Testing Hostname: a",
        "# Processors: 3 MsgLen 8 Repeats: 80",
        "# ProcName1:rank   ProcName2:rank   AvgCommTime(usecs) StdDev",
        "a 000   a 000           0.00   0.00",
        "a 000   a 001           1.25   0.05",
        "a 000   b 002          90.00   0.00",
        "a 001   a 001           0.00   0.00",
        "b 002   b 002           0.00   0.00",
    ]


def test_a_log_keeps_the_name_of_the_tested_machine(tmp_path: Path) -> None:
    """An imported log that is exported again still names the login node it came from."""
    assert log_of(three_ranks(host="tg-login4"), tmp_path)[0] == "# Testing Hostname: tg-login4"


def test_a_log_does_not_make_up_repeats(tmp_path: Path) -> None:
    """Without a count in the pairs or the options, the field is left out."""
    run = three_ranks(options={"repeats": "many"})
    del run.pairs().columns["n"]
    assert log_of(run, tmp_path)[1] == "# Processors: 3 MsgLen 8"
    run.header["options"] = {"repeats": 50}
    assert log_of(run, tmp_path)[1] == "# Processors: 3 MsgLen 8 Repeats: 50"


def test_host_names_are_one_word_in_a_log(tmp_path: Path) -> None:
    """Blanks part the columns and # begins a comment; a host that is not known is a '?'."""
    rows = log_of(three_ranks(("my node\n1", "#x", "")), tmp_path)
    assert rows[0] == "# Testing Hostname: my_node_1"
    assert rows[4] == "my_node_1 000   _x 001           1.25   0.05"
    assert rows[-1].startswith("? 002   ? 002 ")


def test_times_wider_than_their_column_stay_apart(tmp_path: Path) -> None:
    """A timeout of hours must not run into the next column, which would damage the log."""
    run = three_ranks()
    run.pairs().columns["mean"] = run.pairs()["mean"] * 1e13
    run.pairs().columns["stddev"] = run.pairs()["mean"]
    assert all(len(row.split()) == 6 for row in log_of(run, tmp_path)[3:])


def test_matlab_gets_the_two_matrices_of_the_seed(tmp_path: Path) -> None:
    """``avg`` and ``stddev``: µs, symmetric, 0 on the diagonal, NaN where nothing was measured."""
    matlab.write(three_ranks(), tmp_path / "map.mat")
    content = loadmat(tmp_path / "map.mat")
    avg = [[0, 1.25, 90], [1.25, 0, np.nan], [90, np.nan, 0]]
    np.testing.assert_allclose(content["avg"], avg, rtol=1e-15)
    np.testing.assert_allclose(
        content["stddev"], [[0, 0.05, np.nan], [0.05, 0, np.nan], [np.nan, np.nan, 0]], rtol=1e-15
    )
    assert content["hosts"].shape == (3, 1)  # a cell array
    assert [cell[0] for cell in content["hosts"].ravel()] == ["a", "a", "b"]
    assert content["bytes"] == 8
    assert "median" not in content  # would hide MATLAB's function


def test_npz_needs_no_pickle_and_has_the_same_two_matrices(tmp_path: Path) -> None:
    """A script for the MATLAB file takes this one; nobody is asked to allow pickled objects."""
    npz.write(three_ranks(), tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz", allow_pickle=False) as content:
        assert set(content) == {"avg", "stddev", "median", "n", "hosts", "bytes"}
        avg = [[0, 1.25, 90], [1.25, 0, np.nan], [90, np.nan, 0]]
        np.testing.assert_allclose(content["avg"], avg, rtol=1e-15)
        assert content["n"][0].tolist() == [0, 100, 90]
        assert content["hosts"].tolist() == ["a", "a", "b"]


def test_csv_has_one_row_a_pair_in_seconds(tmp_path: Path) -> None:
    """All digits, empty where not known, retests marked, and a row for the pair not measured."""
    csv.write(three_ranks(), tmp_path / "map.csv")
    assert (tmp_path / "map.csv").read_text() == (
        "i,j,host_i,host_j,bytes,n,mean,stddev,min,median,p95,max,low,high,retest\n"
        "0,1,a,a,8,100,1.25e-06,5e-08,,1.2e-06,,,,,false\n"
        "0,2,a,b,8,80,9.5e-05,1e-05,,9.1e-05,,,,,false\n"
        "0,2,a,b,8,90,9e-05,,,8.8e-05,,,,,true\n"
        "1,2,a,b,8,,,,,,,,,,false\n"
    )


@pytest.mark.parametrize("host", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "''@x"])
def test_no_host_name_is_a_formula_of_a_spreadsheet(host: str, tmp_path: Path) -> None:
    """Opening the file of a stranger must not run what he put in a host name."""
    assert cells_of(three_ranks((host, "a", "b")), tmp_path)[0]["host_i"] == f"'{host}"


@pytest.mark.parametrize("host", ["nid00670", "i182-102.ranger", "'quoted'", "2=3", 'a,"b"', ""])
def test_other_host_names_are_left_alone(host: str, tmp_path: Path) -> None:
    """What is no formula is not touched, so that names can be joined with other tables."""
    assert cells_of(three_ranks((host, "a", "b")), tmp_path)[0]["host_i"] == host


def test_csv_writes_counts_as_whole_numbers(tmp_path: Path) -> None:
    """A count that some pairs lack is a column of floats inside: 100 is still not 100.0."""
    run = three_ranks()
    run.pairs().columns["n"] = np.array([100.0, np.nan, 90.0])
    assert [row["n"] for row in cells_of(run, tmp_path)] == ["100", "", "90", ""]


def test_csv_holds_all_sizes_unless_one_is_asked_for(tmp_path: Path) -> None:
    """A long table has room for all that was measured."""
    run = three_ranks()
    run.pairs().columns["bytes"] = np.array([8, 64, 64])
    assert [row["bytes"] for row in cells_of(run, tmp_path)] == ["8", "64", "64"] + ["8"] * 2 + [
        "64"
    ] * 2
    csv.write(run, tmp_path / "one.csv", nbytes=8)
    assert len((tmp_path / "one.csv").read_text().splitlines()) == 1 + 3


def test_csv_has_estimates_of_pairs_that_were_not_measured_if_asked(tmp_path: Path) -> None:
    run = latency_map(cyclic(6, 4), noise=0.01, missing=lambda i, j: (i, j) == (0, 1))
    csv.write(run, tmp_path / "map.csv", estimates=True)
    rows = list(stdlib_csv.DictReader((tmp_path / "map.csv").open()))
    assert [row["source"] for row in rows] == ["measured"] * 275 + ["estimated"]
    low, middle, high = (float(rows[-1][key]) for key in ("low", "median", "high"))
    assert middle == pytest.approx(9.8e-6, rel=0.02)
    assert low < middle < high
    assert rows[-1]["n"] == rows[-1]["mean"] == ""
    assert "source" not in cells_of(run, tmp_path)[0]


@pytest.mark.parametrize("exporter", [csv, matlab, mmpi, npz])
def test_a_map_too_large_for_a_matrix_is_refused(exporter: Any, tmp_path: Path) -> None:
    """A million ranks would ask for terabytes: one line instead."""
    run = three_ranks()
    run.header["ranks"] = MAX_MATRIX_RANKS + 1
    with pytest.raises(InputError, match="too large"):
        exporter.write(run, tmp_path / "map")


@pytest.mark.parametrize("exporter", [csv, matlab, mmpi, npz])
def test_a_name_that_is_a_folder_is_refused(exporter: Any, tmp_path: Path, golden: Golden) -> None:
    """The folder stays, and the temporary file goes."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with golden.refusal():
        exporter.write(three_ranks(), folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_run_without_deviations_can_be_exported(tmp_path: Path) -> None:
    """A map of single repetitions has no standard deviation; its means are still worth having."""
    run = three_ranks()
    run.tables["pair"] = Table({k: v for k, v in run.pairs().columns.items() if k != "stddev"})
    assert log_of(run, tmp_path)[4].split()[4:] == ["1.25", "0.00"]
    matlab.write(run, tmp_path / "map.mat")
    assert np.isnan(loadmat(tmp_path / "map.mat")["stddev"][0, 1])


def test_a_hotspot_becomes_a_table_that_fit_reads(tmp_path: Path) -> None:
    """The same formula comes out of the run file and of its table."""
    run = hotspot()
    csv.write(run, tmp_path / "hot.csv")
    runs.write(run, tmp_path / "hot.jsonl")
    found = [
        models.fit(models.load([tmp_path / name]), "hotspot").segments[0].coefficients
        for name in ("hot.csv", "hot.jsonl")
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
