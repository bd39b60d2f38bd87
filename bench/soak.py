"""Run the probe and the libraries for a long time, and watch whether their memory grows.

make soak SECONDS=1800; or: PYTHONPATH=tests python bench/soak.py [--seconds S] [--mpicc MPICC]
[--only NAME …]

All jobs run at the same time, two ranks each, in one MPI job each that lasts as long.
Exit code 1 if the memory of a rank grows, or a job fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from memory_growth import growth

from beds.mpis import CROWDED, ROOT, SCRIPTS, Mpi
from beds.tuned import Ranks, rules, table
from isochrone.applications.description.program_file import data
from isochrone.measure import probe
from made_up import programs
from made_up.programs import application, program

RANKS = 2
EVERY = 1.0
"""Seconds between two looks."""

SAMPLES_KEPT = 65 * 30 * 10_000 * 8
"""Bytes of all samples of sizes, operations and repetitions, which rank 0 keeps."""

TIMES_KEPT = 8 * 10**6
"""Bytes of the times of iterations, ISO_MAX_STORED of them, of an application that is played."""

CALLS_KEPT = 24 << 20
"""Bytes of ISO_MAX_CALLS accesses to files and of ISO_MAX_STORED_SLOTS parts of them."""

TO_END = 120.0
"""Seconds that jobs have for their end."""


@dataclass
class Soak:
    """A job, and what was seen of it: seconds and bytes, by process.

    What it `keeps` at most, bytes of lists with a limit, is no leak: how fast they are filled
    depends on the machine.
    """

    name: str
    words: list[str]
    environ: dict[str, str] = field(default_factory=dict)
    keeps: int = 0
    seen: dict[int, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))


def soaks(mpi: Mpi, folder: Path, seconds: float) -> Iterator[Soak]:
    """Return the jobs: experiments that go on, and each library in a program that does."""
    probe_, out = str(mpi.probe.path), ["--out", os.devnull, "--force"]
    together = [
        "--op",
        "all",
        "--bytes",
        "8:256KiB:4096",
        "--grid",
        "rows-of-1",
        "--sync",
        "window",
        "--repeats",
        "10000",
        "--time-limit",
        f"{seconds:.0f}",
    ]
    yield Soak("collective", [probe_, "collective", *together, *out], keeps=SAMPLES_KEPT)
    # Without the file: each MPI_File_open of MPICH 5.0 keeps some 400 bytes, whoever calls it.
    tiles = ["--phase", "exchange", "--tile", "63x65", "--repeats", "1000000000"]
    yield Soak("tile-io", [probe_, "tile-io", *tiles, *out])
    yield Soak("clock-sync", [probe_, "clock-sync", "--seconds", f"{seconds:.0f}", *out])
    ring = application(programs.ring(RANKS), 10**9)
    (folder / "ring.txt").write_bytes(data(program(ring, size=(0, 1, 70_001))))
    words = [probe_, "app", "--program", str(folder / "ring.txt"), *out]
    yield Soak("app", words, keeps=TIMES_KEPT)
    calls = [str(_program(mpi, folder)), f"{seconds:.0f}"]
    tuning = table(folder / "table.json", mpi, rules(RANKS, "rows-of-1", 1, 10**6))
    for name, words, variables in (
        ("grid", calls, {"ISOCHRONE_TUNING": tuning}),
        ("record", calls, {"ISOCHRONE_RECORD": folder / "calls.jsonl"}),
        ("io", [*calls, str(folder / "data")], {"ISOCHRONE_IO_RECORD": folder / "io.jsonl"}),
    ):
        library = probe.build_library(mpi.probe.mpicc, name)
        given = {key: str(value) for key, value in variables.items()}
        keeps = CALLS_KEPT if name == "io" else 0
        yield Soak(f"library {name}", words, {"LD_PRELOAD": str(library), **given}, keeps)


def _program(mpi: Mpi, folder: Path) -> Path:
    made = folder / "soak_calls"
    argv = [mpi.probe.mpicc, "-std=c11", "-O2", ROOT / "bench/soak_calls.c", "-o", made]
    subprocess.run(argv, check=True)
    return made


def started(mpi: Mpi, soak: Soak, log: Path, stack: ExitStack) -> subprocess.Popen[bytes]:
    """Start the ranks of a job; they end with the block."""
    given = [f"{key}={value}" for key, value in soak.environ.items()]
    argv = Ranks(mpi, RANKS, ("env", *given, *soak.words)).command()
    with log.open("wb") as file:
        job = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**os.environ, **CROWDED}
        )
    stack.callback(job.wait)
    stack.callback(job.terminate)
    return job


def processes() -> dict[int, tuple[int, str]]:
    """Return the parent and the name of every process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "stat").read_text()
        except OSError:
            continue  # it has just ended
        name = line[line.index("(") + 1 : line.rindex(")")]
        found[int(folder.name)] = int(line[line.rindex(")") + 2 :].split()[1]), name
    return found


