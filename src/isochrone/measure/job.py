"""One job: a launcher and all its processes, until all have ended.

If this process ends, also by a crash or SIGKILL, the job ends as well: the launcher is started by
`isochrone.measure.supervisor`, which lives as long as any process of the job.
"""

import errno
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

import msgspec

from isochrone.base import journal
from isochrone.base.errors import (
    ExhaustedError,
    InputError,
    Interrupted,
    IsochroneError,
    MeasurementError,
    check_exhausted,
)
from isochrone.base.signals import taken_by
from isochrone.base.text import Tell, listed
from isochrone.base.units import format_seconds
from isochrone.measure import launcher as launchers
from isochrone.measure import supervisor

JOB_TIMEOUT = 300.0
"""Seconds after which a short job is ended."""

_PROGRESS = "isochrone-progress "
_PROBE = "isochrone-probe: "
_KILLED = re.compile(_PROBE + r"((a rank|rank \d+) on .* was killed by signal \d+.*)")
"""A message of the watchdog of a rank, see ``probe/machine/watchdog.h``."""

_PLACE = re.compile(r"^[\w/.]+\.[ch]:\d+: ")
"""The line of the probe's sources that failed; only shown in the details."""
_STOPPED = re.compile(_PROBE + r"((?:a rank|rank \d+) on .*) (was stopped by signal \d+.*)")
_GOES_ON = re.compile(_PROBE + r"((?:a rank|rank \d+) on .*) goes on")
_SILENT = re.compile(_PROBE + r"(?:a rank|rank \d+) on .* has done nothing( for \d+ s.*)")

_BEGINNING = re.compile(
    _PROBE
    + r"((?:a rank|rank \d+) on .*) has done nothing for (\d+ s): it is still within MPI_Init"
)

_MAX_LOST_RANKS = 8
_COLLECT = 1.5
"""Seconds for the watchdogs of all ranks within MPI_Init to report."""

_LAST_WORDS = 20

_ENDING = supervisor.END_GRACE + supervisor.LINGER + supervisor.KILL_TIMEOUT + 5.0
"""Seconds after which the supervisor has always reported."""


@dataclass(frozen=True)
class Progress:
    """How far a measurement is: steps done and in all, and the latest value in seconds."""

    done: int
    total: int
    estimate: float


Report = Callable[[Progress], None]
"""Receives how far a measurement is, in another thread."""


def run(
    argv: Sequence[str],
    *,
    timeout: float | None = None,
    progress: Report = lambda _: None,
    run_file: Path | None = None,
    data_file: Path | None = None,
    hear: Tell = lambda _: None,
    environ: launchers.Environ | None = None,
) -> None:
    """Start a launcher and wait until it and all it has started have ended.

    Parameters
    ----------
    argv
        Its tokens.
    timeout
        Seconds after which the job is ended; None: never.
    progress
        Called from another thread whenever the probe reports progress.
    run_file
        Written by the ranks. The reason for an early end becomes its last record.
    data_file
        A temporary file of the ranks. If they create it but do not complete, it is removed, and
        the hint of the error says so.
    hear
        Called from another thread with every other line of the launcher and the ranks.
    environ
        Its environment; None: that of this process.

    Raises
    ------
    InputError
        If the launcher cannot be started, or the probe refuses its command line.
    MeasurementError
        If the ranks fail or did not end in time; with their last words.
    Interrupted
        If SIGINT, SIGTERM or SIGHUP has come, and this is the main thread.
    """
    with journal.launch(argv, environ):
        _run(argv, timeout, progress, run_file, data_file, hear, environ)


def _run(
    argv: Sequence[str],
    timeout: float | None,
    progress: Report,
    run_file: Path | None,
    data_file: Path | None,
    hear: Tell,
    environ: launchers.Environ | None,
) -> None:
    signals = _Signals()
    with taken_by(signals.take):
        job = _Job(argv, run_file, data_file, progress, hear, environ)
        signals.tell(lambda signum: job.end(Interrupted(signum)))
        if not job.wait(timeout):
            limit = format_seconds(timeout or 0.0)
            job.end(MeasurementError(f"the launch did not end within {limit}"))
            job.wait(_ENDING)
        job.close()
    if job.why is not None:
        raise job.why


