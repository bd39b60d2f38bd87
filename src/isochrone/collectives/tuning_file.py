"""Tuning files of MPI libraries, which select the library's own algorithms.

`isochrone.formats.tunings` holds the formats, one per file; each file ends in its `TuningFile`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from isochrone.base import registry
from isochrone.base.record import Record


class LibraryRule(Record):
    """One choice: an operation on so many ranks, and its blocks of a range of sizes.

    Attributes
    ----------
    op, ranks
        Operation, as in ``measure collective --op``, and ranks of the communicator.
    bytes
        Smallest and largest block, as in ``measure collective --bytes``, both within.
    algorithm
        In the library's own words.
    measured
        A block of this range that was measured, and can be measured again.
    """

    op: str
    ranks: int
    bytes: tuple[int, int]
    algorithm: str
    measured: int


class Written(Record):
    """What is to be written, and how the library is made to use it.

    Attributes
    ----------
    files
        Content of each file.
    environ
        Variables that the ranks need.
    warnings
        What the user should know of it, one sentence each.
    left_out
        Rules that cannot be said in this format.
    """

    files: dict[Path, str]
    environ: dict[str, str]
    warnings: tuple[str, ...] = ()
    left_out: tuple[LibraryRule, ...] = ()


class TuningFile(Record):
    """A format of tuning files.

    Attributes
    ----------
    check
        Refuses the name and version of an MPI (``MPICH 5.0.2``) that cannot read it.
    write
        Returns what is to be written for rules, at a path. The last argument is the content of the
        library's own file, which is empty unless ``of_library``.
    of_library
        Whether a part of the file is taken from the file of the library.
    seen_by
        How it can be seen that a rule is in force: by the ``messages`` that ranks send, or by what
        the library says of ``loading`` it.
    """

    check: Callable[[str], None]
    write: Callable[[Sequence[LibraryRule], Path, bytes], Written]
    of_library: bool = False
    seen_by: Literal["messages", "loading"] = "messages"


names, load = registry.family("formats.tunings", "TUNING_FILE", TuningFile)
"""The formats, as the user types them; one by its name."""
