"""What is written for other programs of a sweep: gnuplot, OSU's tables, comma-separated values."""

from __future__ import annotations

import csv as csv_module
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from beds.golden import Golden
from beds.mpis import missing
from isochrone.base.errors import InputError
from isochrone.base.operations import COLLECTIVES
from isochrone.cli.main import main
from isochrone.formats.exporters import csv, gnuplot, osu
from isochrone.formats.importers.osu import IMPORTER as OSU_IMPORTER
from isochrone.formats.osu_access import CALLS
from isochrone.runfile import file as runs
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from made_up import sweeps

EVEN = tuple(range(0, 1025, 128))


def draw(run: Run, folder: Path, name: str = "sweep.dat") -> subprocess.CompletedProcess[str]:
    """Export and run the script with gnuplot itself, in the folder of the files."""
    program = shutil.which("gnuplot")
    if program is None:
        missing("gnuplot", "no gnuplot here")
    gnuplot.write(run, folder / name)
    return subprocess.run(
        [str(program), (folder / name).with_suffix(".gp").name],
        cwd=folder,
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )


@pytest.mark.parametrize(
    "run",
    [
        sweeps.point_to_point(),
        sweeps.point_to_point(sizes=EVEN, pairs=((0, 1), (0, 3))),
        sweeps.bisection(9),
        sweeps.collective(("bcast", "allreduce", "barrier"), sizes=(8, 64, 4096)),
        sweeps.point_to_point(sizes=(64,), repeats=1),
        sweeps.point_to_point(sizes=(0,), repeats=1),
    ],
    ids=["sweep", "even", "bisection", "collective", "one size", "no bytes"],
)
def test_gnuplot_runs_the_script_without_change(run: Run, tmp_path: Path) -> None:
    """No word on stderr, and the pictures hold the names of the curves."""
    done = draw(run, tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    pictures = sorted(tmp_path.glob("*.svg"))
    if max(curve.bytes.max() for curve in curves(run)) > 0:
        assert [p.name for p in pictures] == ["sweep-bandwidth.svg", "sweep-time.svg"]
    for picture in pictures:
        text = picture.read_text("utf-8")
        assert text.rstrip().endswith("</svg>")
        assert "yerr" not in text
        assert re.sub(r"^ranks ", "", curves(run)[0].name.replace("–", "–")) in text


def test_a_barrier_alone_gives_a_script_that_does_nothing(tmp_path: Path) -> None:
    done = draw(sweeps.collective(("barrier",)), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.glob("*.svg")) == []


def test_names_of_strangers_are_no_commands_of_gnuplot(tmp_path: Path) -> None:
    """Neither an operation, nor the meaning of the seconds, nor the name of the file."""
    run = sweeps.collective(("bcast",), sizes=(8, 64, 4096))
    attack = "x'; system('touch pwned') #`touch pwned`\n!touch pwned\nset output '"
    rows = [{**row, "op": attack} for row in run.tables["sample"].rows()]
    run.tables["sample"] = sweeps.table_of(rows)
    run.header |= {"seconds_are": attack}
    done = draw(run, tmp_path, name="it's `touch pwned` $x.dat")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "pwned").exists()
    assert len(list(tmp_path.glob("*.svg"))) == 2


@pytest.mark.parametrize("name", ["a\nb.dat", "a\\b.dat", "x.gp"])
def test_names_gnuplot_cannot_read_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        gnuplot.write(sweeps.point_to_point(sizes=(8,)), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_header_names_every_column_with_its_unit(tmp_path: Path, golden: Golden) -> None:
    run = sweeps.point_to_point(sizes=(0, 8, 64), pairs=((0, 1), (0, 3)))
    gnuplot.write(run, tmp_path / "a.dat")
    lines = (tmp_path / "a.dat").read_text().splitlines()
    golden(lines[1])
    titles = lines[2].lstrip("# ").split()
    assert titles[:3] == ["bytes[B]", "n[1]", "median[s]"]
    table = np.loadtxt(tmp_path / "a.dat")
    assert table.shape == (6, len(titles))
    one, two = curves(run)
    median = np.concatenate([one.column("median"), two.column("median")])
    np.testing.assert_allclose(table[:, 2], median, rtol=1e-6)
    assert all(re.search(r"\[(B|1|s|B/s)\]$", title) for title in titles)


def test_exporting_twice_needs_force_for_either_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    runs.write(sweeps.point_to_point(sizes=(8, 64)), tmp_path / "a.jsonl")
    (tmp_path / "a.gp").write_text("mine")
    command = ["export", str(tmp_path / "a.jsonl"), "--to", "gnuplot"]
    assert main(command) == 2
    golden(capsys.readouterr().err)
    assert (tmp_path / "a.gp").read_text() == "mine"
    assert not (tmp_path / "a.dat").exists()
    assert main([*command, "--force"]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "a.dat"), str(tmp_path / "a.gp")]


