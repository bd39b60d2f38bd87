"""Starts a launcher, outlives whoever asked for it, and leaves nothing of the job behind.

A program of its own, without imports from this package: `isochrone.measure.job` runs it as

    keeper.py REPORT FILE DATA COMMAND...

As a "subreaper", prctl(2), it becomes the parent of every process below it whose own parent ends,
in whatever session or process group that is: the job is gone exactly when the keeper has no
children.

Standard input is a life line. What comes through it, its end, and SIGTERM, SIGINT or SIGHUP mean
that the job has to end: the launcher is asked with SIGTERM, and what is left after a while is
killed. DATA is a file that the job makes and removes again: if it was not there before and the job
did not come to its end, the keeper removes it. How the launcher ended is then written to the file
descriptor REPORT: ``ended STATUS LEFT REMOVED``, a negative status being a signal, LEFT the number
of processes that could not be killed, and REMOVED 1 if DATA was removed; or ``absent ERRNO`` if it
could not be started. All that came through the life line, also after the report, is appended to the
run file FILE as its last record.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

GRACE: Final = 5.0
"""Seconds a launcher has to end its ranks before they are killed."""

LINGER: Final = 1.0
"""Seconds that what a launcher started may outlive it."""

PATIENCE: Final = 10.0
"""Seconds that killing may take: a process that hangs in a file system cannot be killed."""

ORDERS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36

WRONG_USE: Final = 2
"""Exit status of ranks that refused to begin, for example because DATA belongs to somebody."""

LIFE_LINE: Final = 0

PARENT_DIED: Final = (
    b'{"record":"warning","code":"interrupted",'
    b'"text":"interrupted: the isochrone command was killed"}\n'
)

SHARED_MEMORY: Final = re.compile(rb"(/dev/shm/mpich_shm_\w+)$", re.MULTILINE)
"""What MPICH calls its shared memory, in /proc/PID/maps. If it is killed, it leaves it behind."""

TOPOLOGY: Final = re.compile(r"^/tmp/hydra_hwloc_xmlfile_\w+$")
"""What its launcher writes for the ranks of a host and, in version 5.0, keeps open."""

Stamp = tuple[int, int, int]


class Keeper:
    """Keeps one job."""

    def __init__(self, command: list[str], files: Sequence[Path]) -> None:
        libc = ctypes.CDLL(None)
        self.prctl: Callable[..., int] = getattr(libc, "prctl", lambda *_: 0)  # Linux has it
        self.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.awake, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, *ORDERS):
            signal.signal(number, lambda number, frame: None)
        self.me = os.getpid()
        self.files = files
        self.written: list[int | None] = []
        self.told = b""
        self.parent_died = self.must_end = False
        self.status: int | None = None
        self.left_behind: set[str] = set()
        self.launcher = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=self.end_with_me,  # there is only this thread
        )

    def end_with_me(self) -> None:
        """See to it that this process, a child, is told to end if the keeper is killed."""
        self.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != self.me:
            os._exit(1)

    def keep(self) -> int:
        """Wait for the end of the job, or bring it about; return how many processes are left."""
        self.wait_until(lambda: self.must_end or self.launcher_ended())
        forced = False
        if self.status is None:
            self.look_at_files()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.launcher.pid, signal.SIGTERM)
            forced = not self.wait_until(self.launcher_ended, GRACE)
        if not forced and self.wait_until(self.all_ended, LINGER):
            return 0
        give_up = time.monotonic() + PATIENCE
        self.look_at_files()
        while not self.all_ended() and time.monotonic() < give_up:
            for child in self.children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            self.wait(0.02)
        if forced:
            time.sleep(LINGER)  # on other hosts ranks find out only now that they are alone
        return 0 if self.all_ended() else len(self.children())

    def wait_until(self, reached: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait for something, at most so long; return whether it was reached."""
        until = None if seconds is None else time.monotonic() + seconds
        while not reached():
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return False
            self.wait(left)
        return True

    def wait(self, seconds: float | None) -> None:
        """Wait until a child ends, or the job has to; the first words on the life line say so."""
        heard = [self.awake] if self.must_end else [self.awake, LIFE_LINE]
        ready, _, _ = select.select(heard, [], [], seconds)
        if self.awake in ready:
            numbers = os.read(self.awake, 512)
            self.must_end = self.must_end or any(number in numbers for number in ORDERS)
        if LIFE_LINE in ready:
            self.told = os.read(LIFE_LINE, 1 << 16)
            self.parent_died = not self.told
            self.must_end = True
            self.written = [inode(file) for file in self.files]  # nobody has begun anew yet

    def launcher_ended(self) -> bool:
        """Tell whether the launcher has ended."""
        self.all_ended()
        return self.status is not None

    def all_ended(self) -> bool:
        """Take note of who has ended; return whether nothing is left of the job."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if child == 0:
                return False
            if child == self.launcher.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def look_at_files(self) -> None:
        """Note which files of MPICH the processes of the job map or have open."""
        parents, ours, count = dict(processes()), {self.me}, 0
        while len(ours) > count:
            count = len(ours)
            ours |= {process for process, parent in parents.items() if parent in ours}
        for process in ours - {self.me}:
            with contextlib.suppress(OSError):
                maps = Path(f"/proc/{process}/maps").read_bytes()
                self.left_behind |= set(map(os.fsdecode, SHARED_MEMORY.findall(maps)))
                for link in Path(f"/proc/{process}/fd").iterdir():
                    self.left_behind |= set(TOPOLOGY.findall(str(link.readlink())))

    def remove_left_behind(self) -> None:
        """Remove the files of MPICH that the job has not removed itself."""
        for name in self.left_behind:
            with contextlib.suppress(OSError):
                Path(name).unlink()

    def children(self) -> list[int]:
        """List the processes whose parent the keeper is."""
        return [process for process, parent in processes() if parent == self.me]

    def ended_well(self) -> bool:
        """Tell whether the launcher came to its end by itself and was content."""
        return self.status == 0 and not self.must_end

    def is_ours(self, file: Path) -> bool:
        """Tell whether a file is of this job, and not of a command that came after ours died."""
        if not self.parent_died:
            return True
        return inode(file) == self.written[self.files.index(file)]

    def last_record(self) -> bytes:
        """Return what is to be said in the run file; waits until all was told."""
        while block := os.read(LIFE_LINE, 1 << 16):
            self.told += block
        return PARENT_DIED if self.parent_died else self.told


def processes() -> Iterator[tuple[int, int]]:
    """Yield every process and its parent."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_bytes().rpartition(b")")[2].split()  # names hold anything
            yield int(entry.parent.name), int(fields[1])


