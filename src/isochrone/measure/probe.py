"""The measuring program: built with the user's mpicc, started, followed to its end.

The only module that starts processes. Every process gets an argv list, never a shell string, and
is ended with everything it started when its time is up or the user gives up.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sysconfig
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Final

import msgspec

from isochrone.base.errors import InputError, MeasurementError

__all__ = ["Probe", "Progress", "build", "experiments", "find_mpicc", "run"]

BUILD_TIMEOUT: Final = 300.0
ANSWER_TIMEOUT: Final = 60.0
GRACE: Final = 5.0
"""Seconds a launcher has to end its ranks before it is killed."""

_PROGRESS: Final = "isochrone-progress "


@dataclass(frozen=True)
class Progress:
    """How far a measurement is: steps done and in all, and the latest value in seconds."""

    done: int
    total: int
    estimate: float


@dataclass(frozen=True)
class Probe:
    """A probe that was built.

    Attributes
    ----------
    path
        The program.
    mpicc
        What it was built with.
    """

    path: Path
    mpicc: Path

    @cached_property
    def library(self) -> str:
        """What the MPI library says of itself; needs no MPI job."""
        words = _answer([str(self.path), "--version"]).stdout.split("\n", 1)[-1].split()
        return " ".join(words)

    def sweeps(self) -> dict[str, str]:
        """List the experiments that are sweeps over message sizes, with a line on each."""
        lines = _answer([str(self.path), "--list"]).stdout.splitlines()
        listed = [msgspec.json.decode(line, type=dict[str, str]) for line in lines]
        return {one["name"]: one["summary"] for one in listed if one["kind"] == "sweep"}

    def check(
        self, experiment: str, options: Sequence[str], ranks: int, *, here: bool = False
    ) -> None:
        """Let the probe check its options, before any rank is started.

        ``here`` says that all ranks will run on this machine, whose memory is then known.

        Raises
        ------
        InputError
            With the probe's own one line.
        """
        asked = ["--check", str(ranks), *(["--here"] if here else [])]
        answer = _answer([str(self.path), experiment, *options, *asked])
        if answer.returncode:
            line = answer.stderr.strip().removeprefix("isochrone-probe: ")
            raise InputError(line or f"the probe refuses the options of {experiment}")

    def options_help(self, experiment: str) -> str:
        """Return the options of an experiment as the probe lists them."""
        text = _answer([str(self.path), experiment, "--help"]).stdout
        return text.partition("\noptions:\n")[2].partition("\n\n")[0]


def sources() -> Path:
    """Return the folder of the probe's sources: in a checkout, or carried by the wheel."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_probe", package.parents[1] / "probe"):
        if (folder / "experiment.h").is_file():
            return folder
    raise InputError("the sources of the probe are missing", hint="reinstall isochrone")


def experiments() -> list[str]:
    """List the experiments as the user types them; one file, or one folder, is one experiment."""
    folder = sources() / "experiments"
    files = [*folder.glob("*.c"), *(file.parent for file in folder.glob("*/*.c"))]
    return sorted({file.stem.replace("_", "-") for file in files})


def find_mpicc(wanted: str | None = None, *, hint: str = "") -> Path:
    """Find the compiler wrapper of the user's MPI.

    In this order: what was asked for, ``$MPICC``, ``mpicc`` on the PATH, and the one that an MPI
    wheel put beside this Python.

    Raises
    ------
    InputError
        If there is none.
    """
    asked = wanted or os.environ.get("MPICC")
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise InputError(
                f"there is no program '{asked}'",
                where="" if hint else "--mpicc or $MPICC",
                hint=hint,
            )
        return Path(found).absolute()
    beside = sysconfig.get_path("scripts")
    found = shutil.which("mpicc") or shutil.which("mpicc", path=beside)
    if found is None:
        raise InputError(
            "no MPI was found: there is no mpicc on the PATH",
            hint="load your MPI module, give --mpicc, or: pip install 'isochrone[mpich]'",
        )
    return Path(found).absolute()


