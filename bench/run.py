"""What measuring costs and disturbs, and what models are worth: ratios and limits of one run.

make bench
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from clocks import clocks
from collective_io import collective_io
from comparisons import comparisons
from cost import ISOCHRONE, cost
from exchange_sizes import exchange_sizes
from extrapolation import extrapolation
from grid_collectives import grid_collectives
from interval_coverage import interval_coverage
from links import links
from loops import loops
from modelling import modelling
from recording import recording
from replayed_demos import replayed_demos

from isochrone.base.units import format_seconds
from isochrone.measure import job, probe
from isochrone.measure import launcher as launchers
from isochrone.runfile.file import read

ROOT = Path(__file__).parents[1]
TIMEOUT = 300


def main() -> None:
    """Run all benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpicc", help="compiler wrapper of the MPI")
    mpicc = probe.find_mpicc(parser.parse_args().mpicc)
    built = probe.build(mpicc)
    print(f"MPI: {built.library}; {len(os.sched_getaffinity(0))} processors")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        timed_loop(mpicc, folder)
        loops(mpicc, built, folder)
        interval_coverage(built, folder)
        disturbance(built, folder)
        large_map(built, folder)
        comparisons(built, folder)
        clocks(built, folder)
        links(built, folder)
        collective_io(built, folder)
        exchange_sizes(built, folder)
        grid_collectives(built, folder)
        recording(built, folder)
        if shutil.which("smpirun"):
            simulated_cost(folder)
        else:
            print("\nSimGrid is not installed: the cost of the orders is not simulated")
        start_up(built, folder)
    modelling()
    extrapolation()
    replayed_demos()


def argv_of(built: probe.Probe, ranks: int, *program: str) -> list[str]:
    """Return the tokens that start ranks on this machine."""
    launcher = launchers.load(launchers.choose({}, built.library))
    job = launchers.Job(
        ranks=ranks, program=program, mpicc=built.mpicc, processors=len(os.sched_getaffinity(0))
    )
    return launcher.command(job)


def timed_loop(mpicc: Path, folder: Path) -> None:
    """Compare the probe's loop with a bare ping-pong, in turns in one MPI job."""
    source = ROOT / "probe"
    folders = ("base", "machine", "messages", "sampling", "global_clock", "runfile")
    files = [file for name in folders for file in sorted((source / name).glob("*.c"))]
    for needs_main in ("sweep.c", "pair_groups.c"):
        files.remove(source / "sampling" / needs_main)
    files.append(source / "experiments/latency_map/round_trip.c")
    program = folder / "timed_loop"
    defined = ['-DISO_VERSION="bench"', '-DISO_SOURCE="bench"']
    argv = [mpicc, "-std=c11", "-O2", *defined, f"-I{source}", ROOT / "bench/timed_loop.c", *files]
    subprocess.run([*argv, "-o", program, "-lm"], check=True, timeout=TIMEOUT)
    built = probe.Probe(probe.build(mpicc).path, mpicc)
    print("\nTimed loops against a bare ping-pong, medians of 100 round trips, 5 runs (limit 3 %):")
    for nbytes, blocks in ((8, 300), (1024, 300), (65536, 300), (1048576, 40)):
        ratios: dict[str, list[float]] = {"map": [], "sweep": []}
        for _ in range(5):
            answer = subprocess.run(
                argv_of(built, 2, str(program), str(nbytes), str(blocks)),
                check=True,
                timeout=TIMEOUT,
                capture_output=True,
                text=True,
            )
            words = answer.stdout.split()
            found = {words[k]: float(words[k + 1]) for k in (0, 2, 4)}
            for name, values in ratios.items():
                values.append(found[name] / found["bare"])
        for name, values in ratios.items():
            spread = f"{min(values):.3f} .. {max(values):.3f}"
            print(
                f"  {nbytes:7d} B  {name:5s} / bare = {statistics.median(values):.3f}  ({spread})"
            )


def disturbance(built: probe.Probe, folder: Path) -> None:
    """Compare 8 ranks on this machine with 2 that have it for themselves."""
    print("\n8 ranks, 1 KiB, 10 repeats, against 2 ranks undisturbed, 9 runs in turns (limit 3x):")
    half: dict[int, list[float]] = {2: [], 8: []}
    seconds = []
    for turn in range(9):
        for ranks in (2, 8):
            out = folder / f"disturb-{ranks}-{turn}.jsonl"
            options = ("--bytes", "1KiB", "--repeats", "10", "--out", str(out))
            job.run(argv_of(built, ranks, str(built.path), "latency-map", *options), timeout=60)
            run = read(out)
            half[ranks].append(float(np.nanmedian(run.matrix())) / 2)
            if ranks == 8 and run.end:
                seconds.append(float(run.end["seconds"]))
    alone, crowd = statistics.median(half[2]), statistics.median(half[8])
    shown = f"2 ranks {format_seconds(alone)}, 8 ranks {format_seconds(crowd)}"
    print(f"  median half round trip: {shown}: {crowd / alone:.2f}x")
    shown = f"median {format_seconds(statistics.median(seconds))}"
    print(f"  the whole map beyond start-up (limit 0.6 s): {shown}, worst {max(seconds):.3f} s")


