"""Logs of jobs: which tables are found, which are chosen, and where numbers of ranks come from."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from isochrone.base.errors import InputError
from isochrone.cli.main import main
from isochrone.console import input as given
from isochrone.formats import log
from isochrone.formats.log_ranks import LogRanks
from isochrone.runfile import any_file
from isochrone.runfile.any_file import read, read_all
from isochrone.runfile.importer import Wanted
from isochrone.sweep.curves import curves

JOB = """\
Lmod: loading openmpi/4.1
+ srun -n 2 ./osu_latency
# OSU MPI Latency Test v7.4
# Size          Latency (us)
8                       1.16
64                      1.31
+ mpirun -np 16 --bind-to core ./osu_bcast
# OSU MPI Broadcast Latency Test v7.4
# Size       Avg Latency(us)
8                       4.82
64                      5.07
# OSU MPI Odd Latency Test v7.4
# Size       Avg Latency(us)
8                       4.82
#---------------------------------------------------
# Benchmarking Sendrecv
# #processes = 4
#---------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         4.36         4.40         4.38         3.64
srun: error: node7: task 3: Exited with exit code 1
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.log"
    path.write_text(JOB)
    return path


def test_every_table_of_every_format_is_a_run(job: Path) -> None:
    runs = read_all(job)
    assert [
        (any_file.tests_of(run), run.size, run.header["imported"]["format"]) for run in runs
    ] == [
        ("osu_latency", 2, "osu"),
        ("osu_bcast", 16, "osu"),
        ("Sendrecv", 4, "imb"),
    ]
    times = [point.median for run in runs for curve in curves(run) for point in curve.points]
    np.testing.assert_allclose(times, [1.16e-6, 1.31e-6, 4.82e-6, 5.07e-6, 4.40e-6])


def test_a_table_that_is_not_understood_is_named_once(job: Path) -> None:
    texts = [w["text"] for run in read_all(job) for w in run.warnings if "left out" in w["text"]]
    assert len(texts) == 1
    assert "line 12" in texts[0]
    assert log.tests_in(job, Wanted())[1] == texts[0]


@pytest.mark.parametrize(
    ("wanted", "tests"),
    [
        (Wanted(tests=["OSU_Latency"]), ["osu_latency"]),
        (Wanted(tests=["bcast", "sendrecv"]), ["osu_bcast", "Sendrecv"]),
        (Wanted(ops=["bcast"]), ["osu_bcast"]),
        (Wanted(ranks=4), ["Sendrecv"]),
        (Wanted(formats=["imb"]), ["Sendrecv"]),
    ],
    ids=["test", "tests", "op", "ranks", "format"],
)
def test_tests_are_chosen(job: Path, wanted: Wanted, tests: list[str]) -> None:
    assert [any_file.tests_of(run) for run in read_all(job, wanted)] == tests


def test_a_single_run_has_to_be_chosen(job: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(job)
    assert "--test osu_latency" in caught.value.hint
    with pytest.raises(InputError) as caught:
        read_all(job, Wanted(tests=["osu_latencies"]))
    assert "osu_latency" in caught.value.hint


def test_a_test_that_was_run_again_is_a_launch_or_a_repetition(tmp_path: Path) -> None:
    path = tmp_path / "twice.log"
    path.write_text(JOB + JOB.replace("1.16", "1.20"))
    launches = read_all(path, Wanted(tests=["latency"], launches=True))
    assert [curves(run)[0].points[0].n for run in launches] == [1, 1]
    (together,) = read_all(path, Wanted(tests=["latency"]))
    point = curves(together)[0].points[0]
    assert (point.n, point.median) == (2, pytest.approx(1.18e-6))
    assert [(one.test, one.launches, one.line) for one in log.tests_in(path, Wanted())[0]] == [
        ("osu_latency", 2, 3),
        ("osu_bcast", 2, 8),
        ("Sendrecv", 2, 16),
    ]


def test_the_last_line_of_a_log_may_be_cut(tmp_path: Path) -> None:
    """Only the run whose table it is in is partial."""
    path = tmp_path / "cut.log"
    path.write_text(JOB + "           16         10")
    assert [run.complete for run in read_all(path)] == [True, True, False]


@pytest.mark.parametrize(
    ("line", "test", "ranks"),
    [
        ("mpirun -np 16 ./osu_bcast -f", "osu_bcast", 16),
        ("mpirun -np 16 ./osu_bcast -f", "osu_reduce", None),
        ("$ mpiexec -n 8 numactl -l ./a.out", "Bcast", 8),
        ("srun -N 4 --ntasks=32 ./osu_bcast", "osu_bcast", 32),
        ("srun -N 4 -n32 ./osu_bcast", "osu_bcast", 32),
        ("srun -N 4 ./osu_bcast", "osu_bcast", None),
        ("mpirun.mpich -n 4 /opt/osu_tests/osu_bcast", "osu_bcast", 4),
        ("mpirun_rsh -np 4 -hostfile osu_hosts ./osu_bcast", "osu_bcast", 4),
        ("nprocs: 4, min: 12 ms, max: 13 ms, avg: 12 ms", "osu_bcast", None),
        ("flux run -n 12 osu_bcast", "osu_bcast", 12),
        ("flux run -N4 --tasks-per-node=96 ./osu_bcast", "osu_bcast", 384),
        ("srun -N 4 --ntasks-per-node 8 ./osu_bcast", "osu_bcast", 32),
        ("UCC_TLS=ucp $LAUNCH -n 4 osu_bcast -i 10", "osu_bcast", 4),
        ("echo $LAUNCH -n 4", "osu_bcast", None),
        ("# nprocs = 6", "osu_bcast", 6),
        ("Number of processes: 24", "osu_bcast", 24),
        ("SLURM_NTASKS=128", "osu_bcast", 128),
        ("number of processes 99999999", "osu_bcast", None),
        ("the run took 16 s", "osu_bcast", None),
    ],
)
def test_ranks_that_a_log_says(line: str, test: str, ranks: int | None) -> None:
    seen = LogRanks()
    seen.line(line)
    assert seen.of(test) == ranks


def test_a_command_without_a_number_ends_that_of_one_before() -> None:
    """Protects from the ranks of another program."""
    seen = LogRanks()
    seen.line("+ srun -n 1 hostname")
    seen.line("+ srun ./osu_bcast")
    assert seen.of("osu_bcast") is None


def test_tables_without_commands_are_pooled_with_a_warning(tmp_path: Path) -> None:
    path, table = tmp_path / "two.log", "".join(JOB.splitlines(keepends=True)[2:6])
    path.write_text(2 * table)
    (run,) = read_all(path)
    assert run.warnings[-1]["code"] == "tables-pooled"


@pytest.mark.parametrize(("second", "warned"), [("-n 2", False), ("-n 2 --map-by core", True)])
def test_tables_of_other_commands_are_no_launches(
    tmp_path: Path, second: str, warned: bool
) -> None:
    """Protects from an interval over two kinds of measurements."""
    path, table = tmp_path / "two.log", "".join(JOB.splitlines(keepends=True)[2:6])
    path.write_text(f"$ mpirun -n 2 osu_latency\n{table}$ mpirun {second} osu_latency\n{table}")
    (run,) = read_all(path)
    assert [w for w in run.warnings if w["code"] == "commands-differ"] == run.warnings[1:] * warned


def test_a_size_that_is_an_expression_is_not_known(tmp_path: Path) -> None:
    """Protects from eight bytes, which ucx_perftest sends without the option."""
    path = tmp_path / "ucx.log"
    sample = (Path(__file__).parents[2] / "golden/ucx-perftest/tag-bw.txt").read_text()
    path.write_text(sample.replace("104857600", "$((100*1024))"))
    with pytest.raises(InputError):
        read_all(path)


def test_the_list_of_ranks_of_intel_mpi_counts_them() -> None:
    seen = LogRanks()
    for row in (
        "Rank    Pid      Node name  Pin cpu",
        "0       29790    n1  {0,4}",
        "1 33 n2  {0}",
    ):
        seen.line(f"[0] MPI startup(): {row}")
    assert seen.of("osu_bcast") == 2


def test_standard_input_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given._standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(JOB.encode())))
    assert main(["show", "-", "--test", "osu_latency"]) == 0
    assert "1.31 µs" in capsys.readouterr().out
    given._standard_input.cache_clear()


