"""A job leaves nothing behind, whatever ends it, and says why it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from beds.endings import MARK, marked
from beds.golden import Golden
from isochrone.base.errors import Interrupted, IsochroneError, MeasurementError
from isochrone.measure import job, supervisor

HEADER = b'{"record":"run","format":1,"experiment":"latency-map","ranks":2}\n'
PAIR = b'{"record":"pair","i":0,"j":1,"bytes":64,"median":1e-6}\n'
END = b'{"record":"end","seconds":1.0,"complete":true}\n'
WHY = b'{"record":"warning","code":"failed","text":"why"}\n'

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

SCATTERED = """
setsid sleep 600 &
setsid sh -c 'trap "" TERM HUP INT; sleep 600; sleep 600' &
(sleep 600 &)
echo ready > ready
"""
"""Starts processes in other sessions, one that ignores to be asked, and one without a parent."""


PROGRAM = (
    sys.executable,
    "-c",
    "import sys; from pathlib import Path; from isochrone.measure import job;"
    "job.run(['sh', '-c', sys.argv[1]], run_file=Path(sys.argv[2]), data_file=Path(sys.argv[3]))",
)
"""Runs a script as a launcher: SCRIPT RUN-FILE DATA-FILE."""


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """What the environment of all that is started here holds."""
    value = f"job-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv(MARK, value)
    return value


def shell(script: str, folder: Path, **options: object) -> IsochroneError | None:
    """Run a shell script as a launcher; return what went wrong."""
    try:
        job.run(["sh", "-c", f"cd '{folder}'; {script}"], **options)  # type: ignore[arg-type]
    except IsochroneError as error:
        return error
    return None


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


@pytest.mark.slow
def test_what_outlives_its_launcher_is_ended(tmp_path: Path, mark: str) -> None:
    """Launchers put ranks into sessions of their own, where no signal to a group reaches them."""
    assert shell(SCATTERED, tmp_path) is None
    assert (tmp_path / "ready").exists()
    assert marked(mark) == []


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_ended_with_all_it_started(
    tmp_path: Path, mark: str, golden: Golden
) -> None:
    error = shell(SCATTERED + "sleep 600", tmp_path, timeout=0.25)
    assert isinstance(error, MeasurementError)
    golden(error.what)
    assert marked(mark) == []


@pytest.mark.slow
def test_a_launcher_that_does_not_want_to_end_is_killed(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "trap '' TERM; echo > ready; sleep 600; sleep 600"
    error = shell(script, tmp_path, timeout=0.5)
    assert isinstance(error, MeasurementError)
    assert marked(mark) == []


@pytest.mark.slow
def test_killing_whoever_started_a_job_ends_it(tmp_path: Path, mark: str) -> None:
    """SIGKILL and a crash of Python leave no time to tidy up."""
    out = tmp_path / "run.jsonl"
    script = f"cd '{tmp_path}'; printf '%s' '{(HEADER + PAIR).decode()}' > {out}; {SCATTERED}"
    program = (
        "import sys; from pathlib import Path; from isochrone.measure import job;"
        "job.run(['sh', '-c', sys.argv[1] + 'sleep 600'], run_file=Path(sys.argv[2]))"
    )
    with subprocess.Popen([sys.executable, "-c", program, script, out]) as process:
        wait_for(tmp_path / "ready")
        assert len(marked(mark)) > 4
        process.kill()
    while marked(mark):
        time.sleep(0.02)
    last = out.read_bytes().removeprefix(HEADER + PAIR)
    assert last == supervisor.PARENT_DIED


@pytest.mark.slow
def test_the_file_of_a_command_that_came_after_is_left_alone(tmp_path: Path, mark: str) -> None:
    """Who runs a killed command again puts its file aside, while old ranks may not have ended."""
    out, data = tmp_path / "run.jsonl", tmp_path / "data"
    script = (
        f"exec 2>/dev/null; trap 'touch {tmp_path}/asked' TERM;"
        f"printf '%s' '{(HEADER + PAIR).decode()}' > {out}; touch {data};"
        f"touch {tmp_path}/ready; sleep 600; sleep 600"
    )
    with subprocess.Popen([*PROGRAM, script, out, data]) as process:
        wait_for(tmp_path / "ready")
        process.kill()
    wait_for(tmp_path / "asked")  # and does not end
    for file in (out, data):
        file.rename(f"{file}.part")
        file.write_bytes(HEADER)
    while marked(mark):
        time.sleep(0.02)
    assert out.read_bytes() == HEADER
    assert data.read_bytes() == HEADER


@pytest.mark.slow
@pytest.mark.parametrize("before", [None, b"older"], ids=["no file", "an older file"])
def test_files_that_ranks_create_after_the_command_was_killed_are_of_its_job(
    tmp_path: Path, mark: str, before: bytes | None
) -> None:
    """A rank may leave MPI_Init between the death of the command and its own end."""
    out, data, header = (tmp_path / name for name in ("run.jsonl", "data", "header"))
    header.write_bytes(HEADER)
    if before is not None:
        out.write_bytes(before)
    script = (
        f"trap 'rm -f {out}; cp {header} {out}; touch {data}; exit 1' TERM;"
        f"touch {tmp_path}/ready; sleep 600 & wait"
    )
    with subprocess.Popen([*PROGRAM, script, out, data]) as process:
        wait_for(tmp_path / "ready")
        process.kill()
    while marked(mark):
        time.sleep(0.02)
    assert out.read_bytes() == HEADER + supervisor.PARENT_DIED
    assert not data.exists()


@pytest.mark.slow
def test_files_that_a_later_command_creates_before_the_job_has_ended_are_its_own(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ranks of the killed command had created none, and may not have ended."""
    out, data, header = (tmp_path / name for name in ("run.jsonl", "data", "header"))
    header.write_bytes(HEADER)
    stubborn = (
        f"exec 2>/dev/null; trap 'touch {tmp_path}/asked' TERM;"
        f"touch {tmp_path}/ready; sleep 600; sleep 600"
    )
    with subprocess.Popen([*PROGRAM, stubborn, out, data]) as process:
        wait_for(tmp_path / "ready")
        process.kill()
    wait_for(tmp_path / "asked")
    monkeypatch.setenv(MARK, f"{mark}-later")
    script = f"cp {header} {out}; touch {data} {tmp_path}/written; sleep 600"
    later = subprocess.Popen([*PROGRAM, script, out, data])
    try:
        wait_for(tmp_path / "written")
        assert marked(mark)
        while marked(mark):
            time.sleep(0.02)
        assert out.read_bytes() == HEADER
        assert data.exists()
    finally:
        later.terminate()
        later.wait(60)


