"""What a command does: its launches and decisions, for ``--verbose`` and ``--log``.

A process has one journal. Without these options, nothing is kept.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from isochrone.base.errors import IsochroneError, failing
from isochrone.base.text import command_line, listeners, printable

_MAX_JOURNAL_TEXT = 20_000


class _Journal:
    """Writes lines to standard error, to a file, or to both."""

    def __init__(self) -> None:
        self.verbose = False
        self.stream: IO[str] | None = None
        self.lock = threading.Lock()

    def log(self, text: str) -> None:
        """Add a line with the time (UTC); a file that cannot be written is given up."""
        with self.lock:
            if self.stream is None:
                return
            timestamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            try:
                self.stream.write(f"{timestamp} {printable(text, _MAX_JOURNAL_TEXT)}\n")
                self.stream.flush()
            except OSError as error:
                self.stream = None
                print(f"isochrone: the log ends here: {error.strerror}", file=sys.stderr)


_journal = _Journal()


def note(text: str) -> None:
    """Print and log a decision."""
    if _journal.verbose:
        print(f"isochrone: {printable(text, _MAX_JOURNAL_TEXT)}", file=sys.stderr, flush=True)
    _journal.log(text)


def heard(line: str) -> None:
    """Log a line of a launcher or a rank."""
    _journal.log(f"| {line}")


def asked(argv: Sequence[str]) -> None:
    """Log a short command, such as one of a compiler."""
    if _journal.stream:
        _journal.log(f"$ {command_line(argv)}")


@contextmanager
def launch(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> Iterator[None]:
    """Note a launch, and how it ended.

    ``environ`` is its environment; variables that differ from ours are part of the note.
    """
    if not (_journal.verbose or _journal.stream):
        yield
        return
    began = time.monotonic()
    note(f"$ {command_line([*_settings(environ), *argv])}")
    try:
        yield
    except BaseException as error:
        note(f"failed after {time.monotonic() - began:.1f} s: {error or type(error).__name__}")
        raise
    note(f"ended after {time.monotonic() - began:.1f} s")


def _settings(environ: Mapping[str, str] | None) -> list[str]:
    """Return the variables that are set for a launch, as words of ``env``."""
    variables = (environ or {}).items()
    changed = [f"{key}={value}" for key, value in variables if os.environ.get(key) != value]
    return ["env", *changed] if changed else []


@contextmanager
def kept(*, verbose: bool, file: Path | None, command: Sequence[str]) -> Iterator[None]:
    """Keep a journal of a command; a log is appended to a file.

    Raises
    ------
    InputError
        If the file cannot be opened.
    """
    if file is not None:
        with failing("the log cannot be written", file):
            _journal.stream = file.open("a", encoding="utf-8", errors="replace")
        listeners.append(_journal.log)
    opened, _journal.verbose = _journal.stream, verbose
    _journal.log(f"isochrone {command_line(command)}")
    try:
        yield
    except IsochroneError as error:
        _journal.log(str(error))
        raise
    finally:
        _journal.verbose, _journal.stream = False, None
        if opened is not None:
            listeners.remove(_journal.log)
            with suppress(OSError):
                opened.close()
