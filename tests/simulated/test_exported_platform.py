"""An exported platform, simulated by the project's own launcher, gives the curve it was made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beds.command_line import run_here
from beds.simulation import Simulation
from isochrone.runfile.file import read, write
from isochrone.runfile.run import Run
from isochrone.sweep.curves import curves
from made_up.sweeps import line, point_to_point, table_of, three_protocols

SIZES = [0, 1, 8, 64, 256, 1024, 2048, 8192, 32768, 65536, 131072, 524288, 2097152]
BETWEEN = [100, 5000, 300000]
Truth = Callable[[int], float]


def drawn(seed: int) -> Truth:
    """Return one to four protocols that nobody has looked at, with jumps up and down."""
    dice = np.random.default_rng(seed)
    ends = np.sort(dice.choice(SIZES[2:-2], size=dice.integers(0, 4), replace=False))
    latency = dice.uniform(0.3e-6, 20e-6) * np.cumprod(dice.uniform(0.8, 2, len(ends) + 1))
    rate = dice.uniform(0.5e9, 25e9) * np.cumprod(dice.uniform(0.7, 1.8, len(ends) + 1))
    return lambda size: float((latency + size / rate)[np.searchsorted(ends, size)])


def simulated(folder: Path, run: Run, *words: object) -> dict[str, dict[int, float]]:
    """Export a run, simulate the platform, and return the medians of each curve."""
    write(run, folder / "run.jsonl")
    done = run_here("export", folder / "run.jsonl", "--to", "simgrid", "-o", folder / "p.xml")
    assert done.returncode == 0, done.stderr
    done = run_here(
        "measure",
        "point-to-point",
        "-n",
        4,
        "--platform",
        folder / "p.xml",
        "--repeats",
        2,
        "--warmup",
        1,
        "--bytes",
        ",".join(map(str, sorted(SIZES + BETWEEN))),
        *words,
        "-o",
        folder / "simulated.jsonl",
        "--quiet",
    )
    assert done.returncode == 0, done.stderr
    return {
        curve.name: {point.bytes: point.median for point in curve.points}
        for curve in curves(read(folder / "simulated.jsonl"))
    }


@pytest.mark.few(3)
@pytest.mark.parametrize("truth", [line(2.5e-6, 3e9), three_protocols, *map(drawn, range(11, 16))])
def test_the_simulated_curve_is_the_measured_one(
    simulation: Simulation, truth: Truth, tmp_path: Path
) -> None:
    """Within 2 % of the truth at each measured size, with 1 % noise in what was measured."""
    run = point_to_point(truth, sizes=SIZES, pairs=((0, 2),), noise=0.01, repeats=20)
    (found,) = simulated(tmp_path, run, "--pairs", "0-2").values()
    for size in SIZES:
        assert found[size] == pytest.approx(truth(size), rel=0.02), size


def test_between_measured_sizes_the_protocols_hold(simulation: Simulation, tmp_path: Path) -> None:
    run = point_to_point(three_protocols, sizes=SIZES, pairs=((0, 2),), noise=0.0, repeats=1)
    (found,) = simulated(tmp_path, run, "--pairs", "0-2").values()
    for size in BETWEEN:
        assert found[size] == pytest.approx(three_protocols(size), rel=0.02)


def test_of_two_levels_one_is_exact_and_the_other_as_near_as_is_said(
    simulation: Simulation, tmp_path: Path
) -> None:
    """Messages within a node switch elsewhere: the factors are those between nodes."""

    def inside(size: int) -> float:
        return 0.4e-6 + size / 9e9 if size <= 8192 else 0.9e-6 + size / 14e9

    run = point_to_point(three_protocols, sizes=SIZES, pairs=((0, 2),), noise=0.0, repeats=1)
    other = point_to_point(inside, sizes=SIZES, pairs=((0, 1),), noise=0.0, repeats=1)
    rows = [*run.tables["sample"].rows(), *other.tables["sample"].rows()]
    run.tables["sample"] = table_of(rows)
    found = simulated(tmp_path, run, "--pairs", "0-2,0-1")
    for size in SIZES:
        assert found["ranks 0–2"][size] == pytest.approx(three_protocols(size), rel=0.02)
    text = (tmp_path / "p.xml").read_text()
    said = float(text.split("every median within ")[1].split(" %")[0])
    worst = max(abs(found["ranks 0–1"][size] / inside(size) - 1) for size in SIZES)
    assert 100 * worst == pytest.approx(said, rel=0.1)