def text_of(run: Run, tmp_path: Path) -> str:
    osu.write(run, tmp_path / "osu.txt")
    return (tmp_path / "osu.txt").read_text()


def test_osu_latency_to_the_letter(tmp_path: Path, golden: Golden) -> None:
    """The widths are those of OSU Micro-Benchmarks 5.8 (osu_util.h: 10 and 18 characters)."""
    run = sweeps.point_to_point(lambda b: 1.234e-6 + b * 1e-9, sizes=(0, 1024), noise=0.0)
    golden(text_of(run, tmp_path))


def test_osu_headers_of_all_kinds(tmp_path: Path) -> None:
    """As the benchmarks print them; parsers look for these lines."""
    for run, title, columns in (
        (
            sweeps.point_to_point(window=64),
            "# OSU MPI Bandwidth Test",
            "# Size      Bandwidth (MB/s)",
        ),
        (
            sweeps.point_to_point(mode="bidirectional"),
            "# OSU MPI Bi-Directional Bandwidth Test",
            "# Size      Bandwidth (MB/s)",
        ),
        (
            sweeps.point_to_point(mode="put"),
            "# OSU MPI_Put Latency Test",
            "# Size          Latency (us)",
        ),
        (
            sweeps.point_to_point(mode="get", window=64),
            "# OSU MPI_Get Bandwidth Test",
            "# Size      Bandwidth (MB/s)",
        ),
        (
            sweeps.point_to_point(mode="bidirectional_put", **{"rma-sync": "pscw"}),
            "# OSU MPI_Put Bi-Directional Bandwidth Test",
            "# Synchronization: MPI_Win_post/start/complete/wait",
        ),
        (
            sweeps.point_to_point(mode="fetch_and_op", **{"rma-window": "dynamic"}),
            "# OSU MPI_Fetch_and_op Latency Test",
            "# Window creation: MPI_Win_create_dynamic",
        ),
        (sweeps.bisection(8), "# OSU MPI Multi Latency Test", "# Size          Latency (us)"),
        (
            sweeps.bisection(8, window=64),
            "# OSU MPI Multiple Bandwidth / Message Rate Test",
            "# Size                  MB/s        Messages/s",
        ),
        (
            sweeps.at_once("threads", (2,)),
            "# OSU MPI Multi-threaded Latency Test",
            "# Number of Sender threads: 2",
        ),
        (
            sweeps.collective(("allreduce",)),
            "# OSU MPI Allreduce Latency Test",
            "# Size       Avg Latency(us)",
        ),
        (sweeps.collective(("barrier",)), "# OSU MPI Barrier Latency Test", "# Avg Latency(us)"),
        (
            sweeps.collective(("ibcast",)),
            "# OSU MPI Non-blocking Broadcast Latency Test",
            "# Size       Avg Latency(us)",
        ),
        (
            sweeps.collective(("bcast_persistent",)),
            "# OSU MPI Broadcast Persistent Latency Test",
            "# Size       Avg Latency(us)",
        ),
        (
            sweeps.point_to_point(mode="bidirectional_persistent", window=64),
            "# OSU MPI Bi-Directional Bandwidth Persistent Test",
            "# Size      Bandwidth (MB/s)",
        ),
    ):
        lines = text_of(run, tmp_path).splitlines()
        assert lines[1].startswith(title)
        assert columns in lines[2:5]


