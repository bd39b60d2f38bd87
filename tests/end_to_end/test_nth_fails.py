"""The n-th write, rename, start or allocation fails, for every n until none is left to fail.

As SQLite is tested: whatever fails, a command ends with a line, the file that was there stays or
the new one is whole, and neither a file nor a process stays behind. Once with one fault, and once
with all that follow it. In `make test` some n are left out where there are many.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from beds.endings import MARK, marked
from beds.faults import isochrone
from beds.mpis import Mpi
from beds.nth_fails import FAMILIES, HOWS, build, in_one_process, wrong_ending, wrong_file
from isochrone.runfile.file import write
from made_up.latency_maps import latency_map
from made_up.sweeps import point_to_point

MEASUREMENT = ("latency-map", "-n", "2", "--bytes", "8", "--repeats", "10", "--retest", "0")

ACROSS = (
    ("isochrone-probe", "write", 2),
    ("isochrone-probe", "memory", 9),
    ("python", "fork", 3),
    ("python", "write", 1),
)
"""What fails in which programs of a measurement, and each how many-th in `make test`."""

STARTED = 20
"""Steps in which the memory of all Python processes of a measurement fails, with --full."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """See beds/nth_fails.c."""
    return build(tmp_path_factory.mktemp("library"))


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "report"])
def test_whatever_fails_a_file_is_whole_and_a_line_says_so(
    tmp_path: Path, library: Path, command: str, full: bool
) -> None:
    (out := tmp_path / "out").mkdir()
    write(
        point_to_point() if command == "fit" else latency_map(["a", "a", "b", "b"]),
        tmp_path / "run.jsonl",
    )
    to = out / ("model.json" if command == "fit" else "report.html")
    words = (command, tmp_path / "run.jsonl", "-o", to, "--force")
    step = {"memory": 1 if full else 40}
    faults = [f"{family}:{how}:{step.get(family, 1)}" for family in FAMILIES for how in HOWS]
    tried = in_one_process(library, faults, *words, environ={})
    assert [one for one in tried if one["wrong"]] == []
    for fault in faults:
        of_it = [one for one in tried if fault.startswith(one["fault"])]
        assert of_it[-1]["code"] == 0
        assert len(of_it) > 1 or fault.startswith("fork")  # neither starts a process


@pytest.mark.slow
def test_memory_that_the_command_lacks_ends_a_measurement(
    tmp_path: Path, library: Path, mpich: Mpi, full: bool
) -> None:
    """In the command alone, not in what it starts."""
    (out := tmp_path / "out").mkdir()
    mark = f"memory-{os.getpid()}-{time.monotonic_ns()}"
    words = ("measure", *MEASUREMENT, "--mpicc", mpich.probe.mpicc, "-o", out / "run.jsonl")
    tried = in_one_process(
        library, [f"memory:once:{1 if full else 15}"], *words, environ={MARK: mark}
    )
    assert [one for one in tried if one["wrong"]] == []
    assert tried[-1]["code"] == 0
    assert len(tried) > 1
    assert marked(mark) == []


@pytest.mark.slow
@pytest.mark.parametrize(("program", "family", "step"), ACROSS)
def test_whatever_fails_in_a_measurement_leaves_nothing_behind(
    tmp_path: Path,
    library: Path,
    mpich: Mpi,
    program: str,
    family: str,
    step: int,
    full: bool,
    subtests: pytest.Subtests,
) -> None:
    """All processes count together: which of two ranks is the n-th is up to them."""
    for how in HOWS if full else HOWS[:1]:
        n = 1
        while _measured(tmp_path, library, mpich, (program, family, how, n), subtests) >= n:
            n += 1 if full else step


@pytest.mark.full
def test_memory_that_any_process_of_python_lacks_leaves_nothing_behind(
    tmp_path: Path, library: Path, mpich: Mpi, subtests: pytest.Subtests
) -> None:
    """From start to end, the keeper among them; too early, and it is Python that cannot begin."""
    which = ("python", "memory", "once")
    calls = _measured(tmp_path, library, mpich, (*which, 1 << 40), subtests)
    for n in range(1, calls, calls // STARTED):
        _measured(tmp_path, library, mpich, (*which, n), subtests)


def _measured(
    folder: Path,
    library: Path,
    mpi: Mpi,
    fault: tuple[str, str, str, int],
    subtests: pytest.Subtests,
) -> int:
    """Measure with a fault, and return how many calls there were that could have failed."""
    program, family, how, n = fault
    place = folder / f"{how}-{n}"
    (place / "out").mkdir(parents=True)
    (place / "tmp").mkdir()
    (place / "calls").write_bytes(bytes(8))
    mark = f"{family}-{os.getpid()}-{time.monotonic_ns()}"
    environ = {
        MARK: mark,
        "TMPDIR": str(place / "tmp"),
        "LD_PRELOAD": str(library),
        "ISO_FAULT_FAMILY": family,
        "ISO_FAULT_N": str(n),
        "ISO_FAULT_PROGRAM": program,
        "ISO_FAULT_COUNTER": str(place / "calls"),
        **({"ISO_FAULT_ONCE": "1"} if how == "once" else {}),
        **({} if program == "python" else {"ISO_FAULT_OWN": "1", "ISO_FAULT_LEAST": "1"}),
    }
    out = place / "out/run.jsonl"
    words = ("measure", *MEASUREMENT, "--mpicc", mpi.probe.mpicc, "-o", out)
    answer = isochrone(*words, cwd=place, environ=environ)
    with subtests.test(f"{how} {n}"):
        assert marked(mark) == []
        assert list((place / "tmp").iterdir()) == []
        assert wrong_file(out, answer.returncode) == []
        if family != "memory" or program != "python" or "isochrone: " in answer.stderr:
            assert wrong_ending(answer.returncode, answer.stderr, family) == [], answer.stderr
    return int.from_bytes((place / "calls").read_bytes(), "little")
