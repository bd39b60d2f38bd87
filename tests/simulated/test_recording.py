"""Programs that SimGrid simulates are recorded in virtual time, and predicted on more ranks."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.mpis import PATIENCE, ROOT
from beds.simulation import Simulation
from isochrone.applications.results import recording
from isochrone.applications.results.listing import positions
from isochrone.applications.results.recorded_calls import sites
from isochrone.measure.launchers.simgrid import EXACT
from isochrone.measure.platforms import parse as machine
from isochrone.measure.source_lines import source_lines
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

QUIET = ("--log=root.thres:critical", "--cfg=smpi/simulate-computation:no")


@pytest.fixture
def folder(simulation: Simulation, tmp_path: Path) -> Path:
    """Return a folder with a program and a machine of 1 Gf/s."""
    made = machine("nodes:32 cores:1")
    (tmp_path / "P.xml").write_text(made.xml())
    (tmp_path / "P.hosts").write_text(made.hosts())
    argv = [
        "smpicc",
        "-std=c11",
        "-O1",
        "-g",
        ROOT / "tests/beds/steps.c",
        "-o",
        tmp_path / "steps",
    ]
    subprocess.run(argv, check=True, timeout=PATIENCE)
    return tmp_path


def test_ranks_are_recorded_apart(folder: Path) -> None:
    """40 steps of 1 ms, with a message and an allreduce each."""
    smpirun = shutil.which("smpirun") or "smpirun"
    said = run_here(
        "record",
        "-o",
        folder / "run.jsonl",
        "--mpicc",
        "smpicc",
        "--",
        smpirun,
        "-np",
        "4",
        "-platform",
        folder / "P.xml",
        "-hostfile",
        folder / "P.hosts",
        *QUIET,
        folder / "steps",
    )
    assert said.returncode == 0, said.stderr
    run = read(folder / "run.jsonl")
    assert recording.program(run) == "steps"
    assert recording.matrix(run, "messages").tolist() == [
        [0, 40, 0, 0],
        [0, 0, 40, 0],
        [0, 0, 0, 40],
        [40, 0, 0, 0],
    ]
    for one in recording.rank_times(run):
        assert one.calls == 80
        assert one.computation == pytest.approx(0.04, rel=0.001)
    places = by_operation(run)
    text = (ROOT / "tests/beds/steps.c").read_text().splitlines()
    assert {op: text[line - 1].split("(")[0].strip() for op, line in places.items()} == {
        "exchange": "MPI_Sendrecv",
        "allreduce": "MPI_Allreduce",
    }


def by_operation(run: Run) -> dict[str, int]:
    """Return the line of the code of each operation: SimGrid loads copies of the program."""
    lines = source_lines(sites(run), run.about.started)
    found, _ = positions(run)
    return {
        one.call: int(lines[one.sites[0]].removeprefix("steps.c:")) for one in found if one.sites
    }


def test_several_launches_of_a_simulation_are_numbered(folder: Path) -> None:
    """Smpirun passes no blanks on."""
    said = run_here(
        "measure",
        "collective",
        "--op",
        "barrier",
        "-n",
        "2",
        "--launches",
        "2",
        "--platform",
        folder / "P.xml",
        "-o",
        folder / "barrier.jsonl",
    )
    assert said.returncode == 0, said.stderr
    notes = [read(folder / f"barrier-{k}.jsonl").notes["launch"] for k in (1, 2)]
    assert notes == ["1/2", "2/2"]


def test_sides_of_a_grid_are_arguments(folder: Path) -> None:
    said = run_here(
        "scale",
        "-n",
        "2,4,8",
        "--to",
        "16",
        "--platform",
        folder / "P.xml",
        "--dry-run",
        "--",
        folder / "steps",
        "{grid2}",
        cwd=folder,
    )
    ends = [line.split()[-2:] for line in said.stdout.splitlines()]
    assert ends == [["2", "1"], ["2", "2"], ["4", "2"]]


@pytest.mark.full
def test_one_command_measures_what_the_program_needs(folder: Path) -> None:
    """Recorded on 2, 4 and 8 ranks; on 32 the simulated program takes what was predicted."""
    simulated = ["--launcher", "simgrid", "--platform", folder / "P.xml"]
    said = run_here(
        "scale",
        "-n",
        "2,4,8",
        "--to",
        "32",
        *simulated,
        "--folder",
        folder / "runs",
        "--quiet",
        "--json",
        "--",
        folder / "steps",
        cwd=folder,
    )
    assert said.returncode == 0, said.stderr
    (found,) = json.loads(said.stdout)["predictions"]
    made = [f"steps-{ranks}.jsonl" for ranks in (2, 4, 8)]
    assert sorted(path.name for path in (folder / "runs").iterdir()) == [*made, "steps-models"]
    smpirun = shutil.which("smpirun") or "smpirun"
    said = run_here(
        "record",
        "-o",
        folder / "run.jsonl",
        "--mpicc",
        "smpicc",
        "--",
        smpirun,
        "-np",
        "32",
        "-platform",
        folder / "P.xml",
        "-hostfile",
        folder / "P.hosts",
        *QUIET,
        *EXACT,
        folder / "steps",
    )
    times = recording.rank_times(read(folder / "run.jsonl"))
    assert found["seconds"] == pytest.approx(max(one.seconds for one in times), rel=0.05)