@pytest.fixture
def heeded() -> Iterator[None]:
    """Let no signal be ignored, even if the tests were started by nohup."""
    deaf = [one for one in SIGNALS if signal.getsignal(one) == signal.SIG_IGN]
    for one in deaf:
        signal.signal(one, signal.SIG_DFL)
    yield
    for one in deaf:
        signal.signal(one, signal.SIG_IGN)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_job_and_a_second_one_does_not_disturb(
    tmp_path: Path, mark: str, number: signal.Signals
) -> None:
    def impatient() -> None:
        wait_for(tmp_path / "ready")
        for _ in range(3):
            os.kill(os.getpid(), number)
            time.sleep(0.1)

    before = signal.getsignal(number)
    out = tmp_path / "run.jsonl"
    out.write_bytes(b"older")
    user = threading.Thread(target=impatient)
    user.start()
    script = f"printf '%s' '{(HEADER + PAIR).decode()}' > {out}; {SCATTERED} sleep 600"
    error = shell(script, tmp_path, run_file=out)
    user.join()
    assert isinstance(error, Interrupted)
    assert error.exit_code == 128 + number
    assert marked(mark) == []
    assert signal.getsignal(number) == before
    said = out.read_bytes().removeprefix(HEADER + PAIR)
    assert said.startswith(
        f'{{"record":"warning","code":"interrupted","text":"interrupted by {number.name}'.encode()
    )
    assert said.count(b"\n") == 1


