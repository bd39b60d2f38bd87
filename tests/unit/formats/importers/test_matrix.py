"""Matrices of pairs as people publish them, and tables that have both directions of a pair."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from beds.command_line import run_here
from beds.field_maps import _matrix, field_folder
from isochrone.base.errors import InputError
from isochrone.formats.importers import csv, matrix
from isochrone.runfile.any_file import foreign
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from isochrone.runfile.table_notes import NOTES, TableNotes

P2P = """\
[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]
Device: 0, Some GPU, pciBusID: 2, pciDeviceID: 0, pciDomainID:0
P2P Connectivity Matrix
     D\\D     0     1     2
     0\t     1     1     1
     1\t     1     1     1
     2\t     1     1     1
Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1      2
     0 911.08  20.10  22.16
     1  25.39 920.20  22.26
     2  22.18  22.37 920.74
P2P=Disabled Latency Matrix (us)
   GPU     0      1      2
     0   2.61  14.95  19.61
     1  11.09   2.10  19.16
     2  13.34  16.44   2.06

   CPU     0      1      2
     0   2.67   6.78   6.18
     1   6.71   2.62   6.33
     2   6.35   6.27   2.50
"""

NVBANDWIDTH = """\
Running device_to_device_memcpy_write_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1         2
 0       N/A     26.34     26.35
 1     25.00       N/A     26.34
 2     26.34     26.35       N/A

SUM device_to_device_memcpy_write_ce 156.72
"""

MPIGRAPH = (
    "START mpiGraph v1.6\nMsgSize\t4096\nTimes\t10\nWindow\t4\nProcs\t3\n\nGathering results\n"
    "\nSend max\t200.0\nSend avg\t150.0\n\nSend\tn1:0\tn1:1\tn2:2\t\n"
    "n1:0 to\t0.000\t200.000\t100.000\t\nn1:1 to\t190.000\t0.000\t110.000\t\n"
    "n2:2 to\t50.000\t120.000\t0.000\t\n\nRecv max\t1.0\nRecv avg\t1.0\n\n"
    "Recv\tn1:0\tn1:1\tn2:2\t\nn1:0 from\t0.000\t200.000\t100.000\t\n"
    "n1:1 from\t190.000\t0.000\t110.000\t\nn2:2 from\t50.000\t120.000\t0.000\t\nEND mpiGraph\n"
)

HP2P = """\
<html><title>hp2p</title><script>// hostlist start
var hostlist = \n[    "n1",     "n2",     "n3",     ]
;
// msg_size start
var msg_size = \n    1048576\n    ;
var bandwidth = \n[    [ 0.00, 100.00, 50.00, ],     [ 80.00, 0.00, 90.00, ], \
    [ 70.00, 60.00, 0.00, ],     ]
