"""What takes long is said before it starts, and starts only if somebody has agreed."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from beds.command_line import Command
from beds.golden import Golden
from beds.mpis import PATIENCE, SCRIPTS, Mpi
from isochrone.runfile.file import read

WORDS = ("measure", "latency-map", "-n", "2", "--quiet", "--bytes", "8", "--repeats", "20")


def on_terminal(*words: str, answer: str, cwd: Path) -> tuple[int, str]:
    """Run the command on a terminal, type an answer to its question, return code and text."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [SCRIPTS / "isochrone", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        start_new_session=True,
    )
    os.close(theirs)
    text, end, typed = "", time.monotonic() + PATIENCE, False
    try:
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 1.0)[0]:
                continue
            try:
                text += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
            if "[y/N]" in text and not typed:
                typed = True
                os.write(terminal, answer.encode())
        return process.wait(10), text
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


@pytest.fixture
def always(mpich: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything at all is long."""
    monkeypatch.setenv("ISOCHRONE_ASK_AFTER", "1e-6")
    monkeypatch.setenv("MPICC", str(mpich.probe.mpicc))


def test_a_batch_job_is_told_and_not_asked(
    isochrone: Command, always: None, tmp_path: Path
) -> None:
    """It was asked for its time; its log says what to expect."""
    answer = isochrone(*WORDS, "-o", "a.jsonl", cwd=tmp_path, PBS_JOBID="1.server")
    assert answer.returncode == 0, answer.stderr
    assert "will take" in answer.stderr
    assert "[y/N]" not in answer.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]
    assert read(tmp_path / "a.jsonl").complete


def test_without_anybody_to_ask_nothing_starts(
    isochrone: Command, always: None, tmp_path: Path, golden: Golden
) -> None:
    """A typing error in a script must not occupy a machine for days."""
    answer = isochrone(*WORDS, "-o", "a.jsonl", cwd=tmp_path)
    assert answer.returncode == 2
    golden.measured(answer.stderr)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("mpich")
@pytest.mark.parametrize("ranks", ["100", "200"])
def test_a_hundred_ranks_of_two_processors_are_not_even_tried(
    isochrone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranks: str
) -> None:
    """The trial alone would disturb a machine that others use."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr("isochrone.measure.estimate.tried", None)
    answer = isochrone("measure", "latency-map", "-n", ranks, cwd=tmp_path)
    assert answer.returncode == 2, answer.stderr
    assert not list(tmp_path.iterdir())


def test_a_no_at_a_terminal_measures_nothing(always: None, tmp_path: Path) -> None:
    code, text = on_terminal(*WORDS, "-o", "a.jsonl", answer="\n", cwd=tmp_path)
    assert code == 1
    assert "Continue? [y/N]" in text
    assert "nothing was" in text
    assert not list(tmp_path.iterdir())


def test_a_yes_at_a_terminal_measures(always: None, tmp_path: Path) -> None:
    code, _ = on_terminal(*WORDS, "-o", "a.jsonl", answer="y\n", cwd=tmp_path)
    assert code == 0
    assert (tmp_path / "a.jsonl").exists()


def test_yes_asks_nothing(always: None, tmp_path: Path) -> None:
    code, text = on_terminal(*WORDS, "--yes", "-o", "a.jsonl", answer="", cwd=tmp_path)
    assert code == 0
    assert "[y/N]" not in text
    assert "will take" in text


def test_a_time_limit_is_the_longest_it_takes(
    isochrone: Command, mpich: Mpi, tmp_path: Path
) -> None:
    """Nothing is tried where the limit already says that it is short."""
    answer = isochrone(*WORDS, "--time-limit", "60", "-o", "a.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "will take" not in answer.stderr


def test_what_cannot_be_estimated_is_not(isochrone: Command, always: None, tmp_path: Path) -> None:
    """The experiment that makes up its times takes none that could be foretold."""
    answer = isochrone("measure", "synthetic", "-n", 2, "--quiet", "-o", "n.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "will take" not in answer.stderr