@pytest.mark.parametrize("mode", CALLS)
def test_osu_tables_of_one_sided_modes_are_read_again(tmp_path: Path, mode: str) -> None:
    """With the mode, the window and its synchronisation; OSU has no table of gets both ways."""
    access = {"rma-window": "allocate", "rma-sync": "fence"}
    run = sweeps.point_to_point(sizes=(8, 64), mode=mode, **access)
    osu.write(run, tmp_path / "osu.txt")
    again = OSU_IMPORTER.read(tmp_path / "osu.txt")
    assert {key: again.options[key] for key in ("mode", *access)} == {"mode": mode, **access}
    (before,), (after,) = curves(run), curves(again)
    assert [p.bandwidth for p in after.points] == pytest.approx(
        [p.bytes / p.mean * (1 + ("bidirectional" in mode)) for p in before.points], rel=0.02
    )


def test_osu_tables_are_found_by_the_patterns_of_reframe(tmp_path: Path) -> None:
    """The expressions of ReFrame's hpctestlib for the OSU benchmarks."""
    latency = text_of(sweeps.point_to_point(), tmp_path)
    assert re.search(r"^# OSU.*", latency, re.M)
    assert re.search(r"^8\s+(?P<latency>\S+)", latency, re.M)
    rate = text_of(sweeps.point_to_point(window=64), tmp_path)
    found = re.search(r"^4194304\s+(?P<bw>\S+)", rate, re.M)
    assert found is not None
    assert float(found["bw"]) == pytest.approx(10900, rel=0.05)


def test_osu_collectives_are_means_over_ranks(tmp_path: Path) -> None:
    """OSU averages over ranks and repetitions; ours is the slowest rank, which is more."""
    run = sweeps.collective(("bcast",), sizes=(64,), late=3)
    mean = np.mean(run.tables["sample"]["times"].tolist()) * 1e6
    assert text_of(run, tmp_path).splitlines()[-1] == f"{64:<10d}{mean:18.2f}"


def test_osu_has_no_table_of_foreign_operations(tmp_path: Path, golden: Golden) -> None:
    run = sweeps.collective(("sendrecv",), sizes=(64,))
    with golden.refusal():
        text_of(run, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_operation_has_a_table_of_osu_that_is_read_again(tmp_path: Path) -> None:
    """By its own name: a gatherv comes back as no gather."""
    osu.write(sweeps.collective(COLLECTIVES, sizes=(8, 64)), tmp_path / "all.txt")
    back = OSU_IMPORTER.read(tmp_path / "all.txt")
    assert {curve.key["op"] for curve in curves(back)} == set(COLLECTIVES)


def rows_of(run: Run, tmp_path: Path, nbytes: int | None = None) -> list[dict[str, str]]:
    csv.write(run, tmp_path / "a.csv", nbytes=nbytes)
    with (tmp_path / "a.csv").open(newline="") as stream:
        return list(csv_module.DictReader(stream))


def test_csv_has_one_row_a_repetition_with_the_columns_of_fit(tmp_path: Path) -> None:
    run = sweeps.collective(("bcast",), 4, sizes=(8, 64), repeats=3)
    rows = rows_of(run, tmp_path)
    assert len(rows) == 6
    assert {k: rows[0][k] for k in ("op", "p", "b", "root", "repeat", "rate", "i")} == {
        "op": "bcast",
        "p": "4",
        "b": "8",
        "root": "0",
        "repeat": "0",
        "rate": "",
        "i": "",
    }
    assert float(rows[0]["seconds"]) == run.tables["sample"]["seconds"][0]  # all digits
    assert len(rows_of(run, tmp_path, 64)) == 3


def test_csv_of_pairs_and_of_a_bisection(tmp_path: Path) -> None:
    row = rows_of(sweeps.point_to_point(sizes=(8,), mode="put"), tmp_path)[0]
    assert [row[k] for k in ("op", "p", "i", "j", "b")] == ["put", "2", "0", "3", "8"]
    run = sweeps.bisection(9, sizes=(8,))
    row = rows_of(run, tmp_path)[0]
    assert [row[k] for k in ("op", "p", "pairs")] == ["bisection", "9", "4"]
    assert float(row["rate"]) == run.tables["sample"]["rate"][0]


def test_csv_operation_is_no_formula(tmp_path: Path) -> None:
    run = sweeps.collective(("=1+1",), sizes=(8,))
    assert rows_of(run, tmp_path)[0]["op"] == "'=1+1"