def inode(path: Path) -> int | None:
    """Return what a file is known by, whatever its name; None if there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def stamp(path: Path) -> Stamp | None:
    """Return what changes when a file is written; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def remove(data: Path) -> bool:
    """Remove what a job has left unfinished; return whether there was such a file, and is none."""
    try:
        if data.is_symlink() or not data.is_file():
            return False
        data.unlink()
    except OSError:
        return False
    return True


def append(path: Path, record: bytes) -> None:
    """Append a record to a run file that nobody writes any more.

    A last line that was cut within goes, as every reader leaves it out. A file without a whole
    line holds nothing and is removed; one that has its ``end`` record needs no other.
    """
    with path.open("r+b") as stream:
        end = start = stream.seek(0, os.SEEK_END)
        tail = b""
        while start and tail.count(b"\n") < 2:
            start = max(0, start - (1 << 16))
            stream.seek(start)
            tail = stream.read(end - start)
        whole = tail.rpartition(b"\n")[0]
        if not whole:
            path.unlink()
        elif not whole.rpartition(b"\n")[2].startswith(b'{"record":"end"'):
            stream.truncate(start + len(whole) + 1)
            stream.seek(0, os.SEEK_END)
            stream.write(record)


def main() -> None:
    """Keep a job as the arguments say."""
    report, path, data = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    command = sys.argv[4:]
    before, data_before = stamp(path), stamp(data)
    try:
        keeper = Keeper(command, (path, data))
    except OSError as error:
        os.write(report, f"absent {error.errno}\n".encode())
        return
    left = keeper.keep()
    if not left:
        keeper.remove_left_behind()
    unfinished = data_before is None and not keeper.ended_well() and keeper.status != WRONG_USE
    removed = unfinished and keeper.is_ours(data) and remove(data)
    with contextlib.suppress(BrokenPipeError):
        os.write(report, f"ended {keeper.status} {left} {int(removed)}\n".encode())
    record = keeper.last_record()
    if record and path.is_file() and stamp(path) != before and keeper.is_ours(path):
        with contextlib.suppress(OSError):  # a full disk, for example; it stays partial
            append(path, record)


if __name__ == "__main__":
    main()
