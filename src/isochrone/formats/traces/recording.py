"""What isochrone record wrote: the calls of each rank, and the processor time between them."""

from collections.abc import Sequence
from pathlib import Path

from isochrone.applications.results.recording import trace
from isochrone.applications.traces.trace import Trace
from isochrone.formats.trace import TraceFormat
from isochrone.runfile.file import read as read_run


def read(paths: Sequence[Path]) -> Trace:
    """Read a run file.

    Raises
    ------
    InputError
        If it is none of a recording.
    """
    return trace(read_run(paths[0]))


TRACE = TraceFormat(read=read)