@pytest.mark.slow
def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """Nohup and shells that start a job in the background mean that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert shell(f"kill -HUP {os.getpid()}", tmp_path) is None
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.slow
def test_a_job_may_be_run_by_another_thread(tmp_path: Path) -> None:
    """There are no signals to be handled then."""
    ended: list[IsochroneError | None] = []
    thread = threading.Thread(target=lambda: ended.append(shell("exit 3", tmp_path)))
    thread.start()
    thread.join()
    assert isinstance(ended[0], MeasurementError)
    assert "exit status 3" in ended[0].what


@pytest.mark.slow
@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("kill -9 $$", "sh was killed by signal 9"),
        ("exit 7", "sh failed (exit status 7)"),
        (
            "echo 'isochrone-probe: runfile/record.c:257: cannot write the run file: full'; exit 3",
            "cannot write the run file: full",
        ),
        (
            "echo 'isochrone-probe: rank 0 on n1 was stopped by signal 19 (Stopped (signal))';"
            "echo 'isochrone-probe: rank 0 on n1 has done nothing for 9 s: no answer from rank 1';"
            "sleep 60",
            "the measurement made no progress for 9 s; rank 0 on n1 was stopped by signal 19 "
            "(Stopped (signal))",
        ),
        (
            "echo 'isochrone-probe: rank 0 on n1 has done nothing for 9 s: no answer from rank 1';"
            "sleep 60",
            "no progress for 9 s: no answer from rank 1",
        ),
        (
            "echo 'isochrone-probe: rank 3 on n2 was killed by signal 9 (Killed)'; exit 9",
            "rank 3 on n2 was killed by signal 9 (Killed)",
        ),
        (
            "echo 'isochrone-probe: a rank on n2 was killed by signal 11 (Segmentation fault)';"
            "echo 'isochrone-probe: rank 1 on n1 was killed by signal 9 (Killed)'; exit 11",
            "a rank on n2 was killed by signal 11 (Segmentation fault)",
        ),
        (
            "echo 'prterun noticed that process rank 1 with PID 72 on node n5 exited on';"
            "echo 'signal 11 (Segmentation fault).'; exit 139",
            "rank 1 on n5 was killed by signal 11",
        ),
        (
            "echo 'srun: error: n2: task 3: Killed'; exit 137",
            "rank 3 on n2 was killed by signal 9",
        ),
        ("echo 'srun: error: n2: task 3: Exited with exit code 4'; exit 4", "sh failed (exit st"),
        (
            "echo '=   PID 7310 RUNNING AT n1'; echo '=   EXIT CODE: 9'; exit 9",
            "sh failed (exit status 9)",
        ),
        (
            "echo '=   PID 7310 RUNNING AT n1'; echo '=   EXIT CODE: 9';"
            "echo 'YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)'; exit 9",
            "a rank was killed by signal 9, according to the launcher",
        ),
    ],
)
def test_it_is_said_who_died_of_what_as_far_as_it_is_known(
    tmp_path: Path, script: str, what: str
) -> None:
    """The first word of a watcher counts, then a launcher's that is reliable; MPICH's is not."""
    error = shell(script, tmp_path)
    assert isinstance(error, MeasurementError)
    assert error.what.startswith(what)


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("script", "there_before", "left"),
    [
        ("echo half > data; kill -9 $$", False, False),
        ("echo half > data; exit 3", False, False),
        ("echo half > data; exit 3", True, True),
        ("echo of somebody else > data; exit 2", False, True),
        ("echo whole > data", False, True),
        ("mkdir data; exit 3", False, True),
        ("touch other; ln -s other data; exit 3", False, True),
    ],
    ids=["killed", "failed", "was there", "refused", "kept", "a folder", "a link"],
)
def test_an_unfinished_data_file_goes_if_the_job_made_it(
    tmp_path: Path, script: str, there_before: bool, left: bool
) -> None:
    """It would block the next run; but what was there before, or was finished, is the user's."""
    data = tmp_path / "data"
    if there_before:
        data.write_text("mine")
    error = shell(script, tmp_path, data_file=data)
    assert data.exists() is left
    removed = error is not None and error.hint == f"its unfinished {data} was removed"
    assert removed is not left


