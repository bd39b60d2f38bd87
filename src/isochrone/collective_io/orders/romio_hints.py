"""Hints file of ROMIO: which host serves which part of the file, without moving a rank."""

from collections.abc import Mapping
from pathlib import Path

from isochrone.base.errors import InputError
from isochrone.base.text import shell_word
from isochrone.measure.placement import absolute

FILE = "romio-hints"

FILE_LIMIT = 4096
"""Bytes of a hints file: ``HINTFILE_MAX_SIZE`` of ``system_hints.c``."""

NO_EFFECT = (
    "with OMPIO, the default of Open MPI 5 (its ROMIO: --mca io romio341), and with Open MPI 6",
    "if the application itself sets cb_config_list or cb_nodes",
    "if the ranks' accesses do not interleave and romio_cb_write is not 'enable'",
    "for files that are already open, or in a process that has already read its hints",
)
"""Where the hints have no effect."""


def text(hints: Mapping[str, str], comment: str = "") -> str:
    """Return the text of a hints file: ``key value``, one a line, below a comment of one line.

    Raises
    ------
    InputError
        If the lines would not fit into a hints file.
    """
    content = f"# {comment}\n" if comment else ""
    content += "".join(f"{key} {value}\n" for key, value in hints.items())
    if len(content.encode()) > FILE_LIMIT:
        raise InputError(f"the hints are too long: ROMIO reads {FILE_LIMIT} bytes")
    return content


def environment(path: Path, config: str) -> list[str]:
    """Return the lines that make the next program use the hints.

    Cray's variable separates patterns of file names by commas as well, so a list may be misread;
    the first line makes the library print what it understood.
    """
    return [
        f"export ROMIO_HINTS={shell_word(absolute(path))}",
        f"Cray: export MPICH_MPIIO_HINTS_DISPLAY=1 MPICH_MPIIO_HINTS='*:cb_config_list={config}'",
    ]
