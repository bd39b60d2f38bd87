"""The supervisor of a job: starts a launcher, and ends and cleans up all its processes.

A separate program without imports from this package. `isochrone.measure.job` runs it as

    supervisor.py REPORT FILE DATA COMMAND...

As a "subreaper", prctl(2), it becomes the parent of every process below it whose parent ends, in
any session or process group: the job has ended when the supervisor has no children.

Any data or end of file on standard input, and SIGTERM, SIGINT or SIGHUP end the job: the launcher
gets SIGTERM, and remaining processes are killed after a grace period. DATA is a temporary file of
the job: if the job created it but did not complete, the supervisor removes it. The result is
written to the file descriptor REPORT: ``ended STATUS LEFT REMOVED``, with a negative status for a
signal, LEFT processes that could not be killed, and REMOVED 1 if DATA was removed; or ``absent
ERRNO`` if the launcher could not be started. All data from standard input, also after the report,
is appended to the run file FILE as its last record.
"""

import ctypes
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

END_GRACE = 5.0
"""Seconds a launcher has to end its ranks before they are killed."""

LINGER = 1.0
"""Seconds that processes of a launcher may outlive it."""

KILL_TIMEOUT = 10.0
"""Seconds for killing: a process that hangs in a file system cannot be killed."""

ORDERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

WRONG_USE = 2
"""Exit status of ranks that refused to begin, for example because DATA exists."""

LIFE_LINE = 0

PARENT_DIED = (
    b'{"record":"warning","code":"interrupted",'
    b'"text":"interrupted: the isochrone command was killed"}\n'
)

SHARED_MEMORY = re.compile(rb"(/dev/shm/mpich_shm_\w+)$", re.MULTILINE)
"""Shared memory of MPICH in /proc/PID/maps, which remains if MPICH is killed."""

TOPOLOGY = re.compile(r"^/tmp/hydra_hwloc_xmlfile_\w+$")
"""A file of its launcher that remains, too (version 5.0)."""

Stamp = tuple[int, int, int]


class Supervisor:
    """Supervises one job."""

    def __init__(self, command: list[str], files: Sequence[Path]) -> None:
        self.before = {file: stamp(file) for file in files}
        self.at_death = self.before
        libc = ctypes.CDLL(None)
        self.prctl: Callable[..., int] = getattr(libc, "prctl", lambda *_: 0)  # Linux has it
        self.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.awake, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for signum in (signal.SIGCHLD, *ORDERS):
            signal.signal(signum, lambda signum, frame: None)
        self.me = os.getpid()
        self.received = b""
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
        """Let this process, a child, get SIGTERM if the supervisor is killed."""
        self.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != self.me:
            os._exit(1)

    def supervise(self) -> int:
        """Wait for the end of the job, or end it; return the number of remaining processes."""
        self.wait_until(lambda: self.must_end or self.launcher_ended())
        forced = False
        if self.status is None:
            self.look_at_files()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.launcher.pid, signal.SIGTERM)
            forced = not self.wait_until(self.launcher_ended, END_GRACE)
        if not forced and self.wait_until(self.all_ended, LINGER):
            return 0
        give_up = monotonic() + KILL_TIMEOUT
        self.look_at_files()
        while not self.all_ended() and monotonic() < give_up:
            for child in self.children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            self.wait(0.02)
        if forced:
            sleep(LINGER)  # ranks on other hosts notice the end with a delay
        return 0 if self.all_ended() else len(self.children())

    def wait_until(self, reached: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait for something, at most so long; return whether it was reached."""
        until = None if seconds is None else monotonic() + seconds
        while not reached():
            left = None if until is None else until - monotonic()
            if left is not None and left <= 0:
                return False
            self.wait(left)
        return True

    def wait(self, seconds: float | None) -> None:
        """Wait until a child ends, or there is a reason to end the job."""
        heard = [self.awake] if self.must_end else [self.awake, LIFE_LINE]
        ready, _, _ = select.select(heard, [], [], seconds)
        if self.awake in ready:
            numbers = os.read(self.awake, 512)
            self.must_end = self.must_end or any(signum in numbers for signum in ORDERS)
        if LIFE_LINE in ready:
            self.received = os.read(LIFE_LINE, 1 << 16)
            self.parent_died = not self.received
            self.must_end = True
            self.at_death = {file: stamp(file) for file in self.before}

    def launcher_ended(self) -> bool:
        """Return whether the launcher has ended."""
        self.all_ended()
        return self.status is not None

    def all_ended(self) -> bool:
        """Collect the children that have ended; return whether none is left."""
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
            with suppress(OSError):
                maps = Path(f"/proc/{process}/maps").read_bytes()
                self.left_behind |= set(map(os.fsdecode, SHARED_MEMORY.findall(maps)))
                for link in Path(f"/proc/{process}/fd").iterdir():
                    self.left_behind |= set(TOPOLOGY.findall(str(link.readlink())))

    def remove_left_behind(self) -> None:
        """Remove the files of MPICH that the job has not removed itself."""
        for name in self.left_behind:
            with suppress(OSError):
                Path(name).unlink()

    def children(self) -> list[int]:
        """List the children of the supervisor."""
        return [process for process, parent in processes() if parent == self.me]

    def ended_well(self) -> bool:
        """Return whether the launcher completed without error."""
        return self.status == 0 and not self.must_end

    def is_ours(self, file: Path) -> bool:
        """Return whether a file is of this job, not of a command started after ours died.

        A rank may also have created it after the death of our command, before it was ended.
        """
        last = self.at_death[file]
        if self.parent_died and last and last != self.before[file]:
            latest = stamp(file)
            return latest is not None and latest[0] == last[0]
        return not (self.parent_died and has_supervisor(file))

    def last_record(self) -> bytes:
        """Return the record for the run file; waits for the end of standard input."""
        while block := os.read(LIFE_LINE, 1 << 16):
            self.received += block
        return PARENT_DIED if self.parent_died else self.received


def processes() -> Iterator[tuple[int, int]]:
    """Yield every process and its parent."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_bytes().rpartition(b")")[2].split()  # names hold anything
            yield int(entry.parent.name), int(fields[1])


