"""One command in a process of its own, with little room: so a test sees what it takes.

Processes are made by one that has imported everything already and does nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from fuzz.batches import bounded
from fuzz.oracle import Limits, Verdict, judge

__all__ = ["judge_alone"]

LIMITS: Final = Limits(seconds=30.0)
"""Seconds of the processor; a machine that is busy makes a command slower, by its caches."""

_SERVER: Final = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["fuzz.alone", "fuzz.readers"])


def judge_alone(argv: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Verdict:
    """Judge a command line that may write files that begin with ``out``."""
    ours, theirs = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_judge, args=(list(argv), folder, dict(variables), theirs))
    process.start()
    theirs.close()
    try:
        found: Verdict = ours.recv()
    except EOFError:
        process.join()
        return Verdict(f"ended with {process.exitcode}")
    process.join()
    return found


def _judge(argv: list[str], folder: Path, variables: dict[str, str], tell: Connection) -> None:
    bounded()
    most = int(2 * LIMITS.seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    os.environ.update(variables)
    tell.send(judge(argv, folder, ("out",), LIMITS))
