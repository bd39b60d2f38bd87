"""How often `compare` is wrong on this machine: equal commands, and one that is 10 % slower."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isochrone.changes.compare import compare
from isochrone.changes.gate import Limit, judge
from isochrone.measure import job as jobs
from isochrone.measure import launcher as launchers
from isochrone.measure import probe
from isochrone.runfile.file import read
from isochrone.runfile.run import Run

RUNS = 5
PAIRS = 40
SLOWER = 10
SWEEP = ("point-to-point", "--bytes", "8,1KiB,16KiB,64KiB,256KiB", "--repeats", "100")
MAP = ("latency-map", "--bytes", "64", "--repeats", "20")
SIZES = (65536, 131072, 262144)
PROCESSORS = 2


def comparisons(built: probe.Probe, folder: Path) -> None:
    """Compare equal commands 40 times, and commands of which one is 10 % slower 10 times."""
    path = folder / "launch.jsonl"
    print(f"\n{RUNS} launches a side in turns, {PAIRS} comparisons of equal commands (limit 5 %):")
    for name, ranks, command in (("sweep of 5 sizes", 2, SWEEP), ("map of 4 ranks", 4, MAP)):
        equal(name, [in_turns(built, path, ranks, command, command) for _ in range(PAIRS)])
    slower(built, path)


def slower(built: probe.Probe, path: Path) -> None:
    """Compare a command with one that sends so much more that it takes 10 % longer."""
    larger = ten_percent_longer(built, path)
    found, ratios = 0, []
    for _ in range(SLOWER):
        before, after = in_turns(built, path, 2, sweep(SIZES), sweep(larger))
        for run in after:  # the same points, as if the machine had become slower
            table = run.tables["sample"]
            table.columns["bytes"] = np.array(SIZES)[np.searchsorted(larger, table["bytes"])]
        one = compare(before, after)
        found += any(part.difference.verdict == "slower" for part in one.parts)
        ratios.append(one.overall.ratio if one.overall else np.nan)
    spread = f"{min(ratios):.3f} .. {max(ratios):.3f}"
    print(f"  10 % slower: found in {found} of {SLOWER} (limit 9); seen as {spread}")


def equal(name: str, pairs: Sequence[tuple[list[Run], list[Run]]]) -> None:
    """Print how often equal commands are called different, with all launches and with one."""
    limit = [Limit("slower", 0.05)]
    found = [compare(*sides) for sides in pairs]
    single = [compare(a[:1], b[:1]) for a, b in pairs]
    alarms = sum(bool(one.parts) for one in found)
    unknown = sum(bool(judge(one, limit).doubts) for one in found)
    alone = sum(bool(one.parts) for one in single)
    print(
        f"  {name}: {alarms} of {len(pairs)} false alarms ({alarms / len(pairs):.0%});"
        f" slower:5% failed {sum(bool(judge(one, limit).failed) for one in found)},"
        f" could not judge {unknown}; with one launch a side {alone} false alarms"
    )


def ten_percent_longer(built: probe.Probe, path: Path) -> tuple[int, ...]:
    """Return sizes that take 10 % longer, where time is a line of the size, as 10 launches say."""
    runs = [launch(built, path, 2, sweep((*SIZES, 2 * SIZES[-1]))) for _ in range(10)]
    sizes = np.array((*SIZES, 2 * SIZES[-1]))
    tables = [run.tables["sample"] for run in runs]
    medians = [[np.median(t["seconds"][t["bytes"] == size]) for size in sizes] for t in tables]
    seconds = np.median(medians, axis=0)
    slope, start = np.polyfit(sizes, seconds, 1)
    return tuple(int(1.1 * size + 0.1 * start / slope) for size in SIZES)


def sweep(sizes: Sequence[int]) -> tuple[str, ...]:
    """Return a command that lasts long enough not to be disturbed as a whole: 0.2 s and more."""
    return ("point-to-point", "--bytes", ",".join(map(str, sizes)), "--repeats", "2000")


def in_turns(
    built: probe.Probe, path: Path, ranks: int, first: Sequence[str], second: Sequence[str]
) -> tuple[list[Run], list[Run]]:
    """Launch two commands in turns, A B B A, so that a drift of the machine hits both alike."""
    sides: tuple[list[Run], list[Run]] = ([], [])
    for k in range(RUNS):
        for side in (0, 1) if k % 2 == 0 else (1, 0):
            sides[side].append(launch(built, path, ranks, (first, second)[side]))
    return sides


def launch(built: probe.Probe, path: Path, ranks: int, command: Sequence[str]) -> Run:
    launcher = launchers.load(launchers.choose({}, built.library))
    program = (str(built.path), *command, "--out", str(path), "--force")
    job = launchers.Job(ranks=ranks, program=program, mpicc=built.mpicc, processors=PROCESSORS)
    jobs.run(launcher.command(job), timeout=60)
    return read(path)
