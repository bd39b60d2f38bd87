"""Computing on real MPIs: every operation is counted and done, on one rank and on all."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from beds.command_line import Command
from beds.mpis import ROOT, Mpi
from isochrone.sweep.curves import curves

OPTIONS = ("--bytes", "8,1000,64KiB", "--repeats", "6", "--retest", "0")


class Block(ctypes.Structure):
    """The ``iso_block_t`` of kernels.h."""

    _fields_ = (
        ("a", ctypes.c_void_p),
        ("elements", ctypes.c_size_t),
        ("length", ctypes.c_size_t),
        ("inward", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
    )


class Kernel(ctypes.Structure):
    """The ``iso_kernel_t`` of kernels.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("work", ctypes.CFUNCTYPE(None, ctypes.POINTER(Block))),
    )


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kernel]:
    """What the probe computes, as functions of a library, by name."""
    library = tmp_path_factory.mktemp("kernels") / "kernels.so"
    source = ROOT / "probe/experiments/compute/kernels.c"
    argv = ["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-I", ROOT / "probe", source]
    subprocess.run([*argv, "-o", library], check=True, timeout=60)
    found = (Kernel * 2).in_dll(ctypes.CDLL(str(library)), "iso_kernels")
    return {kernel.name.decode(): kernel for kernel in found}


def worked(kernel: Kernel, block: np.ndarray, length: int, vector: np.ndarray) -> np.ndarray:
    """Return what a kernel makes of a block and a vector."""
    out = np.ones(max(length, len(block)))
    words = [array.ctypes.data for array in (block, vector, out)]
    kernel.work(Block(words[0], len(block), length, words[1], words[2]))
    return out


@pytest.mark.parametrize(("elements", "length"), [(1, 1), (12, 4), (13, 4), (3, 10), (400, 20)])
def test_every_element_of_the_block_is_worked_on(
    kernels: dict[str, Kernel], elements: int, length: int
) -> None:
    """What is timed is what t_op is counted by: lines of a length, the last may be shorter."""
    dice = np.random.default_rng(elements)
    block = dice.normal(size=elements)
    vector = dice.normal(size=max(length, elements))
    lines = [block[k : k + length] for k in range(0, elements, length)]
    dots = worked(kernels["dot"], block, length, vector)
    np.testing.assert_allclose(
        dots[: len(lines)], [line @ vector[: len(line)] for line in lines], rtol=1e-12
    )
    expected = np.ones(length)
    for number, line in enumerate(lines):
        expected[: len(line)] += line * vector[number]
    added = worked(kernels["axpy"], block, length, vector)
    np.testing.assert_allclose(added[:length], expected, rtol=1e-12)


@pytest.mark.few(2)
def test_each_kernel_is_measured_on_one_rank_and_on_all_at_once(
    every_mpi: Mpi, tmp_path: Path
) -> None:
    run = every_mpi.run("compute", *OPTIONS, ranks=3, out=tmp_path / "run.jsonl")
    assert run.complete
    found = {(curve.name, curve.p): curve for curve in curves(run)}
    assert list(found) == [("dot", 1), ("dot", 3), ("axpy", 1), ("axpy", 3)]
    samples = run.tables["sample"]
    for p, times, seconds, nbytes, operations in zip(
        samples["p"],
        samples["times"],
        samples["seconds"],
        samples["bytes"],
        samples["operations"],
        strict=True,
    ):
        assert len(times) == p
        assert seconds == max(times)
        assert operations == 2 * (nbytes // 8)
    for curve in found.values():
        for point in curve.points:
            assert point.t_op is not None
            assert point.t_op <= point.median / (2 * (point.bytes // 8)) * 1.000001


def test_one_rank_alone_is_measured_once(mpich: Mpi, tmp_path: Path) -> None:
    options = ("--op", "axpy", "--length", "7", *OPTIONS)
    run = mpich.run("compute", *options, ranks=1, out=tmp_path / "run.jsonl")
    assert [(curve.name, curve.p) for curve in curves(run)] == [("axpy", 1)]


def test_t_op_is_said_and_no_protocol_is(mpich: Mpi, isochrone: Command, tmp_path: Path) -> None:
    """Computing has a time that bends where caches end, but no protocol to switch."""
    options = ("--bytes", "4KiB:8MiB:x2", "--repeats", "3", "--retest", "0")
    mpich.run("compute", *options, ranks=2, out=tmp_path / "run.jsonl")
    text = isochrone("show", tmp_path / "run.jsonl").stdout
    assert "dot, 1 rank:" in text
    assert "axpy, 2 ranks:" in text
    assert text.count(" t_op ") == 4
    assert "Protocol switch" not in text
    assert "length" not in text


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--op", "dot,gemm"], "--op: 'gemm' is none (give dot, axpy or both)"),
        (["--op", "dot,dot"], "--op: 'dot' is named twice"),
        (["--op", ""], "--op: '' is none"),
        (["--bytes", "0,8"], "0 is not a multiple of 8"),
        (["--bytes", "12"], "12 is not a multiple of 8"),
        (["--length", "-3"], "not a whole number"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_line(
    mpich: Mpi, options: list[str], complaint: str
) -> None:
    argv = [mpich.probe.path, "compute", *options, "--check", "2"]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 2
    assert complaint in answer.stderr
    assert answer.stderr.count("\n") == 1
