"""One real GPU and two ranks: messages in its memory, with the driver that the machine has."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from beds import documents
from beds.mpis import Mpi, missing
from isochrone.runfile.run import Run

QUICK = ("--repeats", "10", "--retest", "0")


def _driver() -> str:
    """Return the word of ``--memory`` for the GPU of this machine; empty if it has none."""
    for name, library, begin, count in (
        ("cuda", "libcuda.so.1", "cuInit", "cuDeviceGetCount"),
        ("rocm", "libamdhip64.so", "hipInit", "hipGetDeviceCount"),
    ):
        try:
            calls = ctypes.CDLL(library)
        except OSError:
            continue
        number = ctypes.c_int(0)
        if getattr(calls, begin)(0) == 0 and getattr(calls, count)(ctypes.byref(number)) == 0:
            return name if number.value else ""
    try:
        return "level-zero" if ctypes.CDLL("libze_loader.so.1").zeInit(1) == 0 else ""
    except OSError:
        return ""


@pytest.fixture(scope="session")
def driver() -> str:
    """The driver of a GPU."""
    return _driver() or missing("gpu", "this machine has no GPU with a driver")


def _right(run: Run, driver: str) -> None:
    """Check that both ranks have a GPU, and that everything was measured and is right."""
    codes = {warning["code"] for warning in run.warnings}
    assert run.complete
    assert run.header["memory"].split()[0] == driver
    assert ("staged" in codes) == ("staged" in run.header["memory"])
    assert "wrong-result" not in codes
    assert all(rank.gpu_pci for rank in run.ranks)


@pytest.mark.parametrize("staging", ["auto", "always"])
@pytest.mark.parametrize("mode", ["blocking", "nonblocking", "persistent", "bidirectional"])
def test_messages_are_timed_in_the_memory_of_a_gpu(
    driver: str, every_mpi: Mpi, tmp_path: Path, mode: str, staging: str
) -> None:
    options = ("--memory", driver, "--mode", mode, "--staging", staging, "--bytes", "8,1KiB,4MiB")
    out = tmp_path / "run.jsonl"
    run = every_mpi.run("point-to-point", *options, *QUICK, ranks=2, out=out)
    documents.check_run_file(out)
    _right(run, driver)
    assert {*run.tables["sample"]["bytes"]} == {8, 1024, 4 << 20}


def test_collective_operations_are_right_in_the_memory_of_a_gpu(
    driver: str, every_mpi: Mpi, tmp_path: Path
) -> None:
    options = ("--op", "all", "--memory", driver, "--bytes", "8,1MiB", *QUICK)
    _right(every_mpi.run("collective", *options, ranks=2, out=tmp_path / "run.jsonl"), driver)


def test_a_map_is_measured_in_the_memory_of_a_gpu(
    driver: str, every_mpi: Mpi, tmp_path: Path
) -> None:
    options = ("--memory", driver, "--bytes", "64,1MiB", *QUICK)
    _right(every_mpi.run("latency-map", *options, ranks=2, out=tmp_path / "map.jsonl"), driver)
