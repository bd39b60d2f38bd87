"""Overlap of nonblocking operations on simulated machines, where its true value is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from beds.mpis import ROOT
from beds.simulation import Simulation
from isochrone.base.errors import InputError
from isochrone.base.operations import COLLECTIVES
from isochrone.measure.platforms import Platform, parse
from isochrone.sweep.curves import curves

MACHINE = "nodes:4 cores:1 latency:5us bandwidth:1.25GB"
LAW_SECONDS = 1e-3
NEAR = 0.03
"""The target of the issue: 3 points."""


@pytest.fixture(scope="module")
def machine() -> Platform:
    return parse(MACHINE)


@pytest.fixture(scope="module")
def law(simulation: Simulation) -> Path:
    """A library that gives nonblocking allreduces a known progress."""
    library = simulation.folder / "law.so"
    sources = (ROOT / "tests/beds/progress_law.c", ROOT / "probe/preload/simulated.c")
    flags = ("-shared", "-fPIC", "-Wall", f"-I{ROOT / 'probe'}")
    subprocess.run(["smpicc", *flags, *sources, "-o", library, "-ldl"], check=True)
    return library


LAWS = {
    "nothing in the background": (0.0, 0.0, "none", 0.0),
    "a third in the background": (0.3, 0.0, "none", 0.3),
    "most in the background": (0.85, 0.0, "none", 0.85),
    "all in the background": (1.0, 0.0, "none", 1.0),
    "tests are not called": (0.3, 0.02, "none", 0.3),
    "ten tests of 2 % and a third": (0.3, 0.02, "test", 0.5),
    "ten tests do all": (0.0, 0.1, "test", 1.0),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_overlap_is_that_of_a_known_progress(
    simulation: Simulation, machine: Platform, law: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With parts that progress in the background, and by calls of MPI_Test."""
    background, by_test, progress, truth = LAWS[name]
    monkeypatch.setenv("LD_PRELOAD", str(law))
    monkeypatch.setenv("ISO_LAW_SECONDS", str(LAW_SECONDS))
    monkeypatch.setenv("ISO_LAW_BACKGROUND", str(background))
    monkeypatch.setenv("ISO_LAW_TEST", str(by_test))
    options = ("--op", "allreduce", "--form", "nonblocking", "--bytes", "8")
    run = simulation.measure("collective", machine, *options, "--progress", progress)
    (point,) = curves(run)[0].points
    assert point.median == pytest.approx(LAW_SECONDS, rel=1e-3)
    assert point.overlap == pytest.approx(truth, abs=NEAR)
    assert point.complete == pytest.approx((1 - truth) * LAW_SECONDS, abs=1e-5)


def test_the_network_works_in_the_background(simulation: Simulation, machine: Platform) -> None:
    """SimGrid moves data while a rank computes: all is hidden, in each operation and size."""
    options = ("--op", "all", "--form", "nonblocking", "--bytes", "8,64KiB,1MiB")
    run = simulation.measure("collective", machine, *options)
    found = curves(run)
    neighbors = {f"i{op}" for op in COLLECTIVES if op.startswith("neighbor")}
    assert {curve.key["op"] for curve in found} == {f"i{op}" for op in COLLECTIVES} - neighbors
    for curve in found:
        for point in curve.points:
            assert point.overlap == pytest.approx(1, abs=NEAR), (curve.key, point.bytes)


def test_a_form_that_the_library_lacks_is_left_out(
    simulation: Simulation, machine: Platform
) -> None:
    """The others are measured; where no other is asked for, the measurement has failed."""
    options = ("--op", "bcast", "--bytes", "8")
    run = simulation.measure("collective", machine, *options, "--form", "all")
    assert [warning["code"] for warning in run.warnings] == ["form-left-out"]
    assert [curve.key["op"] for curve in curves(run)] == ["bcast", "ibcast"]
    run = simulation.measure_file(
        "collective", machine.xml(), machine.hosts(), *options, "--form", "persistent", code=3
    )
    assert [warning["code"] for warning in run.warnings] == ["form-left-out"]


def test_a_simulated_rank_has_no_progress_thread(simulation: Simulation, machine: Platform) -> None:
    options = ("--form", "nonblocking", "--progress", "thread")
    with pytest.raises(InputError):  # there is no run file
        simulation.measure_file("collective", machine.xml(), machine.hosts(), *options, code=2)


@pytest.mark.parametrize("microseconds", [20, 50, 200])
def test_what_the_processor_sends_is_not_hidden(
    simulation: Simulation, machine: Platform, microseconds: int
) -> None:
    """Each send takes the processor for a time: a root of 4 ranks posts three, a rank posts one
    to each of four neighbours; the rest waits.
    """
    seconds = 1e-6 * microseconds
    setting = f"--launcher-arg=--cfg=smpi/ois:0:{seconds}:0"
    options = ("--op", "bcast,exchange", "--form", "nonblocking", "--bytes", "64KiB")
    run = simulation.measure("collective", machine, *options, launcher=(setting,))
    for curve, sends in zip(curves(run), (3, 4), strict=True):
        (point,) = curve.points
        assert point.post == pytest.approx(sends * seconds, rel=0.01)
        assert point.overlap == pytest.approx(1 - sends * seconds / point.median, abs=NEAR)
