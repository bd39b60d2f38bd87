"""How well the ranks' clocks agree on a cluster of namespaces, and whether drift is followed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from beds.mpis import Mpi
from cluster import lifetime
from cluster.measuring import measure
from cluster.plan import Plan
from isochrone.base.units import format_seconds
from isochrone.measure.probe import Probe
from isochrone.runfile.run import Run

ROOT = Path(__file__).parents[1]
NODES = (2, 2, 2, 2)
SKEW = 50.0
"""The clocks are bent by up to this many microseconds a second, so that there is a drift."""


def clocks(built: Probe, folder: Path) -> None:
    """Synchronise real hosts; compare random pairs of ranks right after, and over a minute."""
    if why := lifetime.obstacle():
        print(f"\nclocks are not compared: {why}")
        return
    mpi = Mpi("openmpi" if built.library.startswith("Open MPI") else "mpich", built)
    with lifetime.cluster(Plan(NODES)) as on:
        fresh = measure(
            on,
            mpi,
            folder / "fresh.jsonl",
            "--seconds",
            10,
            "--interval",
            0.02,
            "--sync-age",
            0.3,
            experiment="clock-sync",
        )
        bent = measure(
            on,
            mpi,
            folder / "bent.jsonl",
            "--seconds",
            60,
            "--interval",
            0.05,
            "--skew",
            SKEW,
            experiment="clock-sync",
        )
    print(f"\nClocks of {fresh.size} ranks on {len(NODES)} hosts (limit: median 10 us):")
    offset = fresh.tables["offset"]
    between = np.array(fresh.hosts)[offset["i"]] != np.array(fresh.hosts)[offset["j"]]
    _say("right after, between hosts", fresh, between & (offset["age"] < 0.1))
    _say("right after, inside a host", fresh, ~between & (offset["age"] < 0.1))
    took = np.median(fresh.tables["sync"]["seconds"])
    print(f"  synchronising takes {format_seconds(took)}")
    _say(f"bent by {SKEW:g} us/s, 60 s", bent, bent.tables["offset"]["at"] > 2)
    print(f"    synchronised {len(bent.tables['sync'])} times; drift wrong by {_drift_error(bent)}")


def _say(what: str, run: Run, rows: np.ndarray) -> None:
    """Print what the comparisons found, and how far each may be wrong."""
    offset = run.tables["offset"]
    apart = np.abs(offset["seconds"][rows])
    low, high = (format_seconds(np.quantile(apart, q)) for q in (0.5, 0.95))
    bound = format_seconds(float(np.median(offset["bound"][rows])))
    most = format_seconds(float(apart.max()))
    print(f"  {what:27} median {low}, 95 % {high}, max {most} of {len(apart)} (known to {bound})")


def _drift_error(run: Run) -> str:
    """Compare the drifts found last with what was bent (clock_sync.c)."""
    last = {row["rank"]: row["drift"] for row in run.tables["clock"].rows()}
    wrong = []
    for rank, drift in last.items():
        f = (-1) ** rank * rank / (run.size - 1)
        wrong.append(abs(drift - (1 / (1 + f * SKEW * 1e-6) - 1)))
    return f"{max(wrong) * 1e6:.3f} us/s at most"