class _Job:
    """A supervisor that was started, and its output."""

    def __init__(
        self,
        argv: Sequence[str],
        run_file: Path | None,
        data_file: Path | None,
        progress: Report,
        hear: Tell,
        environ: launchers.Environ | None,
    ) -> None:
        self.argv = argv
        self.data_file = data_file
        self.began = time.monotonic()
        self.why: IsochroneError | None = None
        heard, writer = os.pipe()
        self.report, report = os.pipe()
        self.words = _Words(os.fdopen(heard, "rb"), progress, self.end, hear)
        itself = [sys.executable, "-I", "-S", supervisor.__file__, str(report)]
        files = [str(Path(file or os.devnull).absolute()) for file in (run_file, data_file)]
        try:
            self.words.start()  # first, so that a failure to start a thread leaves no process
            self.supervisor = subprocess.Popen(
                [*itself, *files, *argv],
                stdin=subprocess.PIPE,
                stdout=writer,
                stderr=subprocess.STDOUT,
                pass_fds=[report],
                env=environ,
                start_new_session=True,  # signals of a terminal are only for this process
            )
        except (OSError, RuntimeError) as error:
            os.close(self.report)
            check_exhausted(getattr(error, "errno", errno.EAGAIN))  # RuntimeError: of a thread
            raise
        finally:
            os.close(report)
            os.close(writer)
        assert self.supervisor.stdin is not None
        self.life_line = self.supervisor.stdin

    def wait(self, seconds: float | None) -> bool:
        """Wait until the job is gone; return whether it is."""
        return bool(select.select([self.report], [], [], seconds)[0])

    def end(self, why: IsochroneError) -> None:
        """Let the supervisor end the job; the first reason counts."""
        if self.why is None:
            self.why = why
            self.send(why)

    def send(self, why: IsochroneError) -> None:
        """Send the supervisor the last record of the run file, which also ends the job."""
        interrupted = isinstance(why, Interrupted)
        lasted = f" after {format_seconds(time.monotonic() - self.began)}" if interrupted else ""
        code = "interrupted" if interrupted else "failed"
        record = {"record": "warning", "code": code, "text": why.what + lasted}
        with suppress(BrokenPipeError, ValueError):  # it has ended
            os.write(self.life_line.fileno(), msgspec.json.encode(record) + b"\n")

    def close(self) -> None:
        """Read the report, record what went wrong, and let the supervisor end."""
        report = os.read(self.report, 512).split() if self.wait(0) else []
        os.close(self.report)
        self.words.join(supervisor.LINGER)
        if self.why is None:
            self.why = self.verdict(report)
            if isinstance(self.why, MeasurementError):
                self.send(self.why)
        elif isinstance(self.why, MeasurementError):
            self.why.details = self.words.last()
        if self.why is not None and report[3:] == [b"1"]:
            self.why.hint = f"its unfinished {self.data_file} was removed"
        with suppress(BrokenPipeError):
            self.life_line.close()
        with suppress(subprocess.TimeoutExpired):
            self.supervisor.wait(_ENDING)
        if not self.words.is_alive():
            self.words.stream.close()

    def verdict(self, report: Sequence[bytes]) -> IsochroneError | None:
        """Return what went wrong, from the report of the supervisor and the output of the ranks."""
        if not report:
            return MeasurementError("the supervisor of the ranks was killed")
        if report[0] == b"absent" and int(report[1]) in (errno.EAGAIN, errno.ENOMEM):
            return ExhaustedError(int(report[1]))
        if report[0] == b"absent":
            return InputError(
                f"cannot start '{_starter(self.argv)}': {os.strerror(int(report[1]))}",
                hint="see --launcher, --dry-run",
            )
        status, left = int(report[1]), int(report[2])
        lines = self.words.last()
        usage = [line.removeprefix(_PROBE) for line in lines if line.startswith(_PROBE)]
        if status == InputError.exit_code and usage:
            return InputError(usage[-1])
        if status and (killed := _killed_rank(lines)):
            return MeasurementError(killed, details=lines)
        name = Path(_starter(self.argv)).name
        if not status and any(map(_is_stuck, lines)):
            return MeasurementError(
                "the simulation has a deadlock; try --algorithm selector=…,bcast=default",
                details=lines,
            )
        if status and usage:
            return MeasurementError(_PLACE.sub("", usage[0]), details=lines)
        if status < 0:
            return MeasurementError(f"{name} was killed by signal {-status}", details=lines)
        if status:
            error = re.search(r"MPI_ERR_\w+", " ".join(lines))
            why = f": {error[0]}" if error else ""
            return MeasurementError(f"{name} failed (exit status {status}){why}", details=lines)
        if left:
            return MeasurementError(f"{left} processes of {name} cannot be killed")
        return None


def _starter(argv: Sequence[str]) -> str:
    """Return the launcher, without ``env`` and its variables."""
    tokens = argv[1:] if argv[0] == "env" else argv
    return next((token for token in tokens if "=" not in token), argv[0])


