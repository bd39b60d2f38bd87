"""What a trace format is: files with the MPI calls of the ranks of a program.

`isochrone.formats.traces` holds the formats, one per file; each file ends in its `TraceFormat`. A
trace becomes the description of an application.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from isochrone.applications.traces.trace import Trace
from isochrone.base import registry


@dataclass(frozen=True)
class TraceFormat:
    """A format of recorded MPI calls.

    Attributes
    ----------
    read
        Reads files; raises `InputError` if they are none of this format, or contradict each other.
    files
        How many it takes: one, or one of each rank (``"ranks"``).
    says, signature
        What a file of a text format is, for errors, and what only such files have; None: nothing.
    """

    read: Callable[[Sequence[Path]], Trace]
    files: str = "one"
    says: str = ""
    signature: re.Pattern[bytes] | None = None


names, load = registry.family("formats.traces", "TRACE", TraceFormat)
"""The trace formats, as the user types them; one by its name."""
