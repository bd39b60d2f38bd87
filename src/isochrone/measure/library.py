"""The file of the MPI library: its path, and strings in it."""

from collections.abc import Iterable
from pathlib import Path

from isochrone.base.errors import MeasurementError
from isochrone.measure.subprocesses import cached_answer

_TOOL_TIMEOUT = 20.0

_NAMES = ("libmpi.so", "libmpich.so", "libmpi_abi.so")


def library_file(program: Path) -> Path | None:
    """Return the MPI library that a program is linked with; None if unknown.

    The dynamic linker is asked, which takes no MPI job.
    """
    try:
        linked = cached_answer(["ldd", str(program)], of=program, timeout=_TOOL_TIMEOUT)
    except MeasurementError:
        return None
    for line in linked.splitlines():
        name, _, target = line.strip().partition(" => ")
        if name.startswith(_NAMES) and target.startswith("/"):
            return Path(target.rpartition(" (")[0])
    return None


def holds(file: Path, texts: Iterable[bytes]) -> set[bytes]:
    """Return those of the words that a library holds as texts, or as the ends of longer ones.

    A linker lets ``ring`` be the end of ``scatter_ring``, so the beginning of a text is not known.
    """
    data = file.read_bytes()
    return {text for text in texts if text + b"\0" in data}