def test_an_unfinished_data_file_goes_even_if_this_process_is_killed(tmp_path: Path) -> None:
    """The keeper outlives whoever started the job, and tidies up."""
    data, ready = tmp_path / "data", tmp_path / "ready"
    code = (
        "from isochrone.measure import job; from pathlib import Path;"
        f"job.run(['sh', '-c', 'touch {data} {ready}; sleep 60'], data_file=Path('{data}'))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    wait_for(ready)
    process.kill()
    process.wait(30)
    until = time.monotonic() + 30
    while data.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not data.exists()


def test_a_launcher_that_is_not_there_is_wrong_use(tmp_path: Path, golden: Golden) -> None:
    with golden.refusal():
        job.run(["no-launcher"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEADER + PAIR, HEADER + PAIR + WHY),
        (HEADER + PAIR + PAIR[:20], HEADER + PAIR + WHY),
        (HEADER + PAIR * 5000 + PAIR[:-1], HEADER + PAIR * 5000 + WHY),
        (HEADER, HEADER + WHY),
        (HEADER + PAIR + END, HEADER + PAIR + END),
        (HEADER[:30], None),
        (b"", None),
    ],
    ids=["whole", "cut", "long and cut", "header only", "complete", "half a header", "empty"],
)
def test_the_last_record_leaves_a_readable_file(
    tmp_path: Path, before: bytes, after: bytes | None
) -> None:
    """What was cut is no record; a file without any holds nothing and goes."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(before)
    supervisor.append(path, WHY)
    assert (path.read_bytes() if path.exists() else None) == after


@pytest.mark.slow
def test_a_file_that_the_job_did_not_write_is_left_alone(tmp_path: Path) -> None:
    """The probe may have refused because it exists."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(HEADER + PAIR)
    error = shell("exit 3", tmp_path, run_file=path)
    assert isinstance(error, MeasurementError)
    assert path.read_bytes() == HEADER + PAIR


@pytest.mark.slow
@pytest.mark.parametrize("stubborn", [False, True])
def test_files_that_killed_processes_of_mpich_had_mapped_or_open_are_removed(
    tmp_path: Path, stubborn: bool
) -> None:
    """And none that others have: they are known by who has them, not by their names."""
    now = time.monotonic_ns()
    names = [
        Path(f"{begin}_{k}{now}")
        for begin in ("/dev/shm/mpich_shm", "/tmp/hydra_hwloc_xmlfile")
        for k in ("own", "other")
    ]
    for name in names:
        name.write_bytes(bytes(4096))
    program = (
        "import mmap, signal, time\n"
        f"signal.signal(signal.SIGTERM, signal.{'SIG_IGN' if stubborn else 'SIG_DFL'})\n"
        f"file = open({str(names[0])!r}, 'r+b')\n"
        "memory = mmap.mmap(file.fileno(), 4096)\n"
        f"opened = open({str(names[2])!r}, 'r+b')\n"
        f"open({str(tmp_path / 'mapped')!r}, 'w').close()\n"
        "time.sleep(600)\n"
    )
    try:
        with pytest.raises(MeasurementError):
            job.run(["sh", "-c", '"$0" -c "$1"; true', sys.executable, program], timeout=1.5)
        assert (tmp_path / "mapped").exists()
        assert [name.exists() for name in names] == [False, True, False, True]
    finally:
        for name in names:
            name.unlink(missing_ok=True)


def test_the_output_of_a_job_ends_with_its_last_process() -> None:
    """Otherwise the command would wait for the supervisor, and the supervisor for the command."""
    heard, said = os.pipe()
    report, written = os.pipe()
    command = [sys.executable, "-I", "-S", supervisor.__file__, str(written)]
    process = subprocess.Popen(
        [*command, os.devnull, os.devnull, "echo", "last words"],
        stdin=subprocess.PIPE,
        stdout=said,
        stderr=said,
        pass_fds=[written],
    )
    os.close(said)
    os.close(written)
    with os.fdopen(heard, "rb") as output, os.fdopen(report, "rb") as reported:
        assert process.stdin is not None
        life_line = process.stdin  # still open: the supervisor waits for a last record
        late = threading.Timer(60, life_line.close)
        late.start()
        lines = output.read().splitlines()
        late.cancel()
        assert not life_line.closed
        life_line.close()
        assert lines == [b"last words"]
        assert reported.read() == b"ended 0 0 0\n"
    process.wait()
