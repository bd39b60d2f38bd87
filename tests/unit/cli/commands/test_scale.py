"""`isochrone scale`: a prediction from recordings, a description of any number of ranks."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from beds.command_line import run_here
from beds.mpis import Mpi
from isochrone import models
from isochrone.applications.description.lowering import program
from isochrone.applications.description.reading import read
from isochrone.runfile.file import write
from made_up.applications import collectives, messages
from made_up.recordings import halo_recording

SHAPES = {4: (2, 2), 8: (4, 2), 16: (4, 4)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for ranks, shape in SHAPES.items():
        path = tmp_path / f"r{ranks}.jsonl"
        write(halo_recording(*shape), path)
        took = 2e-3 + 100 * (1e-3 + (20 + ranks) * 1e-6)  # as long as its calls take by the models
        path.write_text(
            re.sub(r'"seconds":1(\.0)?,"comm', f'"seconds":{took},"comm', path.read_text())
        )
    models.write(messages(), tmp_path / "messages.json")
    models.write(collectives(allreduce=(10e-6, 1e-6)), tmp_path / "allreduce.json")
    return tmp_path


def scaled(folder: Path, *ranks: int, to: str = "64") -> list[str | Path]:
    files: list[str | Path] = [folder / f"r{p}.jsonl" for p in ranks]
    model = [folder / "messages.json", folder / "allreduce.json"]
    return ["scale", *files, "--to", to, "--model", *model]


@pytest.mark.slow
def test_three_recordings_become_a_time_with_its_interval(folder: Path) -> None:
    """100 iterations of 1 ms, an exchange and an allreduce of 10 + p us; and 2 ms before."""
    said = run_here(*scaled(folder, 4, 8, 16, to="32,64"), "--json", "-o", folder / "app.yaml")
    assert said.returncode == 0, said.stderr
    document = json.loads(said.stdout)
    assert document["recorded"] == [4, 8, 16]
    assert abs(document["held_out_error"]) < 0.1, "against the time recorded on 16 ranks"
    (_, found) = document["predictions"]
    assert found["ranks"] == 64
    assert found["low"] < 100 * (1e-3 + 74e-6) < found["high"]
    assert found["seconds"] == pytest.approx(0.11, rel=0.1)
    description = read(folder / "app.yaml")
    assert description.apps[0].name == "halo"
    assert [program(description, ranks).ranks for ranks in (32, 64)] == [32, 64]


@pytest.mark.slow
def test_two_recordings_have_no_held_out_error(folder: Path) -> None:
    said = run_here(*scaled(folder, 8, 16), "--json")
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["held_out_error"] is None


@pytest.mark.parametrize("ranks", [(4,), (4, 4)])
def test_too_few_numbers_of_ranks_are_one_line(folder: Path, ranks: tuple[int, ...]) -> None:
    said = run_here(*scaled(folder, *ranks))
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1


def test_a_program_that_does_not_generalize_is_refused(folder: Path) -> None:
    """Sixteen ranks in one row are no grid that follows from those of 4 and 8."""
    write(halo_recording(1, 16), folder / "r16.jsonl", overwrite=True)
    said = run_here(*scaled(folder, 4, 8, 16))
    assert said.returncode == 2
    assert "position" in said.stderr
    assert said.stderr.count("\n") == 1


def test_simulated_recordings_get_no_models_of_a_real_machine(folder: Path, mpich: Mpi) -> None:
    for ranks in SHAPES:
        path = folder / f"r{ranks}.jsonl"
        clock = '"clock":{"source":"MPI_Wtime","granularity":1e-6,"cost":1e-8,"simulated":true}'
        path.write_text(path.read_text().replace('"notes"', f'{clock},"notes"', 1))
    files = [folder / f"r{ranks}.jsonl" for ranks in SHAPES]
    said = run_here("scale", *files, "--to", "64", "--mpicc", mpich.probe.mpicc)
    assert said.returncode == 2
    assert "simulated" in said.stderr
    assert said.stderr.count("\n") == 1


def test_recordings_that_exist_are_used_again(folder: Path, tmp_path: Path, mpich: Mpi) -> None:
    """The program is not there any more, and is not started."""
    (tmp_path / "runs").mkdir()
    for ranks in SHAPES:
        shutil.copy(folder / f"r{ranks}.jsonl", tmp_path / f"runs/halo-{ranks}.jsonl")
    said = run_here(
        "scale",
        "-n",
        ",".join(map(str, SHAPES)),
        "--to",
        "64",
        "--folder",
        "runs",
        "--model",
        "messages.json",
        "allreduce.json",
        "--mpicc",
        mpich.probe.mpicc,
        "--",
        "./halo",
        cwd=tmp_path,
    )
    assert said.returncode == 0, said.stderr
    assert said.stderr.count("--force") == len(SHAPES)
