"""A campaign in processes that are replaced: a crash is something found, and memory stays bounded.

Each process tries some thousand files and ends. One that is killed by a signal, as a library in C
may be, or that says nothing for minutes, is found with the file that it had.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import resource
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from fuzz.campaign import Campaign, Found
from fuzz.oracle import Verdict

__all__ = ["batches", "bounded"]

FILES: Final = 4000
"""Files that one process tries."""

SILENCE: Final = 600.0
"""Seconds after which a process that says nothing is ended; the machine may be busy."""

ROOM: Final = 2 << 30
"""Bytes of address space that a process may have more than this one: a guard of the machine."""

_FORK: Final = multiprocessing.get_context("fork")


def batches(
    campaign: Campaign, seconds: float, seed: int, stopped: Callable[[], bool]
) -> Iterator[Found | None]:
    """Try files of all kinds until the time is over; yield what is found, and None now and then.

    What was tried is added to ``campaign.tried``.
    """
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end and not stopped():
        number += 1
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_try, args=(campaign, f"{seed} {number}", end, theirs))
        process.start()
        theirs.close()
        yield from _heard(campaign, process, ours, stopped)


def _heard(
    campaign: Campaign, process: BaseProcess, ours: Connection, stopped: Callable[[], bool]
) -> Iterator[Found | None]:
    """Take what a process says until it ends."""
    patience = time.monotonic() + SILENCE
    try:
        while not stopped() and time.monotonic() < patience:
            if not ours.poll(1.0):
                continue
            said = ours.recv()
            patience = time.monotonic() + SILENCE
            if isinstance(said, Found):
                yield said
            else:
                campaign.tried.update(said)
                yield None
    except EOFError:
        process.join()
    if process.is_alive():
        process.kill()
        process.join()
    if process.exitcode and not stopped():
        yield _crash(campaign.folder, f"ended by signal {-process.exitcode}")


def _crash(folder: Path, wrong: str) -> Found:
    """Return the file that a process had when it ended, and its command."""
    reader, command = (folder / "now").read_text().split("\n")
    return Found(reader, command, (folder / "here" / "input").read_bytes(), Verdict(wrong))


def _try(campaign: Campaign, seed: str, end: float, tell: Connection) -> None:
    """Try files in this process; say what is found, and how many were tried."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # meant for the whole campaign
        signal.signal(number, signal.SIG_IGN)
    bounded()
    campaign.tried.clear()
    dice = random.Random(seed)
    for number in range(1, FILES + 1):
        found = campaign.draw(dice)
        if found is not None:
            tell.send(found)
        if number % 200 == 0 or number == FILES or time.monotonic() > end:
            tell.send(dict(campaign.tried))
            campaign.tried.clear()
        if time.monotonic() > end:
            return


def bounded() -> None:
    """Let this process have little more address space than it has."""
    with contextlib.suppress(OSError, ValueError):
        now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, now + ROOM))
