"""One job: a launcher and all it starts, followed to its end, of which nothing stays behind.

Whatever ends this process, a crash or SIGKILL included, ends the job as well: the launcher is
started by `isochrone.measure.supervisor`, which lives as long as anything of the job does.
"""

from __future__ import annotations

import contextlib
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Final

import msgspec

from isochrone.base.errors import (
    ExhaustedError,
    InputError,
    Interrupted,
    IsochroneError,
    MeasurementError,
    check_exhausted,
)
from isochrone.base.signals import taken_by
from isochrone.base.text import listed
from isochrone.base.units import format_seconds
from isochrone.measure import launcher as launchers
from isochrone.measure import supervisor

TIMEOUT: Final = 300.0
"""Seconds after which a job of ours is ended."""

_PROGRESS: Final = "isochrone-progress "
_PROBE: Final = "isochrone-probe: "
_KILLED: Final = re.compile(_PROBE + r"((a rank|rank \d+) on .* was killed by signal \d+.*)")
"""What the watcher of a rank says, see ``probe/machine/watchdog.h``."""

_PLACE: Final = re.compile(r"^[\w/.]+\.[ch]:\d+: ")
"""Where in the sources of the probe something failed; the details keep it."""
_STOPPED: Final = re.compile(_PROBE + r"((?:a rank|rank \d+) on .*) (was stopped by signal \d+.*)")
_GOES_ON: Final = re.compile(_PROBE + r"((?:a rank|rank \d+) on .*) goes on")
_SILENT: Final = re.compile(_PROBE + r"(?:a rank|rank \d+) on .* has done nothing( for \d+ s.*)")

_BEGINNING: Final = re.compile(
    _PROBE
    + r"((?:a rank|rank \d+) on .*) has done nothing for (\d+ s): it is still within MPI_Init"
)

_NAMED: Final = 8
_OTHERS_SAY: Final = 1.5
"""Seconds after which the watchers of all ranks within MPI_Init have said so."""

_LAST_WORDS: Final = 20

_ENDING: Final = supervisor.GRACE + supervisor.LINGER + supervisor.PATIENCE + 5.0
"""Seconds after which the keeper has reported, however the job resists."""


@dataclass(frozen=True)
class Progress:
    """How far a measurement is: steps done and in all, and the latest value in seconds."""

    done: int
    total: int
    estimate: float


