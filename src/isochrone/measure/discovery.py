"""Finds the probe, and the libraries that are loaded into programs.

In this order: the probe the user names, ``isochrone-probe`` on the PATH (a module, Spack,
EasyBuild), the one in the wheel for the MPI in use, and last one that is compiled. Binaries built
from other sources than those of this package are skipped with a message.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any

from isochrone.base.errors import InputError, IsochroneError
from isochrone.base.text import Tell, warn
from isochrone.measure import installation as installations
from isochrone.measure import prebuilt, probe
from isochrone.measure.installation import Installation
from isochrone.measure.library import library_file
from isochrone.measure.probe import Probe
from isochrone.measure.sources import embedded, own_hash

NAME = "isochrone-probe"

VARIABLE = "ISOCHRONE_PROBE"

_FOLDERS = (".", "../lib/isochrone")
"""Folders of libraries, relative to an installed probe (``make -C probe install``)."""


def find(
    named: str | None = None,
    mpicc: str | None = None,
    *,
    starter: Path | None = None,
    tell: Tell = warn,
) -> Probe:
    """Find a probe for the user's MPI; compile it only if there is no other.

    Parameters
    ----------
    named
        The probe that the user names; default, without ``mpicc``: ``$ISOCHRONE_PROBE``.
    mpicc
        The compiler wrapper that the user names: the probe is compiled with it.
    starter
        The launcher of the ranks, which determines the MPI.
    tell
        Called with a line for each probe that is skipped.

    Raises
    ------
    InputError
        If a named program does not exist, or there is neither a probe nor an MPI.
    MeasurementError
        If it does not run, or does not compile.
    """
    if named is None and mpicc is None:
        named = os.environ.get(VARIABLE)
    if named:
        return _named(named, mpicc, starter, tell)
    if mpicc is None:
        meant = _meant(starter)
        candidate = _on_path(meant, tell) or _carried(meant, tell)
        if candidate is not None:
            return candidate
        return probe.build(_wrapper(starter, meant))
    return probe.build(probe.find_mpicc(mpicc))


def alone(tell: Tell = warn) -> Probe:
    """Find the probe that needs no MPI; compile it if it did not come with the package.

    Raises
    ------
    InputError, MeasurementError
        As `isochrone.measure.probe.build_alone`.
    """
    file = prebuilt.carried(prebuilt.ALONE, prebuilt.NO_MPI)
    if file is not None and _is_ours(embedded(file), str(file), tell):
        return Probe(file, file, "came with the package")
    return probe.build_alone()


def named_or_usual(
    named: str | None, mpicc: str | None, configured: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Return the probe and the wrapper of a command line, or else the configured ones."""
    if named is not None or mpicc is not None:
        return named, mpicc
    return configured.get("probe"), configured.get("mpicc")


def library(built: Probe, name: str = "grid", tell: Tell = warn) -> Path:
    """Find a library that is loaded into programs, for the same MPI as a probe.

    Parameters
    ----------
    built
        The probe; libraries may be installed next to it.
    name
        ``grid`` applies a tuning table, ``record`` records calls, ``io`` collective I/O.
    tell
        Called with a line for each library that is skipped.

    Raises
    ------
    InputError, MeasurementError
        If there is none, and none can be compiled.
    """
    if built.origin != "compiled":
        file_name = f"libisochrone-{name}.so"
        candidates = (built.path.parent / folder / file_name for folder in _FOLDERS)
        for file in filter(Path.is_file, candidates):
            source = embedded(file)
            as_named = built.origin == "named" and source == built.source
            if as_named or _is_ours(source, str(file), tell):
                return file.resolve()
        meant = installations.of_program(built.mpicc, os.environ)
        fitted = _fitted(file_name, meant, tell) if meant else None
        if fitted is not None:
            return fitted
    wrapper = built.mpicc if os.access(built.mpicc, os.X_OK) else probe.find_mpicc()
    return probe.build_library(wrapper, name)


