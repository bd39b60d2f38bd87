"""What a test needs, known from its folder and its arguments; and that it needs nothing else.

Markers are not written by hand: a test gets those of its folder and of its arguments, which are
fixtures and parameters; what Hypothesis feeds draws random data. While a test runs, a process that
its markers do not allow fails it, so that they stay true.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]

FOLDERS = {
    "calibration": ("statistics",),
    "cluster": ("cluster", "mpi", "process"),
    "contract/test_hostile_": ("process",),
    "contract/test_hostile_pictures.py": ("draw",),
    "contract/test_patterns.py": ("process",),
    "contract/test_views.py": ("draw", "process"),
    "end_to_end": ("process",),
    "fuzz": ("process", "statistics"),
    "gpu": ("mpi", "process"),
    "probe": ("mpi", "process"),
    "simulated": ("mpi", "process"),
    "unit/base/test_registry.py": ("process",),
    "unit/cli": ("process",),
    "unit/formats/exporters/test_sweeps.py": ("process",),
    "unit/measure": ("process",),
    "unit/models/test_fit.py": ("process",),
    "unit/models/test_tables.py": ("process",),
    "unit/test_api.py": ("process",),
    "unit/views": ("draw",),
}
"""Beginnings of paths below tests/."""

ON_MPI = (
    "algorithms",
    "clock_set_back",
    "command_line",
    "compare",
    "docs",
    "emulate",
    "endings",
    "faults",
    "first_build",
    "jacobi",
    "long_work",
    "measure_from_python",
    "measuring_faults",
    "new_experiment",
    "nth_fails",
    "reframe",
    "several_ranks",
    "show_collective_io",
    "show_pool",
    "suite",
    "sweeps",
    "tune",
    "tutorials",
    "wheel",
    "written_files",
)
"""What end to end needs an MPI, by the beginning of its file; elsewhere fixtures say so."""

ARGUMENTS = {
    "browser": ("browser", "process"),
    "every_mpi": ("mpi", "process"),
    "golden": ("golden",),
    "isochrone_process": ("process",),
    "mpich": ("mpi", "process"),
    "processes": ("process",),
    "seed": ("statistics",),
    "simulation": ("mpi", "process"),
    "trials": ("statistics",),
}

LAUNCHERS = ("mpiexec", "mpirun", "orterun", "smpirun", "srun", "isochrone-probe")


def mark(item: pytest.Item) -> None:
    """Give a test the markers that follow from where it is and what it uses."""
    path = item.path.relative_to(TESTS).as_posix()
    names = [m for folder, marks in FOLDERS.items() if path.startswith(folder) for m in marks]
    if path.startswith(tuple(f"end_to_end/test_{name}" for name in ON_MPI)):
        names.append("mpi")
    for argument in getattr(item, "fixturenames", ()):
        names += ARGUMENTS.get(argument, ())
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        names.append("statistics")
    for name in sorted(set(names)):
        item.add_marker(name)


class Guard:
    """Fails the test that runs now if it starts what its markers do not allow."""

    def __init__(self) -> None:
        self.item: pytest.Item | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self.item is None or event not in ("subprocess.Popen", "os.posix_spawn", "os.fork"):
            return
        if self.item.get_closest_marker("process") is None:
            self._refuse("starts a process", "processes")
        if self.item.get_closest_marker("mpi") is None and event == "subprocess.Popen":
            argv = [os.fsdecode(word) for word in args[1]] if not isinstance(args[1], str) else []
            if _starts_mpi(argv):
                self._refuse(f"starts {argv[0]}", "mpich")

    def _refuse(self, what: str, fixture: str) -> None:
        item, self.item = self.item, None
        assert item is not None
        pytest.fail(f"{item.nodeid} {what}: it needs the fixture '{fixture}'")


def _starts_mpi(argv: list[str]) -> bool:
    """Whether a command starts ranks of a real MPI, or builds the probe; scripts are none."""
    if not argv:
        return False
    name = Path(argv[0]).name
    if name == "make":
        return any("probe" in word for word in argv)
    found = shutil.which(argv[0])
    real = found is not None and not Path(found).is_relative_to(Path("/tmp"))
    return real and name.startswith(LAUNCHERS)
