"""What must hold whatever a file holds: a code, a line, no traceback, no control character."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final
from unittest.mock import patch

from beds.command_line import HIDDEN
from isochrone.cli.main import main

__all__ = ["LIMITS", "Limits", "Verdict", "judge"]


@dataclass(frozen=True)
class Limits:
    """What a command may take of the machine for a file below 1 MB: seconds and bytes."""

    seconds: float = 2.0
    memory: int = 300 << 20


LIMITS: Final = Limits()
PATIENCE: Final = 20.0
"""Seconds of the processor after which a command is said to hang."""


@dataclass(frozen=True)
class Verdict:
    """What was wrong about how a command took a file, empty if nothing; what it said, its code."""

    wrong: str = ""
    said: str = ""
    code: int = -1


class _HangsError(BaseException):
    """Raised in a command that does not come to its end."""


def judge(argv: Sequence[str], folder: Path, outputs: Sequence[str], limits: Limits) -> Verdict:
    """Run a command line within this process, in a folder of its own, and judge what it did.

    Parameters
    ----------
    argv
        After ``isochrone``.
    folder
        Where it is run; all files there but ``outputs`` must be the same afterwards.
    outputs
        How the names of the files that it may write begin.
    limits
        Time of the processor and memory in addition to what this process has.
    """
    before = _listed(folder)
    out, err = io.StringIO(), io.StringIO()
    memory = _from_here()
    start = time.process_time()
    try:
        with (
            contextlib.chdir(folder),
            patch.object(sys, "argv", ["isochrone"]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = _run(argv)
    except _HangsError as hangs:
        return Verdict(f"hangs: {_where(hangs)}")
    except RecursionError as error:
        return Verdict(f"traceback: RecursionError: {_where(error)}")
    except BaseException as error:
        return Verdict(f"traceback: {type(error).__name__}: {_where(error)}", str(error)[:300])
    seconds, grown = time.process_time() - start, _peak() - memory
    changed = _listed(folder).items() ^ before.items()
    elsewhere = sorted({name for name, _ in changed if not name.startswith(tuple(outputs))})
    wrong = _wrong(code, out.getvalue(), err.getvalue())
    if not wrong and elsewhere:
        wrong = f"wrote elsewhere: {elsewhere}"
    if not wrong and seconds > limits.seconds:
        wrong = f"slow: {seconds:.1f} s"
    if not wrong and grown > limits.memory:
        wrong = f"memory: {grown >> 20} MiB"
    return Verdict(wrong, err.getvalue()[:500], code)


def _wrong(code: int, out: str, err: str) -> str:
    """Say what is wrong about an exit code and what was printed."""
    if code not in (0, 1, 2, 3, 4):
        return f"exit code {code}"
    lines = [line for line in err.splitlines() if ": partial run: " not in line]
    if "Traceback" in err:
        return "a traceback is printed"
    if "not enough memory" in err:
        return "memory: more than there is"
    if code in (2, 3) and (not lines or not lines[-1].startswith(("isochrone", "  |"))):
        return f"exit code {code} without a line"
    if code in (2, 3) and sum(line.startswith("isochrone") for line in lines) > 1:
        return "more than one line"
    for text in (out, err):
        bad = {c for c in text if not c.isprintable() and c not in "\n"}
        if bad:
            return f"control characters: {sorted(map(ascii, bad))}"
    return ""


def _run(argv: Sequence[str]) -> int:
    """Run the command line; a Python warning, which users would see, is an error."""
    with warnings.catch_warnings(), _alarm():
        warnings.simplefilter("error")
        for category in HIDDEN:
            warnings.simplefilter("ignore", category)
        try:
            return main(list(argv))
        except SystemExit as end:  # wrong use
            return int(end.code or 0)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise _HangsError

    old = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


def _listed(folder: Path) -> dict[str, tuple[int, int]]:
    """List files with their sizes and dates."""
    found = {}
    for entry in os.scandir(folder):
        held = entry.stat(follow_symlinks=False)
        found[entry.name] = (held.st_size, held.st_mtime_ns)
    return found


def _from_here() -> int:
    """Let the peak of memory begin anew, where the system can do that; return it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """Return the largest memory that this process has had since `_from_here`."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _where(error: BaseException) -> str:
    """Return the innermost place in the package where an error came from: what tells it apart."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "isochrone" in frame.filename] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}"
