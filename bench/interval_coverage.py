"""How often the 95 % interval of one run, and of several, holds the median of reruns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beds.mpis import Mpi
from isochrone.base.inference import median_interval
from isochrone.changes.launches import over_launches
from isochrone.measure.probe import Probe
from isochrone.sweep.curves import Curve, curves

RERUNS = 30
DRAWS = 2000
OPTIONS = ("--bytes", "8:64KiB:x4")


def interval_coverage(built: Probe, folder: Path) -> None:
    """Measure a small sweep again and again, on the machine as it is.

    What differs from one start to another, and is the same for all sizes of a run, is in no
    interval of a run. Taken out, it leaves what the interval is to cover.
    """
    mpi = Mpi("openmpi" if built.library.startswith("Open MPI") else "mpich", built)
    repetitions: list[list[NDArray[np.float64]]] = []
    found: list[Curve] = []
    for turn in range(RERUNS):
        out = folder / f"rerun-{turn}.jsonl"
        run = mpi.run("point-to-point", *OPTIONS, "--retest", "0", ranks=2, out=out)
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
        ("medians of passes", low, high),
        ("repetitions", alike[:, :, 0], alike[:, :, 1]),
    ):
        held = np.mean((least <= pooled) & (pooled <= most))
        own = np.mean((least / level <= pooled) & (pooled <= most / level))
        width = np.median((most - least) / 2 / medians)
        print(f"  from the {what:17} {100 * held:3.0f} %, ", end="")
        print(f"without the level of each start {100 * own:3.0f} %  (± {100 * width:.1f} %)")
    print(f"  levels of starts scatter by {100 * np.std(level):.1f} %")
    over_several(repetitions)


def over_several(repetitions: list[list[NDArray[np.float64]]]) -> None:
    """Say how often intervals over 3 and 5 of the reruns hold what the others measured.

    Those drawn at random are as the formula assumes; those in a row are what ``measure --launches``
    makes, which a slow drift of the machine keeps alike.
    """
    logs = np.array([[np.log(np.median(values)) for values in of] for of in repetitions])
    dice = np.random.default_rng(1)
    print("  95 % intervals over launches that hold what the other reruns measured (goal: 80 %):")
    for number in (3, 5):
        row = [np.arange(k, k + number) for k in range(RERUNS - number + 1)]
        drawn = [dice.choice(RERUNS, number, replace=False) for _ in range(DRAWS)]
        for how, draws in (("at random", drawn), ("in a row", row)):
            typical, coming, width = (
                100 * np.mean(found)
                for found in zip(*(_held(repetitions, logs, own) for own in draws), strict=True)
            )
            print(f"    {number} launches {how:9}: their median {typical:3.0f} %", end="")
            print(f"  (± {width:.1f} %), the median of each {coming:3.0f} %")


def _held(
    repetitions: list[list[NDArray[np.float64]]], logs: NDArray[np.float64], own: NDArray[np.int64]
) -> tuple[float, float, float]:
    """Return the parts of what the other reruns measured that are held, and half the width.

    The first is of their pooled medians, by the interval of the typical time; the second of the
    medians of each of them, by the interval for the next start; the width is of the first.
    """
    others = [k for k in range(RERUNS) if k not in own]
    sizes = range(logs.shape[1])
    pooled = np.array(
        [np.median(np.concatenate([repetitions[k][s] for k in others])) for s in sizes]
    )
    found = over_launches([{} for _ in sizes], logs[own])
    each = np.exp(logs[others])
    typical = np.mean((found.low <= pooled) & (pooled <= found.high))
    coming = np.mean((found.next_low <= each) & (each <= found.next_high))
    width = np.median((found.high - found.low) / 2 / found.seconds)
    return float(typical), float(coming), float(width)
