"""How well models predict collective times that others measured on real machines.

    python bench/field_models.py --half a

Reads $ISOCHRONE_FIELD/collectives/*.csv: op,p,b,rep,seconds. `inside`: fitted to about seven
numbers of ranks near powers of two, the others are predicted; `2x`, `4x`: fitted to half, or a
quarter, of the ranks. Rivals are what a user would try in a spreadsheet: a line between the
neighbours, and a power law of each size, in log p and log t.

`error`: geometric mean of the ratio; `hold`: measured times in the 95 % interval; `half`: median
half width; `score`: interval score (Gneiting & Raftery 2007) in log time. The half widths of
`isochrone.models.prediction.neighbours` were chosen on these tables and on 30 others of two such
machines.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from isochrone import models
from isochrone.base.errors import InputError

Point = tuple[int, int]
Answer = tuple[str, dict[str, float] | None, float]
"""A question, our figures or None if it was refused, and the error of the rival."""

MISSED = 40.0
"""2 / 0.05: what a miss costs in the interval score of 95 %."""


def questions(ranks: list[int]) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield the name of a question, the ranks to fit, and the ranks to predict."""
    if len(ranks) >= 12:
        known = np.log2(ranks)
        near = {ranks[int(np.argmin(np.abs(known - k)))] for k in range(1, 9)}
        kept = sorted(near | {ranks[-1]})
        yield "inside", kept, [p for p in ranks if p not in kept]
    for name, part in (("2x", 2), ("4x", 4)):
        kept = [p for p in ranks if p <= ranks[-1] / part]
        if len(kept) >= 3:
            most = kept[-1] * part
            far = [p for p in ranks if p > kept[-1] and most / 1.6 < p <= 1.1 * most]
            yield name, kept, far or [p for p in ranks if p > kept[-1]]


def rival(name: str, kept: list[int], times: dict[Point, float], point: Point) -> float:
    """Return the logarithm of what the spreadsheet's rule says."""
    logs = np.log([times[p, point[1]] for p in kept])
    if name == "inside":
        return float(np.interp(np.log(point[0]), np.log(kept), logs))
    return float(np.polyval(np.polyfit(np.log(kept), logs, 1), np.log(point[0])))


def judge(path: Path) -> Iterator[Answer]:
    """Yield the answer to each question about a table."""
    repeats: dict[Point, list[float]] = defaultdict(list)
    with path.open() as stream:
        for row in csv.DictReader(stream):
            repeats[int(row["p"]), int(row["b"])].append(float(row["seconds"]))
            op = row["op"]
    times = {point: float(np.median(own)) for point, own in repeats.items()}
    for name, kept, far in questions(sorted({p for p, _ in times})):
        asked = [(p, b) for p, b in times if p in far and all((k, b) in times for k in kept)]
        if not asked:
            continue
        truth = np.log([times[point] for point in asked])
        other = np.mean(np.abs(truth - [rival(name, kept, times, point) for point in asked]))
        rows = [(p, b, t) for (p, b), own in repeats.items() if p in kept for t in own]
        p, b, seconds = zip(*rows, strict=True)
        try:
            model = models.fit({"op": [op] * len(rows), "p": p, "b": b, "seconds": seconds})
            found = model.predict(p=[p for p, _ in asked], b=[b for _, b in asked], op=op)
        except InputError:
            yield name, None, float(np.expm1(other))
            continue
        middle, low, high = np.log([found.seconds, found.low, found.high])
        out = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
        yield (
            name,
            {
                "error": float(np.expm1(np.nanmean(np.abs(truth - middle)))),
                "hold": float(np.mean(out == 0)),
                "half": float(np.nanmedian(high - low) / 2),
                "score": float(np.nanmean(high - low + MISSED * out)),
            },
            float(np.expm1(other)),
        )


def main() -> None:
    """Print a line for each table and question, and the totals."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get("ISOCHRONE_FIELD")
    parser.add_argument(
        "--field",
        type=Path,
        default=folder and Path(folder) / "collectives",
        required=not folder,
        help="folder of tables",
    )
    parser.add_argument("--half", choices=["a", "b"], help="every second table of the folder")
    args = parser.parse_args()
    tables = sorted(args.field.glob("*.csv"))
    tables = tables["ab".index(args.half) :: 2] if args.half else tables
    total: dict[str, list[tuple[dict[str, float], float]]] = defaultdict(list)
    refused = 0
    for path in tables:
        for name, figures, other in judge(path):
            if figures is None:
                refused += 1
                print(f"{path.stem:28} {name:6} refused, rival {other:.1%}", flush=True)
                continue
            total[name].append((figures, other))
            said = "  ".join(f"{key} {value:.2f}" for key, value in figures.items())
            print(f"{path.stem:28} {name:6} {said}  rival {other:.2f}", flush=True)
    for name, found in total.items():
        means = {key: float(np.mean([one[key] for one, _ in found])) for key in found[0][0]}
        error = np.median([one["error"] for one, _ in found])
        other = np.median([other for _, other in found])
        better = sum(one["error"] < other for one, other in found)
        print(
            f"{name}: {len(found)} tables, median error {error:.1%} (rival {other:.1%}, better "
            f"in {better}), in the interval {means['hold']:.2f}, half width {means['half']:.2f}, "
            f"score {means['score']:.2f}"
        )
    print(f"refused: {refused}")


if __name__ == "__main__":
    main()
