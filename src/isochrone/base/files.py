"""Files: atomic writing, checks and hashes."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from isochrone.base.errors import InputError, failing


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file next to ``path``, which replaces ``path`` on success.

    Its name is random, so that concurrent commands do not interfere and no link can be placed
    there.

    Raises
    ------
    InputError
        If the file cannot be written, or ``path`` is a folder, a device or a pipe. Then ``path`` is
        unchanged, and the temporary file is removed.
    """
    if path.exists() and not path.is_file():
        raise InputError("it is not a regular file", where=path, hint="choose another name")
    partial = path.with_name(f".isochrone-{os.urandom(8).hex()}.partial")
    with failing("the file cannot be written", path):
        try:
            with partial.open("xb") as stream:
                yield stream
            partial.replace(path)
        except BaseException:  # Ctrl-C, too
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str) -> None:
    """Write a text atomically; errors as for `whole_file`."""
    with whole_file(path) as stream:
        stream.write(text.encode())


def check_ordinary(path: Path) -> None:
    """Refuse a pipe or a device, which may never end.

    Raises
    ------
    InputError
        If it is one, or cannot be found.
    """
    try:
        with failing("the file cannot be read", path):
            mode = path.stat().st_mode
    except ValueError as error:
        raise InputError(f"the file cannot be read: {error}", where=path) from error
    if stat.S_ISDIR(mode):
        raise InputError("the file cannot be read: Is a directory", where=path)
    if not stat.S_ISREG(mode):
        raise InputError("it is not a regular file", where=path, hint="write its output to a file")


def read_bytes(path: Path) -> bytes:
    """Read a file; errors as of `check_ordinary`, or if it cannot be read."""
    check_ordinary(path)
    with failing("the file cannot be read", path):
        return path.read_bytes()


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    import hashlib  # its library is large

    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def written_name(path: Path) -> str:
    """Return the name of a file as text that a file can hold: what is no UTF-8 becomes U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")
