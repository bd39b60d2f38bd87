"""The tutorial of a slow HDF5 write is walked, command by command, on a small cluster."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.mpis import CROWDED, PATIENCE, ROOT, SCRIPTS, find_mpi, missing
from cluster.running import Cluster

PAGE = ROOT / "docs/slow-hdf5-write.md"
H5PY = "import h5py, mpi4py; assert h5py.get_config().mpi"

WALKED = ["C", *(["h5py"] if "ISOCHRONE_PROGRAMS" in os.environ else [])]
"""By which program: the one of the page has to be built by hand, once."""

SMALLER = {
    "-n 16": "-n 4",
    "32KiB,256KiB,1MiB,2MiB --warmup 1 --repeats 5 --time-limit 190": "32KiB,64KiB --repeats 3",
    "--launches 5": "--launches 2 --min-io-share 0",
}
"""What is changed so that the walk takes a minute."""


def commands() -> list[str]:
    """Return the commands of the page that start ranks or isochrone."""
    lines = re.findall(r"^\$ (.*)$", PAGE.read_text().replace("\\\n", ""), re.MULTILINE)
    return [line for line in lines if line.startswith(("isochrone ", "mpiexec "))]


def through_h5py() -> tuple[Path, list[object]]:
    """Return the MPI that h5py was built with and the program of the page."""
    python = Path(os.environ["ISOCHRONE_PROGRAMS"], "venv/bin/python")
    if subprocess.run([python, "-c", H5PY], check=False).returncode:
        missing("h5py", "there is no h5py with MPI: docs/tune-collective-io.md")
    field = ROOT / "examples/hdf5-write/field.py"
    return python.parent / "mpiexec", [python, field, "field.h5", "--steps", 1, "--block", 128]


def through_mpi_io(folder: Path) -> tuple[Path, list[object]]:
    """Return an MPI and a program in C with the same pattern."""
    mpicc = find_mpi("mpich-wheel").probe.mpicc
    program = folder / "io_program"
    source = ROOT / "tests/beds/io_program.c"
    subprocess.run([mpicc, "-O2", source, "-o", program, "-lm"], check=True, timeout=60)
    return mpicc.parent / "mpiexec", [program, "field.dat", "tiles", 65536, 1]


@pytest.mark.full
@pytest.mark.parametrize("program", WALKED)
def test_the_commands_of_the_page_run(
    cluster: Callable[..., Cluster], tmp_path: Path, program: str
) -> None:
    """As they stand there, with fewer ranks and smaller messages; each needs those before it."""
    mpiexec, words = through_h5py() if program == "h5py" else through_mpi_io(tmp_path)
    on = cluster((2, 1, 1))
    (tmp_path / "nodes").write_text(on.hostfile("mpich").read_text())
    mine = shlex.join(map(str, words))
    listed = commands()
    assert len(listed) >= 7
    for line in listed:
        for old, new in SMALLER.items():
            line = line.replace(old, new)
        line = line.replace("python field.py field.h5", mine)
        line = line.replace("mpiexec -f", f"{mpiexec} -f").replace(
            "isochrone measure", f"isochrone measure --mpicc {mpiexec.parent / 'mpicc'}"
        )
        line = re.sub("^isochrone", str(SCRIPTS / "isochrone"), line)
        answer = on.run(
            "env", "-C", tmp_path, *shlex.split(line), environ=CROWDED, timeout=PATIENCE
        )
        assert answer.returncode == 0, f"{line}\n{answer.stdout}\n{answer.stderr}"
