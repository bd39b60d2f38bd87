"""Runs short commands and returns their output, some of which is cached."""

import hashlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen, TimeoutExpired

import msgspec

from isochrone.base import journal
from isochrone.base.errors import InputError, MeasurementError, check_exhausted
from isochrone.base.units import format_seconds
from isochrone.measure.cache import cache_folder, check_own

_SUBPROCESS_TIMEOUT = 60.0

_FOLDER = "answers"

_MATTER = ("PATH", "LD_", "MPI", "OPAL", "CC")
"""Parts of the names of variables on which output depends."""

_LINKER = "/etc/ld.so.cache"

Stamp = tuple[int, int, int]


class _Cached(msgspec.Struct):
    """The output of a command, and the files it depends on."""

    output: str
    files: dict[str, Stamp | None]


def cached_answer(
    argv: Sequence[str], *, of: Path | None = None, timeout: float = _SUBPROCESS_TIMEOUT
) -> str:
    """Return the output of a command that is the same until a program changes.

    Cached for the same arguments and variables, until one of these files changes: the program
    ``of`` (default: that of the command), its libraries, and the program at the start of the output
    (the compiler of a wrapper).

    Raises
    ------
    MeasurementError
        As `answer`. The output of a command that fails is returned, but not cached.
    """
    matter = sorted(pair for pair in os.environ.items() if any(m in pair[0] for m in _MATTER))
    digest = hashlib.sha256(repr((list(argv), matter)).encode(errors="surrogateescape"))
    file = None
    with suppress(OSError, InputError, msgspec.DecodeError):
        file = cache_folder() / _FOLDER / f"{digest.hexdigest()[:32]}.json"
        check_own(file)
        cached = msgspec.json.decode(file.read_bytes(), type=_Cached)
        if cached.files == _stamps(cached.files):
            return cached.output
    result = answer(argv, timeout)
    if not result.returncode and file is not None:
        with suppress(OSError, UnicodeEncodeError):
            files = _stamps(_files(str(of or argv[0]), result.stdout))
            file.parent.mkdir(mode=0o755, exist_ok=True)
            fresh = file.with_suffix(f".{os.uname().nodename}.{os.getpid()}")
            fresh.write_bytes(msgspec.json.encode(_Cached(result.stdout, files)))
            fresh.replace(file)
    return result.stdout


def forget_answers() -> None:
    """Clear the cached output of commands."""
    shutil.rmtree(cache_folder() / _FOLDER, ignore_errors=True)


def _files(program: str, output: str) -> list[str]:
    """List the files that the output of a command depends on."""
    first = next(iter(output.split()), "")
    files = [path for name in (program, first) if (path := shutil.which(name))]
    with suppress(MeasurementError):
        tokens = answer(["ldd", *files[:1]]).stdout.split()
        files += [token for token in tokens if token.startswith("/")]
    return [*files, _LINKER]


def _stamps(files: Sequence[str] | Mapping[str, object]) -> dict[str, Stamp | None]:
    """Return the versions of files; None: there is no such file."""
    stamps: dict[str, Stamp | None] = dict.fromkeys(files)
    for file in files:
        with suppress(OSError):
            status = Path(file).stat()
            stamps[file] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return stamps


def answer(
    argv: Sequence[str], timeout: float = _SUBPROCESS_TIMEOUT, folder: Path | None = None
) -> CompletedProcess[str]:
    """Run a short command in a folder, and return its result.

    Raises
    ------
    MeasurementError
        If it cannot be started, or does not end within ``timeout`` seconds. Then it and all its
        processes are killed.
    ExhaustedError
        If the system has no room for another process.
    """
    journal.asked(argv)
    try:
        started = Popen(
            argv,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            text=True,
            errors="replace",
            cwd=folder,
            start_new_session=True,  # so that all of it can be ended
        )
    except OSError as error:
        check_exhausted(error.errno)
        raise MeasurementError(f"cannot run '{argv[0]}': {error.strerror}") from error
    with started as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException as error:  # a signal to us, too
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, TimeoutExpired):
                limit = format_seconds(timeout)
                raise MeasurementError(f"'{argv[0]}' did not end within {limit}") from error
            raise
    return CompletedProcess(argv, process.returncode, output, errors)
