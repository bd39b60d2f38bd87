"""The Jacobi example: what it computes is right, whatever n, p, variant and grid."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beds.mpis import CROWDED, PATIENCE, ROOT, Mpi, missing
from beds.simulation import available
from isochrone.measure import launcher as launchers
from isochrone.measure.platforms import parse

EXAMPLE = ROOT / "examples/jacobi"
PHASES = {"row": ["compute", "allgather"], "column": ["compute", "reduce", "bcast"]}


def built(folder: Path, *words: object) -> None:
    argv = ["make", "-C", EXAMPLE, f"BUILD={folder}", "CFLAGS=-O2 -Werror", *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jacobi")


@pytest.fixture(scope="module")
def program(every_mpi: Mpi, folder: Path) -> Path:
    """The program, built with one of the MPIs."""
    built(folder / every_mpi.name, f"MPICC={every_mpi.probe.mpicc}")
    return folder / every_mpi.name / "jacobi"


def started(mpi: Mpi, program: Path, ranks: int, *options: object) -> tuple[int, str, str]:
    """Start it through the launcher of its MPI; return exit code, output and errors."""
    job = launchers.Job(
        ranks=ranks,
        program=(str(program), *map(str, options)),
        mpicc=mpi.probe.mpicc,
        processors=len(os.sched_getaffinity(0)),
    )
    argv = launchers.load(launchers.choose(os.environ, mpi.probe.library)).command(job)
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **CROWDED},
    )
    return done.returncode, done.stdout, done.stderr


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def grids(ranks: int) -> list[str]:
    return [f"{p1}x{ranks // p1}" for p1 in range(1, ranks + 1) if ranks % p1 == 0]


@pytest.mark.few(2)
@pytest.mark.parametrize("variant", PHASES)
def test_it_computes_what_a_serial_program_does(
    every_mpi: Mpi, program: Path, variant: str
) -> None:
    """Also where ranks have less than others or nothing, and with two phases on any grid."""
    dice = np.random.default_rng(len(variant))
    for ranks in (1, 2, 3, 4, 6):
        n = int(dice.integers(1, 60))
        iterations = int(dice.integers(1, 12))
        grid = dice.choice(["", *grids(ranks)])
        asked = ["--grid", grid] if grid else []
        code, out, errors = started(
            every_mpi,
            program,
            ranks,
            "--n",
            n,
            "--iterations",
            iterations,
            "--variant",
            variant,
            "--repeats",
            2,
            "--check",
            *asked,
        )
        assert code == 0, (ranks, n, iterations, grid, out, errors)
        found = lines(out)
        assert [line["repeat"] for line in found] == [0, 1]
        for line in found:
            assert line["difference"] < 1e-12
            assert (line["n"], line["ranks"], line["grid"]) == (n, ranks, grid)
            assert list(line["phases"]) == PHASES[variant]
            assert 0 < line["median"] <= line["seconds"] * iterations
            assert sum(line["phases"].values()) <= line["seconds"] * 1.0001


def test_it_converges_to_the_solution(every_mpi: Mpi, program: Path) -> None:
    """The error halves with each iteration, at least."""
    for variant in PHASES:
        errors = []
        for iterations in (1, 11, 60):
            options = ("--n", 40, "--iterations", iterations, "--variant", variant, "--check")
            (line,) = lines(started(every_mpi, program, 3, *options)[1])
            errors.append(line["error"])
        assert errors[1] <= errors[0] / 2**10
        assert errors[2] < 1e-12


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--n", "0"], "usage: jacobi"),
        (["--variant", "diagonal"], "usage: jacobi"),
        (["--repeats"], "usage: jacobi"),
        (["--grid", "2x2"], "--grid 2x2 is of 4 ranks, not of 2"),
    ],
)
def test_wrong_use_is_one_line(
    mpich: Mpi, folder: Path, options: list[str], complaint: str
) -> None:
    built(folder / mpich.name, f"MPICC={mpich.probe.mpicc}")
    code, out, errors = started(mpich, folder / mpich.name / "jacobi", 2, *options)
    assert code == 2
    assert out == ""
    assert complaint in errors


@pytest.mark.parametrize(("variant", "operations"), [("row", 2 * 60 * 15), ("column", 2 * 59 * 15)])
def test_in_a_simulation_computing_takes_the_operations_times_t_op(
    folder: Path, tmp_path: Path, variant: str, operations: int
) -> None:
    """Equations 1 and 2 of the paper; the result is right there, too."""
    if not available():
        missing("simgrid", "SimGrid is not installed (Debian: libsimgrid-dev)")
    built(folder / "simgrid", "simulated")
    machine = parse("nodes:2 cores:2")
    (tmp_path / "P.xml").write_text(machine.xml())
    (tmp_path / "hosts").write_text(machine.hosts())
    argv = [
        "smpirun",
        "-np",
        "4",
        "-platform",
        tmp_path / "P.xml",
        "-hostfile",
        tmp_path / "hosts",
        "--log=root.thres:critical",
        "--cfg=smpi/simulate-computation:no",
        "--cfg=smpi/wtime:0",
        folder / "simgrid/jacobi-simulated",
        "--n",
        "60",
        "--variant",
        variant,
        "--check",
        "--t-op",
        "1e-6",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = lines(done.stdout)
    assert line["difference"] < 1e-12
    assert line["phases"]["compute"] == pytest.approx(operations * 1e-6, rel=1e-3)
