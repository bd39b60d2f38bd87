"""Options that say what a table or matrix of pairs does not say of itself."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from isochrone.base.files import read_bytes
from isochrone.base.table_text import decoded
from isochrone.console.options import add_expert, add_flag, add_option
from isochrone.runfile.table_notes import NOTES, TableNotes, read_unit

if TYPE_CHECKING:
    from isochrone.models.data.columns import Columns


def add_table_notes(parser: ArgumentParser, *, hosts: bool = True) -> None:
    """Add ``--unit``, ``--one-way``, ``--matrix``, ``--map-columns``, and maybe ``--hosts``."""
    group = parser.add_argument_group("tables and matrices of pairs")
    add_option(
        group,
        "--unit",
        "UNIT",
        read_unit,
        "unit of the numbers: ns, us, ms, s, GB/s, MB/s … (default: as the file says)",
    )
    add_flag(group, "--one-way", "times are of one message from i to j, not of round trips")
    add_option(
        group,
        "--matrix",
        "WORDS",
        str,
        "words in the title of the matrix to read (default: the first with a unit)",
    )
    add_expert(
        group,
        "--map-columns",
        "COLUMN=VARIABLE[:UNIT],…",
        _columns,
        "map columns to variables: src=i,dst=j,usec=seconds:us,size=b, or bw=rate:GB/s (default: "
        "by their names)",
    )
    if hosts:
        add_expert(group, "--hosts", "FILE", Path, "file with the host of each rank, one in a line")
    parser.set_defaults(noting=_noting)


def _columns(text: str) -> "Columns":
    from isochrone.models.data.columns import Columns  # and all of models: only if it is needed

    return Columns.parse(text)


@contextmanager
def _noting(args: Namespace) -> Iterator[None]:
    """Let the readers of tables know what the options say."""
    nbytes = args.bytes if "bytes" in args else None
    if isinstance(nbytes, list):
        nbytes = nbytes[0] if len(nbytes) == 1 else None
    hosts = _names(args.hosts) if isinstance(args.hosts, Path) else ()  # a list: those to plot
    columns = args.map_columns
    token = NOTES.set(
        TableNotes(
            args.unit or "",
            nbytes,
            args.one_way,
            hosts,
            args.matrix or "",
            **({"columns": columns.meaning, "factors": columns.factor} if columns else {}),
        )
    )
    try:
        yield
    finally:
        NOTES.reset(token)


def _names(path: Path) -> tuple[str, ...]:
    """Read the first word of each line of a file."""
    lines = decoded(read_bytes(path), str(path)).splitlines()
    return tuple(line.split()[0] for line in lines if line.split() and line.lstrip()[:1] != "#")
