"""Hints file of ROMIO: which host serves which part of the file, without moving a rank."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from isochrone.base.errors import InputError
from isochrone.formats.placement import absolute

__all__ = ["FILE", "FILE_LIMIT", "NO_EFFECT", "environment", "text"]

FILE: Final = "romio-hints"

FILE_LIMIT: Final = 4096
"""Bytes of a hints file: ``HINTFILE_MAX_SIZE`` of ``system_hints.c``."""

NO_EFFECT: Final = (
    "with OMPIO, the default of Open MPI 5 (its ROMIO: --mca io romio341), and with Open MPI 6",
    "if the application itself sets cb_config_list or cb_nodes",
    "if the ranks' accesses do not interleave and romio_cb_write is not 'enable'",
    "for files that are already open, or in a process that has already read its hints",
)
"""Where the hints change nothing."""


def text(config: str, nodes: int | None = None, others: Sequence[tuple[str, str]] = ()) -> str:
    """Return the lines ``key value``.

    Raises
    ------
    InputError
        If they would not fit into a hints file.
    """
    pairs = [("cb_config_list", config), *others]
    if nodes is not None:
        pairs.append(("cb_nodes", str(nodes)))
    found = "".join(f"{key} {value}\n" for key, value in pairs)
    if len(found.encode()) > FILE_LIMIT:
        raise InputError(f"the hints are longer than the {FILE_LIMIT} bytes that ROMIO reads")
    return found


def environment(path: Path, config: str) -> list[str]:
    """Return the lines that make the next program use the hints.

    Cray's variable separates patterns of file names by commas as well; whether it takes a list is
    not known to us, hence the line that lets the library say what it understood.
    """
    return [
        f"export ROMIO_HINTS={shlex.quote(absolute(path))}",
        f"Cray: export MPICH_MPIIO_HINTS_DISPLAY=1 MPICH_MPIIO_HINTS='*:cb_config_list={config}'",
    ]