def has_supervisor(file: Path) -> bool:
    """Return whether another supervisor, that of a later command, has this file."""
    for process, _ in processes():
        with suppress(OSError):
            arguments = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            named = any(argument.endswith(b"/supervisor.py") for argument in arguments)
            if named and os.fsencode(file) in arguments and process != os.getpid():
                return True
    return False


def stamp(path: Path) -> Stamp | None:
    """Return the version of a file, which changes when it is written; None if there is none."""
    with suppress(OSError):
        status = path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns
    return None


def remove(data: Path) -> bool:
    """Remove an unfinished file of a job; return whether it was removed."""
    with suppress(OSError):
        if data.is_file() and not data.is_symlink():
            data.unlink()
            return True
    return False


def append(path: Path, record: bytes) -> None:
    """Append a record to a run file of ranks that have ended.

    An incomplete last line is removed, and so is a file without a complete line. A file with an
    ``end`` record is not changed.
    """
    with path.open("r+b") as stream:
        end = start = stream.seek(0, os.SEEK_END)
        tail = b""
        while start and tail.count(b"\n") < 2:
            start = max(0, start - (1 << 16))
            stream.seek(start)
            tail = stream.read(end - start)
        complete = tail.rpartition(b"\n")[0]
        if not complete:
            path.unlink()
        elif not complete.rpartition(b"\n")[2].startswith(b'{"record":"end"'):
            stream.truncate(start + len(complete) + 1)
            stream.seek(0, os.SEEK_END)
            stream.write(record)


def main() -> None:
    """Supervise the job of the command line."""
    report, path, data = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    command = sys.argv[4:]
    try:
        job = Supervisor(command, (path, data))
    except OSError as error:
        os.write(report, f"absent {error.errno}\n".encode())
        return
    left = job.supervise()
    if not left:
        job.remove_left_behind()
    unfinished = job.before[data] is None and not job.ended_well() and job.status != WRONG_USE
    removed = unfinished and job.is_ours(data) and remove(data)
    silence = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):  # whoever reads the output of the job finds its end now
        os.dup2(silence, output)
    with suppress(BrokenPipeError):
        os.write(report, f"ended {job.status} {left} {int(removed)}\n".encode())
    record = job.last_record()
    if record and path.is_file() and stamp(path) != job.before[path] and job.is_ours(path):
        with suppress(OSError):  # a full disk, for example; it stays partial
            append(path, record)


if __name__ == "__main__":
    main()
