"""What an export format is: which kinds of results a file of it holds, and how it is written.

`isochrone.formats.exporters` holds the formats, one per file; each file ends in its `Exporter`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from isochrone.base import registry
from isochrone.runfile.run import Run


class Write(Protocol):
    """Writes a run, with all its message sizes or with one of them, as a file.

    Returns what the file cannot represent, a sentence each; None: nothing.
    """

    def __call__(self, run: Run, path: Path, *, nbytes: int | None = None) -> Sequence[str] | None:
        """Raise `InputError` if the run holds nothing of it, or the file cannot be written."""


@dataclass(frozen=True)
class Exporter:
    """A format that other programs read.

    Attributes
    ----------
    suffix
        Of the file.
    holds
        Kinds of results that it can hold: ``latency-map``, ``sweep``, ``hotspot``.
    write
        Writes it.
    one_size
        Whether it holds one message size only: by default the smallest.
    beside
        Suffixes of additional files next to the requested one.
    of_pairs
        Whether of sweeps it holds only those of single messages between two ranks.
    """

    suffix: str
    holds: tuple[str, ...]
    write: Write
    one_size: bool = False
    beside: tuple[str, ...] = ()
    of_pairs: bool = False


names, load = registry.family("formats.exporters", "EXPORTER", Exporter)
"""The export formats, as the user types them; one by its name."""
