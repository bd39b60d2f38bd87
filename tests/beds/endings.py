"""Measurements that are ended by a signal at any moment, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beds.mpis import SCRIPTS, wait_for_records
from isochrone.base.errors import InputError
from isochrone.runfile.file import read

MARK = "ISOCHRONE_TEST_MARK"
"""Variable that every process of a measurement inherits, whoever its parent becomes."""

OPTIONS = ("latency-map", "-n", "3", "--bytes", "64,1MiB", "--repeats", "4000")
"""A measurement of three pairs, some seconds, so that it is not over before it is signalled."""

TARGETS = ("isochrone", "launcher", "rank", "keeper")

STARTERS = ("mpiexec", "mpirun", "prterun", "smpirun")

PATIENCE = 60.0


@dataclass(frozen=True)
class Ending:
    """What became of a measurement.

    Attributes
    ----------
    signalled
        Whether the target was there to be signalled.
    returncode
        Of the command.
    said
        What it wrote to standard error.
    hung
        Whether it had to be ended by SIGTERM, as its launcher did not notice what had happened.
    left
        Processes that were there when the command had ended.
    gone_after
        Seconds until none of them was; infinite if some had to be killed by us.
    run
        In a word: ``absent``, ``complete``, ``partial`` or ``unreadable``.
    warnings
        Of the run file.
    """

    signalled: bool
    returncode: int
    said: str
    hung: bool
    left: list[str]
    gone_after: float
    run: str
    warnings: list[dict[str, Any]]


def measure_and_signal(
    mpicc: Path,
    target: str,
    number: int,
    delay: float | None,
    folder: Path,
    *,
    again: bool = False,
    options: Sequence[str] = OPTIONS,
    first: str = "pair",
) -> Ending:
    """Start a measurement, signal one of its processes, and see what is left.

    Parameters
    ----------
    mpicc
        Of the MPI to measure.
    target
        One of `TARGETS`.
    number
        The signal.
    delay
        Seconds from the start to the signal; None: when the first pair is in the run file.
    folder
        For the run file.
    again
        Send the signal a second time, as impatient users do.
    options
        What to measure.
    first
        The record to wait for, if there is no delay.
    """
    mark = uuid.uuid4().hex
    out = folder / f"{mark}.jsonl"
    command = [SCRIPTS / "isochrone", "measure", *options, "--quiet", "--mpicc", mpicc, "-o", out]
    process = subprocess.Popen(
        command,
        env={**os.environ, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if delay is None:
        wait_for_records(out, first, 1, process)
    else:
        time.sleep(delay)
    signalled = _signal(process, mark, target, number)
    if again and signalled:
        time.sleep(0.05)
        _signal(process, mark, target, number)
    hung = False
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        hung = True
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE)
    left = [name for _, name in marked(mark)]
    gone_after = _wait_until_gone(mark)
    run, warnings = _what_is_in(out)
    return Ending(signalled, process.returncode, said, hung, left, gone_after, run, warnings)


def faults(ended: Ending, target: str, number: signal.Signals) -> list[str]:
    """Say what is not as it should be after a signal to a target, at whatever moment it came."""
    wrong = []
    killed = target == "isochrone" and number == signal.SIGKILL
    if ended.hung:
        wrong.append("the launcher hung, and ended with the command")
    if ended.gone_after == float("inf"):
        wrong.append(f"for ever behind: {ended.left}")
    elif ended.left and not killed and target != "keeper":
        wrong.append(f"still there at the end of the command: {ended.left}")
    if ended.run.startswith("unreadable"):
        wrong.append(ended.run)
    last = str(ended.warnings[-1].get("text")) if ended.warnings else ""
    if ended.run == "partial" and target != "keeper" and not ended.hung:
        expected = {"isochrone": "interrupted", "rank": "killed", "launcher": ""}[target]
        named = number.name if target == "isochrone" and not killed else ""
        if expected not in last or named not in last:
            wrong.append(f"the run says {last!r}")
    if target == "isochrone" and not killed and ended.signalled:
        usual = {128 + number, -number, 0 if ended.run == "complete" else 128 + number}
        if ended.returncode not in usual:
            wrong.append(f"exit code {ended.returncode}")
    if "Traceback" in ended.said and ended.returncode != -signal.SIGINT:
        wrong.append("a traceback")
    return wrong


def marked(mark: str) -> list[tuple[int, str]]:
    """List the processes of a measurement, by number and command line."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append((int(entry.name), words.decode(errors="replace").strip()))
        except OSError:
            continue
    return found


def role(command_line: str) -> str:
    """Say what a process of a measurement is."""
    words = command_line.split() or [""]
    first = Path(words[0]).name
    if "supervisor.py" in command_line:
        return "keeper"
    if first == "isochrone-probe":
        return "rank"
    return "launcher" if first in STARTERS else "other"


def _signal(process: subprocess.Popen[str], mark: str, target: str, number: int) -> bool:
    """Signal a target as soon as it is there; return whether it ever was."""
    while process.poll() is None:
        if target == "isochrone":
            process.send_signal(number)
            return True
        found = [pid for pid, line in marked(mark) if role(line) == target]
        if found:
            try:
                os.kill(found[-1], number)
            except ProcessLookupError:
                continue
            return True
        time.sleep(0.01)
    return False


def _wait_until_gone(mark: str) -> float:
    began = time.monotonic()
    while rest := marked(mark):
        if time.monotonic() - began > PATIENCE:
            for pid, _ in rest:
                os.kill(pid, signal.SIGKILL)
            return float("inf")
        time.sleep(0.02)
    return time.monotonic() - began


def _what_is_in(path: Path) -> tuple[str, list[dict[str, Any]]]:
    if not path.exists():
        return "absent", []
    try:
        run = read(path)
    except InputError as error:
        return f"unreadable: {error}", []
    return ("complete" if run.complete else "partial"), run.warnings
