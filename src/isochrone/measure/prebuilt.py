"""Binaries that came with the wheel, made to load the MPI library of this machine.

There is one set for each family of MPI libraries (`isochrone.measure.installation`), built against
an old C library. As its library path each has a long word in the place of a folder; a copy in the
cache folder has the folder of the library instead. So whatever starts the ranks, on whatever host,
needs no variables.
"""

import contextlib
import hashlib
import os
import platform
from pathlib import Path

from isochrone.base.errors import InputError, failing
from isochrone.measure.cache import cache_folder, check_own, scratch_folder
from isochrone.measure.installation import LIBRARIES, Installation

FOLDER = "_prebuilt"

ALONE = "isochrone-alone"
"""Name of the probe that needs no MPI."""

NO_MPI = "no-mpi"
"""Its folder, in the place of that of a family."""

MACHINES = ("x86_64", "aarch64")
"""Processors that wheels have binaries for: each wheel for one of them."""

ROOM = 1024
"""Bytes that the library path of a binary has."""

WORD = b"/the-folder-of-the-mpi-library".ljust(ROOM, b"/")
"""The placeholder in the wheel."""


def carried(name: str, family: str, package: Path | None = None) -> Path | None:
    """Return a binary that came with the package; None if there is none for this machine."""
    if platform.machine() not in MACHINES or platform.system() != "Linux":
        return None
    package = package or Path(__file__).resolve().parents[1]
    file = package / FOLDER / family / name
    return file if file.is_file() else None


def fitted(binary: Path, installation: Installation) -> Path:
    """Return a copy of a binary that loads the library of an installation.

    Raises
    ------
    InputError
        If the library lies too deep, or the cache folder cannot be written.
    """
    content = binary.read_bytes()
    library = installation.library
    digest = hashlib.sha256(content + str(library).encode()).hexdigest()[:16]
    folder = cache_folder() / f"prebuilt-{digest}"
    copy = folder / binary.name
    path = os.fsencode(library.parent)
    wanted = LIBRARIES[installation.family][0]
    if library.name != wanted:
        path = os.fsencode(folder)
    if len(path) >= ROOM:
        raise InputError("the path of the library is too long for a prebuilt probe", where=library)
    fitting = content.replace(WORD, path.ljust(ROOM, b"\0"))
    with failing("the file cannot be written", folder):
        folder.mkdir(mode=0o755, exist_ok=True)
        check_own(folder)
        if copy.is_file() and copy.read_bytes() == fitting:
            return copy
        if library.name != wanted:
            with contextlib.suppress(FileExistsError):
                (folder / wanted).symlink_to(library)
        with scratch_folder(folder) as scratch:
            fresh = scratch / binary.name
            fresh.write_bytes(fitting)
            fresh.chmod(0o755)
            fresh.replace(copy)
    return copy