def _named(named: str, mpicc: str | None, starter: Path | None, tell: Tell) -> Probe:
    """Return the probe that the user names, from any sources."""
    where = f"--probe or ${VARIABLE}"
    path = which(named)
    if path is None:
        raise InputError(f"there is no program '{named}'", where=where)
    program = Path(path).absolute()
    if mpicc is not None:
        wrapper = probe.find_mpicc(mpicc)
    else:
        installation = installations.of_program(starter, os.environ) if starter else None
        wrapper = (
            installation.mpicc
            if installation
            else _wrapper_of(program, installations.here(os.environ), _linked(program))
        )
    candidate = Probe(program, wrapper, "named")
    try:
        if candidate.source != own_hash():
            tell(f"{program} is used, although another version built it")
    except IsochroneError as error:
        hint = "load the MPI it was built for"
        raise InputError(str(error), where=where, hint=hint) from error
    return candidate


def _on_path(meant: Installation | None, tell: Tell) -> Probe | None:
    """Return the probe on the PATH, if it is for the MPI in use."""
    path = which(NAME)
    if path is None:
        return None
    program = Path(path).absolute()
    linked = _linked(program)
    if meant and linked and meant.family != linked.family:
        tell(
            f"{program} is skipped: it is for {installations.LIBRARIES[linked.family][0]}, "
            f"not for {meant.library}"
        )
        return None
    candidate = Probe(program, _wrapper_of(program, meant, linked), "on the PATH")
    return candidate if _runs(candidate, tell) and _is_ours(candidate.source, path, tell) else None


def _carried(meant: Installation | None, tell: Tell) -> Probe | None:
    """Return the probe that came with the package for the MPI in use."""
    if meant is None:
        return None
    path = _fitted(NAME, meant, tell)
    if path is None:
        return None
    candidate = Probe(path, meant.mpicc, "came with the package")
    return candidate if _runs(candidate, tell) else None


def _fitted(name: str, meant: Installation, tell: Tell) -> Path | None:
    """Return a binary that came with the package, made to load the library of an MPI."""
    file = prebuilt.carried(name, meant.family)
    if file is None or not _is_ours(embedded(file), str(file), tell):
        return None
    try:
        return prebuilt.fitted(file, meant)
    except InputError as error:
        tell(f"skipped the {name} that came with the package: {error}")
        return None


def _wrapper(starter: Path | None, meant: Installation | None) -> Path:
    """Return the compiler wrapper next to a launcher, or any other one."""
    sibling = installations.wrapper_next_to(starter) if starter else None
    if sibling is not None and os.access(sibling, os.X_OK):
        return sibling
    try:
        return probe.find_mpicc()
    except InputError as error:
        if meant is None or "MPICC" in os.environ:
            raise
        raise InputError(
            f"there is no prebuilt probe for {meant.library}, and no mpicc",
            hint="load a compiler module, or give --probe",
        ) from error


def _meant(starter: Path | None) -> Installation | None:
    """Return the MPI of a launcher, or the default one."""
    installation = installations.of_program(starter, os.environ) if starter else None
    return installation or installations.here(os.environ)


def _wrapper_of(program: Path, meant: Installation | None, linked: Installation | None) -> Path:
    """Return the compiler wrapper of the MPI of a probe, next to which its launchers are."""
    if meant is not None and (linked is None or meant.same(linked)):
        return meant.mpicc
    return linked.mpicc if linked else program.with_name("mpicc")


def _linked(program: Path) -> Installation | None:
    """Return the installation whose library a program would load."""
    file = library_file(program)
    return installations.of_library(file) if file else None


def _runs(candidate: Probe, tell: Tell) -> bool:
    """Whether a probe can be started, with its MPI library."""
    try:
        return bool(candidate.version_text)
    except IsochroneError as error:
        tell(f"skipped: {error}")
        return False


def _is_ours(source: str, name: str, tell: Tell) -> bool:
    """Whether a binary was built from the sources of this package."""
    if source == own_hash():
        return True
    tell(f"{name}: skipped, another version built it")
    return False
