"""How well random laws are predicted where they were not measured, and how useful intervals are.

make bench, or alone: PYTHONPATH=src:tests .venv/bin/python bench/extrapolation.py --seeds 48
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import isochrone
from isochrone.base.errors import InputError
from isochrone.models import Samples
from made_up.library_laws import RandomLaw, asked, known_law, library_law, measured

Row = dict[str, Any]

PLACES = ("inside", "between", "48", "2x", "4x", "8x")


def extrapolation(seeds: Iterable[int] = range(1000, 1048), file: Path | None = None) -> None:
    """Fit random laws, ask for what was not measured, and print a table of kinds and places."""
    rows: list[Row] = []
    for seed in seeds:
        rows += _drawn(seed)
        if file is not None:
            file.write_text(json.dumps(rows))
    print(
        "\nRandom laws: mean error, coverage of the truth, median half width; at 4x lower bounds"
        "\nof 0, interval score (Gneiting & Raftery 2007) of the logarithm of a time, coverage of "
        "the worst"
    )
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        _show(kind.upper(), own)
        for name in sorted({row["law"] for row in own}):
            _show(f"  {name}", [row for row in own if row["law"] == name])
    for points, repeats in ((10_000, 1), (200, 50)):
        start = time.process_time()
        model = isochrone.fit(_three_segments(points, repeats))
        print(
            f"{points * repeats} rows on {points} points: {time.process_time() - start:.1f} s, "
            f"{len(model.segments)} of 3 segments"
        )


def _three_segments(points: int, repeats: int) -> Samples:
    """Draw points of a law of three segments, all different."""
    dice = np.random.default_rng(0)
    p = dice.integers(2, 65, points).astype(float)
    b = np.round(np.exp(dice.uniform(np.log(8), np.log(2**20), points)))
    steps = np.ceil(np.log2(p))
    seconds = np.select(
        [b <= 2048, b <= 65536],
        [2e-6 + steps * (1e-6 + 4e-10 * b), 4e-6 + steps * (3e-6 + 3e-10 * b)],
        9e-6 + (p - 1) * (1e-6 + 2e-10 * b),
    )
    p, b, seconds = (np.repeat(column, repeats) for column in (p, b, seconds))
    seconds = seconds * dice.lognormal(0, 0.02, len(p))
    return Samples({"p": p, "b": b}, {"op": np.full(len(p), "bcast")}, seconds, "collective")


def _drawn(seed: int) -> Iterator[Row]:
    design = ("mixed", "mixed to 32")[seed // 12 % 2]
    yield _judged("known laws", known_law(seed), design, seed)
    yield _judged("unseen laws", library_law(seed), design, seed)
    yield _judged("unseen laws, powers of two only", library_law(seed), "powers of two", seed)


def _judged(kind: str, law: RandomLaw, design: str, seed: int) -> Row:
    row: Row = {"kind": kind, "law": law.name, "seed": seed, "design": design, "places": {}}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = isochrone.fit(measured(law, design, seed))
            row["time"] = time.perf_counter() - start
            row["formulas"] = len(model.segments)
            for place, (variables, truth) in asked(law, design).items():
                said = model.predict(variables)
                row["places"][place] = _scores(said, truth)
    except InputError as refusal:
        row["refused"] = str(refusal)
    return row


def _scores(said: Any, truth: Any) -> Row:
    answered = np.isfinite(said.seconds) & np.isfinite(said.high)
    seconds, low, high, truth = (v[answered] for v in (said.seconds, said.low, said.high, truth))
    if not len(truth):
        return {"answered": 0.0}
    low = np.maximum(low, 1e-3 * truth)  # of a bound of 0 there is no logarithm
    below, above = np.log(low / truth), np.log(truth / high)
    score = np.log(high / low) + 40 * (np.maximum(below, 0) + np.maximum(above, 0))
    return {
        "answered": float(np.mean(answered)),
        "error": float(np.mean(np.abs(seconds / truth - 1))),
        "covers": float(np.mean((below <= 1e-9) & (above <= 1e-9))),
        "width": float(np.median((high - low) / 2 / seconds)),
        "score": float(np.mean(score)),
        "zero": float(np.mean(said.low[answered] <= 0)),
    }


def _show(name: str, rows: Sequence[Row]) -> None:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for place, one in row["places"].items():
            if one["answered"]:
                found[place].append(one)
    cells = []
    for place in PLACES:
        own = found[place]
        if not own:
            cells.append(f"{place:>7} {'–':>22}")
            continue
        error, covers = (100 * np.mean([one[key] for one in own]) for key in ("error", "covers"))
        width = 100 * np.median([one["width"] for one in own])
        cells.append(f"{place:>7} {error:6.1f}% {covers:4.0f}% ±{min(width, 9999):5.1f}%")
    far = found["4x"]
    zero = 100 * np.mean([one["zero"] for one in far]) if far else 0
    score = np.mean([one["score"] for one in far]) if far else 0
    lost = sum("refused" in row for row in rows)
    seconds = np.mean([row.get("time", 0) for row in rows])
    least = 100 * min((one["covers"] for one in far), default=0)
    print(
        f"{name:34}{' '.join(cells)}  0: {zero:3.0f}%  score {score:5.2f}  "
        f"least {least:3.0f}%  {seconds:4.1f} s  {lost or ''}",
        flush=True,
    )


def main() -> None:
    """Run this benchmark alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=48, help="how many laws of each kind")
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    options = parser.parse_args()
    extrapolation(range(options.first, options.first + options.seeds), options.json)


if __name__ == "__main__":
    main()
