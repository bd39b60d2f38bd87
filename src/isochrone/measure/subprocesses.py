"""What a short command says; what a program says of itself is kept, and asked once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from isochrone.base.errors import InputError, MeasurementError, check_exhausted
from isochrone.base.units import format_seconds
from isochrone.measure.cache import cache_folder, check_own

_TIMEOUT: Final = 60.0

_FOLDER: Final = "answers"

_MATTER: Final = ("PATH", "LD_", "MPI", "OPAL", "CC")
"""What is in the names of variables on which answers depend."""

_LINKER: Final = "/etc/ld.so.cache"

Stamp = tuple[int, int, int]


class _Kept(msgspec.Struct):
    """An answer, and by which files it is known to hold still."""

    said: str
    files: dict[str, Stamp | None]


def kept_answer(argv: Sequence[str], *, of: Path | None = None, timeout: float = _TIMEOUT) -> str:
    """Return what a command prints that says the same until a program is changed.

    Kept in the cache folder for the same words and the same variables, while all these files have
    the size and times they had: the program ``of`` (default: that of the command), its libraries,
    and the program that the answer begins with: of a wrapper that is the compiler.

    Raises
    ------
    MeasurementError
        As `answer`. What a command that fails has printed is returned, and not kept.
    """
    matter = sorted(pair for pair in os.environ.items() if any(m in pair[0] for m in _MATTER))
    digest = hashlib.sha256(repr((list(argv), matter)).encode(errors="surrogateescape"))
    file: Path | None = None
    with contextlib.suppress(OSError, InputError, msgspec.DecodeError):
        file = cache_folder() / _FOLDER / f"{digest.hexdigest()[:32]}.json"
        check_own(file)
        kept = msgspec.json.decode(file.read_bytes(), type=_Kept)
        if kept.files == _stamps(kept.files):
            return kept.said
    said = answer(argv, timeout)
    if not said.returncode and file is not None:
        with contextlib.suppress(OSError, UnicodeEncodeError):
            files = _stamps(_files(str(of or argv[0]), said.stdout))
            file.parent.mkdir(mode=0o755, exist_ok=True)
            fresh = file.with_suffix(f".{os.uname().nodename}.{os.getpid()}")
            fresh.write_bytes(msgspec.json.encode(_Kept(said.stdout, files)))
            fresh.replace(file)
    return said.stdout


def forget_answers() -> None:
    """Ask all programs again."""
    shutil.rmtree(cache_folder() / _FOLDER, ignore_errors=True)


def _files(program: str, said: str) -> list[str]:
    """List the files that an answer depends on."""
    first = next(iter(said.split()), "")
    found = [path for name in (program, first) if (path := shutil.which(name))]
    with contextlib.suppress(MeasurementError):
        words = answer(["ldd", *found[:1]]).stdout.split()
        found += [word for word in words if word.startswith("/")]
    return [*found, _LINKER]


def _stamps(files: Sequence[str] | Mapping[str, object]) -> dict[str, Stamp | None]:
    """Return what changes when a file is changed; None: there is none."""
    found: dict[str, Stamp | None] = dict.fromkeys(files)
    for file in files:
        with contextlib.suppress(OSError):
            there = Path(file).stat()
            found[file] = (there.st_ino, there.st_size, there.st_mtime_ns)
    return found


def answer(
    argv: Sequence[str], timeout: float = _TIMEOUT, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a short command, in a folder, to its end and return what it printed.

    Raises
    ------
    MeasurementError
        If it cannot be started, or does not end within ``timeout`` seconds: then it is ended, and
        what it has started.
    ExhaustedError
        If the system has no room for another process.
    """
    try:
        started = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
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
            said, complained = process.communicate(timeout=timeout)
        except BaseException as error:  # a signal to us, too
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                limit = format_seconds(timeout)
                raise MeasurementError(f"'{argv[0]}' did not end within {limit}") from error
            raise
    return subprocess.CompletedProcess(argv, process.returncode, said, complained)
