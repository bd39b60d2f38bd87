"""Write a file so that it appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from isochrone.errors import InputError

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary sibling of ``path``; it takes the place of ``path`` if all goes well.

    Raises
    ------
    InputError
        If the file cannot be written. Nothing is left behind then.
    """
    partial = Path(f"{path}.partial")
    try:
        with partial.open("wb") as stream:
            yield stream
        partial.replace(path)
    except BaseException as error:  # Ctrl-C, too, leaves no half a file
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write it: {error.strerror}", where=str(path)) from error
        raise
