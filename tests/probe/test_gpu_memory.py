"""Messages in the memory of GPUs, with drivers that back it with host memory (beds/gpu_driver.c).

The processor cannot use a pointer of these drivers: whoever does is killed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from beds import documents
from beds.gpus import Copies, Gpus
from beds.mpis import Mpi
from beds.shim import Shim
from isochrone.base.errors import InputError, MeasurementError
from isochrone.base.operations import COLLECTIVES
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

DRIVERS = {"cuda": "nvlink", "rocm": "xgmi", "level-zero": "peer"}
"""Each with the link of two GPUs that have one."""

QUICK = ("--repeats", "4", "--retest", "0")
OPERATIONS = {
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "scan",
}

BIDIRECTIONAL = ["bidirectional", "bidirectional_persistent"]


@pytest.fixture
def gpus(mpich: Mpi, tmp_path: Path) -> Gpus:
    """Two GPUs, and the wheel `mpich`."""
    return Gpus(mpich, tmp_path)


def _copies(gpus: Gpus, *options: str, aware: bool = False) -> list[Copies]:
    """Return the copies of each rank for more repetitions, without those of the set-up."""
    counts = []
    for repeats in ("4", "9"):
        gpus.run(*options, "--retest", "0", "--repeats", repeats, aware=aware)
        counts.append(gpus.copies())
    return [
        Copies(many.gpu, *(more - less for more, less in zip(many[1:], few[1:], strict=True)))
        for few, many in zip(*counts, strict=True)
    ]


def _codes(run: Run) -> set[str]:
    return {warning["code"] for warning in run.warnings}


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_run_file_says_which_gpu_each_rank_has(gpus: Gpus, driver: str) -> None:
    """Four ranks on four GPUs, two of which have a link: the first two and the last two."""
    options = ("--memory", driver, "--bytes", "64", *QUICK)
    run = gpus.run("point-to-point", *options, ranks=4, GPU_DRIVER_GPUS=4)
    documents.check_run_file(gpus.folder / "run.jsonl")
    assert run.header["memory"] == f"{driver} (staged)"
    assert [rank.gpu_pci for rank in run.ranks] == [f"0000:a{k}:00.0" for k in range(4)]
    assert [rank.gpu for rank in run.ranks] == [0, 1, 2, 3]
    assert [rank.gpu_numa for rank in run.ranks] == [-1] * 4
    links = run.ranks[2].gpu_links
    assert links == {
        "0000:a0:00.0": "host",
        "0000:a1:00.0": "host",
        "0000:a3:00.0": DRIVERS[driver],
    }


@pytest.mark.smoke
def test_an_mpi_that_is_not_gpu_aware_gets_host_memory_on_every_mpi(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    """Each operation of a rank is a copy from its GPU and one to it; the run file says so."""
    gpus = Gpus(every_mpi, tmp_path)
    options = ("point-to-point", "--memory", "cuda", "--bytes", "1KiB")
    first, second = _copies(gpus, *options)
    run = read(gpus.folder / "run.jsonl")
    assert run.header["mpi"]["gpu_aware"]["cuda"] in ("no", "unknown")
    assert "staged" in _codes(run)
    assert (first.gpu, second.gpu) == (0, 1)
    assert first.reads == first.writes == second.reads == second.writes >= 5
    assert first.bytes_read == second.bytes_written == 1024 * first.reads


@pytest.mark.parametrize(
    ("mode", "window"),
    [
        ("bidirectional_sendrecv", 1),
        *(
            (mode, window)
            for mode in ("blocking", "nonblocking", "persistent", *BIDIRECTIONAL)
            for window in (1, 3)
        ),
    ],
)
def test_each_message_is_copied_once_at_each_end(gpus: Gpus, mode: str, window: int) -> None:
    """What one rank reads from its GPU, the other writes to its own: no message is left out."""
    options = ("--memory", "cuda", "--mode", mode, "--window", str(window), "--bytes", "64")
    one, other = _copies(gpus, "point-to-point", *options)
    assert (one.reads, other.reads) == (other.writes, one.writes)
    assert (one.bytes_read, other.bytes_read) == (other.bytes_written, one.bytes_written)
    assert one.reads >= 5 * window
    assert one.reads % window == 0
    assert (other.reads > 0) == (window == 1 or mode in BIDIRECTIONAL)


@pytest.mark.parametrize(
    ("memory", "reads", "writes"),
    [
        ("cuda,host", True, False),
        ("host,cuda", False, True),
        ("host,host", None, None),
    ],
)
def test_messages_may_go_from_one_memory_to_another(
    gpus: Gpus, memory: str, reads: bool | None, writes: bool | None
) -> None:
    options = ("point-to-point", "--memory", memory, "--bytes", "64")
    if reads is None:
        gpus.run(*options, *QUICK)
        assert not gpus.log.exists()
        return
    for rank in _copies(gpus, *options):
        assert (rank.reads > 0) == reads
        assert (rank.writes > 0) == writes


@pytest.mark.parametrize("experiment", ["point-to-point", "bisection", "latency-map"])
def test_a_gpu_aware_mpi_gets_the_pointers(gpus: Gpus, experiment: str) -> None:
    """Nothing is copied but what the buffers hold before the messages."""
    options = (experiment, "--memory", "cuda", "--bytes", "64")
    for rank in _copies(gpus, *options, aware=True):
        assert (rank.reads, rank.writes) == (0, 0)
    run = read(gpus.folder / "run.jsonl")
    assert run.header["memory"] == "cuda"
    assert run.header["mpi"]["gpu_aware"]["cuda"] == "yes"
    assert "staged" not in _codes(run)


@pytest.mark.parametrize("mode", ["put", "get"])
def test_one_sided_messages_need_a_gpu_aware_mpi(gpus: Gpus, mode: str) -> None:
    """Their target takes no part, so that nobody could copy."""
    options = ("--memory", "cuda", "--mode", mode, "--bytes", "64", *QUICK)
    run = gpus.run("point-to-point", *options, aware=True)
    assert len(run.tables["sample"])
    with pytest.raises(InputError):
        gpus.run("point-to-point", *options)


@pytest.mark.parametrize("aware", [False, True])
def test_collective_operations_are_verified_in_gpu_memory(gpus: Gpus, aware: bool) -> None:
    """Data are filled and compared through the copies of the driver; all operations are right."""
    operations = OPERATIONS if aware else set(COLLECTIVES)  # the substitute knows these calls
    options = ("--op", ",".join(sorted(operations)), "--memory", "cuda", "--bytes", "8,1KiB")
    run = gpus.run("collective", *options, "--root", "rotating", *QUICK, ranks=3, aware=aware)
    assert "wrong-result" not in _codes(run)
    assert ("staged" in _codes(run)) == (not aware)
    assert set(run.tables["sample"]["op"]) == operations


def test_a_wrong_collective_operation_is_noticed_in_gpu_memory(gpus: Gpus, mpich: Mpi) -> None:
    shim = Shim(mpich, gpus.folder)
    options = ("--op", "all", "--root", "rotating", "--memory", "cuda", "--bytes", "8,64,1KiB")
    with pytest.raises(MeasurementError):
        gpus.run("collective", *options, preloaded=(shim.library,), ISO_SHIM_WRONG=0)
    run = read(gpus.folder / "run.jsonl")
    wrong = {text["text"].split()[0] for text in run.warnings if text["code"] == "wrong-result"}
    assert wrong == set(COLLECTIVES) - {"barrier", "exscan"}  # which give nothing to rank 0


def test_copies_that_are_wrong_are_noticed_before_anything_is_timed(gpus: Gpus) -> None:
    with pytest.raises(MeasurementError):
        gpus.run("point-to-point", "--memory", "cuda", "--bytes", "64", *QUICK, GPU_DRIVER_WRONG=1)
    assert "sample" not in read(gpus.folder / "run.jsonl").tables


def test_a_pointer_to_gpu_memory_is_no_plain_memory(gpus: Gpus) -> None:
    """Without copies an MPI that is not GPU-aware dies: so these tests can fail."""
    options = ("--memory", "cuda", "--staging", "never", "--bytes", "64")
    with pytest.raises(MeasurementError):
        gpus.run("point-to-point", *options, *QUICK)


def test_ranks_share_gpus_or_are_given_them(gpus: Gpus) -> None:
    """One after the other, from the first again; or as listed."""
    options = ("--memory", "cuda", "--bytes", "64", *QUICK)
    run = gpus.run("point-to-point", *options, ranks=3)
    assert [rank.gpu for rank in run.ranks] == [0, 1, 0]
    run = gpus.run("point-to-point", *options, "--gpu", "1,0", ranks=3)
    assert [rank.gpu for rank in run.ranks] == [1, 0, 1]


@pytest.mark.parametrize(
    ("options", "gpus_there"),
    [
        (("--memory", "cuda"), 0),
        (("--memory", "cuda", "--gpu", "0,2"), 2),
    ],
)
def test_a_gpu_that_is_not_there_is_refused(
    gpus: Gpus, options: tuple[str, ...], gpus_there: int
) -> None:
    with pytest.raises(InputError):
        gpus.run("point-to-point", *options, "--bytes", "64", *QUICK, GPU_DRIVER_GPUS=gpus_there)
    assert not (gpus.folder / "run.jsonl").exists()


def test_a_missing_driver_is_refused(mpich: Mpi, tmp_path: Path) -> None:
    if Path("/dev/kfd").exists():
        pytest.skip("this machine has a driver of AMD")
    with pytest.raises(InputError):
        mpich.run("point-to-point", "--memory", "rocm", ranks=2, out=tmp_path / "run.jsonl")
    assert not (tmp_path / "run.jsonl").exists()


WRONG = {
    "a word": ("point-to-point", "--memory", "vram"),
    "a third": ("point-to-point", "--memory", "cuda,host,cuda"),
    "nothing": ("latency-map", "--memory", ""),
    "two drivers": ("bisection", "--memory", "cuda,rocm"),
    "a list": ("point-to-point", "--gpu", "0,one"),
    "a grid": ("collective", "--op", "bcast", "--memory", "cuda", "--grid", "2x2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_refused_before_a_rank_starts(mpich: Mpi, case: str) -> None:
    experiment, *options = WRONG[case]
    with pytest.raises(InputError):
        mpich.probe.check(experiment, tuple(options), 4)


def test_without_gpus_the_header_still_says_what_mpi_takes(mpich: Mpi, tmp_path: Path) -> None:
    run = mpich.run("latency-map", *QUICK, ranks=2, out=tmp_path / "map.jsonl")
    assert run.header["mpi"]["gpu_aware"] == dict.fromkeys(DRIVERS, "no")
    assert (run.ranks[0].gpu, run.ranks[0].gpu_pci) == (-1, "")
