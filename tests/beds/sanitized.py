"""Binaries built with the sanitizers of addresses, of leaks and of undefined behaviour."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from beds.mpis import CROWDED, PATIENCE, ROOT, Mpi
from beds.tuned import Ranks

__all__ = ["FLAGS", "Ended", "Sanitized", "build", "own_leaks", "runtime"]

FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")

FRAME = re.compile(r"\((/\S+)\+(0x[0-9a-f]+)\)")
"""Place in a stack, as long as nobody has looked up its name."""

PASSES_ON = re.compile(r"/lib(asan|ubsan|c)\.so[.\d]*$")
"""The sanitizers and the C library allocate for whoever calls them."""


@dataclass(frozen=True)
class Ended:
    """What became of ranks, and the faults that sanitizers have found."""

    returncode: int
    stderr: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Sanitized:
    """Probe and libraries for an MPI."""

    mpi: Mpi
    folder: Path

    @property
    def probe(self) -> Path:
        return self.folder / "isochrone-probe"

    def library(self, name: str) -> Path:
        return self.folder / f"libisochrone-{name}.so"

    def run(self, words: Sequence[str], ranks: int, folder: Path, **environ: str) -> Ended:
        """Run a program to its end; sanitizers write into the folder what they find."""
        logs = folder / "found"
        settings = {
            "ASAN_OPTIONS": f"log_path={logs}:symbolize=0:use_sigaltstack=0:"
            "detect_stack_use_after_return=1",
            # Leaks are judged by `own_leaks`, and do not change the exit code.
            "LSAN_OPTIONS": "exitcode=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "UCX_ERROR_SIGNALS": "",
            **environ,
        }
        given = [f"{key}={value}" for key, value in settings.items()]
        argv = Ranks(self.mpi, ranks, ("env", *given, *words)).command()
        answer = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, **CROWDED},
        )
        return Ended(
            answer.returncode,
            answer.stderr,
            _faults(logs, answer.stderr, (str(self.folder), words[0])),
        )


def build(
    mpi: Mpi, folder: Path, *targets: str, sanitizers: str = "address,undefined"
) -> Sanitized:
    """Build the probe (`all`) or the libraries (`library`) as their Makefile does."""
    flags = f"-fsanitize={sanitizers} -fno-sanitize-recover=undefined"
    argv = [
        "make",
        "-s",
        "-C",
        str(ROOT / "probe"),
        *targets,
        f"BUILD={folder}",
        f"MPICC={mpi.probe.mpicc}",
        f"LDFLAGS={flags}",
        f"CFLAGS=-O1 -g -fno-omit-frame-pointer {flags}",
    ]
    subprocess.run(argv, check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    return Sanitized(mpi, folder)


def runtime(*names: str) -> str:
    """Return the libraries of sanitizers, for programs that are not built with them."""
    return " ".join(_output("gcc", f"-print-file-name=lib{name}.so") for name in names)


def _output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def _faults(logs: Path, stderr: str, own: tuple[str, ...]) -> tuple[str, ...]:
    """Return what sanitizers have written, without leaks of others, and remove it.

    That of undefined behaviour writes to standard error where there is one of addresses, too.
    """
    found = [stderr] if "runtime error: " in stderr else []
    for file in sorted(logs.parent.glob(f"{logs.name}.*")):
        said = file.read_text(errors="replace")
        file.unlink()
        found += own_leaks(said, own) if "LeakSanitizer: detected" in said else [said]
    return tuple(_named(one) for one in found if one.strip())


def own_leaks(said: str, own: tuple[str, ...]) -> list[str]:
    """Return the leaks that own binaries allocated, by the beginnings of their paths.

    MPI libraries leak at their end, much or little. What tells theirs from ours is not anywhere in
    the stack, for we call them and they us, but the frame that allocates. What only leaked memory
    of theirs points to, as to an attribute of a communicator, is not lost by us.
    """
    return [leak for leak in _leaks(said) if _allocating(leak).startswith(own)]


def _leaks(said: str) -> Iterator[str]:
    for part in said.split("\n\n"):
        if part.strip().startswith("Direct leak of"):
            yield part.strip()


def _allocating(leak: str) -> str:
    """Return the file of the innermost frame that allocates for itself."""
    files = (file for file, _ in FRAME.findall(leak))
    return next((file for file in files if not PASSES_ON.search(file)), "")


def _named(said: str) -> str:
    """Look up the names of functions. It takes long, so it is done where there is a fault."""

    def name(frame: re.Match[str]) -> str:
        argv = ["addr2line", "-fpse", frame[1], frame[2]]
        answer = subprocess.run(argv, capture_output=True, text=True, check=False)
        return answer.stdout.strip() or frame[0]

    return FRAME.sub(name, said)