def ranks_of(job: int, name: str, found: dict[int, tuple[int, str]]) -> list[int]:
    """Return the processes below a launcher that are ranks: watchers have another name."""
    below, known = {job}, 0
    while len(below) > known:
        known = len(below)
        below |= {one for one, (parent, _) in found.items() if parent in below}
    return [one for one in sorted(below) if one in found and found[one][1] == name[:15]]


def size_of(process: int) -> int:
    """Return the bytes in memory that are no pages of files, 0 if the process has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    wanted = ("RssAnon:", "RssShmem:")
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(wanted))


def watched(jobs: dict[int, tuple[Soak, subprocess.Popen[bytes]]], seconds: float) -> None:
    """Look at all ranks again and again."""
    began = time.monotonic()
    while (now := time.monotonic() - began) < seconds:
        found = processes()
        for soak, job in jobs.values():
            for process in ranks_of(job.pid, Path(soak.words[0]).name, found):
                if size := size_of(process):
                    soak.seen[process].append((now, size))
        time.sleep(EVERY)


def judged(soak: Soak) -> bool:
    """Print a line for each rank; return whether all is well."""
    # Before a rank is watched, its watcher has its name.
    longest = max(map(len, soak.seen.values()), default=0)
    ranks = {process: seen for process, seen in soak.seen.items() if 2 * len(seen) > longest}
    well = len(ranks) == RANKS
    if not well:
        print(f"{soak.name:16} {len(ranks)} ranks were seen")
    for process, seen in ranks.items():
        times, sizes = zip(*seen, strict=True)
        found = growth(times, sizes)
        leaks = found.leaks and sizes[-1] - sizes[0] > soak.keeps
        well = well and not leaks
        print(
            f"{soak.name:16} process {process:7}: {sizes[0] / 2**20:6.1f} MiB at first, "
            f"{sizes[-1] / 2**20:6.1f} MiB after {times[-1] / 60:4.1f} min; "
            f"{found.per_minute / 1024:+8.2f} KiB a minute "
            f"({found.low / 1024:+.2f} to {found.high / 1024:+.2f})"
            f"{'  GROWS' if leaks else ''}",
            flush=True,
        )
    return well


def main() -> int:
    """Run all jobs; return 1 if memory grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--mpicc", type=Path, default=SCRIPTS / "mpicc")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    args = parser.parse_args()
    mpi = Mpi("soak", probe.build(args.mpicc))
    with tempfile.TemporaryDirectory(prefix="isochrone-soak-") as name, ExitStack() as stack:
        folder = Path(name)
        asked = [
            one
            for one in soaks(mpi, folder, args.seconds + TO_END)
            if not args.only or one.name in args.only
        ]
        jobs = {
            k: (soak, started(mpi, soak, folder / f"{k}.log", stack))
            for k, soak in enumerate(asked)
        }
        watched(jobs, args.seconds)
        well = True
        for number, (soak, job) in jobs.items():
            if job.poll() is not None:
                well = False
                print(f"{soak.name:16} ended with {job.returncode}, too early:")
                print((folder / f"{number}.log").read_text(errors="replace")[-2000:])
            elif not judged(soak):
                well = False
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