def large_map(built: probe.Probe, folder: Path) -> None:
    """Time what reads a map of 1024 ranks, and its memory."""
    out, picture = folder / "large.jsonl", folder / "large.png"
    options = ("--shape", "32,8,4", "--repeats", "5", "--noise", "0.05", "--out", str(out))
    job.run([str(built.path), "synthetic", *options], timeout=TIMEOUT)
    pairs, size = 1024 * 1023 // 2, out.stat().st_size / 2**20
    print(f"\n1024 ranks, {pairs} pairs, {size:.0f} MiB (limits: show 2 s, others 10 s; 1 GiB):")
    commands = {
        "show": ["show", out],
        "plot heatmap": ["plot", out, "--view", "heatmap", "--force", "-o", picture],
        "plot surface": ["plot", out, "--view", "surface", "--force", "-o", picture],
        "plot levels": ["plot", out, "--view", "levels", "--force", "-o", picture],
        "report": ["report", out, "--force", "-o", folder / "report.html"],
    }
    for name, command in commands.items():
        seconds, memory = cost([ISOCHRONE, *command])
        print(f"  {name:13} {seconds:5.2f} s  {memory:5.0f} MiB")


def simulated_cost(folder: Path) -> None:
    """Compare the orders where time is exact: what a map costs, and whether it is the same map."""
    print(
        "\nSimulated cost of a map, 4 ranks a node (limits: isolated 15x less at 256, times 1 %):"
    )
    seconds: dict[str, list[float]] = {"serial": [], "isolated": [], "rounds": []}
    sizes = (16, 64, 256)
    for ranks in sizes:
        platform = folder / "platform.xml"
        machine = f"nodes:{ranks // 4} cores:4"
        cost([ISOCHRONE, "platform", machine, "--force", "-o", platform])
        times = {}
        for order, found in seconds.items():
            out = folder / f"{order}.jsonl"
            argv = [ISOCHRONE, "measure", "latency-map", "-n", str(ranks), "--launcher", "simgrid"]
            argv += ["--platform", platform, "--schedule", order, "--quiet", "--force", "-o", out]
            wall, memory = cost(argv)
            run = read(out)
            found.append(float(run.end["seconds"]) if run.end else float("nan"))
            times[order] = run.matrix()
            if ranks == sizes[-1]:
                print(
                    f"  {order:6} {ranks} ranks took {wall:.1f} s and {memory:.0f} MiB to simulate"
                )
        error = np.nanmax(np.abs(times["isolated"] / times["serial"] - 1))
        gain = seconds["serial"][-1] / seconds["isolated"][-1]
        print(f"  {ranks:4} ranks: serial costs {gain:.1f}x isolated; times differ by {error:.2e}")
    for order, found in seconds.items():
        exponent = np.polyfit(np.log(sizes), np.log(found), 1)[0]
        shown = ", ".join(format_seconds(value) for value in found)
        print(f"  {order:6} {shown}: grows as N^{exponent:.2f}")


def start_up(built: probe.Probe, folder: Path) -> None:
    """Compare the quickest commands with a bare Python, in turns.

    The help must need neither numpy nor scipy.
    """
    small = folder / "small.jsonl"
    job.run([str(built.path), "synthetic", "--shape", "4,2", "--out", str(small)], timeout=TIMEOUT)
    bare = "python -c pass"
    commands: dict[str, list[str | Path]] = {
        bare: [sys.executable, "-c", "pass"],
        "isochrone --help": [ISOCHRONE, "--help"],
        "isochrone show of 8 ranks": [ISOCHRONE, "show", small],
    }
    limits = {"isochrone --help": 0.08, "isochrone show of 8 ranks": 0.35}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(9):
        for name, command in commands.items():
            seconds[name].append(cost(command)[0])
    print("\nStart-up, least of 9 runs in turns:")
    for name, found in seconds.items():
        least, limit = min(found), limits.get(name)
        ratio = least / min(seconds[bare])
        shown = f", {ratio:.1f}x bare Python (limit {limit * 1e3:.0f} ms)" if limit else ""
        print(f"  {name:26} {least * 1e3:4.0f} ms{shown}")


if __name__ == "__main__":
    main()