;
</script></html>
"""


def of(tmp_path: Path, text: str, **notes: object) -> Run:
    """Read a matrix with what the user says of it."""
    path = tmp_path / "matrix.txt"
    path.write_text(text)
    assert foreign(path) == "matrix"
    token = NOTES.set(TableNotes(**notes))  # type: ignore[arg-type]
    try:
        run = matrix.IMPORTER.run(path)
    finally:
        NOTES.reset(token)
    write(run, tmp_path / "back.jsonl", overwrite=True)
    return read(tmp_path / "back.jsonl")


def one_way(run: Run) -> dict[tuple[int, int], float]:
    """Return the seconds of a message of each two ranks, in both directions."""
    table = run.pairs()
    columns = (table[key].tolist() for key in ("i", "j", "forward", "reverse"))
    return {
        ends: seconds
        for i, j, there, back in zip(*columns, strict=True)
        for ends, seconds in (((i, j), there), ((j, i), back))
    }


RATES = {
    "p2p": (P2P, 1e9, 1 << 20, {(0, 1): 20.1, (1, 0): 25.39, (2, 1): 22.37}, False),
    "nvbandwidth": (NVBANDWIDTH, 1e9, 1 << 20, {(1, 0): 26.34, (0, 1): 25.0}, False),
    "mpiGraph": (MPIGRAPH, 2**20, 4096, {(0, 2): 100, (2, 0): 50, (2, 1): 120}, True),
    "hp2p": (HP2P, 2**20, 1 << 20, {(0, 1): 100, (1, 0): 80, (2, 1): 60}, True),
}


@pytest.mark.parametrize("program", RATES)
def test_bandwidths_of_programs_become_times_in_both_directions(
    program: str, tmp_path: Path
) -> None:
    """Bytes over the time of a message are the bandwidth in the file, in its direction."""
    text, unit, nbytes, some, named = RATES[program]
    run = of(tmp_path, text)
    seconds = one_way(run)
    assert run.bandwidth
    assert run.message_sizes() == [nbytes]
    for ends, rate in some.items():
        assert nbytes / seconds[ends] == pytest.approx(rate * unit, rel=1e-12)
    table = run.pairs()
    np.testing.assert_allclose(2 * table["mean"], table["forward"] + table["reverse"], rtol=1e-12)
    assert any(run.hosts) == named


def test_the_matrix_that_is_asked_for_is_read(tmp_path: Path) -> None:
    """Latencies are those of copies from one GPU to another; without words, all are named."""
    run = of(tmp_path, P2P, matrix="latency")
    assert not run.bandwidth
    assert one_way(run)[1, 0] == pytest.approx(11.09e-6)
    assert run.matrix("mean")[0, 1] == pytest.approx(26.04e-6)
    assert one_way(of(tmp_path, P2P, matrix="CPU"))[1, 0] == pytest.approx(6.71e-6)
    assert "several-matrices" in [one["code"] for one in of(tmp_path, P2P).warnings]
    with pytest.raises(InputError) as caught:
        of(tmp_path, P2P, matrix="bidirectional")
    assert "Unidirectional" in caught.value.hint


def test_units_are_those_of_the_file_or_else_of_the_user(tmp_path: Path) -> None:
    """A number without a unit is no time; what the file says is not overruled."""
    plain = "0 10 20\n10 0 30\n20 30 0\n"
    with pytest.raises(InputError):
        of(tmp_path, plain)
    assert of(tmp_path, plain, unit="us").matrix("mean")[0, 1] == pytest.approx(10e-6)
    assert of(tmp_path, plain, unit="us", one_way=True).matrix("mean")[0, 1] == pytest.approx(20e-6)
    assert of(tmp_path, plain, unit="ms", nbytes=8).message_sizes() == [8]
    of_file = of(tmp_path, "Latency (ms)\n" + plain, unit="us")
    assert of_file.matrix("mean")[0, 1] == pytest.approx(10e-3)
    assert "unit-in-file" in [one["code"] for one in of_file.warnings]


def test_ranks_nearer_than_any_network_are_on_one_node(tmp_path: Path) -> None:
    """The fastest network takes 0.49 µs for a message: twice that is the longest round trip."""
    row = "0 {0} {0}\n{0} 0 {0}\n{0} {0} 0\n"
    assert of(tmp_path, row.format(485), unit="ns", one_way=True).hosts == ["node"] * 3
    assert of(tmp_path, row.format(495), unit="ns", one_way=True).hosts == [""] * 3
    named = of(tmp_path, row.format(485), unit="ns", hosts=("a", "b", "c"))
    assert named.hosts == ["a", "b", "c"]
    with pytest.raises(InputError):
        of(tmp_path, row.format(485), unit="ns", hosts=("a", "b"))


def table(tmp_path: Path, text: str, **notes: object) -> Run:
    """Read a table of pairs with what the user says of it."""
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    token = NOTES.set(TableNotes(**notes))  # type: ignore[arg-type]
    try:
        return csv.IMPORTER.run(path)
    finally:
        NOTES.reset(token)


BOTH = "i,j,bytes,median\n0,1,64,4e-6\n1,0,64,2e-6\n0,2,64,3e-6\n"


def test_a_pair_with_a_row_for_each_direction_is_one_pair(tmp_path: Path) -> None:
    """Round trips are averaged, messages added up; a pair without one direction is doubled."""
    trips = table(tmp_path, BOTH)
    assert trips.matrix()[0, 1:].tolist() == pytest.approx([3e-6, 3e-6])
    assert one_way(trips)[1, 0] == pytest.approx(1e-6)
    messages = table(tmp_path, BOTH, one_way=True)
    assert messages.matrix()[0, 1:].tolist() == pytest.approx([6e-6, 6e-6])
    assert one_way(messages)[0, 1] == pytest.approx(4e-6)
    alike = table(tmp_path, BOTH.replace("4e-6", "2e-6"))
    assert "forward" not in alike.pairs()


COLUMNS = {
    "a name with a unit": ("i,j,latency_ns\n0,1,260\n", {}, 260e-9),
    "a unit of the user": ("i,j,latency\n0,1,26\n", {"unit": "us"}, 26e-6),
    "named columns": (
        "src,dst,t\n0,1,26\n",
        {"columns": {"src": "i", "dst": "j", "t": "seconds"}, "factors": {"seconds": 1e-3}},
        26e-3,
    ),
    "bandwidths": ("i,j,bytes,bw (GB/s)\n0,1,1000,2\n", {}, 1000 / 2e9),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_pairs_are_understood(kind: str, tmp_path: Path) -> None:
    """By their names, or as the user says; a bandwidth is one of a message."""
    text, notes, seconds = COLUMNS[kind]
    run = table(tmp_path, text, **notes)
    assert run.matrix("mean")[0, 1] == pytest.approx(seconds, rel=1e-12)
    assert run.bandwidth == (kind == "bandwidths")


def test_a_table_whose_columns_are_mapped_is_a_map_in_every_command(tmp_path: Path) -> None:
    """Also for `plot`, which draws other tables of times."""
    (tmp_path / "t.csv").write_text("src,dst,usec\n0,1,26\n1,0,28\n0,2,26\n1,2,27\n")
    said = ("--map-columns", "src=i,dst=j,usec=seconds:us", "--one-way")
    for words in (["show"], ["plot", "-o", "t.svg"], ["export", "--to", "npz"], ["report"]):
        done = run_here(words[0], "t.csv", *words[1:], *said, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    with np.load(tmp_path / "t.npz") as content:
        assert content["avg"][0, 1] == pytest.approx(54)


def test_a_column_without_a_unit_is_no_time(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        table(tmp_path, "i,j,latency\n0,1,26\n")


def test_directions_go_to_csv_and_back(tmp_path: Path) -> None:
    """`export` writes both directions, `show` says them."""
    path = tmp_path / "map.jsonl"
    write(table(tmp_path, BOTH, one_way=True), path)
    done = run_here("export", path, "--to", "csv", "-o", tmp_path / "out.csv", cwd=tmp_path)
    assert done.returncode == 0
    back = csv.read(tmp_path / "out.csv")
    assert one_way(back)[0, 1] == pytest.approx(4e-6)
    assert back.matrix()[0, 1] == pytest.approx(6e-6)


def test_published_matrices_are_shown_as_downloaded(tmp_path: Path) -> None:
    """One command, and every number is that of the file."""
    files = sorted(field_folder("maps").glob("*.csv"))
    assert len(files) >= 50
    token = NOTES.set(TableNotes(unit="ns", one_way=True))
    try:
        for path in files:
            assert foreign(path) == "matrix"
            times = matrix.IMPORTER.run(path).matrix("mean")
            np.testing.assert_allclose(times, 2e-9 * _matrix(path), rtol=1e-12)
    finally:
        NOTES.reset(token)
    done = run_here("show", files[0], "--unit", "ns", "--one-way", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["ranks"] == len(_matrix(files[0]))


def test_processes_of_nvbandwidth_have_hosts(tmp_path: Path) -> None:
    processes = "".join(
        f"Process {rank} (worker-{rank // 2}): device {rank % 2}: HGX GB200 (00000008:01:00)\n"
        for rank in range(3)
    )
    assert of(tmp_path, processes + "\n" + NVBANDWIDTH).hosts == [
        "worker-0",
        "worker-0",
        "worker-1",
    ]
