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
    """Measure a small sweep again and again, on the machine as it is.

    What differs from one start to another, and is the same for all sizes of a run, is in no
    interval of a run. Taken out, it leaves what the interval is to cover.
    """
    mpi = Mpi("openmpi" if built.library.startswith("Open MPI") else "mpich", built)
    repetitions: list[list[NDArray[np.float64]]] = []
    found: list[Curve] = []
    for turn in range(RERUNS):
        out = folder / f"rerun-{turn}.jsonl"
        run = mpi.run("point-to-point", *OPTIONS, "--again", "0", ranks=2, out=out)
        (curve,) = curves(run)
        found.append(curve)
        table = run.tables["sample"]
        repetitions.append([table["seconds"][table["bytes"] == size] for size in curve.bytes])
    pooled = np.array([np.median(np.concatenate(of)) for of in zip(*repetitions, strict=True)])
    medians, low, high = (
        np.array([curve.column(what) for curve in found]) for what in ("median", "low", "high")
    )
    level = np.median(medians / pooled, axis=1)[:, None]
    alike = np.array([[median_interval(values) for values in of] for of in repetitions])
    print(
        f"\n95 % intervals of one run that hold the median of {RERUNS} reruns, each newly started"
    )
    print("(goal: 80 %; the level of a start is what all its sizes have in common):")
    for what, least, most in (
        ("medians of passes", low, high), ("repetitions", alike[:, :, 0], alike[:, :, 1])
    ):  # fmt: skip
        held = np.mean((least <= pooled) & (pooled <= most))
        own = np.mean((least / level <= pooled) & (pooled <= most / level))
        width = np.median((most - least) / 2 / medians)
        print(f"  from the {what:17} {100 * held:3.0f} %, ", end="")
        print(f"without the level of each start {100 * own:3.0f} %  (± {100 * width:.1f} %)")
    print(f"  levels of starts scatter by {100 * np.std(level):.1f} %")