def run(
    argv: Sequence[str],
    *,
    timeout: float | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    run_file: Path | None = None,
    data_file: Path | None = None,
    hear: Callable[[str], None] = lambda _: None,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Start a launcher and wait until it and all it has started have ended.

    Parameters
    ----------
    argv
        Its tokens.
    timeout
        Seconds after which the job is ended; None: never.
    progress
        Called from another thread whenever the probe says how far it is.
    run_file
        What the ranks write. Why the job ended too early becomes its last record.
    data_file
        What the ranks make and remove again. If it is not there before, and they do not come to
        their end, it is removed for them, and the hint of the error says so.
    hear
        Called from another thread with every other line of the launcher and the ranks.
    environ
        All variables that it is started with; None: those of this process.

    Raises
    ------
    InputError
        If the launcher cannot be started, or the probe says that it was used wrongly.
    MeasurementError
        If the ranks fail or did not end in time; with their last words.
    Interrupted
        If SIGINT, SIGTERM or SIGHUP has come, and this is the main thread.
    """
    signals = _Signals()
    with taken_by(signals.take):
        job = _Job(argv, run_file, data_file, progress, hear, environ)
        signals.tell(lambda number: job.end(Interrupted(number)))
        if not job.wait(timeout):
            limit = format_seconds(timeout or 0.0)
            job.end(MeasurementError(f"it did not end within {limit}"))
            job.wait(_ENDING)
        job.close()
    if job.why is not None:
        raise job.why


class _Job:
    """A keeper that was started, and what is heard of it."""

    def __init__(
        self,
        argv: Sequence[str],
        run_file: Path | None,
        data_file: Path | None,
        progress: Callable[[Progress], None],
        hear: Callable[[str], None],
        environ: Mapping[str, str] | None,
    ) -> None:
        self.argv = argv
        self.data_file = data_file
        self.began = time.monotonic()
        self.why: IsochroneError | None = None
        heard, said = os.pipe()
        self.report, report = os.pipe()
        self.words = _Words(os.fdopen(heard, "rb"), progress, self.end, hear)
        itself = [sys.executable, "-I", "-S", supervisor.__file__, str(report)]
        try:
            self.words.start()  # first: if there can be no thread, nothing has begun
            self.keeper = subprocess.Popen(
                [*itself, str(run_file or os.devnull), str(data_file or os.devnull), *argv],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=subprocess.STDOUT,
                pass_fds=[report],
                env=environ,
                start_new_session=True,  # the signals of a terminal are for us
            )
        except (OSError, RuntimeError) as error:
            os.close(self.report)
            check_exhausted(getattr(error, "errno", errno.EAGAIN))  # RuntimeError: of a thread
            raise
        finally:
            os.close(report)
            os.close(said)
        assert self.keeper.stdin is not None
        self.life_line = self.keeper.stdin

    def wait(self, seconds: float | None) -> bool:
        """Wait until the job is gone; return whether it is."""
        return bool(select.select([self.report], [], [], seconds)[0])

    def end(self, why: IsochroneError) -> None:
        """Let the keeper end the job; the first reason counts."""
        if self.why is None:
            self.why = why
            self.say(why)

    def say(self, why: IsochroneError) -> None:
        """Tell the keeper the last record of the run file, which also ends the job."""
        interrupted = isinstance(why, Interrupted)
        lasted = f" after {format_seconds(time.monotonic() - self.began)}" if interrupted else ""
        code = "interrupted" if interrupted else "failed"
        record = {"record": "warning", "code": code, "text": why.what + lasted}
        with contextlib.suppress(BrokenPipeError, ValueError):  # it has ended, or was told all
            os.write(self.life_line.fileno(), msgspec.json.encode(record) + b"\n")

    def close(self) -> None:
        """Hear the report, tell the run file what went wrong, and let the keeper go."""
        report = os.read(self.report, 512).split() if self.wait(0) else []
        os.close(self.report)
        self.words.join(supervisor.LINGER)
        if self.why is None:
            self.why = self.verdict(report)
            if isinstance(self.why, MeasurementError):
                self.say(self.why)
        elif isinstance(self.why, MeasurementError):
            self.why.details = self.words.last()
        if self.why is not None and report[3:] == [b"1"]:
            self.why.hint = f"its unfinished {self.data_file} was removed"
        with contextlib.suppress(BrokenPipeError):
            self.life_line.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.keeper.wait(_ENDING)
        if not self.words.is_alive():
            self.words.stream.close()

    def verdict(self, report: Sequence[bytes]) -> IsochroneError | None:
        """Return what went wrong by the report of the keeper and the words of the ranks."""
        if not report:
            return MeasurementError("the process that kept the ranks was killed")
        if report[0] == b"absent" and int(report[1]) in (errno.EAGAIN, errno.ENOMEM):
            return ExhaustedError(int(report[1]))
        if report[0] == b"absent":
            return InputError(
                f"cannot start '{_starter(self.argv)}': {os.strerror(int(report[1]))}",
                hint="is the launcher the right one? see --launcher and --dry-run",
            )
        status, left = int(report[1]), int(report[2])
        words = self.words.last()
        usage = [word.removeprefix(_PROBE) for word in words if word.startswith(_PROBE)]
        if status == InputError.exit_code and usage:
            return InputError(usage[-1])
        if status and (killed := _killed_says_the_launcher(words)):
            return MeasurementError(killed, details=words)
        name = Path(_starter(self.argv)).name
        if not status and any(map(_is_stuck, words)):
            return MeasurementError(
                "a deadlock: ranks wait for messages that nobody sends; a selected algorithm may "
                "fail on these groups of ranks, and SimGrid makes communicators with that of "
                "bcast: try --algorithm selector=…,bcast=default",
                details=words,
            )
        if status and usage:
            return MeasurementError(_PLACE.sub("", usage[0]), details=words)
        if status < 0:
            return MeasurementError(f"{name} was killed by signal {-status}", details=words)
        if status:
            error = re.search(r"MPI_ERR_\w+", " ".join(words))
            why = f": {error[0]}" if error else ""
            return MeasurementError(f"{name} failed (exit status {status}){why}", details=words)
        if left:
            return MeasurementError(f"{left} processes of it cannot be killed")
        return None


def _starter(argv: Sequence[str]) -> str:
    """Return the launcher: not ``env`` and the variables that it sets."""
    words = argv[1:] if argv[0] == "env" else argv
    return next((word for word in words if "=" not in word), argv[0])


def _killed_says_the_launcher(words: Sequence[str]) -> str:
    """Say which rank was killed, in the words of any launcher: scripts start others."""
    text = " ".join(words)
    numbers = {signal.strsignal(number): int(number) for number in signal.valid_signals()}
    for name in launchers.names():
        pattern = launchers.load(name).killed
        found = re.search(pattern, text) if pattern else None
        said = found.groupdict() if found else {}
        number = str(numbers.get(said.get("signal", ""), said.get("signal", "")))
        if number.isdigit():
            if "rank" in said:
                return f"rank {said['rank']} on {said['host']} was killed by signal {number}"
            return f"a rank was killed, by signal {number} as far as the launcher can tell"
    return ""


def _is_stuck(line: str) -> bool:
    patterns = (launchers.load(name).stuck for name in launchers.names())
    return any(pattern and re.search(pattern, line) for pattern in patterns)


class _Words(threading.Thread):
    """Sorts the lines of the ranks into progress, the words of watchers, and others."""

    def __init__(
        self,
        stream: IO[bytes],
        progress: Callable[[Progress], None],
        end: Callable[[IsochroneError], None],
        hear: Callable[[str], None],
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
        """Read until nobody is left who could write."""
        for raw in self.stream:
            line = raw.decode(errors="replace").rstrip()
            if line.startswith(_PROGRESS):
                with contextlib.suppress(ValueError):
                    done, total, estimate = line.removeprefix(_PROGRESS).split()
                    self.progress(Progress(int(done), int(total), float(estimate)))
            elif found := _KILLED.fullmatch(line):
                # srun would wait for the other ranks, and these for the one that was killed
                self.end(MeasurementError(found[1]))
            elif found := _BEGINNING.fullmatch(line):
                self.beginning.append(found[1])
                if len(self.beginning) == 1:
                    later = threading.Timer(_OTHERS_SAY, self.end_beginning, (found[2],))
                    later.daemon = True
                    try:
                        later.start()
                    except RuntimeError:  # there can be no other thread
                        self.end_beginning(found[2])
            elif found := _SILENT.fullmatch(line):
                stopped = self.who_is_stopped()  # they keep those who did not answer
                said = found[1].partition(":")[0] if stopped else found[1]
                self.end(MeasurementError(f"nothing was done{said}{stopped}"))
            elif found := _STOPPED.fullmatch(line):
                self.stopped[found[1]] = found[2]
                self.hear(line)
            elif found := _GOES_ON.fullmatch(line):
                self.stopped.pop(found[1], None)
                self.hear(line)
            elif line:
                self.words.append(line)
                self.hear(line)

    def end_beginning(self, lasted: str) -> None:
        """End a job whose ranks do not come out of MPI_Init: one of them may keep all others."""
        names = sorted(self.beginning, key=lambda name: (len(name), name))
        who = listed(names, _NAMED)
        self.end(
            MeasurementError(
                f"nothing was done for {lasted}: {who} did not come out of MPI_Init"
                f"{self.who_is_stopped()}"
            )
        )

    def who_is_stopped(self) -> str:
        """Say which ranks were stopped and do not go on."""
        ranks = [f"{rank} {how}" for rank, how in self.stopped.items()]
        return f"; {', '.join(ranks)}" if ranks else ""

    def last(self) -> tuple[str, ...]:
        """Return the last words."""
        return tuple(self.words)


class _Signals:
    """Signals that ask this process to end, kept until somebody has the time for them.

    An exception between the start of a job and the moment we know of it would leave it behind.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.listener: Callable[[int], None] = lambda _: None

    def take(self, number: int, frame: FrameType | None) -> None:
        """Keep the first; all others ask for what is under way already."""
        if self.first is None:
            self.first = number
            self.listener(number)

    def tell(self, listener: Callable[[int], None]) -> None:
        """Let somebody know of the first, now or as soon as it comes."""
        self.listener = listener
        if self.first is not None:
            listener(self.first)


@contextlib.contextmanager
def folder_for(wanted: Path | None) -> Iterator[Path]:
    """Yield the folder for run files: the user's, or one that is removed again.

    It is in the folder we are in, because rank 0 may run on another host and has to see it.
    """
    if wanted is not None:
        wanted.mkdir(parents=True, exist_ok=True)
        yield wanted
        return
    with tempfile.TemporaryDirectory(prefix=".isochrone-", dir=Path.cwd()) as name:
        yield Path(name)
