"""Emulations of a description, as commands launch them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from isochrone.applications.description import program_file
from isochrone.applications.description.description import Description
from isochrone.applications.description.program import Program
from isochrone.applications.description.reading import as_document
from isochrone.applications.emulation.recorded import DESCRIPTION
from isochrone.measure.setup import Setup

EXPERIMENT = "app"

_LONGEST_NOTE = 100_000
"""Characters of a word of a command that every system takes."""


def notes_of(description: Description, setup: Setup) -> dict[str, str]:
    """Return the description for the run file, unless it is too long for a command."""
    text = json.dumps(as_document(description), ensure_ascii=False, separators=(",", ":"))
    text = text.replace(" ", "\\u0020")  # the same to JSON, and smpirun passes no blanks on
    if len(text.encode()) > _LONGEST_NOTE:
        setup.warn("the description is too long for the run file: keep the file of it")
        return {}
    return {DESCRIPTION: text}


@contextmanager
def written(job_program: Program, path: Path) -> Iterator[Path]:
    """Write what the ranks do beside the run file, where rank 0 sees it; remove it in the end."""
    data = program_file.data(job_program)
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.stem}-", suffix=".program") as file:
        file.write(data)
        file.flush()
        yield Path(file.name)