def test_a_folder_of_logs_is_compared_test_by_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for side in ("a", "b"):
        (tmp_path / side).mkdir()
        for op in ("bcast", "reduce"):
            text = JOB.split("+ mpirun")[1].split("# OSU MPI Odd")[0]
            text = "+ mpirun" + text.replace("osu_bcast", f"osu_{op}")
            text = text.replace("Broadcast", {"bcast": "Broadcast", "reduce": "Reduce"}[op])
            (tmp_path / side / f"{op}.txt").write_text(text)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 0
    said = capsys.readouterr().out
    assert '"bcast.txt"' in said
    assert '"reduce.txt"' in said


TITLE = "# OSU MPI Latency Test v7.3\n"
COLUMNS = "# Size          Latency (us)\n"
PASTES = {
    "quotation": ("> ```\n> " + TITLE + "> " + COLUMNS + "> 8  1.5\n> 16  1.7\n> ```\n", ()),
    "markdown": (TITLE + "| # Size | Latency (us) |\n|---|---|\n| 8 | 1.5 |\n| 16 | 1.7 |\n", ()),
    "web page": (
        '<span class="quotelev1">&gt; ' + TITLE + "<br>\n" + COLUMNS + "<br>\n8&nbsp;&nbsp;1.5\n"
        "</span><br>\n16  1.7\n<br>\n",
        (),
    ),
    "fences": ("```\n" + TITLE + COLUMNS + "8  1.5\n16  1.7\n```\n", ()),
    "no title": (COLUMNS + "8  1.5\n16  1.7\n", ("osu",)),
    "two columns": ("8  1.5\n16  1.7\n", ("osu",)),
}


@pytest.mark.parametrize("name", PASTES)
def test_a_paste_is_a_file(name: str, tmp_path: Path) -> None:
    text, formats = PASTES[name]
    path = tmp_path / "paste.md"
    path.write_text(text)
    tests = ["osu_latency"] if name == "two columns" else []
    (run,) = log.read_log(path, Wanted(tests=tests, formats=formats))
    (curve,) = curves(run)
    assert {p.bytes: p.median for p in curve.points} == pytest.approx({8: 1.5e-6, 16: 1.7e-6})
    assert any_file.tests_of(run) == "osu_latency"


def test_a_paste_does_not_name_its_test(tmp_path: Path) -> None:
    """Collectives have the column `Avg Latency(us)`, too: it has to be said."""
    path = tmp_path / "paste.txt"
    for text in ("8 1.5\n", "# Size       Avg Latency(us)\n8 1.5\n"):
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            log.read_log(path, Wanted(formats=["osu"]))
        assert "--test" in caught.value.hint
    (run,) = log.read_log(path, Wanted(tests=["bcast"], ranks=4, formats=["osu"]))
    assert (run.experiment, run.size) == ("collective", 4)
