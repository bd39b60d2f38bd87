"""Write the schemas of all documents, one file each: ``python -m isochrone.documents.schemas``."""

from __future__ import annotations

import sys
from pathlib import Path

from isochrone.base.files import whole_file
from isochrone.documents.document import names, schema, text

__all__ = ["write"]

USUAL = "docs/schema"


def write(folder: Path) -> list[Path]:
    """Write ``NAME.json`` for each document into a folder that exists; return the files."""
    found = []
    for name in names():
        path = folder / f"{name}.json"
        with whole_file(path) as stream:
            stream.write(text(schema(name)).encode())
        found.append(path)
    return found


def main(words: list[str]) -> int:
    """Write them into the folder that is named, or ``docs/schema``; say where they are."""
    for path in write(Path(words[0] if words else USUAL)):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
