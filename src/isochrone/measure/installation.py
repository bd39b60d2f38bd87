"""An installation of MPI: the library that its ranks load, and where its programs are.

It is found by its launcher, which is what the ranks will be started with, without a compiler. Two
families share the names of their libraries: ``libmpi.so.12`` (MPICH, Intel MPI, MVAPICH, Cray
MPICH) and ``libmpi.so.40`` (Open MPI). What was linked with one of a family runs with the others.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import which

from isochrone.base.errors import MeasurementError
from isochrone.measure.subprocesses import cached_answer

LIBRARIES = {
    "mpich": ("libmpi.so.12", "libmpich.so.12"),
    "openmpi": ("libmpi.so.40",),
}
"""Names of the library by family: the one that programs are linked with, then others it may have.
Debian's MPICH calls its own differently."""

_LAUNCHERS = "mpiexec|mpirun|orterun|prterun"
LAUNCHER = re.compile(rf"({_LAUNCHERS})(\.\w+)?")
_PROGRAM = re.compile(rf"({_LAUNCHERS}|mpicc)(\.\w+)?")

_STARTERS = ("mpiexec", "mpirun")

_WORDS = {
    "mpich": ("hydra", "mpich", "intel(r) mpi", "mvapich"),
    "openmpi": ("open mpi", "openrte", "prrte"),
}
"""Version texts of launchers, by family."""

_TOOL_TIMEOUT = 20.0
_ANCESTORS = 5


@dataclass(frozen=True)
class Installation:
    """An MPI of this machine.

    Attributes
    ----------
    mpicc
        Its compiler wrapper, or where that would be: its launchers are next to it.
    family
        ``mpich`` or ``openmpi``.
    library
        The file that ranks load.
    """

    mpicc: Path
    family: str
    library: Path

    def same(self, other: Installation) -> bool:
        """Whether both have the same library, also under different names."""
        return self.library.resolve() == other.library.resolve()


def wrapper_next_to(program: Path) -> Path:
    """Return where the compiler wrapper is, or would be, of the MPI that a launcher belongs to.

    ``mpicc.mpich`` is next to ``mpiexec.mpich``; ``mpiexec.hydra`` has a plain ``mpicc``.
    """
    match = _PROGRAM.fullmatch(program.name)
    named = program.with_name(f"mpicc{(match and match[2]) or ''}")
    plain = program.with_name("mpicc")
    return plain if not _executable(named) and _executable(plain) else named


def of_program(program: Path, environ: Mapping[str, str]) -> Installation | None:
    """Find the installation that a launcher or a compiler wrapper belongs to; None: not known."""
    family = _family_of_launcher(program)
    folders = [*_folders_of(program), *_paths(environ.get("LD_LIBRARY_PATH", ""))]
    for look in (partial(_libraries, folders), _libraries_of_linker):
        libraries = {name: file for name, file in look().items() if family in (name, None)}
        if len(libraries) == 1:
            name, file = libraries.popitem()
            return Installation(wrapper_next_to(program), name, file)
    return None


def of_library(file: Path) -> Installation | None:
    """Find the installation of a library: there is a launcher in a ``bin`` above it."""
    family = family_of_library(file)
    if family is None:
        return None
    real = file.resolve()  # /lib may be a link to /usr/lib, and launchers want their real prefix
    for parent in [*real.parents[:_ANCESTORS], *file.parents[:_ANCESTORS]]:
        for starter in _STARTERS:
            for name in (f"{starter}.{family}", starter):
                program = parent / "bin" / name
                if _executable(program) and _family_of_launcher(program) in (family, None):
                    return Installation(wrapper_next_to(program), family, file)
    return None


def family_of_library(file: Path) -> str | None:
    """Return the family by the name of a library, such as ``libmpi.so.40.30.4``."""
    for family, names in LIBRARIES.items():
        if any(file.name == name or file.name.startswith(f"{name}.") for name in names):
            return family
    return None


def here(environ: Mapping[str, str]) -> Installation | None:
    """Find the MPI that the user means.

    In this order: that of ``$MPICC``, the first on the PATH, one that a wheel put beside this
    Python, and, where ranks are started by a batch system alone, the only library that the dynamic
    linker finds.
    """
    for program in _programs(environ):
        installation = of_program(program, environ)
        if installation is not None:
            return installation
    loaded = _libraries(_paths(environ.get("LD_LIBRARY_PATH", ""))) or _libraries_of_linker()
    if len(loaded) != 1:
        return None
    family, file = loaded.popitem()
    return of_library(file) or Installation(file.parents[1] / "bin" / "mpicc", family, file)


def _programs(environ: Mapping[str, str]) -> Iterator[Path]:
    """List a launcher, or a compiler wrapper, of each folder where the user's MPI may be."""
    named = which(environ.get("MPICC") or "", path=environ.get("PATH"))
    if named:
        yield Path(named).absolute()
    for folder in [*_paths(environ.get("PATH", "")), Path(sysconfig.get_path("scripts"))]:
        names = (*_STARTERS, "mpicc")
        debian = (f"{name}.{family}" for family in LIBRARIES for name in names)
        for name in (*names, *debian):
            if _executable(folder / name):
                yield folder.resolve() / name
                break


def _family_of_launcher(program: Path) -> str | None:
    """Return the MPI of a launcher, or of the one next to a compiler wrapper; None if unknown."""
    match = _PROGRAM.fullmatch(program.name)
    if match is None or match[1] == "mpicc":
        suffix = match[2] or "" if match else ""
        starters = [program.with_name(f"{name}{suffix}") for name in _STARTERS]
        launcher = next(filter(_executable, starters), None)
    else:
        launcher = program
    if launcher is None:
        return None
    try:
        version = cached_answer([str(launcher), "--version"], timeout=_TOOL_TIMEOUT).lower()
    except MeasurementError:
        return None
    for family, markers in _WORDS.items():
        if any(marker in version for marker in markers):
            return family
    return None


def _folders_of(program: Path) -> list[Path]:
    """List where the libraries of an installation may be, as seen from a program of it."""
    prefixes = dict.fromkeys(file.parent.parent for file in (program, program.resolve()))
    inside = (
        "lib/release",
        "lib",
        "lib64",
        f"lib/{os.uname().machine}-linux-gnu",
        "lib/openmpi/lib",
    )
    return [prefix / folder for prefix in prefixes for folder in inside]


def _libraries(folders: Iterable[Path]) -> dict[str, Path]:
    """Find the first library of each family."""
    libraries: dict[str, Path] = {}
    for folder in folders:
        for family, names in LIBRARIES.items():
            files = (folder / name for name in names)
            file = next((file for file in files if file.is_file()), None)
            if file is not None:
                libraries.setdefault(family, file)
    return libraries


def _libraries_of_linker() -> dict[str, Path]:
    """Find what the dynamic linker has in its list."""
    program = which("ldconfig", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if program is None:
        return {}
    try:
        lines = cached_answer([program, "-p"], timeout=_TOOL_TIMEOUT).splitlines()
    except MeasurementError:
        return {}
    listed = [Path(line.rpartition(" => ")[2]) for line in lines if " => " in line]
    return _libraries(dict.fromkeys(file.parent for file in listed if family_of_library(file)))


def _paths(text: str) -> list[Path]:
    """Return the folders of a list such as the PATH; an empty entry means none, not this one."""
    return [Path(folder) for folder in text.split(os.pathsep) if folder]


def _executable(file: Path) -> bool:
    return file.is_file() and os.access(file, os.X_OK)
