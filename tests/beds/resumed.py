"""A suite that is killed and resumed, again and again, and what is in its folder then.

A program of its own, ``python -m beds.resumed FOLDER COUNT SEED``: it has imported the command
once, and each try is a fork of it. The ranks are a script that writes run files as the probe does,
in a few tenths of a second; launcher, keeper and suite are the real ones.
"""

from __future__ import annotations

import os
import random
import shlex
import signal
import sys
import time
from pathlib import Path

from beds.mpis import MPIS
from isochrone.cli.main import main

__all__ = ["run"]

RANKS = Path(__file__).with_name("made_up_ranks.sh")

LONGEST = 2.5
"""Seconds from the start to the signal, about as long as the suite takes."""

NUMBERS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def words(folder: Path, out: Path) -> list[str]:
    """Return the command line."""
    template = shlex.join(["bash", str(RANKS), "{program}"])
    return [
        "suite",
        "quick",
        "-n",
        "2",
        "-o",
        str(out),
        "--mpicc",
        str(MPIS["mpich-wheel"]),
        "--launcher-template",
        template,
        "--quiet",
    ]


def fork(words: list[str], log: Path) -> int:
    """Start the command in a process of its own."""
    child = os.fork()
    if child == 0:
        with log.open("ab") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
            code = main(words)
            sys.stdout.flush()
        os._exit(code)
    return child


def run(folder: Path, count: int, seed: int) -> None:
    """Kill it so often, in a new folder whenever it came to its end, and let the last one end."""
    chance = random.Random(seed)
    os.environ["LOG"] = str(folder / "log")
    number = 0
    for left in range(count, -2, -1):  # the ranks of the last one may be there for a while
        child = fork(words(folder, folder / f"out-{number}"), folder / "said")
        if left > 0:
            time.sleep(chance.uniform(0, LONGEST))
            os.kill(child, chance.choice(NUMBERS))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print("killed" if left > 0 else "ended", code, flush=True)
        if left > 0 and code == 0:
            number += 1


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
