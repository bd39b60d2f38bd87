"""The program that compares the probe's timed loops with plain ones: bench/plain_loops.c."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beds.mpis import ROOT

__all__ = ["Loop", "compare_loops"]

_SOURCES: Final = (
    "messages/transfer",
    "messages/modes",
    "messages/staged",
    "messages/one_sided",
    "messages/partitioned",
    "messages/message",
    "machine/clock",
    "machine/host",
    "machine/memory",
    "machine/gpu",
    "machine/level_zero",
    "machine/own_collectives",
    "machine/heartbeat",
    "machine/settings",
    "machine/environment",
    "machine/computation",
    "runfile/record",
    "base/check",
    "base/options",
    "base/sizes",
)


@dataclass(frozen=True)
class Loop:
    """What it prints of a mode with a window and a size; seconds of a message."""

    mode: str
    window: int
    bytes: int
    plain: float
    probe: float
    shortest: float
    longest: float

    @classmethod
    def parse(cls, line: str) -> Loop:
        """Read a line."""
        mode, window, nbytes, _, plain, _, probe, _, least, _, most = line.split()
        return cls(
            mode, int(window), int(nbytes), float(plain), float(probe), float(least), float(most)
        )


def compare_loops(mpicc: Path, folder: Path) -> Path:
    """Build the program with a compiler wrapper."""
    program = folder / "plain_loops"
    files = [ROOT / "probe" / f"{name}.c" for name in _SOURCES]
    argv: list[str | Path] = [mpicc, "-std=c11", "-O2", "-I", ROOT / "probe"]
    argv += [ROOT / "bench/plain_loops.c", *files, "-o", program, "-lm", "-ldl"]
    subprocess.run(argv, check=True, timeout=120)
    return program
