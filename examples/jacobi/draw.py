"""Draw what compare.py found: iterations of the program, emulated and predicted.

    python examples/jacobi/draw.py jacobi/result.json -o jacobi.png

A bar is an iteration, computing below and communication above (means over the ranks, median of the
rounds); a line the 95 % interval of the iteration in the middle.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isochrone.base.inference import even_median_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WAYS = {"real": "C0", "emulated": "C1", "predicted": "C2"}
WIDTH = 0.26


def parts(case: dict[str, Any], way: str) -> tuple[float, float]:
    """Return what an iteration spends computing and communicating, in microseconds."""
    middle = {name: 1e6 * np.median(seconds) for name, seconds in case["phases"][way].items()}
    computing = float(middle.pop("compute"))
    return computing, float(sum(middle.values()))


def draw(axes: Axes, cases: list[dict[str, Any]]) -> None:
    """Draw three bars for each case."""
    for k, (way, colour) in enumerate(WAYS.items()):
        for at, case in enumerate(cases):
            left = at + (k - 1) * WIDTH
            computing, communication = parts(case, way)
            total = 1e6 * float(np.median(case[way]))
            label = way if at == 0 else None
            axes.bar(left, computing, WIDTH, color=colour, label=label)
            axes.bar(left, communication, WIDTH, bottom=computing, color=colour, alpha=0.45)
            low, high = even_median_interval([1e6 * seconds for seconds in case[way]])
            if np.isfinite(low):
                axes.errorbar(left, total, [[total - low], [high - total]], color="black",
                              capsize=3)  # fmt: skip
    axes.set_xticks(range(len(cases)))
    axes.set_xticklabels([f"{case['variant']}\n{case['grid'] or 'library'}" for case in cases])
    axes.set_ylabel("time of an iteration (µs)")
    axes.legend(
        frameon=False, title="dark: computing\nlight: communication", loc="center left",
        bbox_to_anchor=(1, 0.5),
    )  # fmt: skip


def main() -> None:
    """Read, draw and write."""
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("result", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    found = json.loads(args.result.read_text())
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    draw(axes, found["cases"])
    axes.set_title(f"Jacobi iteration, n = {found['n']}, {found['ranks']} ranks")
    figure.savefig(args.output, dpi=120)


if __name__ == "__main__":
    main()
