"""How often the 95 % interval of one run holds the median of all reruns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beds.mpis import Mpi
from isochrone.base.stats import median_interval
from isochrone.measure.probe import Probe
from isochrone.results.sweep.curves import Curve, curves

RERUNS = 30
OPTIONS = ("--bytes", "8:64KiB:x4")


def coverage(built: Probe, folder: Path) -> None:
    """Measure a small sweep again and again, on the machine as it is."""
    mpi = Mpi("openmpi" if built.library.startswith("Open MPI") else "mpich", built)
    found: list[Curve] = []
    samples: list[dict[int, NDArray[np.float64]]] = []
    seconds = 0.0
    for turn in range(RERUNS):
        out = folder / f"rerun-{turn}.jsonl"
        run = mpi.run("point-to-point", *OPTIONS, ranks=2, out=out)
        found += curves(run)
        table = run.tables["sample"]
        sizes = np.unique(table["bytes"]).tolist()
        samples.append({size: table["seconds"][table["bytes"] == size] for size in sizes})
        seconds += float(run.end["seconds"]) if run.end else 0.0
    pooled = {size: float(np.median(np.concatenate([s[size] for s in samples])))
              for size in samples[0]}  # fmt: skip
    by_passes = [
        point.low <= pooled[point.bytes] <= point.high for curve in found for point in curve.points
    ]
    by_repetitions = []
    for run_samples in samples:
        for size, values in run_samples.items():
            low, high = median_interval(values)
            by_repetitions.append(low <= pooled[size] <= high)
    medians = np.array([[point.median for point in curve.points] for curve in found])
    spread = medians.std(axis=0) / medians.mean(axis=0)
    width = np.median([(p.high - p.low) / 2 / p.median for c in found for p in c.points])
    print(f"\n95 % intervals of one run against the median of {RERUNS} reruns of a sweep, each new")
    print(f"launched and {seconds / RERUNS:.2f} s long (goal: 80 % hold it):")
    print(f"  from the medians of the passes {100 * np.mean(by_passes):.0f} %, ", end="")
    print(
        f"from the repetitions {100 * np.mean(by_repetitions):.0f} %; half an interval is ", end=""
    )
    print(f"{100 * width:.1f} %, medians of runs scatter by {100 * np.median(spread):.1f} %")