def _killed_rank(lines: Sequence[str]) -> str:
    """Return which rank was killed, from the output of any launcher, as scripts start others."""
    text = " ".join(lines)
    numbers = {signal.strsignal(signum): int(signum) for signum in signal.valid_signals()}
    for name in launchers.names():
        pattern = launchers.load(name).killed
        match = re.search(pattern, text) if pattern else None
        groups = match.groupdict() if match else {}
        signum = str(numbers.get(groups.get("signal", ""), groups.get("signal", "")))
        if signum.isdigit():
            if "rank" in groups:
                return f"rank {groups['rank']} on {groups['host']} was killed by signal {signum}"
            return f"a rank was killed by signal {signum}, according to the launcher"
    return ""


def _is_stuck(line: str) -> bool:
    patterns = (launchers.load(name).stuck for name in launchers.names())
    return any(pattern and re.search(pattern, line) for pattern in patterns)


class _Words(threading.Thread):
    """Sorts the output of the ranks into progress, messages of watchdogs, and others."""

    def __init__(
        self,
        stream: IO[bytes],
        progress: Report,
        end: Callable[[IsochroneError], None],
        hear: Tell,
    ) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.progress = progress
        self.end = end
        self.hear = hear
        self.words: deque[str] = deque(maxlen=_LAST_WORDS)
        self.stopped: dict[str, str] = {}
        self.beginning: list[str] = []

    def run(self) -> None:
        """Read until all writers have ended."""
        for raw in self.stream:
            line = raw.decode(errors="replace").rstrip()
            if line and not line.startswith(_PROGRESS):
                journal.heard(line)
            if line.startswith(_PROGRESS):
                with suppress(ValueError):
                    done, total, estimate = line.removeprefix(_PROGRESS).split()
                    self.progress(Progress(int(done), int(total), float(estimate)))
            elif match := _KILLED.fullmatch(line):
                # srun would wait for the other ranks, and these for the one that was killed
                self.end(MeasurementError(match[1]))
            elif match := _BEGINNING.fullmatch(line):
                self.beginning.append(match[1])
                if len(self.beginning) == 1:
                    later = threading.Timer(_COLLECT, self.end_beginning, (match[2],))
                    later.daemon = True
                    try:
                        later.start()
                    except RuntimeError:  # there can be no other thread
                        self.end_beginning(match[2])
            elif match := _SILENT.fullmatch(line):
                stopped = self.stopped_ranks()
                lasted = match[1].partition(":")[0] if stopped else match[1]
                self.end(MeasurementError(f"the measurement made no progress{lasted}{stopped}"))
            elif match := _STOPPED.fullmatch(line):
                self.stopped[match[1]] = match[2]
                self.hear(line)
            elif match := _GOES_ON.fullmatch(line):
                self.stopped.pop(match[1], None)
                self.hear(line)
            elif line:
                self.words.append(line)
                self.hear(line)

    def end_beginning(self, lasted: str) -> None:
        """End a job whose ranks do not return from MPI_Init."""
        names = sorted(self.beginning, key=lambda name: (len(name), name))
        ranks = listed(names, _MAX_LOST_RANKS)
        self.end(
            MeasurementError(
                f"the launch made no progress for {lasted}: {ranks} did not return from MPI_Init"
                f"{self.stopped_ranks()}"
            )
        )

    def stopped_ranks(self) -> str:
        """Return the ranks that were stopped and not continued."""
        ranks = [f"{rank} {how}" for rank, how in self.stopped.items()]
        return f"; {', '.join(ranks)}" if ranks else ""

    def last(self) -> tuple[str, ...]:
        """Return the last lines."""
        return tuple(self.words)


class _Signals:
    """Signals that ask this process to end, held until the job is known.

    An exception between the start of a job and the end of its constructor would orphan it.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.listener: Callable[[int], None] = lambda _: None

    def take(self, signum: int, frame: FrameType | None) -> None:
        """Keep the first; others change nothing."""
        if self.first is None:
            self.first = signum
            self.listener(signum)

    def tell(self, listener: Callable[[int], None]) -> None:
        """Set the listener, and call it with the first signal, also if that came before."""
        self.listener = listener
        if self.first is not None:
            listener(self.first)


@contextmanager
def folder_for(wanted: Path | None) -> Iterator[Path]:
    """Yield the folder for run files: the user's, or a temporary one.

    That is in the current folder, which rank 0 on another host is likely to see.
    """
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix=".isochrone-", dir=Path.cwd()) as name:
        yield Path(name)
