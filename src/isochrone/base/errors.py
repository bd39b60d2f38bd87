"""Errors for users, one line each: what happened, where, and what to try."""

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class IsochroneError(Exception):
    """Base of every error that is printed without a traceback.

    Parameters
    ----------
    what
        What is wrong, in one sentence.
    where
        The file, line, option or host it is about.
    hint
        What to try.
    details
        Lines to show below, for example the last output of a program that failed.
    """

    exit_code = 1

    def __init__(
        self, what: str, *, where: object = "", hint: str = "", details: Sequence[str] = ()
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = str(where)
        self.hint = hint
        self.details = tuple(details)

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.what}{hint}"


class InputError(IsochroneError):
    """Wrong use, or a file that cannot be read. Exit code 2."""

    exit_code = 2


class MeasurementError(IsochroneError):
    """The measurement failed or was refused. Exit code 3."""

    exit_code = 3


class WrongResult(MeasurementError):
    """Some operations returned wrong data; all others were measured."""


class ExhaustedError(MeasurementError):
    """The system cannot start another process or thread."""

    def __init__(self, error_number: int = errno.EAGAIN) -> None:
        super().__init__(
            f"cannot start another process or thread: {os.strerror(error_number)}",
            hint="see ulimit -u and ulimit -v",
        )


def check_exhausted(error_number: int | None) -> None:
    """Raise `ExhaustedError` if that is why a process could not be started."""
    if error_number in (errno.EAGAIN, errno.ENOMEM):
        raise ExhaustedError(error_number)


class Interrupted(IsochroneError):
    """A signal ended the work. Exit code 128 + its number, as of shells."""

    def __init__(self, signum: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(signum).name}")
        self.exit_code = 128 + signum


@contextmanager
def failing(problem: str, where: object, hint: str = "") -> Iterator[None]:
    """Report what fails for a reason of the system, such as a full disk, as an input error."""
    try:
        yield
    except OSError as error:
        hint = hint or (similar_file(where) if isinstance(error, FileNotFoundError) else "")
        raise InputError(f"{problem}: {error.strerror}", where=where, hint=hint) from error


def similar_file(missing: object) -> str:
    """Return ``did you mean map.jsonl?`` for the name of a missing file or folder; else ""."""
    import difflib  # slow, and rarely needed

    path = Path(str(missing))
    if path.exists():
        return ""
    if path.suffix in (".html", ".png", ".svg", ".pdf"):
        return f"to write it: -o {path}"
    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        return ""
    close = [name for name in names if name.startswith(f"{path.stem}.")]
    close = close or difflib.get_close_matches(path.name, names, n=1, cutoff=0.8)
    return f"did you mean {path.parent / close[0]}?" if close else ""


@contextmanager
def located(where: str) -> Iterator[None]:
    """Add the file, line or option to input errors."""
    try:
        yield
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from error