def build(mpicc: Path, *, again: bool = False) -> Probe:
    """Compile the probe, unless this source was compiled by this mpicc before.

    Raises
    ------
    MeasurementError
        If it does not compile; with the compiler's last words.
    """
    source = sources()
    folder = _cache() / f"probe-{_fingerprint(source, mpicc)}"
    program = folder / "isochrone-probe"
    if again or not program.is_file():
        if shutil.which("make") is None:
            raise InputError("there is no 'make'", hint="install make and a C compiler")
        scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
        argv = ["make", "-C", str(source), f"MPICC={mpicc}", f"BUILD={scratch}"]
        try:
            answer = _answer(argv, timeout=BUILD_TIMEOUT)
            if answer.returncode:
                raise MeasurementError(
                    f"the probe cannot be compiled with {mpicc}",
                    hint="does this mpicc compile a trivial program?",
                    details=(answer.stdout + answer.stderr).splitlines()[-15:],
                )
            if not (scratch / program.name).is_file():
                raise MeasurementError(
                    f"{mpicc} produced no executable", hint="is it a compiler wrapper?"
                )
            folder.mkdir(exist_ok=True)
            (scratch / program.name).replace(program)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return Probe(program, mpicc)


def run(
    argv: Sequence[str],
    *,
    timeout: float | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Start the ranks and wait until they have ended.

    Parameters
    ----------
    argv
        The launcher's tokens.
    timeout
        Seconds after which the ranks are ended; None: never.
    progress
        Called from another thread whenever the probe says how far it is.

    Raises
    ------
    InputError
        If the launcher cannot be started, or the probe says that it was used wrongly.
    MeasurementError
        If the ranks fail, or did not end in time, or the user interrupts; with their last words.
    """
    started = time.monotonic()
    with _started(argv) as process:
        words: deque[str] = deque(maxlen=20)
        assert process.stdout is not None
        reader = threading.Thread(target=_listen, args=(process.stdout, words, progress))
        reader.start()
        ended = ""
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            ended = f"it did not end within {time.monotonic() - started:.0f} s"
        except KeyboardInterrupt:
            ended = "interrupted"
        finally:
            _end(process)
            reader.join(GRACE)
    if ended:
        # after an interrupt the last words are the launcher's, about the signal that we sent
        raise MeasurementError(ended, details=[] if ended == "interrupted" else list(words))
    if process.returncode:
        _complain(process.returncode, list(words))


def _complain(status: int, words: list[str]) -> None:
    """Turn the exit status and last words of failed ranks into an error."""
    usage = [w.removeprefix("isochrone-probe: ") for w in words if w.startswith("isochrone-probe:")]
    if status == InputError.exit_code and usage:
        raise InputError(usage[-1])
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    raise MeasurementError(f"the ranks failed ({how}); their last output:", details=words)


@contextlib.contextmanager
def _started(argv: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a launcher in a session of its own, so that all it starts can be ended together."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise InputError(
            f"cannot start '{argv[0]}': {error.strerror}",
            hint="is the launcher the right one? see --launcher and --dry-run",
        ) from error
    with process:
        yield process


def _end(process: subprocess.Popen[str]) -> None:
    """Ask the launcher to end its ranks, and kill what is left of them after a while."""
    for order in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, order)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)


def _listen(stream: IO[str], words: deque[str], progress: Callable[[Progress], None]) -> None:
    """Sort the lines of the ranks into progress and words; keep the last words."""
    for line in stream:
        if line.startswith(_PROGRESS):
            with contextlib.suppress(ValueError):
                done, total, estimate = line.removeprefix(_PROGRESS).split()
                progress(Progress(int(done), int(total), float(estimate)))
        elif line.strip():
            words.append(line.rstrip())


def _answer(
    argv: Sequence[str], timeout: float = ANSWER_TIMEOUT
) -> subprocess.CompletedProcess[str]:
    """Run a short command to its end and return what it printed."""
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeasurementError(f"cannot run '{argv[0]}': {error}") from error


def _cache() -> Path:
    """Return the folder where built probes are kept, and make it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "isochrone"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot create it: {error.strerror}", where=str(folder), hint="set XDG_CACHE_HOME"
        ) from error
    return folder


def _fingerprint(source: Path, mpicc: Path) -> str:
    """Hash what the program depends on: its source, the wrapper, and what the wrapper does."""
    digest = hashlib.sha256()
    for file in sorted([*source.rglob("*.[ch]"), source / "Makefile"]):
        if "build" not in file.relative_to(source).parts:
            digest.update(str(file.relative_to(source)).encode() + b"\0" + file.read_bytes())
    real = mpicc.resolve()
    digest.update(f"{mpicc}\0{real}\0{real.stat().st_mtime_ns}\0".encode())
    digest.update(_answer([str(mpicc), "-show"]).stdout.encode())
    for name in ("CFLAGS", "LDFLAGS"):
        digest.update(os.environ.get(name, "").encode() + b"\0")
    return digest.hexdigest()[:16]
