"""Pairs of ranks that share a link on a cluster of namespaces, and those that do not."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np

from beds.mpis import Mpi
from cluster import lifetime
from cluster.measuring import measure
from cluster.plan import Plan
from isochrone.measure.probe import Probe


def links(built: Probe, folder: Path) -> None:
    """Compare the orders of a map, and the directions of the messages of a hot node."""
    if why := lifetime.obstacle():
        print(f"\nshared links are not measured: {why}")
        return
    mpi = Mpi("openmpi" if built.library.startswith("Open MPI") else "mpich", built)
    orders_of_a_map(mpi, folder)
    directions_of_a_hot_node(mpi, folder)


def orders_of_a_map(mpi: Mpi, folder: Path) -> None:
    """Isolated pairs cost less than one pair at a time; the times must be as right."""
    options = ("--bytes", "1MiB", "--repeats", 6, "--retest", 0, "--schedule")
    times = {}
    with lifetime.cluster(Plan((2, 2, 2), "500mbit")) as on:
        for order in ("serial", "isolated", "rounds"):
            run = measure(on, mpi, folder / f"link-{order}.jsonl", *options, order)
            hosts = np.array(run.hosts)
            between = np.triu(hosts[:, None] != hosts[None, :])
            times[order] = run.matrix("median", 2**20)[between]
    print("\nA map of 3 nodes with 2 ranks, 1 MiB at 500 Mbit/s, pairs between nodes, against")
    print("serial (limits: isolated all 0.7 to 1.4, median 0.8 to 1.2; rounds at least one 1.5):")
    for order in ("isolated", "rounds"):
        ratio = times[order] / times["serial"]
        spread = f"{ratio.min():.2f} .. {ratio.max():.2f}"
        print(f"  {order:6} median {np.median(ratio):.3f}  ({spread})")


def directions_of_a_hot_node(mpi: Mpi, folder: Path) -> None:
    """Show that a port is full-duplex: times in and out do not add up."""
    options = ("--bytes", "512KiB", "--balance", "free", "--max-intra", 0, "--repeats", 4)
    with lifetime.cluster(Plan((1, 1, 1, 1), "200mbit")) as on:
        run = measure(on, mpi, folder / "link-hot.jsonl", *options, experiment="hotspot")
    times: dict[tuple[int, int], list[float]] = {}
    for row in run.tables["sample"].rows():
        times.setdefault((row["in"], row["out"]), []).append(row["seconds"])
    print("\nMessages of a hot node, 512 KiB at 200 Mbit/s in each direction (limits: 3 one way")
    print("at least 2x those of 1, 3 both ways at most 1.6x those of 3 one way):")
    alone = {key: statistics.median(values) for key, values in times.items()}
    for into, out in ((1, 0), (0, 1), (3, 0), (0, 3), (3, 3)):
        wire = max(into, out) * 2**19 * 8 / 200e6
        shown = f"{alone[into, out] * 1e3:6.1f} ms, on the wire {wire * 1e3:5.1f} ms"
        print(f"  in {into} out {out}: {shown}")
