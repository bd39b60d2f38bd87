"""What a program format is: input files of other simulators with the actions of each rank.

`isochrone.formats.programs` holds the formats, one per file; each file ends in its `ProgramFormat`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from isochrone.applications.description.actions import Actions
from isochrone.base import registry


class Write(Protocol):
    """Writes what the ranks of an application do; returns the files, the one to name first."""

    def __call__(self, actions: Actions, path: Path, *, speed: float | None = None) -> list[Path]:
        """Raise `InputError` if the format cannot represent it, or a file cannot be written."""


DEFAULT_SPEED = 1e9
"""Floating-point operations per second of a host of ``isochrone platform``."""


@dataclass(frozen=True)
class ProgramFormat:
    """A format that simulators of others read.

    Attributes
    ----------
    suffix
        Of the file.
    write
        Writes it.
    takes_speed
        Whether computation is written in operations, of so many a second (``speed``).
    """

    suffix: str
    write: Write
    takes_speed: bool = False


names, load = registry.family("formats.programs", "PROGRAM", ProgramFormat)
"""The program formats, as the user types them; one by its name."""
